// Package ownership lets several shadows share the sessions of one bus.
//
// Each shadow keeps a heartbeat in a table on the bus (a JetStream key-value
// bucket), and each session has a row that names its owner. A row changes only
// by compare-and-set, so if two shadows want a session, one gets it. If a shadow's
// heartbeat has not changed for Options.TTL, by the clock of the shadow that looks,
// it is dead and its sessions are free. No clocks are compared: a shadow measures
// its own time only, and stops storing a second before others may consider it dead.
package ownership

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"stackagent/internal/timers"
)

// Bucket is the table's name on the bus.
const Bucket = "STACKAGENT_SHADOWS"

// DefaultTTL is how long a shadow that is silent counts as alive.
const DefaultTTL = 6 * time.Second

const (
	shadowKey  = "shadow."
	sessionKey = "session."
	askTimeout = 3 * time.Second
	maxPieces  = 64
)

// Errors of leases.
var (
	ErrLost       = errors.New("the session has gone to another shadow")
	ErrForeignRow = errors.New("a row of the table of shadows that no shadow has written")
	ErrUncertain  = errors.New("the bus does not answer: it is not certain that the session is still ours")
)

// Options of Join; zero values choose the defaults.
type Options struct {
	JetStream jetstream.JetStream
	Home      *Home
	Path      string // of the store, shown to people only
	Replicas  int    // of the table
	TTL       time.Duration
	// Problem is called when the table cannot be kept, and nil when it can again. May be nil.
	Problem func(error)
	// Foreign is called for rows of the table that no shadow has written; they are ignored. May be nil.
	Foreign func(key string, err error)
}

// heartbeat is the value of a shadow's row.
type heartbeat struct {
	Store    string `json:"store"`
	Host     string `json:"host"`
	Path     string `json:"path"`
	Sessions int    `json:"sessions"`
	Beat     uint64 `json:"beat"`
	Closed   bool   `json:"closed,omitempty"`
}

// peer is another shadow, as far as it is known here.
type peer struct {
	heartbeat
	revision uint64
	seen     time.Time // when its row last changed, or when we could look again
}

// row is the value of a session's row.
type row struct {
	Owner  string  `json:"owner"`
	Pieces []Piece `json:"pieces"`          // stores that may hold a part of it; the owner's is the last
	Apart  uint64  `json:"apart,omitempty"` // see Lease.Apart
}

// Piece is a store that may hold a part of a session.
type Piece struct {
	Store string `json:"store"`
	Host  string `json:"host"`
	Path  string `json:"path"`
}

type entry struct {
	row
	revision uint64
	made     time.Time // by the server's clock
}

// Member is this shadow among the others.
type Member struct {
	o     Options
	kv    jetstream.KeyValue
	epoch int64 // of the bucket
	host  string
	stop  context.CancelFunc
	done  sync.WaitGroup
	mends chan *Lease // whose rows somebody else has overwritten

	mu       sync.Mutex
	peers    map[string]*peer
	sessions map[string]entry
	leases   map[string]*Lease
	forget   map[string]time.Time // rows of ours to be removed, and when
	firstSaw map[string]time.Time // sessions that wait for an owner
	revision uint64               // of our own row
	beat     uint64
	good     time.Time // when the last heartbeat that arrived was sent
	proofs   uint64    // how often leases had to be proved again before use; 0: this shadow has not begun
}

// Join makes this shadow one of those that share the bus.
func Join(ctx context.Context, o Options) (*Member, error) {
	if o.TTL <= 0 {
		o.TTL = DefaultTTL
	}
	if o.Problem == nil {
		o.Problem = func(error) {}
	}
	if o.Foreign == nil {
		o.Foreign = func(string, error) {}
	}
	m := &Member{o: o, peers: map[string]*peer{}, sessions: map[string]entry{}, leases: map[string]*Lease{},
		forget: map[string]time.Time{}, firstSaw: map[string]time.Time{}, mends: make(chan *Lease, maxMends)}
	m.host, _ = os.Hostname() // for people only
	if err := m.openBucket(ctx); err != nil {
		return nil, err
	}
	ctx, m.stop = context.WithCancel(context.WithoutCancel(ctx))
	if err := m.watch(ctx); err != nil {
		m.stop()
		return nil, err
	}
	if err := m.begin(ctx); err != nil {
		m.stop()
		return nil, err
	}
	m.done.Go(func() { m.keep(ctx) })
	m.done.Go(func() { m.tidy(ctx) })
	return m, nil
}

