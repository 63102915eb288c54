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
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"stackagent/internal/label"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/collect/bus"
	"stackagent/shadow/collect/ownership"
	"stackagent/shadow/store"
)

// Defaults of Options.
const (
	DefaultPartRows     = 256 << 10
	DefaultPartInterval = 2 * time.Second
	DefaultLostContact  = time.Minute
	DefaultMaxSessions  = 10_000
	DefaultKeepEnded    = 1024
)

const (
	// ackWait must be longer than storing a part ever takes; a message that
	// comes again all the same is recognised by its sequence number.
	ackWait         = time.Minute
	maxAckPending   = 1024 // of one session
	pullMessages    = 64
	pullBytes       = 4 << 20
	queueLength     = 8       // messages waiting for a session's worker
	rowBudget       = 4 << 20 // rows in memory over all sessions
	minPartRows     = 8 << 10
	askTimeout      = 5 * time.Second        // of a question to the bus
	lookInterval    = 200 * time.Millisecond // between looks for new sessions
	calmInterval    = 5 * time.Second        // the same while nothing happens on the shadow's own bus
	aloneInterval   = 2 * time.Second        // between looks while nobody is connected to it
	settledInterval = time.Second            // the same while those that are have been for settledAfter
	settledAfter    = 10 * time.Second
	lookShare       = 20 // a look lists all sessions on the bus: it may take a twentieth of the time
	// reorderBatches and gapWait bound how long a missing batch is waited for.
	// One that comes later is still stored.
	reorderBatches = 64
	gapWait        = 2 * time.Second
)

// Options of Start; zero values choose the defaults.
type Options struct {
	Bus          *bus.Bus
	Root         string                    // each session becomes a folder in it
	PartRows     int                       // a part closes at this many rows
	PartInterval time.Duration             // or this long after its first batch came; up to five times that in a long session
	LostContact  time.Duration             // a session without a batch for so long is closed
	Services     func(service string) bool // whether JVMs of a service send here: the label of others is not taken; nil: all do
	MaxSessions  int                       // open at once; more wait on the bus for their turn
	KeepEnded    int                       // sessions that have ended that Sessions still lists
	TTL          time.Duration             // a shadow silent for so long is dead to the others that share the bus
	Quotas       []Quota                   // of services; a service has one at most
	// MayMerge says which batches of the session in a folder may become one part, see store.Writer; nil: all.
	MayMerge func(dir string, ended bool) func(store.Range) bool
	Live     Live         // may be nil
	Follower Follower     // may be nil
	Logger   *slog.Logger // nil: slog.Default()

	dense         int           // from as many sessions on they take turns
	closePatience time.Duration // see Ingest.LeftOpen
}

// Progress is where a session stands.
type Progress struct {
	Session   string
	Process   string // wire.Batch.Process of its JVM
	Folder    string // its folder, below the root
	JVM       store.JVM
	Labels    label.Labels
	StartNs   units.MonoNs // of the session, by the JVM's CLOCK_MONOTONIC
	Received  store.Counts // events received, stored or about to be
	Stored    store.Counts
	Lost      store.Lost
	Batches   uint64 // received
	Repeated  uint64 // batches that came again and were left out
	Ended     string // one of store's Ended constants
	LastBatch time.Time
}

// Live learns what happens, for a display. Calls come from several goroutines
// and must return quickly.
type Live interface {
	// Progress comes after every stored part, every second besides while batches come, and at the end of a session.
	Progress(p Progress)
	// Problem comes once when storing stops working, and with nil when it works again. ErrGivenUp ends the problem of
	// a session of which nothing could be stored.
	Problem(session string, err error)
}

// Follower sees what comes, batch by batch, before it is stored. Calls about one folder
// come one after another, from the goroutine that stores it: they must return quickly.
type Follower interface {
	// Begin comes when a session's folder is opened. m and f, which may be nil, have what is stored of it already, and are valid
	// during the call.
	Begin(folder string, m *store.Manifest, f *store.Folder)
	// Batch comes once for each batch: in order, but for those that come when they have been given up as lost. b is valid during
	// the call. pressed: further messages wait.
	Batch(folder string, b *wire.Batch, pressed bool)
}

