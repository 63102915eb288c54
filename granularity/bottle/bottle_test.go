package bottle

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

func threads(names ...string) []activity.Thread {
	var out []activity.Thread
	for _, n := range names {
		out = append(out, activity.Thread{Name: n, Kind: activity.KindApplication, Pool: n[:1]})
	}
	return out
}

func run(thread uint32, from, to units.MonoNs) activity.Slice {
	return activity.Slice{Thread: thread, State: activity.Running, From: from, To: to}
}

func compute(t *testing.T, threads []activity.Thread, slices []activity.Slice, windows ...activity.Span) []*Graph {
	t.Helper()
	g, err := Compute(threads, activity.Of(slices), windows...)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestKnown: answers that can be worked out on paper.
func TestKnown(t *testing.T) {
	type box struct {
		name          string
		height, width float64
		running       units.Ns
	}
	for _, c := range []struct {
		name   string
		slices []activity.Slice
		window activity.Span
		want   []box
	}{
		{"alone", []activity.Slice{run(0, 100, 400)}, activity.Span{From: 0, To: 1000},
			[]box{{"a1", 300, 1, 300}}},
		{"together", []activity.Slice{run(0, 0, 600), run(1, 0, 600), run(2, 0, 600)}, activity.Span{From: 0, To: 600},
			[]box{{"a1", 200, 3, 600}, {"a2", 200, 3, 600}, {"b1", 200, 3, 600}}},
		{"in turns", []activity.Slice{run(0, 0, 300), run(1, 300, 400)}, activity.Span{From: 0, To: 400},
			[]box{{"a1", 300, 1, 300}, {"a2", 100, 1, 100}}},
		// a1 alone for 100, with a2 for 200, with both for 300: 100 + 100 + 100.
		{"one after the other joins", []activity.Slice{run(0, 0, 600), run(1, 100, 600), run(2, 300, 600)}, activity.Span{From: 0, To: 600},
			[]box{{"b1", 100, 3, 300}, {"a2", 200, 2.5, 500}, {"a1", 300, 2, 600}}},
		{"window in the middle", []activity.Slice{run(0, 0, 600), run(1, 100, 600)}, activity.Span{From: 50, To: 250},
			[]box{{"a2", 75, 2, 150}, {"a1", 125, 1.6, 200}}},
		{"interrupted", []activity.Slice{run(0, 0, 100), run(1, 50, 150), run(0, 150, 200), run(0, 200, 300)}, activity.Span{From: 0, To: 300},
			[]box{{"a2", 75, 100.0 / 75, 100}, {"a1", 225, 250.0 / 225, 250}}},
		{"nothing", nil, activity.Span{From: 0, To: 300}, nil},
		{"only outside", []activity.Slice{run(0, 0, 100), run(1, 500, 600)}, activity.Span{From: 100, To: 500}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := compute(t, threads("a1", "a2", "b1"), c.slices, c.window)[0]
			var got []box
			for _, b := range g.Boxes {
				got = append(got, box{b.Name, b.HeightNs, b.Width, b.RunningNs})
			}
			if !slices.EqualFunc(got, c.want, func(a, b box) bool {
				return a.name == b.name && near(a.height, b.height) && near(a.width, b.width) && a.running == b.running
			}) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*(1+math.Abs(b)) }

// TestOtherStates: only running counts, and time not observed is reported.
func TestOtherStates(t *testing.T) {
	s := []activity.Slice{
		{Thread: 0, State: activity.Running, From: 0, To: 100}, {Thread: 1, State: activity.Futex, From: 0, To: 100},
		{Thread: 2, State: activity.Unknown, From: 50, To: 250}, {Thread: 0, State: activity.Runnable, From: 100, To: 200},
	}
	g := compute(t, threads("a1", "a2", "b1"), s, activity.Span{From: 0, To: 100}, activity.Span{From: 120, To: 200})
	if len(g[0].Boxes) != 1 || g[0].Boxes[0].Width != 1 || g[0].UnknownNs != 50 || g[1].UnknownNs != 80 || len(g[1].Boxes) != 0 {
		t.Errorf("got %+v and %+v", g[0], g[1])
	}
}

func TestGroup(t *testing.T) {
	s := []activity.Slice{run(0, 0, 600), run(1, 0, 600), run(2, 0, 300)}
	g := compute(t, threads("a1", "a2", "b1"), s, activity.Span{From: 0, To: 600})[0].Group(ByPool)
	// 300 with three threads and 300 with two: a has 2*(100+150), b has 100.
	want := []Box{{Name: "b", Pool: "b", Threads: 1, HeightNs: 100, RunningNs: 300, Width: 3},
		{Name: "a", Pool: "a", Threads: 2, HeightNs: 500, RunningNs: 1200, Width: 2.4}}
	for i := range want {
		want[i].Kind = activity.KindApplication
	}
	if !slices.Equal(g.Boxes, want) {
		t.Errorf("got %+v, want %+v", g.Boxes, want)
	}
	if k := g.Group(ByKind).Boxes; len(k) != 1 || k[0].Threads != 3 || k[0].HeightNs != 600 || k[0].Width != 2.5 {
		t.Errorf("by kind: %+v", k)
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		slices  []activity.Slice
		windows []activity.Span
		want    error
	}{
		"order":          {[]activity.Slice{run(0, 100, 200), run(1, 50, 60)}, []activity.Span{{From: 0, To: 300}}, activity.ErrOrder},
		"overlap":        {[]activity.Slice{run(0, 100, 200), run(0, 150, 260)}, []activity.Span{{From: 0, To: 300}}, ErrOverlap},
		"unknown thread": {[]activity.Slice{run(9, 100, 200)}, []activity.Span{{From: 0, To: 300}}, ErrNoThread},
		"windows":        {nil, []activity.Span{{From: 0, To: 300}, {From: 200, To: 400}}, ErrWindows},
		"reversed":       {nil, []activity.Span{{From: 300, To: 0}}, ErrWindows},
	} {
		if _, err := Compute(threads("a1", "a2"), activity.Of(c.slices), c.windows...); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// record is a random but possible record: each thread's slices follow each other.
func record(rng *rand.Rand) []activity.Slice {
	var all []activity.Slice
	for thread := range 1 + rng.IntN(6) {
		at := units.MonoNs(rng.IntN(51))
		for range rng.IntN(9) {
			at += units.MonoNs(rng.IntN(21))
			to := at + units.MonoNs(rng.IntN(41))
			state := []activity.ThreadState{activity.Running, activity.Running, activity.Futex, activity.Runnable}[rng.IntN(4)]
			all = append(all, activity.Slice{Thread: uint32(thread), State: state, From: at, To: to})
			at = to
		}
	}
	slices.SortStableFunc(all, func(a, b activity.Slice) int { return int(a.From - b.From) })
	return all
}

// TestAgainstDefinition compares with the definition, nanosecond by nanosecond
// in rational numbers, for every window of a division.
func TestAgainstDefinition(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		all := record(rng)
		from := units.MonoNs(rng.IntN(60))
		to := from + units.MonoNs(1+rng.IntN(250))
		windows := Windows(from, to, units.Ns(rng.IntN(90)))
		graphs, err := Compute(threads("a1", "a2", "b1", "b2", "c1", "c2"), activity.Of(all), windows...)
		if err != nil || len(graphs) != len(windows) {
			t.Fatal(err, len(graphs), len(windows))
		}
		for i, g := range graphs {
			check(t, g, windows[i], all)
		}
	}
}

func check(t *testing.T, g *Graph, w activity.Span, all []activity.Slice) {
	height, ran, busy := map[string]*big.Rat{}, map[string]units.Ns{}, units.Ns(0)
	names := threads("a1", "a2", "b1", "b2", "c1", "c2")
	for at := w.From; at < w.To; at++ {
		var now []string
		for _, s := range all {
			if s.State == activity.Running && s.From <= at && at < s.To {
				now = append(now, names[s.Thread].Name)
			}
		}
		for _, n := range now {
			if height[n] == nil {
				height[n] = new(big.Rat)
			}
			height[n].Add(height[n], big.NewRat(1, int64(len(now))))
			ran[n]++
		}
		if len(now) > 0 {
			busy++
		}
	}
	if len(g.Boxes) != len(ran) || g.BusyNs != busy || g.From != w.From || g.To != w.To {
		t.Fatalf("%d boxes, %d ns busy, want %d and %d", len(g.Boxes), g.BusyNs, len(ran), busy)
	}
	for i, b := range g.Boxes {
		want, _ := height[b.Name].Float64()
		if !near(b.HeightNs, want) || b.RunningNs != ran[b.Name] || !near(b.Width, float64(ran[b.Name])/want) {
			t.Fatalf("%+v, want height %v, running %d", b, want, ran[b.Name])
		}
		if i > 0 && b.Width > g.Boxes[i-1].Width {
			t.Fatal("boxes are not in order")
		}
	}
	if !near(g.HeightNs(""), float64(busy)) {
		t.Fatalf("heights add up to %v, some thread ran for %d", g.HeightNs(""), busy)
	}
}

// TestManySlices: a hundred million nanoseconds in a million shares of a third,
// a seventh, ... add up to a thousandth of a nanosecond.
func TestManySlices(t *testing.T) {
	const n, threadCount = 300_000, 7
	at := make([]units.MonoNs, threadCount)
	var all []activity.Slice
	for i := range n {
		th := i % threadCount
		length := units.MonoNs(50 + i*7919%331)
		all = append(all, run(uint32(th), at[th], at[th]+length))
		at[th] += length + units.MonoNs(i%5)
	}
	slices.SortStableFunc(all, func(a, b activity.Slice) int { return int(a.From - b.From) })
	g := compute(t, threads("a", "b", "c", "d", "e", "f", "g"), all, activity.Span{From: 0, To: slices.Max(at)})[0]
	if diff := g.HeightNs("") - float64(g.BusyNs); math.Abs(diff) > 1e-3 {
		t.Errorf("heights and time differ by %v ns of %d", diff, g.BusyNs)
	}
}
