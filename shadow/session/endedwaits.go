package session

import (
	"slices"
	"sort"
	"strings"
	"sync"

	"stackagent/granularity/activity"
	"stackagent/hpc/sched"
	"stackagent/internal/units"
	"stackagent/shadow/store"
)

// endedWaits says what the program's threads waited for in futexes, from who ended the wait.
type endedWaits struct {
	program  []bool  // by thread of the record: it is one of the program
	carriers []bool  // by thread of the record: it carries virtual threads
	enders   []ender // by thread of the record
	pauses   []Pause
	paces    bool // the collector is Shenandoah
	marks    bool // it is G1
	// over is when a thread of the record left the program: that of main then takes the JVM down, and waits for the
	// collector's threads to end.
	over map[uint32]units.MonoNs
	end  units.MonoNs // of the JVM; 0: it did not end in order

	once  sync.Once
	paced map[uint32]bool       // futexes of threads that the collector slows down
	idle  map[uint32][]idleWait // of carriers
}

// ender is what a thread that ends waits is.
type ender uint8

const (
	ofProgram ender = iota
	collector
	vmThread // the thread of safepoints
	watcher  // the thread of the JVM's periodic tasks
	timer    // of the JDK: it ends the sleep of virtual threads
	poller   // of the JDK: it ends their waits for I/O
	besides  // it holds locks of the JVM only, such as a compiler
)

func newEndedWaits(s *Session, threads []ThreadTime) *endedWaits {
	e := &endedWaits{pauses: s.Pauses, paces: strings.Contains(s.Manifest.JVM.GC, "Shenandoah"), marks: strings.Contains(s.Manifest.JVM.GC, "G1"), over: map[uint32]units.MonoNs{}}
	if s.Manifest.Ended == store.EndedExit {
		e.end = s.Manifest.EndNs
	}
	for i := range threads {
		t, c := &threads[i], threads[i].Carried
		e.program = append(e.program, t.Kind == KindApplication || t.Kind == KindMain)
		as := ofProgram
		switch {
		case t.Kind == KindGC:
			as = collector
		case strings.HasPrefix(t.Name, "VM Thread"):
			as = vmThread
		case strings.HasPrefix(t.Name, "VM Periodic"):
			as = watcher
		case t.Kind == KindCompiler || strings.HasPrefix(t.Name, "stackagent"):
			as = besides
		}
		switch {
		case c != nil && c.delays():
			as = timer
		case c != nil && c.polls():
			as = poller
		}
		e.enders = append(e.enders, as)
		e.carriers = append(e.carriers, c != nil && c.carrier())
		if c != nil && c.Kind == KindMain && c.EndNs != 0 {
			e.over[uint32(i)] = c.EndNs
		}
	}
	return e
}

// state is what the thread did in s. A wait that a thread of the collector ended is a stall, one that the VM's thread
// ended a safepoint, or a stall if it was for a pause of the collector. A wait that only its time limit ended is a sleep, and so is one
// with a time limit that the end of the program cut; one without is unended.
//
// Shenandoah slows allocation down (pacing): the thread waits with a time limit on a condition variable that only the
// collector uses, and which the JVM's thread of periodic tasks signals. So a futex whose waits that thread
// ends, more than the program's threads do, is that one. (A waiter that took another's signal passes it on.)
func (e *endedWaits) state(s *sched.Slice) activity.ThreadState {
	if s.State != sched.Futex || !e.program[s.Thread] {
		return activity.ThreadState(s.State)
	}
	if e.stalled(s) {
		return activity.Stalled
	}
	if state, ok := e.idleState(s); ok {
		return state
	}
	by, ok := s.Waker.Thread()
	switch {
	case s.Waker == sched.Cut:
		return activity.Unended
	case s.Waker == sched.Outside || s.Waker == sched.CutLimited:
		return activity.Sleeping
	case ok && e.enders[by] == timer:
		return activity.Sleeping
	case ok && e.enders[by] == poller:
		return activity.IO
	case !ok || e.enders[by] != vmThread:
		return activity.Futex
	case e.inPause(s.From, s.To):
		return activity.Stalled
	}
	return activity.Safepoint
}

// cut reports whether the end of the program cut the wait. A source that does not say who ends waits shows when.
func (e *endedWaits) cut(s *sched.Slice) bool {
	isWait := s.State >= sched.Futex
	return isWait && (s.Waker.Cut() || s.Waker == sched.NoWaker && e.end != 0 && s.To >= e.end)
}