func (m *Member) openBucket(ctx context.Context) error {
	kv, err := m.o.JetStream.KeyValue(ctx, Bucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		kv, err = m.o.JetStream.CreateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket: Bucket, Description: "which shadow owns which session", History: 1, Replicas: max(m.o.Replicas, 1),
			Storage: jetstream.FileStorage, MaxBytes: 64 << 20,
		})
		if errors.Is(err, jetstream.ErrBucketExists) { // another shadow was faster
			kv, err = m.o.JetStream.KeyValue(ctx, Bucket)
		}
	}
	if err != nil {
		return fmt.Errorf("ownership: the table of shadows %s on the bus: %w", Bucket, err)
	}
	status, err := kv.Status(ctx)
	if err != nil {
		return fmt.Errorf("ownership: the table of shadows: %w", err)
	}
	if s, ok := status.(*jetstream.KeyValueBucketStatus); ok {
		m.epoch = s.StreamInfo().Created.UnixNano()
	}
	m.kv = kv
	return nil
}

// begin overwrites our row from before a restart.
func (m *Member) begin(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	sent := time.Now()
	revision, err := m.kv.Put(ctx, shadowKey+m.o.Home.ID, m.heartbeat(false))
	if err != nil {
		return fmt.Errorf("ownership: announcing this shadow on the bus: %w", err)
	}
	m.mu.Lock()
	m.revision, m.good, m.proofs = revision, sent, 1
	m.mu.Unlock()
	return nil
}

func (m *Member) heartbeat(closed bool) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.beat++
	data, _ := json.Marshal(heartbeat{Store: m.o.Home.Store, Host: m.host, Path: m.o.Path,
		Sessions: len(m.leases), Beat: m.beat, Closed: closed}) // plain fields: it does not fail
	return data
}

// keep sends the heartbeats.
func (m *Member) keep(ctx context.Context) {
	tick := timers.NewTicker(m.o.TTL / 4)
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case l := <-m.mends:
			_ = l.renew(ctx) // a failure shows in a heartbeat, or the lease is lost
			continue
		case <-tick.C:
		}
		err := m.renew(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil || failing {
			m.o.Problem(err)
		}
		failing = err != nil
	}
}

// renew sends one heartbeat. After a gap in which others may have considered us dead,
// each lease has to be proved before it counts again.
func (m *Member) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	sent := time.Now()
	m.mu.Lock()
	revision, late := m.revision, sent.Sub(m.good) > m.patience()
	m.mu.Unlock()
	revision, err := m.kv.Update(ctx, shadowKey+m.o.Home.ID, m.heartbeat(false), revision)
	if conflict(err) { // our own, whose answer was lost; or others removed our row
		revision, err = m.kv.Put(ctx, shadowKey+m.o.Home.ID, m.heartbeat(false))
		late = true
	}
	if err != nil {
		return fmt.Errorf("ownership: the bus does not take this shadow's heartbeat: %w", err)
	}
	now := time.Now()
	m.mu.Lock()
	m.revision, m.good = revision, sent
	if late {
		m.proofs++
		for _, p := range m.peers { // they may have been cut off as we were: their time restarts
			p.seen = now
		}
	}
	m.mu.Unlock()
	return m.prove(ctx)
}

// patience is how long we trust our leases after the last heartbeat that arrived.
func (m *Member) patience() time.Duration { return m.o.TTL - m.o.TTL/6 }

// provers is how many rows are rewritten at a time.
const provers = 16

// prove rewrites the row of each lease that is to be proved. A lease whose row cannot be written is lost. Of thousands,
// those for which ctx leaves no time are proved after the next heartbeat.
func (m *Member) prove(ctx context.Context) error {
	list := m.unproved()
	if len(list) == 0 {
		return nil
	}
	next := make(chan *Lease)
	errs := make([]error, provers)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			for l := range next {
				if err := l.renew(ctx); err != nil && !errors.Is(err, ErrLost) {
					errs[i] = err
				}
			}
		})
	}
	for _, l := range list {
		if ctx.Err() == nil {
			next <- l
		}
	}
	close(next)
	all.Wait()
	return cmp.Or(errs...)
}

func (m *Member) unproved() []*Lease {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []*Lease
	for _, l := range m.leases {
		if l.proved != m.proofs {
			list = append(list, l)
		}
	}
	return list
}

// certain reports whether nobody can have considered us dead.
func (m *Member) certain() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.certainLocked()
}

func (m *Member) certainLocked() bool { return m.proofs > 0 && time.Since(m.good) <= m.patience() }

// certainOf reports the same, and that nobody has taken the lease when that was not so.
func (m *Member) certainOf(l *Lease) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.certainOfLocked(l)
}

func (m *Member) certainOfLocked(l *Lease) bool { return l.proved == m.proofs && m.certainLocked() }

// Leave ends the membership properly: shadows of the same store may take over at
// once, others after the TTL.
func (m *Member) Leave() {
	m.End()
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	_, _ = m.kv.Put(ctx, shadowKey+m.o.Home.ID, m.heartbeat(true)) // if it fails, the TTL says the same
}

// End stops the heartbeats, as a crash would.
func (m *Member) End() {
	m.stop()
	m.done.Wait()
}

// conflict reports whether a compare-and-set found another value.
func conflict(err error) bool {
	var api *jetstream.APIError
	if !errors.As(err, &api) {
		return errors.Is(err, jetstream.ErrKeyExists)
	}
	return api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant
}
