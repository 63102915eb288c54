package gc

import (
	"fmt"
	"math"
	"testing"

	"stackagent/granularity/activity"
	"stackagent/granularity/bottle"
	"stackagent/internal/units"
)

// workOf computes Work as a session does.
func workOf(t *testing.T, threads []activity.Thread, all []activity.Slice, pauses []activity.Span, spans ...activity.Span) Work {
	t.Helper()
	f := NewFutexes(threads, spans, pauses)
	graphs, err := bottle.Compute(threads, f.Watch(activity.Of(all)), spans...)
	if err != nil {
		t.Fatal(err)
	}
	var w Work
	for i, g := range graphs {
		w.Add(g)
		for _, p := range activity.Union(pauses, spans[i]) {
			w.PauseNs += p.Len()
		}
	}
	f.Fill(&w)
	return w
}

// TestWork: two application threads compute 0..100; then the program is stopped until 160, in which two collector threads
// work 40 each, together for 20, and wait for each other twice.
func TestWork(t *testing.T) {
	threads := []activity.Thread{{Name: "a", Kind: activity.KindApplication}, {Name: "main", Kind: activity.KindMain}, {Name: "g1", Kind: activity.KindGC}, {Name: "g2", Kind: activity.KindGC}}
	slice := func(thread uint32, s activity.ThreadState, from, to units.MonoNs) activity.Slice {
		return activity.Slice{Thread: thread, State: s, From: from, To: to, InFutex: s != activity.Running}
	}
	all := []activity.Slice{
		slice(0, activity.Running, 0, 100), slice(1, activity.Running, 0, 100), slice(2, activity.Futex, 0, 100), slice(3, activity.Futex, 0, 120),
		slice(0, activity.Futex, 100, 130), slice(1, activity.Stalled, 100, 160), slice(2, activity.Running, 100, 140), slice(3, activity.Running, 120, 160),
		slice(0, activity.Futex, 130, 160), // the same wait, cut by the record
		slice(2, activity.Futex, 140, 160), slice(0, activity.Running, 160, 170), slice(3, activity.Unended, 165, 170),
	}
	w := workOf(t, threads, all, []activity.Span{{From: 99, To: 160}}, activity.Span{From: 0, To: 200})
	if w.GC.RunningNs != 80 || w.GC.HeightNs != 60 || w.Application.RunningNs != 210 || w.Application.HeightNs != 110 {
		t.Errorf("%+v", w)
	}
	// g1 at 140; the waits from 0 begin before the region, g2's at 165 after the pause. a and main once each.
	if w.GCWaits != 1 || w.ApplicationWaits != 2 || w.PauseNs != 61 {
		t.Errorf("%+v", w)
	}
	for q, want := range map[Quantity]float64{GCWork: 80, GCTime: 60, GCWaits: 1e6 / 61, ApplicationWork: 210, ApplicationTime: 110, ApplicationWaits: 2e6 / 110} {
		if v, ok := q.Of(&w); !ok || math.Abs(v-want) > 1e-9*want {
			t.Errorf("%s is %g, %v, want %g", q, v, ok, want)
		}
	}
	w.NoWaits, w.NoGC = "perf", "Serial"
	for _, q := range []Quantity{GCWork, GCTime, GCWaits, ApplicationWaits} {
		if v, ok := q.Of(&w); ok {
			t.Errorf("%s is %g", q, v)
		}
	}
	// The two halves add up; a wait over their border is one.
	halves := workOf(t, threads, all, []activity.Span{{From: 99, To: 160}}, activity.Span{From: 0, To: 110}, activity.Span{From: 110, To: 200})
	if halves.GC.RunningNs != 80 || math.Abs(halves.GC.HeightNs-60) > 1e-9 || halves.PauseNs != 61 || halves.GCWaits != 1 || halves.ApplicationWaits != 2 {
		t.Errorf("%+v", halves)
	}
}

