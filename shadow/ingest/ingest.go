// Package ingest takes batches from the bus and stores them: in order, once,
// on one clock, with gaps counted. A message is acknowledged only when what it
// brought is on the disk.
package ingest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"stackagent/internal/wire"
	"stackagent/shadow/bus"
	"stackagent/shadow/store"
)

// Consumer is the name of the durable consumer on the stream.
const Consumer = "shadow"

// Defaults of Options.
const (
	DefaultPartRows     = 256 << 10
	DefaultPartInterval = 500 * time.Millisecond
	DefaultLostContact  = time.Minute
	DefaultMaxSessions  = 1024
)

const (
	// ackWait must be longer than storing a part ever takes; a message that
	// comes again all the same is recognised by its sequence number.
	ackWait       = time.Minute
	maxAckPending = 4096
	pullMessages  = 256
	pullBytes     = 16 << 20
	queueLength   = 8       // messages waiting for a session's worker
	rowBudget     = 4 << 20 // rows in memory over all sessions
	minPartRows   = 8 << 10
	beginTimeout  = 10 * time.Second
	beginPause    = 50 * time.Millisecond
	// reorderBatches and gapWait bound how long a missing batch is waited for.
	// One that comes later is still stored.
	reorderBatches = 64
	gapWait        = 2 * time.Second
)

// ErrBusy is returned when another shadow consumes the same stream.
var ErrBusy = errors.New("another shadow is storing from this bus; stop it, or use another bus")

// Options of Start; zero values choose the defaults.
type Options struct {
	Bus          *bus.Bus
	Root         string        // each session becomes a folder in it
	PartRows     int           // a part closes at this many rows
	PartInterval time.Duration // or this long after its first batch came; up to ten times that in a long session
	LostContact  time.Duration // a session without a batch for so long is closed
	MaxSessions  int           // open at once
	Live         Live          // may be nil
	Logger       *slog.Logger  // nil: slog.Default()
}

// Progress is where a session stands.
type Progress struct {
	Session   string
	Folder    string // its folder, below the root
	JVM       store.JVM
	Received  store.Counts // events received, stored or about to be
	Stored    store.Counts
	Lost      store.Lost
	Batches   uint64 // received
	Repeated  uint64 // batches that came again and were left out
	Ended     string // one of store's Ended constants
	LastBatch time.Time
}

// Live is told what happens, for a display. Calls come from several goroutines
// and must return quickly.
type Live interface {
	// Progress comes after every stored part, every second besides, and at the end of a session.
	Progress(p Progress)
	// Problem comes once when storing stops working, and with nil when it works again.
	Problem(session string, err error)
}

// Ingest is a running consumer.
type Ingest struct {
	o   Options
	log *slog.Logger

	taken    sync.Mutex // guards the three that follow
	consumer jetstream.Consumer
	consume  jetstream.ConsumeContext
	let      chan struct{} // closed: messages that still come to consume are let go

	msgs    chan jetstream.Msg
	stop    chan struct{} // closed by Close
	killed  atomic.Bool   // end without storing what is in memory
	flushes chan chan struct{}
	done    chan struct{} // the dispatcher has ended

	active atomic.Int64 // open sessions, to share the row budget
	bad    atomic.Uint64
	routed atomic.Int64 // messages taken from the bus

	folders sync.Mutex // held while a session's folder is chosen and claimed

	mu       sync.Mutex
	order    []string // folders in order of appearance
	progress map[string]Progress
	ended    string // what Close was told
	err      error
}

// Start begins to consume; ctx bounds the starting only. It takes over where an earlier shadow ended: what
// that one had not stored comes again.
func Start(ctx context.Context, o Options) (*Ingest, error) {
	setDefaults(&o)
	if o.Bus == nil || o.Root == "" {
		return nil, errors.New("ingest: needs a bus and a folder to store in")
	}
	if err := os.MkdirAll(o.Root, 0o700); err != nil {
		return nil, fmt.Errorf("ingest: folder of the sessions: %w", err)
	}
	in := &Ingest{
		o: o, log: o.Logger, msgs: make(chan jetstream.Msg), stop: make(chan struct{}),
		flushes: make(chan chan struct{}), done: make(chan struct{}), progress: map[string]Progress{},
	}
	if err := in.begin(ctx); err != nil {
		return nil, err
	}
	go in.dispatch()
	return in, nil
}

