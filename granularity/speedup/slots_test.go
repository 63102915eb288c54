package speedup

import (
	"testing"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

// slots is a run with threads of the pools named, which live as long as lives says and end their last tasks at done.
func slots(t *testing.T, pools []string, lives []activity.Span, done ...units.MonoNs) Account {
	t.Helper()
	in := input(1, len(pools), 1000, sl(0, futex, 0, 1000))
	for i, life := range lives {
		th := &in.Threads[i+1]
		th.Pool, th.First, th.Last, th.BeginSeen, th.Ended = pools[i], life.From, life.To, true, true
	}
	in.Region[0].Done = append([]units.MonoNs{0}, done...)
	return reckon(t, in)
}

// TestSlots: how many threads the run used.
func TestSlots(t *testing.T) {
	span := func(from, to units.MonoNs) activity.Span { return activity.Span{From: from, To: to} }
	all := []activity.Span{span(0, 1000), span(0, 1000), span(0, 1000)}
	// Each of three threads of a pool has one short task, one after another: never two at once.
	if a := slots(t, []string{"w", "w", "w"}, []activity.Span{span(0, 900), span(100, 900), span(200, 900)}, 100, 200, 300); a.Slots != 3 || a.MostAlive != 1 {
		t.Errorf("a pool whose tasks come one by one: %d slots, want 3; %d at once", a.Slots, a.MostAlive)
	}
	// Threads that end while their successors begin: three at once only for a moment.
	if a := slots(t, []string{"job", "job", "job"}, []activity.Span{span(0, 510), span(0, 1000), span(500, 1000)}, 0, 0, 0); a.Slots != 2 || a.MostAlive != 3 {
		t.Errorf("a thread for each task, two at once: %d slots, want 2; %d at once", a.Slots, a.MostAlive)
	}
	// A pool that has ended its work, but is not shut down, beside the next.
	if a := slots(t, []string{"load", "load", "work"}, all[:3], 400, 450, 1000); a.Slots != 3 {
		t.Errorf("two pools at once: %d slots, want 3", a.Slots)
	}
	if a := slots(t, []string{"load", "load", "work"}, []activity.Span{all[0], all[1], span(460, 1000)}, 400, 450, 1000); a.Slots != 2 {
		t.Errorf("two pools one after the other: %d slots, want 2", a.Slots)
	}
}

// TestSlotsOfLives: a thread of no pool counts while it can work, not while the kernel's thread ends beside its successor.
func TestSlotsOfLives(t *testing.T) {
	span := func(from, to units.MonoNs) activity.Span { return activity.Span{From: from, To: to} }
	in := input(1, 3, 1000, sl(0, futex, 0, 1000))
	for i, life := range []activity.Span{span(0, 600), span(0, 1000), span(500, 1000)} {
		th := &in.Threads[i+1]
		th.Pool, th.First, th.Last, th.BeginSeen, th.Ended = "job", life.From, life.To, true, true
	}
	if a := reckon(t, in); a.Slots != 3 {
		t.Errorf("%d slots without lives, want 3", a.Slots)
	}
	in.Lives = []activity.Span{{}, span(0, 500), {}, span(510, 990)}
	if a := reckon(t, in); a.Slots != 2 || a.MostAlive != 3 {
		t.Errorf("%d slots, want 2; %d at once, want 3", a.Slots, a.MostAlive)
	}
	in.Lives[1] = span(1200, 1300) // by a clock that is wrong
	if a := reckon(t, in); a.Slots != 2 {
		t.Errorf("%d slots with a life after the end, want 2", a.Slots)
	}
}