// Ingest is a running consumer.
type Ingest struct {
	o      Options
	log    *slog.Logger
	stream jetstream.Stream
	names  jetstream.Stream // see names.go; nil: none are kept
	home   *ownership.Home
	member *ownership.Member
	direct bool // the stream can be read without a consumer

	stop    chan struct{} // closed by Close
	killed  atomic.Bool   // end without storing what is in memory
	shutAt  atomic.Int64  // when stop was closed, Unix nanoseconds
	ends    chan struct{} // holds one for each session that is being closed
	flushes chan chan struct{}
	looks   chan struct{} // asks for a look for new sessions
	gone    chan *source  // sources that have ended by themselves
	rests   chan struct{} // a turn is over
	done    chan struct{} // the dispatcher has ended

	settled map[string]time.Time // the dispatcher's, see endStale
	foreign foreignRows
	quotas  *quotas
	crowded bool          // sessions wait for room, and it is reported; the dispatcher's
	calm    calm          // the dispatcher's
	listing time.Duration // for which the bus listed what waits at the last look; the same
	due     []*source     // wait for their turn since then; the same
	free    int           // turns for them; the same

	active   atomic.Int64 // open workers, to share the row budget
	opened   atomic.Int64 // sources
	limit    atomic.Int64 // from more sources on they take turns
	queueing atomic.Bool  // sessions wait for their turn
	draining atomic.Int64 // calls of Drain
	leftOpen atomic.Int64 // sessions for whose closing there was no time
	bad      atomic.Uint64
	refusals refusals
	routed   atomic.Int64 // messages taken from the bus

	pressed    atomic.Bool  // sessions wait for room
	turnedAway atomic.Int64 // when the latest JVM of a name that has others had to wait, Unix nanoseconds

	mu      sync.Mutex
	sources map[string]*source // by session; written by the dispatcher only
	known   known
	ended   string   // how Close was called
	err     failures // of the last parts, of sessions whose folders take nothing
	onBus   failures // the same, of sessions that may be another shadow's by now
}

// Start begins to consume; ctx bounds the starting only. It takes over where an earlier shadow of the same
// store ended: what that one had not stored comes again. Other shadows may use the bus at the same time; each
// session is stored by one of them.
func Start(ctx context.Context, o Options) (*Ingest, error) {
	if o.Bus == nil || o.Root == "" {
		return nil, errors.New("ingest: needs a bus and a folder to store in")
	}
	if err := os.MkdirAll(o.Root, 0o700); err != nil {
		return nil, fmt.Errorf("ingest: folder of the sessions: %w", err)
	}
	in := newIngest(o)
	if err := in.join(ctx); err != nil {
		return nil, err
	}
	go in.dispatch()
	return in, nil
}

func newIngest(o Options) *Ingest {
	setDefaults(&o)
	in := &Ingest{
		o: o, log: o.Logger, stop: make(chan struct{}), flushes: make(chan chan struct{}), looks: make(chan struct{}, 1),
		gone: make(chan *source), rests: make(chan struct{}, mostTurns), ends: make(chan struct{}, mostEnds), done: make(chan struct{}), sources: map[string]*source{}, known: newKnown(o.KeepEnded),
	}
	in.foreign.in = in
	in.quotas = newQuotas(o.Quotas)
	in.limit.Store(int64(o.dense))
	return in
}

// join opens the stream and makes this shadow one of those that share it.
func (in *Ingest) join(ctx context.Context) error {
	err := bus.Patiently(func() (err error) {
		if in.stream, err = in.o.Bus.JetStream().Stream(ctx, bus.Stream); err != nil {
			return fmt.Errorf("ingest: the stream on the bus: %w", err)
		}
		return in.retire(ctx, legacyConsumer)
	})
	if err != nil {
		return err
	}
	in.direct = in.mayReadDirectly(ctx)
	in.openNames(ctx)
	if in.home, err = ownership.OpenHome(in.o.Root); err != nil {
		return fmt.Errorf("ingest: %w", err)
	}
	path, err := filepath.Abs(in.o.Root)
	if err != nil {
		path = in.o.Root
	}
	err = bus.Patiently(func() (err error) {
		in.member, err = ownership.Join(ctx, ownership.Options{
			JetStream: in.o.Bus.JetStream(), Home: in.home, Path: path, TTL: in.o.TTL,
			Replicas: in.stream.CachedInfo().Config.Replicas, Problem: in.shareProblem, Foreign: in.foreign.report,
		})
		return err
	})
	if err != nil {
		in.home.Close()
		return fmt.Errorf("ingest: %w", err)
	}
	return nil
}