// begin begins to read from the stream.
func (in *Ingest) begin(ctx context.Context) error {
	consumer, err := takeConsumer(ctx, in.o.Bus.JetStream())
	if err != nil {
		return err
	}
	let := make(chan struct{})
	receive := func(m jetstream.Msg) {
		select {
		case in.msgs <- m:
		case <-let:
		}
	}
	consume, err := consumer.Consume(receive,
		jetstream.PullMaxMessagesWithBytesLimit(pullMessages, pullBytes),
		jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) {
			in.log.Warn("ingest: reading from the bus", "error", err)
		}))
	if err != nil {
		return fmt.Errorf("ingest: reading from the bus: %w", err)
	}
	in.taken.Lock()
	defer in.taken.Unlock()
	in.consumer, in.consume, in.let = consumer, consume, let
	return nil
}

// beginAgain reads from a stream that was opened again. What was delivered and
// not stored comes again; it is recognised by its sequence number.
func (in *Ingest) beginAgain() {
	in.stopReading()
	ctx, cancel := context.WithTimeout(context.Background(), beginTimeout)
	defer cancel()
	err := in.begin(ctx)
	for ctx.Err() == nil && err != nil { // our own last request may still wait there
		time.Sleep(beginPause)
		err = in.begin(ctx)
	}
	if err != nil {
		in.log.Error("ingest: the bus has failed and can not be read again; restart the shadow", "error", err)
	}
}

// stopReading ends the reading; when it returns, the bus holds no request of
// ours, which the next one to read would take for another shadow's.
func (in *Ingest) stopReading() {
	in.taken.Lock()
	defer in.taken.Unlock()
	select {
	case <-in.let:
		return
	default:
	}
	close(in.let)
	in.consume.Stop()
	select {
	case <-in.consume.Closed():
	case <-time.After(time.Second):
	}
}

// info asks the bus what is still to be stored.
func (in *Ingest) info(ctx context.Context) (*jetstream.ConsumerInfo, error) {
	in.taken.Lock()
	c := in.consumer
	in.taken.Unlock()
	info, err := c.Info(ctx)
	if err != nil {
		return nil, fmt.Errorf("ingest: asking what is still to be stored: %w", err)
	}
	return info, nil
}