// TestNormalised: ratios of means to the first configuration; a run or a configuration without a figure leaves a gap.
func TestNormalised(t *testing.T) {
	of := func(values ...units.Ns) Configuration {
		var c Configuration
		for _, v := range values {
			c.Runs = append(c.Runs, Work{GC: bottle.Box{RunningNs: v}})
		}
		return c
	}
	unknown := Configuration{Runs: []Work{{NoGC: "why"}}}
	all := []Configuration{unknown, of(90, 100, 110), of(180, 200, 220), of(50), unknown, {}}
	got := Normalised(all, GCWork)
	for i, want := range []float64{math.NaN(), 1, 2, 0.5, math.NaN(), math.NaN()} {
		if g := got[i].Mean; math.Abs(g-want) > 1e-12 || math.IsNaN(g) != math.IsNaN(want) {
			t.Errorf("configuration %d is %g, want %g", i, g, want)
		}
	}
	// Relative standard errors of 10 % over the root of 3 each: 2 × e^(± t(0.975, 4) × 0.1 × √(2/3)), t = 2.776445.
	if high := 2 * math.Exp(2.776445*0.1*math.Sqrt(2./3)); got[1].Known() || math.Abs(got[2].High-high) > 1e-4 {
		t.Errorf("%+v and %+v, want up to %g", got[1], got[2], high)
	}
	if m := Means(all, GCWork)[2]; m.Mean != 200 || m.N != 3 {
		t.Errorf("%+v", m)
	}
	for i, v := range Normalised([]Configuration{of(0), of(5)}, GCWork) {
		if !math.IsNaN(v.Mean) {
			t.Errorf("configuration %d over nothing is %g", i, v.Mean)
		}
	}
}

// TestAveraged: geometric means of ratios over programs, by configuration whatever its place; where a program has no figure there is no average.
func TestAveraged(t *testing.T) {
	of := func(level string, values ...units.Ns) Configuration {
		c := Configuration{Levels: []string{level}}
		for _, v := range values {
			c.Runs = append(c.Runs, Work{GC: bottle.Box{RunningNs: v}, LLCMisses: float64(v) * 2, HasLLC: level != "4"})
		}
		return c
	}
	programs := [][]Configuration{
		{of("1", 100, 100), of("2", 200, 200), of("4", 400, 400), of("8")},
		{of("1", 10, 10), of("4", 160, 160), of("2", 80, 80), of("16", 5)},
	}
	for i, want := range []float64{1, 4, 8, math.NaN()} { // the roots of 2 × 8 and of 4 × 16
		if got := Averaged(programs, GCWork)[i].Mean; math.Abs(got-want) > 1e-9 || math.IsNaN(got) != math.IsNaN(want) {
			t.Errorf("configuration %d is %g, want %g", i, got, want)
		}
	}
	for i, want := range []float64{110, 280, math.NaN(), math.NaN()} { // (2 × 100 + 2 × 10) / 2, ...
		if got := AveragedMeans(programs, LLCMisses)[i].Mean; math.Abs(got-want) > 1e-9 || math.IsNaN(got) != math.IsNaN(want) {
			t.Errorf("configuration %d has %g misses, want %g", i, got, want)
		}
	}
	if one := Averaged(programs[:1], GCWork); one[1].Mean != 2 || one[1].N != 2 {
		t.Errorf("of one program: %+v", one[1])
	}
	if Averaged(nil, GCWork) != nil || AveragedMeans(nil, GCWork) != nil {
		t.Error("no program has figures")
	}
	// A program without the first configuration has nothing to be normalised to.
	without := append(programs[:2:2], []Configuration{of("2", 7, 7), of("4", 70, 70)})
	if got := Averaged(without, GCWork)[1]; got.Mean != 4 || got.N != 2 {
		t.Errorf("with a program that lacks the first configuration: %+v", got)
	}
}

func TestByProgram(t *testing.T) {
	all := []Configuration{{Levels: []string{"1", "pmd", "G1"}}, {Levels: []string{"1", "h2", "G1"}, Runs: []Work{{Collections: 3}}}, {Levels: []string{"2", "pmd", "G1"}, Runs: []Work{{Collections: 2}}}}
	got := ByProgram(all, 1)
	pmd := []Configuration{{Levels: []string{"1", "G1"}}, {Levels: []string{"2", "G1"}, Runs: []Work{{Collections: 2}}}}
	h2 := []Configuration{{Levels: []string{"1", "G1"}, Runs: []Work{{Collections: 3}}}, {Levels: []string{"2", "G1"}}}
	if fmt.Sprint(got) != fmt.Sprint([][]Configuration{pmd, h2}) || all[0].Levels[1] != "pmd" {
		t.Errorf("%v of %v", got, all)
	}
}
