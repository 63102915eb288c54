package session

import (
	"cmp"
	"errors"
	"fmt"

	"stackagent/granularity/activity"
	"stackagent/hpc/sched"
	"stackagent/internal/units"
)

// Switches are how often a thread left its CPU: because it blocked, or because it was preempted.
type Switches struct{ Voluntary, Involuntary uint64 }

// ErrNoActivity is a session without a scheduling record.
var ErrNoActivity = errors.New("the session has no scheduling record")

// Activity is what the threads of a session did with their time, as the
// scheduler saw it: the record, joined with the session's threads.
type Activity struct {
	Threads  []activity.Thread
	Java     []uint32       // by thread: the Java thread (Thread.ID) that it carried for longest; 0: none
	Index    map[uint32]int // by Java thread: the thread that stands for it
	Switches []Switches     // by thread
	From, To units.MonoNs   // of the observation
	Source   string         // "ebpf", "perf"
	Lost     uint64         // records of switches that the kernel had no room for
	// NotAvailable is what the source cannot know -> why and the remedy.
	NotAvailable map[string]string
	Complete     bool           // the record ended cleanly
	Account      *sched.Account // the record against the kernel's account; nil: not compared
	Cost         *sched.Cost    // of the observation; nil: not known

	session *Session
	reader  *sched.Reader
	waits   *endedWaits
}

// Activity is the scheduling record of the session. It is opened once: all that read it share what it takes to know its waits.
func (s *Session) Activity() (*Activity, error) { return Shared(s, (*Session).openActivity) }

func (s *Session) openActivity() (*Activity, error) {
	r, err := s.Scheduling()
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", s.Manifest.Session, err)
	}
	if r == nil {
		return nil, fmt.Errorf("session %s: %w: record one with shadow run --switches=auto (shadow doctor says what this machine allows)",
			s.Manifest.Session, ErrNoActivity)
	}
	rec := r.Record()
	if rec.Source == sched.NoSource {
		return nil, fmt.Errorf("session %s: %w: %s", s.Manifest.Session, ErrNoActivity, rec.NotAvailable[sched.NoRecord])
	}
	a := &Activity{
		Index: map[uint32]int{}, From: rec.From, To: rec.To, Source: rec.Source, Lost: rec.Lost, NotAvailable: rec.NotAvailable,
		Complete: r.Complete(), Account: rec.Account, Cost: rec.Cost, session: s, reader: r,
	}
	threads := s.recorded(rec)
	for i := range threads {
		t, java := &threads[i], uint32(0)
		if t.Carried != nil {
			java = t.Carried.ID
		}
		if a.Java = append(a.Java, java); java != 0 {
			a.Index[java] = i
		}
		a.Threads = append(a.Threads, activity.Thread{Name: t.Label(), Kind: t.Kind, Pool: t.Pool(), First: t.First, Last: t.Last, BeginSeen: t.BeginSeen, Ended: t.EndSeen})
		a.Switches = append(a.Switches, Switches{t.Voluntary, t.Involuntary})
	}
	a.waits = newEndedWaits(s, threads)
	return a, nil
}

// byTID are the threads that each thread of the operating system carried.
func (s *Session) byTID() map[int32][]*Thread {
	byTID := map[int32][]*Thread{}
	for i := range s.Threads {
		if t := &s.Threads[i]; t.OSID != 0 {
			byTID[t.OSID] = append(byTID[t.OSID], t)
		}
	}
	return byTID
}

// KindsByTID are the kinds of the Java threads, by the thread of the operating system that carried them. If that carried several, those of
// the application count.
func (s *Session) KindsByTID() map[int32]string {
	kinds := map[int32]string{}
	for tid, threads := range s.byTID() {
		for _, t := range threads {
			if old := kinds[tid]; old != KindApplication && old != KindMain {
				kinds[tid] = t.Kind
			}
		}
	}
	return kinds
}

// carriedBy chooses the thread of the session that a thread of the record stands
// for: the main thread (which becomes DestroyJavaVM), or the one that it carried
// for longest; nil if none.
func carriedBy(t *sched.Thread, carried []*Thread) (chosen *Thread) {
	longest := units.Ns(0)
	for _, c := range carried {
		end := c.EndNs
		if end == 0 {
			end = t.Last
		}
		both := activity.Span{From: max(c.StartNs, t.First), To: min(end, t.Last)}.Len()
		if both == 0 {
			continue // another thread of that number, before or after
		}
		if c.Kind == KindMain || both > longest && (chosen == nil || chosen.Kind != KindMain) {
			longest, chosen = both, c
		}
	}
	return chosen
}

// Stream reads the slices between from and to, cut at these. A wait has the state that who ended it shows.
func (a *Activity) Stream(from, to units.MonoNs) activity.Stream {
	return func(use func(activity.Slice) error) error {
		a.waits.look(a.reader)
		err := a.reader.Each(from, to, func(run []sched.Slice) error {
			for i := range run {
				s := &run[i]
				if err := use(activity.Slice{Thread: s.Thread, State: a.waits.state(s), From: s.From, To: s.To, By: endedBy(s), On: s.Futex, Cut: a.waits.cut(s), InFutex: s.State == sched.Futex}); err != nil {
					return err
				}
			}
			return nil
		})
		return errors.Join(err, a.session.checkRecord(a.reader))
	}
}

// endedBy is 1 + the thread that ended a wait; 0: not known, or none.
func endedBy(s *sched.Slice) uint32 {
	if by, ok := s.Waker.Thread(); ok {
		return by + 1
	}
	return 0
}

// KnowsEnds reports whether the record says which thread ended a wait.
func (a *Activity) KnowsEnds() bool {
	return a.NotAvailable[sched.NoWakers] == "" && a.reader.HasWakers()
}

// NoRunnable says why waits for a CPU are not all known as such; "": they are.
func (a *Activity) NoRunnable() string { return a.NotAvailable[sched.NoRunnable] }

// NoFutexes says why not every wait in a futex is known as such; "": they are.
func (a *Activity) NoFutexes() string {
	return cmp.Or(a.NotAvailable[sched.NoReasons], a.NotAvailable[sched.NoCalls])
}

// Damage is what could not be read of the record so far; reading a stream may
// find more.
func (a *Activity) Damage() []error { return a.reader.Damage() }

// Spans are the pauses of the session as plain spans.
func (s *Session) Spans() []activity.Span { return SpansOf(s.Pauses) }

// Stopped is when the collector stopped the program.
func (s *Session) Stopped() *activity.Covered {
	all, _ := Shared(s, func(s *Session) (*activity.Covered, error) { return activity.Cover(s.Spans()), nil })
	return all
}

// OwnStops are when the profiler stopped the program, in the order of time.
func (s *Session) OwnStops() []activity.Span { return SpansOf(s.Own) }

// SpansOf are pauses as plain spans.
func SpansOf(pauses []Pause) []activity.Span {
	out := make([]activity.Span, len(pauses))
	for i, p := range pauses {
		out[i] = activity.Span{From: p.StartNs, To: p.EndNs}
	}
	return out
}
