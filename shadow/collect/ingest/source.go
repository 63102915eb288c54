package ingest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"stackagent/internal/timers"
	"stackagent/shadow/collect/bus"
	"stackagent/shadow/collect/ownership"
)

const (
	legacyConsumer = "shadow"   // of the whole stream, as earlier versions had it
	consumerPrefix = "session-" // followed by a hash of the session's name and the owner's epoch
	inactive       = 10 * time.Minute
	retryPause     = 500 * time.Millisecond
	stuckDelay     = 2 * time.Second // when a message comes again whose session cannot be stored now
)

// ErrBusy is returned when a shadow of an earlier version consumes the same stream.
var ErrBusy = errors.New("a shadow of an earlier version is storing from this bus; stop it, or use another bus")

// ErrOnBus is returned when batches could not be stored because the bus did not
// say whether their sessions are still ours: they are on it, unacknowledged.
var ErrOnBus = errors.New("the last batches wait on the bus for the shadow that has their session")

// source brings the messages of one session name to its workers: one for each JVM that uses the name. It has
// a consumer of its own, so that a session that cannot be stored holds up no other.
type source struct {
	in       *Ingest
	name     string
	lease    *ownership.Lease
	moved    bool // to another shadow
	over     bool // the sessions of its latest workers have ended
	msgs     chan message
	pokes    chan struct{} // asks whether the consumer is still there
	wakes    chan struct{} // it is its turn
	caughtUp chan struct{} // read directly, nothing more waits at the moment
	done     chan struct{}

	// See turn.go.
	asleep     atomic.Bool
	began      atomic.Bool  // it has had a turn
	rested     atomic.Int64 // when it began to wait for its turn, Unix nanoseconds
	sawWaiting atomic.Int64 // when messages waited on the bus for it, as far as is known
	turn       time.Time    // when its turn began
	latest     time.Time    // when a message came, or its turn began
	more       uint64       // messages behind the latest
	cleared    bool         // no earlier owner's consumer is left
	held       int          // messages read directly since its workers stored what they had
	direct     bool         // it reads without a consumer
	noDirect   atomic.Bool  // it cannot in this turn
	caught     atomic.Bool  // it has read directly in this turn what waited
	service    string       // of the session, where there are quotas

	mu       sync.Mutex
	consumer jetstream.Consumer // nil: not there at the moment
	workers  map[string]*worker // by process; written by run only
}

func newSource(in *Ingest, l *ownership.Lease) *source {
	s := &source{in: in, name: l.Session, lease: l, msgs: make(chan message), pokes: make(chan struct{}, 1),
		wakes: make(chan struct{}, 1), caughtUp: make(chan struct{}), done: make(chan struct{}), workers: map[string]*worker{}}
	s.rested.Store(time.Now().UnixNano())
	s.asleep.Store(in.turns())
	return s
}

// run brings messages until the shadow ends, the lease is lost, or nothing has come for long.
func (s *source) run() {
	defer close(s.done)
	defer s.in.leave(s)
	defer s.endWorkers()
	tick := timers.NewTicker(min(s.in.o.LostContact/4, s.in.quietPace()))
	defer tick.Stop()
	look := time.NewTimer(turnLook)
	defer look.Stop()
	if !s.asleep.Load() {
		s.poke()
	}
	var stop func()
	defer func() {
		if stop != nil {
			stop()
		}
	}()
	idle := time.Now()
	for {
		select {
		case <-s.in.stop:
			return
		case <-s.lease.Lost():
			s.in.log.Info("ingest: a session went to another shadow", "session", s.name)
			s.moved = true
			return
		case <-s.wakes:
			now := time.Now()
			s.turn, s.latest, s.more, s.held = now, now, 1, 0
			look.Reset(turnLook)
			s.poke()
		case <-s.pokes:
			if !s.asleep.Load() {
				stop = s.revise(stop)
			}
		case m := <-s.msgs:
			if meta, err := m.Metadata(); err == nil {
				s.more = meta.NumPending
			}
			s.route(m)
			idle = time.Now()
			s.latest = idle
			if s.held++; s.direct && s.held >= maxAckPending { // of a consumer's messages the server holds the others back
				s.settled()
				s.held = 0
			}
			if !s.in.quotas.mayRead(s.service, len(m.Data())) {
				s.settled()
				s.rest(stop)
				stop = nil
			}
		case <-s.caughtUp:
			s.more = 0
			s.caught.Store(true)
			if !s.asleep.Load() && s.turnOver(time.Now()) {
				s.rest(stop)
				stop = nil
			}
		case now := <-look.C:
			if s.asleep.Load() {
				continue // the next turn sets it
			}
			if s.turnOver(now) {
				s.rest(stop)
				stop = nil
				continue
			}
			if s.direct && !s.in.turns() {
				s.poke()
			}
			look.Reset(s.lookAgain())
		case now := <-tick.C:
			if at := time.Unix(0, s.sawWaiting.Load()); at.After(idle) {
				idle = at
			}
			s.endIdle(now)
			if len(s.workers) == 0 && (s.over && s.in.pressed.Load() || now.Sub(idle) > s.patience()) {
				s.retireConsumer()
				s.lease.Release(keepRow)
				return
			}
		}
	}
}

