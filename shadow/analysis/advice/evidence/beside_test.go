package evidence

import (
	"testing"

	"stackagent/granularity/activity"
	"stackagent/shadow/analysis/advice"
)

// TestBeside: two workers (0 and 1), two threads of the program (2 and 3) and one of the JVM (4) on two processors, worked
// out by hand.
func TestBeside(t *testing.T) {
	const fellow, other, nobody = 1 + 1, 2 + 1, 0
	in := []activity.Slice{
		{Thread: 2, State: activity.Running, From: 0, To: 30},
		{Thread: 0, State: activity.Futex, By: fellow, On: 7, From: 10, To: 20},
		{Thread: 1, State: activity.Futex, By: other, On: 8, From: 10, To: 25}, // for a thread that is none of the pool's
		{Thread: 0, State: activity.Sleeping, On: 7, From: 20, To: 24},         // looks again whether it gets the lock
		{Thread: 0, State: activity.Futex, By: nobody, On: 7, From: 24, To: 26},
		{Thread: 0, State: activity.Sleeping, On: 9, From: 26, To: 40}, // at a futex that no worker shares
		{Thread: 3, State: activity.Runnable, From: 30, To: 50},
		{Thread: 3, State: activity.Running, From: 50, To: 55},
		{Thread: 1, State: activity.Stalled, From: 60, To: 65},
		{Thread: 4, State: activity.Running, From: 70, To: 100},
		{Thread: 2, State: activity.Running, From: 80, To: 130}, // up to 100
	}
	pools := []contended{{span: activity.Span{From: 10, To: 100}}}
	if err := contention(activity.Of(in), []int{0, 0, -1, -1, notJava}, pools, &contended{}, 2); err != nil {
		t.Fatal(err)
	}
	want := advice.Beside{Idle: 20 + 20 + 5 + 2*15 + 10, Ran: 20 + 20, Wanted: 20 + 20, Stalled: 5}
	if got := *pools[0].facts(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestJudgedIsLookedAt: what goes on beside a pool is known for each that a rule judges, one unit on each of two threads
// included: else it would count as if nobody else used the processors.
func TestJudgedIsLookedAt(t *testing.T) {
	const span = 600_000_000
	p := advice.Pool{PoolName: advice.PoolName{Threads: true}, To: span, Units: 2, Longest: span, Wall: 2 * span,
		Workers: []advice.Worker{{To: span, Wall: span, CPU: span}, {To: span, Wall: span, CPU: span / 3}}}
	if !looksCrowded(&p, 2, advice.DefaultThresholds) {
		t.Error("not looked at")
	}
	if p.To = 1; looksCrowded(&p, 2, advice.DefaultThresholds) {
		t.Error("too short, and looked at")
	}
}