func setDefaults(o *Options) {
	if o.PartRows <= 0 {
		o.PartRows = DefaultPartRows
	}
	if o.PartInterval <= 0 {
		o.PartInterval = DefaultPartInterval
	}
	if o.LostContact <= 0 {
		o.LostContact = DefaultLostContact
	}
	if o.MaxSessions <= 0 {
		o.MaxSessions = DefaultMaxSessions
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
}

// takeConsumer makes the durable consumer anew. A consumer that a dead shadow
// left would hold back what was delivered to it until its ackWait ended; in a
// work queue the new one begins with the oldest message not acknowledged.
func takeConsumer(ctx context.Context, js jetstream.JetStream) (jetstream.Consumer, error) {
	old, err := js.Consumer(ctx, bus.Stream, Consumer)
	switch {
	case err == nil:
		info, err := old.Info(ctx)
		if err != nil {
			return nil, fmt.Errorf("ingest: looking at the consumer: %w", err)
		}
		if info.NumWaiting > 0 {
			return nil, fmt.Errorf("ingest: %w", ErrBusy)
		}
		if err := js.DeleteConsumer(ctx, bus.Stream, Consumer); err != nil {
			return nil, fmt.Errorf("ingest: replacing the consumer of an earlier shadow: %w", err)
		}
	case !errors.Is(err, jetstream.ErrConsumerNotFound):
		return nil, fmt.Errorf("ingest: looking for the consumer: %w", err)
	}
	c, err := js.CreateConsumer(ctx, bus.Stream, jetstream.ConsumerConfig{
		Durable: Consumer, AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackWait,
		MaxAckPending: maxAckPending, MaxDeliver: -1, FilterSubject: bus.Subjects,
	})
	if err != nil {
		return nil, fmt.Errorf("ingest: creating the consumer: %w", err)
	}
	return c, nil
}

// refuse takes a message out of the stream that no retry could make good.
func (in *Ingest) refuse(m jetstream.Msg, err error) {
	in.bad.Add(1)
	in.log.Warn("ingest: a message was kept out", "subject", m.Subject(), "error", err)
	if err := m.TermWithReason("not a batch"); err != nil {
		in.log.Warn("ingest: refusing a message", "error", err)
	}
}

// sender is whose batches belong together: one JVM. Several may use one
// session name at the same time.
type sender struct{ session, process string }

// senderOf takes the sender from the envelope of a message.
func senderOf(m jetstream.Msg) (sender, error) {
	name, ok := strings.CutPrefix(m.Subject(), wire.Subject(""))
	if !ok {
		return sender{}, fmt.Errorf("subject %.80q is not of ours", m.Subject())
	}
	process := m.Headers().Get(wire.ProcessHeader)
	if err := errors.Join(store.ValidateName(name), wire.ValidProcess(process)); err != nil {
		return sender{}, err
	}
	return sender{name, process}, nil
}

// BadMessages counts the messages that were kept out, undecodable or foreign.
func (in *Ingest) BadMessages() uint64 { return in.bad.Load() }

// Sessions tells where all sessions seen so far stand, in order of appearance.
func (in *Ingest) Sessions() []Progress {
	in.mu.Lock()
	defer in.mu.Unlock()
	all := make([]Progress, len(in.order))
	for i, f := range in.order {
		all[i] = in.progress[f]
	}
	return all
}

func (in *Ingest) report(p Progress) {
	in.mu.Lock()
	if _, seen := in.progress[p.Folder]; !seen {
		in.order = append(in.order, p.Folder)
	}
	in.progress[p.Folder] = p
	in.mu.Unlock()
	if in.o.Live != nil {
		in.o.Live.Progress(p)
	}
}

// Drain returns when everything that was published before the call is stored.
// A batch that is missing is no longer waited for.
func (in *Ingest) Drain(ctx context.Context) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	seen := int64(-1)
	for {
		info, err := in.info(ctx)
		if err != nil {
			return err
		}
		if info.NumPending == 0 && info.NumAckPending == 0 {
			return nil
		}
		// While batches are on their way to us, one that is missing may be among
		// them: it is not given up before all have come.
		routed := in.routed.Load()
		if info.NumPending == 0 && routed == seen {
			if err := in.flush(ctx); err != nil {
				return err
			}
		}
		seen = routed
		select {
		case <-ctx.Done():
			return fmt.Errorf("ingest: %d batches are not stored yet: %w", info.NumPending+uint64(info.NumAckPending), ctx.Err())
		case <-in.done:
			return errors.New("ingest: closed while draining")
		case <-tick.C:
		}
	}
}

// flush makes all sessions store what they hold.
func (in *Ingest) flush(ctx context.Context) error {
	done := make(chan struct{})
	select {
	case in.flushes <- done:
	case <-in.done:
		return errors.New("ingest: closed")
	case <-ctx.Done():
		return fmt.Errorf("ingest: storing does not go on: %w", ctx.Err())
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("ingest: storing does not go on: %w", ctx.Err())
	}
}

// Close stores what has been received and ends: sessions that have not ended
// are marked with ended (store.EndedClosed, or store.EndedLostContact when
// their JVMs are known to be gone). What could not be stored stays on the bus.
func (in *Ingest) Close(ended string) error {
	in.mu.Lock()
	in.ended = ended
	in.mu.Unlock()
	in.shut()
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.err
}

// Kill ends like a crash: nothing more is stored, nothing is acknowledged.
func (in *Ingest) Kill() {
	in.killed.Store(true)
	in.shut()
}

func (in *Ingest) shut() {
	in.mu.Lock()
	select {
	case <-in.stop:
	default:
		close(in.stop)
	}
	in.mu.Unlock()
	<-in.done
	in.stopReading()
	in.o.Bus.Conn().Flush() // acknowledgements on their way; lost ones only mean a replay
}
