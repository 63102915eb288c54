package evidence

import (
	"testing"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

// TestContention: three workers and a collector on two processors, worked out by
// hand.
func TestContention(t *testing.T) {
	var in []activity.Slice
	add := func(from, to units.MonoNs, states ...activity.ThreadState) {
		for i, s := range states {
			in = append(in, activity.Slice{Thread: uint32(i), State: s, From: from, To: to})
		}
	}
	const run, ready, park, off = activity.Running, activity.Runnable, activity.Futex, activity.Unknown
	add(0, 10, run, run, ready, park)      // the processors are the pool's
	add(10, 20, run, ready, ready, park)   // one is others': 10 taken, 10 of waiting
	add(20, 30, run, ready, ready, run)    // the other is the collector's
	add(30, 40, ready, ready, ready, park) // both are others': 20 and 30
	add(40, 50, park, park, ready, park)   // only one is wanted: 10 and 10
	add(50, 60, run, park, park, park)     // no worker wants the other processor
	add(60, 70, ready, off, ready, run)    // unknown use counts as others': 10 and 10
	add(100, 110, ready, ready, ready, park)
	pools := []contended{{span: activity.Span{From: 0, To: 100}}, {span: activity.Span{From: 0, To: 200}}}
	if err := contention(activity.Of(in), []int{0, 0, 0, -1}, pools, &contended{}, 2); err != nil {
		t.Fatal(err)
	}
	if p := pools[0]; p.taken != 50 || p.wait != 60 || p.ready != 0 || pools[1].taken != 0 {
		t.Errorf("%+v", pools)
	}
}

// TestContentionOfAll: for the whole program, long waits of any thread count, while
// others use processors.
func TestContentionOfAll(t *testing.T) {
	const ms = longWait
	whole := contended{span: activity.Span{From: 0, To: 100 * ms}}
	in := []activity.Slice{
		{Thread: 0, State: activity.Running, From: 0, To: 10 * ms},
		{Thread: 1, State: activity.Runnable, From: 0, To: 4 * ms},        // the other processor is others'
		{Thread: 1, State: activity.Runnable, From: 5 * ms, To: 6*ms - 1}, // woken soon
		{Thread: 1, State: activity.Running, From: 6 * ms, To: 10 * ms},
		{Thread: 2, State: activity.Runnable, From: 6 * ms, To: 10 * ms}, // both are the program's
	}
	if err := contention(activity.Of(in), []int{-1, -1, -1}, nil, &whole, 2); err != nil {
		t.Fatal(err)
	}
	if whole.taken != float64(4*ms) || whole.ready != 0 {
		t.Errorf("taken %v, ready %d", whole.taken, whole.ready)
	}
}

// TestContentionInGap: while records are lost, a thread that seems to wait does not prove that others used the processors.
func TestContentionInGap(t *testing.T) {
	const ms = longWait
	whole := contended{span: activity.Span{From: 0, To: 100 * ms}}
	in := []activity.Slice{
		{Thread: 0, State: activity.Runnable, From: 0, To: 40 * ms},
		{Thread: 1, State: activity.Unknown, From: 10 * ms, To: 40 * ms}, // may use one processor
		{Thread: 2, State: activity.Unknown, From: 20 * ms, To: 40 * ms}, // and this one the other
		{Thread: 1, State: activity.Running, From: 40 * ms, To: 60 * ms},
		{Thread: 2, State: activity.Runnable, From: 40 * ms, To: 60 * ms},
	}
	if err := contention(activity.Of(in), []int{-1, -1, -1}, nil, &whole, 2); err != nil {
		t.Fatal(err)
	}
	if whole.taken != float64(40*ms) || whole.ready != 0 {
		t.Errorf("taken %v, want 20 ms before both are unknown and 20 ms after the gap; ready %d", whole.taken, whole.ready)
	}
}

// TestElsewhere: what the program's other threads used during a pool's life, without the
// JVM's own.
func TestElsewhere(t *testing.T) {
	pools := []contended{{span: activity.Span{From: 10, To: 100}}}
	in := []activity.Slice{
		{Thread: 0, State: activity.Running, From: 0, To: 100},  // the pool's
		{Thread: 1, State: activity.Running, From: 0, To: 30},   // another one's
		{Thread: 2, State: activity.Running, From: 30, To: 60},  // the JVM's own
		{Thread: 1, State: activity.Runnable, From: 60, To: 80}, // waits
		{Thread: 1, State: activity.Running, From: 90, To: 120},
	}
	if err := contention(activity.Of(in), []int{0, -1, notJava}, pools, &contended{}, 2); err != nil {
		t.Fatal(err)
	}
	if p := pools[0]; p.elsewhere != 20+10 || p.runs != 0 || p.one != 90 || p.several != 0 {
		t.Errorf("%+v, want 30 elsewhere, and one that runs all the time", p)
	}
}

// TestAtATime: how long one worker ran, how long others wanted to, and how long none could.
func TestAtATime(t *testing.T) {
	pools := []contended{{span: activity.Span{From: 0, To: 100}}}
	in := []activity.Slice{
		{Thread: 0, State: activity.Running, From: 0, To: 30},
		{Thread: 1, State: activity.Futex, From: 0, To: 20},
		{Thread: 1, State: activity.Runnable, From: 20, To: 40},
		{Thread: 2, State: activity.Running, From: 40, To: 90}, // none of the pool's
		{Thread: 1, State: activity.Running, From: 60, To: 70},
	}
	if err := contention(activity.Of(in), []int{0, 0, -1}, pools, &contended{}, 2); err != nil {
		t.Fatal(err)
	}
	// From 30 to 40 the second is ready, and none runs.
	if p := pools[0]; p.one != 20+10 || p.several != 10 || p.stalled != 10 {
		t.Errorf("%+v, want one for 30, several and none for 10", p)
	}
}
