package session

import (
	"testing"

	"stackagent/granularity/activity"
	"stackagent/hpc/sched"
	"stackagent/internal/units"
)

// TestIdleCarriers: a carrier that another one wakes has waited for what that one waited for, if that had just been woken itself.
func TestIdleCarriers(t *testing.T) {
	const a, b, other, us = 0, 1, 4, 1000
	e := &endedWaits{program: []bool{true, true, false, false, true}, carriers: []bool{true, true, false, false, false},
		enders: []ender{ofProgram, ofProgram, timer, poller, ofProgram}}
	waits := func(thread uint32, from, to units.MonoNs, by uint32) sched.Slice {
		return sched.Slice{Thread: thread, State: sched.Futex, From: from * us, To: to * us, Waker: sched.WakerThread(by)}
	}
	runs := func(thread uint32, from, to units.MonoNs) sched.Slice {
		return sched.Slice{Thread: thread, State: sched.Running, From: from * us, To: to * us}
	}
	const timed, polled = 2, 3
	record := []sched.Slice{
		waits(a, 0, 900, timed), waits(b, 0, 1000, a), runs(a, 900, 2000), runs(b, 1000, 1100), // a passes on the end of the sleep
		waits(b, 1100, 1900, a), runs(b, 1900, 1950), // the thread on a ends a wait
		waits(b, 1950, 2500, polled), waits(a, 2000, 2520, b), runs(b, 2500, 5000), runs(a, 2520, 2600), // b passes on a byte
		waits(a, 2600, 4000, b), runs(a, 4000, 4010), // the same, but a wait beyond a part of the record, as two:
		waits(a, 4010, 6000, b), runs(b, 5000, 5000), waits(b, 5000, 5990, other), runs(b, 5990, 7000), waits(a, 6000, 6500, b), runs(a, 6500, 7000),
	}
	e.idle = e.idleWaits(func(use func([]sched.Slice) error) error { return use(record) })
	want := map[units.MonoNs]activity.ThreadState{1000: activity.Sleeping, 1900: activity.Futex, 2520: activity.IO, 4000: activity.Futex, 6000: activity.Futex, 6500: activity.Futex}
	for i := range record {
		s := &record[i]
		if by, ok := s.Waker.Thread(); ok && e.carriers[by] {
			if got := e.state(s); got != want[s.To/us] {
				t.Errorf("thread %d from %d to %d us: %s, want %s", s.Thread, s.From/us, s.To/us, got, want[s.To/us])
			}
		}
	}
}