func (in *Ingest) shareProblem(err error) {
	if err != nil {
		in.log.Warn("ingest: nothing is stored until the bus answers", "error", err)
	}
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
	if o.KeepEnded <= 0 {
		o.KeepEnded = DefaultKeepEnded
	}
	if o.dense <= 0 {
		o.dense = denseSessions
	}
	if o.closePatience <= 0 {
		o.closePatience = closePatience
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
}

// refuse takes a message out of the stream that no retry could make good.
func (in *Ingest) refuse(m message, err error) {
	in.bad.Add(1)
	in.log.Warn("ingest: rejected a message", "subject", m.Subject(), "error", err)
	in.tellRefused(m.Subject(), 1, err)
	if err := m.TermWithReason("not a batch"); err != nil {
		in.log.Warn("ingest: refusing a message", "error", err)
	}
}

// sender is whose batches belong together: one JVM. Several may use one
// session name at the same time.
type sender struct{ session, process string }

// senderOf takes the sender from the envelope of a message.
func senderOf(m message) (sender, error) {
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

// Sessions lists where the sessions stand, in order of appearance: all that are
// open, and the latest that have ended.
func (in *Ingest) Sessions() []Progress {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.known.list()
}

// Totals sums over all sessions since the start, those included of which
// Sessions no longer lists.
func (in *Ingest) Totals() Totals {
	in.mu.Lock()
	defer in.mu.Unlock()
	t := in.known.totals()
	t.Refused = in.bad.Load()
	for _, s := range in.sources {
		if s.asleep.Load() {
			t.Resting++
		}
	}
	t.ForeignRows, _ = in.ForeignRows()
	return t
}

func (in *Ingest) report(p Progress) {
	in.mu.Lock()
	in.known.report(p)
	in.mu.Unlock()
	if in.o.Live != nil {
		in.o.Live.Progress(p)
	}
}

// Drain returns when everything that was published before the call is stored, but for what other shadows have.
// A batch that is missing is no longer waited for; a bus that does not answer is asked again until ctx ends.
func (in *Ingest) Drain(ctx context.Context) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	seen := int64(-1)
	in.draining.Add(1) // nobody waits longer for a turn than for those before
	defer in.draining.Add(-1)
	for {
		left, coming, err := in.left(ctx)
		if err == nil && left == 0 {
			return nil
		}
		// While batches are on their way to us, one that is missing may be among
		// them: it is not given up before all have come.
		routed := in.routed.Load()
		if err == nil && !coming && routed == seen {
			if err := in.flush(ctx); err != nil {
				return err
			}
		}
		seen = routed
		select {
		case <-ctx.Done():
			if err != nil {
				return err
			}
			return fmt.Errorf("ingest: %d batches are not stored yet: %w", left, ctx.Err())
		case <-in.done:
			return errors.New("ingest: closed while draining")
		case <-tick.C:
		}
	}
}

// left counts what is on the bus for us, and reports whether some of it has not
// even come to us.
func (in *Ingest) left(ctx context.Context) (left uint64, coming bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	waiting, err := in.waiting(ctx)
	if err != nil {
		return 0, false, err
	}
	for name, n := range waiting {
		in.mu.Lock()
		s := in.sources[name]
		in.mu.Unlock()
		switch {
		case s != nil:
			left += n
			coming = coming || s.coming(ctx)
		case !in.member.OwnedByOther(name):
			left += n
			coming = true
			select {
			case in.looks <- struct{}{}:
			default:
			}
		}
	}
	return left, coming, nil
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
// their JVMs are known to be gone). What could not be stored stays on the bus;
// the error is ErrOnBus when that is only because the bus did not answer.
func (in *Ingest) Close(ended string) error {
	in.mu.Lock()
	in.ended = ended
	in.mu.Unlock()
	in.shut()
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.err.n == 0 && in.onBus.n > 0 {
		return fmt.Errorf("%w: %w", ErrOnBus, in.onBus.err())
	}
	return errors.Join(in.err.err(), in.onBus.err())
}

// sinceShut is how long the shadow has been ending.
func (in *Ingest) sinceShut() time.Duration { return time.Since(time.Unix(0, in.shutAt.Load())) }

// LeftOpen counts the sessions for whose closing Close had no time. All that came of them is stored, and the next shadow of
// the store goes on with them.
func (in *Ingest) LeftOpen() int64 { return in.leftOpen.Load() }

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
		in.shutAt.Store(time.Now().UnixNano())
		close(in.stop)
	}
	in.mu.Unlock()
	<-in.done
	if d, ok := in.o.Live.(Doorkeeper); ok {
		in.refusals.report(d)
	}
	in.o.Bus.Conn().Flush() // acknowledgements on their way; lost ones only mean a replay
	if in.killed.Load() {
		in.member.End()
	} else {
		in.member.Leave()
	}
	in.home.Close()
}