// stalled: the thread of the program waits for the collector's threads.
func (e *endedWaits) stalled(s *sched.Slice) bool {
	if s.State != sched.Futex || !e.program[s.Thread] {
		return false
	}
	if over, ended := e.over[s.Thread]; ended && s.From >= over {
		return false
	}
	by, ok := s.Waker.Thread()
	return ok && e.enders[by] == collector || e.paced[s.Futex]
}

func (e *endedWaits) inPause(from, to units.MonoNs) bool {
	i := sort.Search(len(e.pauses), func(i int) bool { return e.pauses[i].EndNs > from })
	return i < len(e.pauses) && e.pauses[i].StartNs < to
}

// look finds, once, what a wait alone does not show: the futexes of slowed threads, and what idle carriers wait for.
func (e *endedWaits) look(r *sched.Reader) {
	e.once.Do(func() {
		if e.paces {
			e.paced = e.pacedFutexes(r)
		}
		e.idle = e.idleWaits(r.All)
	})
}

func (e *endedWaits) pacedFutexes(r *sched.Reader) map[uint32]bool {
	balance, paced := map[uint32]int{}, map[uint32]bool{}
	_ = r.All(func(run []sched.Slice) error { // whoever reads the slices next meets the same damage and reports it
		for i := range run {
			s := &run[i]
			by, ok := s.Waker.Thread()
			switch {
			case s.State != sched.Futex || s.Futex == 0 || !ok || !e.program[s.Thread]:
			case e.enders[by] == watcher:
				balance[s.Futex]++
			case e.enders[by] == ofProgram:
				balance[s.Futex]--
			}
		}
		return nil
	})
	for f, n := range balance {
		if n > 0 {
			paced[f] = true
		}
	}
	return paced
}

// Stall is a wait of a thread of the program for threads of the collector, outside of pauses: for memory, for the end of a
// collection, or because the collector slows allocation down.
type Stall struct {
	Thread uint32 // index in Activity.Threads
	activity.Span
	// Ready is how long after it the thread waited for a CPU.
	Ready units.Ns
	Paced bool // the collector slowed allocation down
}

// Stalls are those that begin between from and to, and cut there. known is empty if they are known, else why not.
func (a *Activity) Stalls(from, to units.MonoNs) (all []Stall, known string, err error) {
	if why := a.NotAvailable[sched.NoWakers]; why != "" {
		return nil, why, nil
	}
	if !a.reader.HasWakers() {
		return nil, "the session was recorded by an older shadow, which did not record who ends a wait", nil
	}
	a.waits.look(a.reader)
	last := map[uint32]int{} // the last stall of a thread
	err = a.reader.Each(from, to, func(run []sched.Slice) error {
		for i := range run {
			s := &run[i]
			n, before := last[s.Thread]
			switch {
			case a.waits.stalled(s) && before && all[n].To == s.From: // beyond a part of the record
				all[n].To = s.To
			case a.waits.stalled(s):
				last[s.Thread] = len(all)
				all = append(all, Stall{Thread: s.Thread, Span: activity.Span{From: s.From, To: s.To}, Paced: a.waits.paced[s.Futex]})
			case before && s.State == sched.Runnable && all[n].To == s.From:
				all[n].Ready = units.Ns(s.To - s.From)
			}
		}
		return nil
	})
	return slices.DeleteFunc(all, a.waits.forPause), "", err
}

// unlocks is the most that G1's marking thread takes from the end of its pause to when a waiter for the heap's lock goes on.
const unlocks = 200_000

// forPause: most of the wait lies in pauses. In one for the whole collection, pauses are the smaller part. G1's marking
// thread holds the heap's lock around each pause of its own, and ends the wait of those who wanted it before.
func (e *endedWaits) forPause(s Stall) bool {
	in := units.Ns(0)
	if after := sort.Search(len(e.pauses), func(i int) bool { return e.pauses[i].EndNs > s.To }); e.marks && after > 0 {
		if end := e.pauses[after-1].EndNs; end > s.From && s.To-end < unlocks {
			return true
		}
	}
	for i := sort.Search(len(e.pauses), func(i int) bool { return e.pauses[i].EndNs > s.From }); i < len(e.pauses) && e.pauses[i].StartNs < s.To; i++ {
		in += activity.Span{From: e.pauses[i].StartNs, To: e.pauses[i].EndNs}.Cut(s.Span).Len()
	}
	return !s.Paced && 2*in > s.Len()
}
