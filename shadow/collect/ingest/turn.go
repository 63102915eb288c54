package ingest

import (
	"cmp"
	"slices"
	"time"

	"stackagent/internal/timers"
)

// Where there are many sessions, each has a consumer only while it is its turn: it takes what waits for it on the bus,
// stores it as one part, acknowledges it, and rests until it is due again. At rest it holds no batches.
const (
	mostTurns     = 32                     // sessions whose turn it is
	mostConsumers = 800                    // of all shadows of a stream: by default it has 1000 at most
	turnBacklog   = 64                     // messages for which a session does not wait until it is due
	turnLook      = 100 * time.Millisecond // whether a turn is over
	turnSettle    = 50 * time.Millisecond  // without a message after which nothing more is expected
	turnEmpty     = 3 * time.Second        // the same at the beginning of a turn
	longTurn      = 10 * time.Second       // after which others have their turn
	turnPatience  = 5 * time.Second        // for workers to store what they hold
)

// turns reports whether sessions take turns.
func (in *Ingest) turns() bool { return in.opened.Load() > in.limit.Load() }

// share divides the consumers of the stream among the shadows.
func (in *Ingest) share() {
	in.limit.Store(int64(min(in.o.dense, max(1, mostConsumers/in.member.Alive()))))
}

// dueAfter is how long a session rests.
func (in *Ingest) dueAfter() time.Duration {
	return time.Duration(5 * in.stretch() * float64(in.o.PartInterval))
}

// late is how late what comes of a session may be because it waits for its turn; 0: sessions do not take turns.
func (in *Ingest) late() time.Duration {
	if !in.turns() {
		return 0
	}
	return in.dueAfter() + longTurn
}

// Watcher is a Follower that learns at each look how late batches may be because sessions take turns. It reports which
// sessions somebody is looking at: they do not wait.
type Watcher interface {
	Turns(late time.Duration) (watched map[string]bool)
}

// wake looks which sessions are due, as messages wait for them, and gives turns; waiting counts the messages.
func (in *Ingest) wake(waiting map[string]uint64) {
	for len(in.rests) > 0 { // they are counted below
		<-in.rests
	}
	var watched map[string]bool
	if f, ok := in.o.Follower.(Watcher); ok {
		watched = f.Turns(in.late())
	}
	now, awake := time.Now(), 0
	var due []*source
	for _, s := range in.sources {
		if !s.asleep.Load() {
			awake++
			continue
		}
		n := waiting[s.name]
		if n > 0 {
			s.sawWaiting.Store(now.UnixNano())
		}
		rested := now.Sub(time.Unix(0, s.rested.Load()))
		if !in.quotas.mayRead(s.service, 0) {
			continue
		}
		if !in.turns() || n > 0 && (rested >= in.dueAfter() || n >= turnBacklog || !s.began.Load() || watched[s.name] || in.draining.Load() > 0) {
			due = append(due, s)
		}
	}
	since := func(s *source) int64 { // when it became due
		at := s.rested.Load()
		if s.began.Load() {
			at += int64(in.dueAfter())
		}
		return at
	}
	slices.SortFunc(due, func(a, b *source) int { return cmp.Compare(since(a), since(b)) })
	in.due, in.free = due, min(mostTurns, int(in.limit.Load()))-awake
	in.grant()
}

// grant gives the free turns to those that are due, in their order.
func (in *Ingest) grant() {
	n := len(in.due)
	if in.turns() {
		n = min(n, max(in.free, 0))
	}
	for _, s := range in.due[:n] {
		in.free--
		s.asleep.Store(false)
		select {
		case s.wakes <- struct{}{}:
		default:
		}
	}
	in.due = in.due[n:]
	in.queueing.Store(len(in.due) > 0)
}

// turnOver reports whether the source's turn is over, and has its workers store what they hold.
func (s *source) turnOver(now time.Time) bool {
	if !s.in.turns() || s.current() == nil && !s.direct {
		return false
	}
	drained := s.more == 0 && (s.direct || now.Sub(s.latest) >= turnSettle) || now.Sub(s.latest) >= turnEmpty
	long := s.long(now)
	return (drained || long) && (s.settled() || long)
}

// long reports whether the turn has lasted so long that others must have theirs.
func (s *source) long(now time.Time) bool {
	return s.in.turns() && now.Sub(s.turn) >= longTurn && s.in.queueing.Load()
}

// settled has the workers store what they hold, and reports whether they hold nothing any more.
func (s *source) settled() bool {
	all := s.more == 0 && s.in.draining.Load() > 0
	patience := time.NewTimer(turnPatience)
	defer patience.Stop()
	for _, w := range s.workers {
		holds := make(chan bool, 1)
		select {
		case w.asks <- func() { holds <- w.settle(all) }:
		case <-w.done:
			continue
		case <-patience.C:
			return false
		case <-s.in.stop:
			return false
		}
		select {
		case h := <-holds:
			if h {
				return false
			}
		case <-patience.C: // its folder takes nothing
			return false
		case <-s.in.stop:
			return false
		}
	}
	return true
}

// settle takes what has come and stores the part, unless the rate of the agent's clock is not known yet; all: in any case,
// and what is behind gaps, too. It reports whether anything is held.
func (w *worker) settle(all bool) (holds bool) {
	for len(w.in) > 0 && !w.dropped() {
		if m, ok := <-w.in; ok {
			w.take(m)
		}
	}
	if all {
		w.skipGaps(true)
	}
	if w.out != nil && len(w.part) > 0 && (all || w.convertible()) {
		w.store()
	}
	return len(w.pending) > 0
}

// lookAgain is when to look next whether the turn is over. While there are no turns that has time.
func (s *source) lookAgain() time.Duration {
	if s.in.turns() {
		return turnLook
	}
	return timers.After(aloneInterval)
}

// rest ends the turn.
func (s *source) rest(stop func()) {
	if stop != nil {
		stop()
	}
	s.retireConsumer()
	s.setConsumer(nil)
	s.direct = false
	s.noDirect.Store(false)
	s.caught.Store(false)
	s.rested.Store(time.Now().UnixNano())
	s.began.Store(true)
	s.asleep.Store(true)
	select {
	case s.in.rests <- struct{}{}:
	default: // the next look counts
	}
}