// leave informs the dispatcher that s has ended.
func (in *Ingest) leave(s *source) {
	select {
	case in.gone <- s:
	case <-in.stop:
	}
}

// poke makes the source look after its consumer.
func (s *source) poke() {
	select {
	case s.pokes <- struct{}{}:
	default:
	}
}

// coming reports whether messages of the session have not been delivered to us yet.
func (s *source) coming(ctx context.Context) bool {
	c := s.current()
	if c == nil {
		return !s.caught.Load()
	}
	info, err := c.Info(ctx)
	return err != nil || info.NumPending > 0
}

// route hands a message to the worker of its JVM.
func (s *source) route(m message) {
	s.in.routed.Add(1)
	key, err := senderOf(m)
	if err != nil {
		s.in.refuse(m, err)
		return
	}
	w := s.workers[key.process]
	if w == nil {
		// One JVM of each name is always taken: many of one name keep no other out.
		if len(s.workers) > 0 && int(s.in.active.Load()) >= s.in.o.MaxSessions {
			s.in.turnedAway.Store(time.Now().UnixNano()) // crowd reports it, not each message
			s.in.putBack(m, turnPause)
			return
		}
		w = s.add(key)
	}
	for {
		select {
		case w.in <- m:
			return
		default:
		}
		if w.stuck.Load() && len(s.workers) > 1 { // one JVM's folder that takes nothing must not hold up its namesakes
			s.in.putBack(m, stuckDelay)
			return
		}
		select {
		case w.in <- m:
			return
		case <-s.in.stop:
			return
		case <-s.lease.Lost():
			return
		case now := <-time.After(stuckDelay):
			if s.long(now) { // its folder takes nothing: it must not hold up other sessions
				s.in.putBack(m, stuckDelay)
				return
			}
		}
	}
}

func (s *source) add(key sender) *worker {
	w := newWorker(s, key)
	s.over = false
	s.mu.Lock()
	s.workers[key.process] = w
	s.mu.Unlock()
	s.in.active.Add(1)
	return w
}

func (in *Ingest) putBack(m message, delay time.Duration) {
	if err := m.NakWithDelay(delay); err != nil {
		in.log.Warn("ingest: putting a message back", "error", err)
	}
}

// endIdle ends the workers of JVMs from which nothing comes any more.
func (s *source) endIdle(now time.Time) {
	for process, w := range s.workers {
		idle := now.Sub(time.Unix(0, max(w.lastBatch.Load(), s.sawWaiting.Load())))
		if over := w.finished.Load() && s.in.pressed.Load(); idle < s.patience() && !over || w.stuck.Load() && w.holds.Load() {
			continue
		}
		s.over = w.finished.Load()
		s.end(process, w)
	}
}

func (s *source) end(process string, w *worker) {
	close(w.in)
	<-w.done
	w.forgetNames("*")
	s.mu.Lock()
	delete(s.workers, process)
	s.mu.Unlock()
	s.in.active.Add(-1)
}

// endWorkers ends them all, and the consumer with them.
func (s *source) endWorkers() {
	for _, w := range s.all() {
		close(w.in)
	}
	for _, w := range s.all() {
		<-w.done
		if s.moved {
			w.tellMoved()
		}
		if w.err != nil && !errors.Is(w.err, ownership.ErrLost) {
			s.in.fail(s.name, w.err)
		}
	}
	s.in.active.Add(-int64(len(s.workers)))
}

// storedBefore reports whether the owner before, in a store that we do not see, may have stored the batch in m
// and not acknowledged it. Such a batch becomes a part of its own, so that who joins the pieces of the session
// can see by the names of the parts what is there twice.
func (s *source) storedBefore(m message) bool {
	if s.lease.Apart() == 0 {
		return false
	}
	meta, err := m.Metadata()
	return err != nil || meta.Sequence.Stream <= s.lease.Apart()
}

// all lists the workers.
func (s *source) all() []*worker {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*worker, 0, len(s.workers))
	for _, w := range s.workers {
		list = append(list, w)
	}
	return list
}

func subjectOf(session string) string { return strings.TrimSuffix(bus.Subjects, ">") + session }
