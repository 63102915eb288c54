package bottle

import (
	"testing"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

// turns are n threads that take turns on one CPU: each computes for a quantum while the others are ready.
func turns(n, rounds int, quantum units.MonoNs) []activity.Slice {
	var all []activity.Slice
	for round := range n * rounds {
		from := units.MonoNs(round) * quantum
		for thread := range n {
			s := activity.Slice{Thread: uint32(thread), State: activity.Runnable, From: from, To: from + quantum}
			if thread == round%n {
				s.State = activity.Running
			}
			all = append(all, s)
		}
	}
	return all
}

// TestCountRunnable: three threads that share one CPU are one wide, and three wide with those that wait for it.
func TestCountRunnable(t *testing.T) {
	all, span := turns(3, 5, 40), activity.Span{From: 0, To: 600}
	of := func(stream activity.Stream) *Graph {
		g, err := Compute(threads("a1", "a2", "b1"), stream, span)
		if err != nil {
			t.Fatal(err)
		}
		return g[0]
	}
	for _, b := range of(activity.Of(all)).Boxes {
		if b.Width != 1 || b.RunningNs != 200 || !near(b.HeightNs, 200) {
			t.Errorf("running: %+v", b)
		}
	}
	g := of(CountRunnable(activity.Of(all)))
	for _, b := range g.Boxes {
		if b.Width != 3 || b.RunningNs != 600 || !near(b.HeightNs, 200) {
			t.Errorf("running or runnable: %+v", b)
		}
	}
	if len(g.Boxes) != 3 || g.BusyNs != 600 {
		t.Errorf("%d boxes, busy for %d", len(g.Boxes), g.BusyNs)
	}
}

// TestCountRunnableMixed: one thread computes for 100, waits 60 for a CPU that the other has, and computes for 40.
// On paper: 100 alone, then 60 of two, then 40 alone.
func TestCountRunnableMixed(t *testing.T) {
	all := []activity.Slice{
		run(0, 0, 100), {Thread: 1, State: activity.Futex, From: 0, To: 100},
		{Thread: 0, State: activity.Runnable, From: 100, To: 160}, run(1, 100, 160), run(0, 160, 200),
	}
	g, err := Compute(threads("a1", "a2"), CountRunnable(activity.Of(all)), activity.Span{From: 0, To: 200})
	if err != nil {
		t.Fatal(err)
	}
	want := []Box{{Name: "a2", HeightNs: 30, RunningNs: 60, Width: 2}, {Name: "a1", HeightNs: 170, RunningNs: 200, Width: 200. / 170}}
	for i, b := range g[0].Boxes {
		if b.Name != want[i].Name || !near(b.HeightNs, want[i].HeightNs) || b.RunningNs != want[i].RunningNs || !near(b.Width, want[i].Width) {
			t.Errorf("%+v, want %+v", b, want[i])
		}
	}
}

// TestSum: heights and areas of kinds add up, and the width is their quotient.
func TestSum(t *testing.T) {
	all := threads("a1", "a2", "b1")
	all[1].Kind, all[2].Kind = activity.KindGC, activity.KindMain
	// a1 and a2 together for 200, then b1 alone for 100.
	g := compute(t, all, []activity.Slice{run(0, 0, 200), run(1, 0, 200), run(2, 200, 300)}, activity.Span{From: 0, To: 300})[0]
	if b := g.Sum(activity.KindGC); b.Threads != 1 || b.HeightNs != 100 || b.RunningNs != 200 || b.Width != 2 {
		t.Errorf("collector: %+v", b)
	}
	if b := g.Sum(activity.KindApplication, activity.KindMain); b.Threads != 2 || b.HeightNs != 200 || b.RunningNs != 300 || b.Width != 1.5 {
		t.Errorf("application: %+v", b)
	}
	if b := g.Sum(activity.KindCompiler); b != (Box{}) {
		t.Errorf("nothing: %+v", b)
	}
}
