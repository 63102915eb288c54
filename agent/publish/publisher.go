// Package publish sends encoded batches to the bus: NATS JetStream, message ids, a
// bounded number in flight, resent until acknowledged, which means stored.
//
// It runs inside the program's JVM, so it is frugal: two goroutines besides those of
// the client library (one sends, one reads and writes the spool file), bounded memory
// and a bounded file, no output except through Config.Notice; a panic ends the
// publishing, not the program.
//
// Order and loss. Batches may arrive out of order or twice; the receiver uses the
// sequence number and the message id. A batch that Offer has accepted is dropped in
// two cases only: the server says that it is too large, or the spool file returns it
// damaged (Stats.Rejected, Stats.Damaged). When memory and file are full, Offer
// refuses a batch before its number is used: the caller keeps it and offers it again,
// and decides what to do with the records after it. Keep leaves in the file what is
// not delivered in the end.
package publish

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"stackagent/internal/busauth"
	"stackagent/internal/text"
	"stackagent/internal/wire"
)

// The errors of Offer.
var (
	ErrFull   = errors.New("the buffer of batches that wait for the bus is full")
	ErrClosed = errors.New("the publisher is closed")
)

// Config of a Publisher; zero values stand for the defaults.
type Config struct {
	URL     string // of the bus, several joined with ','; default nats://127.0.0.1:4222
	Session string
	Process string // Batch.Process of the batches; part of the message ids
	Auth    Auth

	MaxBytes int           // memory for batches not yet acknowledged; default 64 MiB
	Spool    Spool         // where batches wait beyond an eighth of that
	InFlight int           // batches sent and not yet acknowledged; default 32
	AckWait  time.Duration // a batch not acknowledged after this is sent again; default 4 s

	// Link is called, if not nil, with the connection each time it is made, and with nil when it cannot be made or is lost.
	// It is called from the Publisher's goroutine and must return at once.
	Link func(*nats.Conn)

	// Grace is how long an outage may last without a notice; default 1 s.
	Grace time.Duration
	// Notice gets one line when the bus cannot be reached, once for each outage, and
	// one when it is back. It is called from the Publisher's goroutine.
	Notice func(line string)
}

// Defaults of Config.
const (
	DefaultURL      = "nats://127.0.0.1:4222"
	DefaultMaxBytes = 64 << 20
	defaultInFlight = 32
	defaultAckWait  = 4 * time.Second
	defaultGrace    = time.Second
)

const (
	forcedBytes  = 4 << 20 // beyond MaxBytes, for Offer with force
	firstBackoff = 50 * time.Millisecond
	lastBackoff  = 2 * time.Second
	look         = 250 * time.Millisecond // longest time between two looks at the batches in flight
	calmLook     = 10 * time.Second       // longest time if there are none: every change pokes
)

// Publisher sends batches. Its methods are safe for concurrent use.
type Publisher struct {
	cfg    Config
	opts   nats.Options
	dialer *busauth.Dialer
	shown  string // URL as shown to users, without credentials

	mu       sync.Mutex
	queue                  // the batches not yet acknowledged
	changed  chan struct{} // closed and replaced when the queue shrinks or on closing
	closed   bool
	stats    Stats
	away     bool
	trouble  string        // what is wrong with the bus, "" if nothing
	remedy   string        // what to do about it
	poked    chan struct{} // wakes the goroutine
	stop     context.CancelFunc
	finished chan struct{} // the goroutine that sends has ended
	spooler  *spooler      // nil: no spool file
}

// Stats are sums since the start.
type Stats struct {
	Acknowledged uint64 // batches
	Bytes        uint64 // of them
	Resent       uint64 // batches sent again
	Rejected     uint64 // batches too large for the server, dropped
	Spooled      uint64 // batches written to the spool file
	Damaged      uint64 // spooled batches that were damaged when read back, dropped
	Contested    uint64 // batches that the bus called duplicates when they were sent first; they were sent again
}

// New checks the configuration and starts connecting in the background; it is no error
// if the bus is away.
func New(cfg Config) (*Publisher, error) {
	if err := wire.ValidSession(cfg.Session); err != nil {
		return nil, fmt.Errorf("publish: %w", err)
	}
	if err := wire.ValidProcess(cfg.Process); err != nil {
		return nil, fmt.Errorf("publish: %w", err)
	}
	cfg.defaults()
	p := &Publisher{cfg: cfg, queue: newQueue(cfg.MaxBytes), changed: make(chan struct{}), poked: make(chan struct{}, 1), finished: make(chan struct{})}
	if err := p.configure(); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	if cfg.Spool.MaxBytes > 0 {
		select {
		case disks <- struct{}{}:
			p.spooler = newSpooler(p)
			go p.spooler.run(ctx)
		default:
			cfg.Notice("the disk of the spool file did not answer in earlier sessions: this session has no spool file")
		}
	}
	go p.run(ctx)
	return p, nil
}

