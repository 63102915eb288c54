package session

import (
	"sort"

	"stackagent/granularity/activity"
	"stackagent/hpc/sched"
	"stackagent/internal/units"
)

// A carrier is idle because no virtual thread is ready to run. It waits for what the virtual threads wait for, and that is what made
// one of them ready: the timer ends a sleep, a poller ends a wait for I/O, another thread of the program everything else.
//
// A carrier that has been woken often wakes another one, for the rest of what is ready or for nothing. That one has waited for the same,
// unless the first has run since for more than half of that wait: then it has waited for a virtual thread on the first.

// idleWait is a wait of a carrier that another carrier ended, and that was a sleep, or for I/O.
type idleWait struct {
	activity.Span
	state activity.ThreadState
}

// carrierTime is what is known of a carrier while the record is read.
type carrierTime struct {
	wait  sched.Slice          // its latest
	open  bool                 // what it waited for is not known yet
	cause activity.ThreadState // of its latest wait that has ended
	ran   units.Ns             // since then, without
	run   activity.Span        // its latest stay on a CPU
}

// idleWaits are those of each carrier, in the order of time. all reads the record.
func (e *endedWaits) idleWaits(all func(func([]sched.Slice) error) error) map[uint32][]idleWait {
	carriers, out := map[uint32]*carrierTime{}, map[uint32][]idleWait{}
	for t, carrier := range e.carriers {
		if carrier {
			carriers[uint32(t)] = &carrierTime{}
		}
	}
	if len(carriers) == 0 {
		return out
	}
	_ = all(func(run []sched.Slice) error { // whoever reads the slices next meets the same damage and reports it
		for i := range run {
			s := &run[i]
			c := carriers[s.Thread]
			if c == nil {
				continue
			}
			if c.open && s.State == sched.Futex && s.From == c.wait.To { // beyond a part of the record
				c.wait.To = s.To
				continue
			}
			if c.open {
				e.endIdle(c, carriers, out)
			}
			switch s.State {
			case sched.Futex:
				c.wait, c.open = *s, true
			case sched.Running:
				c.ran, c.run = c.ran+c.run.Len(), activity.Span{From: s.From, To: s.To}
			}
		}
		return nil
	})
	return out
}

// endIdle says what c waited for. All that the thread that woke it did before is known.
func (e *endedWaits) endIdle(c *carrierTime, carriers map[uint32]*carrierTime, out map[uint32][]idleWait) {
	c.open = false
	by, ok := c.wait.Waker.Thread()
	if ok && e.enders[by] == besides {
		return
	}
	c.cause, c.ran, c.run = e.state(&c.wait), 0, activity.Span{}
	first := carriers[by]
	if !ok || first == nil || c.cause != activity.Futex {
		return
	}
	waited := activity.Span{From: c.wait.From, To: c.wait.To}
	if ran := first.ran + first.run.Cut(activity.Span{From: first.run.From, To: waited.To}).Len(); 2*ran > waited.Len() {
		return
	}
	if first.cause == activity.Sleeping || first.cause == activity.IO {
		c.cause = first.cause
		out[c.wait.Thread] = append(out[c.wait.Thread], idleWait{waited, c.cause})
	}
}

// idleState is the state of a part of a carrier's wait; false: it is what the thread shows that ended the wait.
func (e *endedWaits) idleState(s *sched.Slice) (activity.ThreadState, bool) {
	all := e.idle[s.Thread]
	i := sort.Search(len(all), func(i int) bool { return all[i].To > s.From })
	if i == len(all) || all[i].From > s.From {
		return 0, false
	}
	return all[i].state, true
}