func (c *Config) defaults() {
	if c.URL == "" {
		c.URL = DefaultURL
	}
	if c.MaxBytes <= 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	if c.InFlight <= 0 {
		c.InFlight = defaultInFlight
	}
	if c.AckWait <= 0 {
		c.AckWait = defaultAckWait
	}
	if c.Grace <= 0 {
		c.Grace = defaultGrace
	}
	if c.Link == nil {
		c.Link = func(*nats.Conn) {}
	}
	if c.Notice == nil {
		c.Notice = func(string) {}
	}
}

// Offer takes the encoded batch msg, which the caller must no longer change. It never
// waits. ErrFull: no room now, the caller keeps msg. With force it takes a few MiB more
// than Config.MaxBytes, for the end of a session.
func (p *Publisher) Offer(seq uint64, msg []byte, force bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := message{seq: seq, data: msg}
	limit := p.cfg.MaxBytes
	if force {
		limit += forcedBytes
	}
	switch {
	case p.closed:
		return ErrClosed
	case p.bytes > 0 && p.bytes+m.bytes() > limit:
		return ErrFull
	}
	p.push(m, p.spooler != nil)
	p.poke()
	p.spooler.poke()
	return nil
}

// Room waits until a batch of size bytes would be taken, or ctx ends.
func (p *Publisher) Room(ctx context.Context, size int) error {
	return p.wait(ctx, func() bool { return p.bytes == 0 || p.bytes+size+overheadBytes <= p.cfg.MaxBytes })
}

// Undelivered describes the batches that the bus has not acknowledged.
type Undelivered struct {
	Batches     int
	Bytes       int
	First, Last uint64 // smallest and largest sequence, 0 if none
}

// Flush waits until everything offered is acknowledged or ctx ends, and returns the
// rest. The error is nil if there is none, otherwise that of ctx or ErrClosed.
func (p *Publisher) Flush(ctx context.Context) (Undelivered, error) {
	err := p.wait(ctx, func() bool { return len(p.open) == 0 })
	u := p.undelivered()
	if u.Batches == 0 {
		return u, nil
	}
	return u, fmt.Errorf("publish: %s (%d to %d) not acknowledged by the bus at %s: %w", text.PluralExact(u.Batches, "batch", "batches"), u.First, u.Last, p.shown, err)
}

// wait returns nil when ready, called with the lock held, says so.
func (p *Publisher) wait(ctx context.Context, ready func() bool) error {
	for {
		p.mu.Lock()
		ok, closed, changed := ready(), p.closed, p.changed
		p.mu.Unlock()
		if ok {
			return nil
		}
		if closed {
			return ErrClosed
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// Away reports whether the bus cannot be reached or does not answer, as far as known
// now. A bus that answers that it is full is not away.
func (p *Publisher) Away() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.away
}

// Trouble says which bus cannot be used and why, as the beginning of a
// sentence ("the bus at URL cannot be reached (...)"), and what to do about it.
func (p *Publisher) Trouble() (what, remedy string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	what, remedy = p.trouble, p.remedy
	if what == "" {
		what, remedy = "is too slow", "look at the shadow's messages"
	}
	return fmt.Sprintf("the bus at %s %s", p.shown, what), remedy
}

// Stats returns the sums so far.
func (p *Publisher) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stats
}

// Close ends publishing and drops what is not acknowledged, unless Keep was called
// before. It does not wait for the network.
func (p *Publisher) Close() {
	p.stop()
	p.shut()
}

// shut marks the Publisher closed and wakes those who wait.
func (p *Publisher) shut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.closed = true
		p.wake()
	}
}

// wake wakes those who wait for a change; with the lock held.
func (p *Publisher) wake() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// poke makes the goroutine look again; never blocks.
func (p *Publisher) poke() {
	select {
	case p.poked <- struct{}{}:
	default:
	}
}

func (p *Publisher) undelivered() Undelivered {
	p.mu.Lock()
	defer p.mu.Unlock()
	u := Undelivered{Batches: len(p.open), Bytes: p.bytes + p.filed}
	for seq := range p.open {
		if u.First == 0 || seq < u.First {
			u.First = seq
		}
		u.Last = max(u.Last, seq)
	}
	return u
}
