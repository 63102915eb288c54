package speedup

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

const (
	run   = activity.Running
	ready = activity.Runnable
	futex = activity.Futex
	io    = activity.IO
	sleep = activity.Sleeping
)

// Main is thread 0, the application threads are 1, 2, ...
func input(n, threads int, to units.MonoNs, all ...activity.Slice) Input {
	in := Input{N: n, Stream: activity.Of(sorted(all)), Region: []Segment{{Span: activity.Span{From: 0, To: to}}}}
	for i := range threads + 1 {
		th := activity.Thread{Name: "w", Kind: activity.KindApplication}
		if i == 0 {
			th = activity.Thread{Name: "main", Kind: activity.KindMain}
		}
		in.Threads = append(in.Threads, th)
		in.Workers = append(in.Workers, i > 0)
	}
	return in
}

// lives says from when to when thread i lived.
func (in Input) lives(i int, from, to units.MonoNs) Input {
	t := &in.Threads[i]
	t.First, t.Last, t.BeginSeen, t.Ended = from, to, true, true
	return in
}

func sorted(all []activity.Slice) []activity.Slice {
	slices.SortStableFunc(all, func(a, b activity.Slice) int { return int(a.From - b.From) })
	return all
}

func sl(thread uint32, s activity.ThreadState, from, to units.MonoNs) activity.Slice {
	return activity.Slice{Thread: thread, State: s, From: from, To: to}
}

func reckon(t *testing.T, in Input) Account {
	t.Helper()
	a, _, err := Reckon(in)
	if err != nil {
		t.Fatal(err)
	}
	whole(t, a)
	return a
}

// whole checks that every moment of every slot counts once.
func whole(t *testing.T, a Account) {
	t.Helper()
	if sum := a.GC + a.Sequential + a.Idle + a.Parallel; sum != a.Duration {
		t.Errorf("gc %d + sequential %d + idle %d + parallel %d = %d, the region has %d", a.GC, a.Sequential, a.Idle, a.Parallel, sum, a.Duration)
	}
	slots := a.Exited + a.Late - a.Surplus
	for _, d := range a.InState {
		slots += d
	}
	if want := units.Ns(a.N) * a.Parallel; slots != want {
		t.Errorf("%d ns in slots, want %d: %+v", slots, want, a)
	}
}

// one is the base of all known answers: main works for 100, then one thread for
// 800, and main for 100.
func one(t *testing.T) Account {
	return reckon(t, input(1, 1, 1000, sl(0, run, 0, 100), sl(0, futex, 100, 900), sl(0, run, 900, 1000), sl(1, run, 100, 900)).lives(1, 100, 900))
}

// TestKnown: stacks that can be worked out on paper.
func TestKnown(t *testing.T) {
	type parts map[string]float64
	main := []activity.Slice{sl(0, run, 0, 100), sl(0, futex, 100, 500), sl(0, run, 500, 600)}
	with := func(more ...activity.Slice) []activity.Slice { return append(slices.Clone(main), more...) }
	for _, c := range []struct {
		name  string
		in    Input
		pause []activity.Span
		want  parts // components and parts of rest that are not zero
	}{
		// T_s = 1000, T_p = 600: 200 of it sequential, against 200 with one thread.
		{"sequential only", input(2, 2, 600, with(sl(1, run, 100, 500), sl(2, run, 100, 500))...).lives(1, 100, 500).lives(2, 100, 500), nil,
			parts{"speedup": 1000.0 / 600, "sequential": (2*200 - 200) / 600.0}},
		// The same work in turns: while one runs, the other waits in a futex.
		{"in turns", input(2, 2, 1000, sl(0, run, 0, 100), sl(0, futex, 100, 900), sl(0, run, 900, 1000),
			sl(1, run, 100, 500), sl(1, futex, 500, 900), sl(2, futex, 100, 500), sl(2, run, 500, 900)).lives(1, 100, 900).lives(2, 100, 900), nil,
			parts{"speedup": 1, "sequential": 0.2, "synchronization": 0.8}},
		// One thread has 600 to do, the other 200.
		{"imbalance", input(2, 2, 800, sl(0, run, 0, 100), sl(0, futex, 100, 700), sl(0, run, 700, 800),
			sl(1, run, 100, 700), sl(2, run, 100, 300)).lives(1, 100, 700).lives(2, 100, 300), nil,
			parts{"speedup": 1000.0 / 800, "sequential": 200.0 / 800, "imbalance": 400.0 / 800}},
		// Both wait 100 for a disk that one alone had no need of.
		{"i/o", input(2, 2, 700, sl(0, run, 0, 100), sl(0, futex, 100, 600), sl(0, run, 600, 700),
			sl(1, run, 100, 500), sl(1, io, 500, 600), sl(2, io, 100, 200), sl(2, run, 200, 600)).lives(1, 100, 600).lives(2, 100, 600), nil,
			parts{"speedup": 1000.0 / 700, "sequential": 200.0 / 700, "io": 200.0 / 700}},
		// One processor for two threads.
		{"oversubscription", input(2, 2, 1000, sl(0, run, 0, 100), sl(0, futex, 100, 900), sl(0, run, 900, 1000),
			sl(1, run, 100, 300), sl(1, ready, 300, 700), sl(1, run, 700, 900), sl(2, ready, 100, 300), sl(2, run, 300, 700), sl(2, ready, 700, 900)).lives(1, 100, 900).lives(2, 100, 900), nil,
			parts{"speedup": 1, "sequential": 0.2, "oversubscription": 0.8}},
		{"sleeping", input(2, 2, 700, sl(0, run, 0, 100), sl(0, futex, 100, 600), sl(0, run, 600, 700),
			sl(1, run, 100, 500), sl(1, sleep, 500, 600), sl(2, sleep, 100, 200), sl(2, run, 200, 600)).lives(1, 100, 600).lives(2, 100, 600), nil,
			parts{"speedup": 1000.0 / 700, "sequential": 200.0 / 700, "rest": 200.0 / 700, "sleeping": 200.0 / 700}},
		// The same work takes the two 1000 together, not 800.
		{"more work", input(2, 2, 700, sl(0, run, 0, 100), sl(0, futex, 100, 600), sl(0, run, 600, 700),
			sl(1, run, 100, 600), sl(2, run, 100, 600)).lives(1, 100, 600).lives(2, 100, 600), nil,
			parts{"speedup": 1000.0 / 700, "sequential": 200.0 / 700, "rest": 200.0 / 700, "work": 200.0 / 700}},
		// A pause of 100 that one thread did not have. What the threads do in it counts for nothing.
		{"gc", input(2, 2, 700, sl(0, run, 0, 100), sl(0, futex, 100, 600), sl(0, run, 600, 700),
			sl(1, run, 100, 300), sl(1, futex, 300, 400), sl(1, run, 400, 600), sl(2, run, 100, 300), sl(2, futex, 300, 400), sl(2, run, 400, 600)).lives(1, 100, 600).lives(2, 100, 600),
			[]activity.Span{{From: 300, To: 380}, {From: 350, To: 400}},
			parts{"speedup": 1000.0 / 700, "sequential": 200.0 / 700, "gc": 200.0 / 700}},
		// A thread that never came.
		{"late", input(2, 1, 1000, sl(0, run, 0, 100), sl(0, futex, 100, 900), sl(0, run, 900, 1000), sl(1, run, 100, 900)).lives(1, 100, 900), nil,
			parts{"speedup": 1, "sequential": 0.2, "rest": 0.8, "late_threads": 0.8}},
		// A third thread that only waits.
		{"surplus", input(2, 3, 600, with(sl(1, run, 100, 500), sl(2, run, 100, 500), sl(3, futex, 100, 500))...).lives(1, 100, 500).lives(2, 100, 500).lives(3, 100, 500), nil,
			parts{"speedup": 1000.0 / 600, "sequential": 200.0 / 600, "synchronization": 400.0 / 600, "rest": -400.0 / 600, "surplus_threads": -400.0 / 600}},
		// Nobody is there for the first 50.
		{"idle", input(2, 2, 650, sl(0, run, 50, 150), sl(0, futex, 150, 550), sl(0, run, 550, 650), sl(1, run, 150, 550), sl(2, run, 150, 550)).lives(1, 150, 550).lives(2, 150, 550), nil,
			parts{"speedup": 1000.0 / 650, "sequential": 200.0 / 650, "rest": 100.0 / 650, "idle": 100.0 / 650}},
		// A pool's threads live from the first to the last moment: what they wait
		// while main works alone is the sequential part, and nothing else.
		{"pool", input(2, 2, 600, with(sl(1, futex, 0, 100), sl(1, run, 100, 500), sl(1, futex, 500, 600), sl(2, futex, 0, 100), sl(2, run, 100, 500), sl(2, futex, 500, 600))...), nil,
			parts{"speedup": 1000.0 / 600, "sequential": 200.0 / 600}},
		// The main thread's part takes longer when it has to wait for a processor.
		{"sequential, no processor", input(2, 2, 700, sl(0, run, 0, 100), sl(0, ready, 100, 200), sl(0, futex, 200, 600), sl(0, run, 600, 700),
			sl(1, run, 200, 600), sl(2, run, 200, 600)).lives(1, 200, 600).lives(2, 200, 600), nil,
			parts{"speedup": 1000.0 / 700, "sequential": (2*300 - 200) / 700.0}},
		{"not observed", input(2, 2, 600, with(sl(1, run, 100, 500), sl(2, run, 100, 400))...).lives(1, 100, 500).lives(2, 100, 500), nil,
			parts{"speedup": 1000.0 / 600, "sequential": 200.0 / 600, "unknown": 100.0 / 600, "work": -100.0 / 600}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.in.Pauses = c.pause
			got := flat(Stack(one(t), reckon(t, c.in)))
			for name, v := range got {
				if math.Abs(v-c.want[name]) > 1e-12 {
					t.Errorf("%s is %v, want %v", name, v, c.want[name])
				}
			}
		})
	}
}

func flat(b Bar) map[string]float64 {
	out := map[string]float64{"speedup": b.Speedup}
	for c, v := range b.Components {
		out[Component(c).String()] = v
	}
	for p, v := range b.Parts {
		out[Part(p).String()] = v
	}
	return out
}

// TestDone: a pool's thread that has run its last task waits for no lock.
func TestDone(t *testing.T) {
	all := []activity.Slice{sl(0, run, 0, 100), sl(0, futex, 100, 700), sl(0, run, 700, 800),
		sl(1, run, 100, 700), sl(1, futex, 700, 800), sl(2, futex, 0, 100), sl(2, run, 100, 300), sl(2, futex, 300, 800)}
	in := input(2, 2, 800, all...)
	if b := Stack(one(t), reckon(t, in)); b.Components[Synchronization] != 0.5 || b.Components[Imbalance] != 0 {
		t.Errorf("without tasks: %+v", b.Components)
	}
	in.Region[0].Done = []units.MonoNs{0, 700, 300}
	if b := Stack(one(t), reckon(t, in)); b.Components[Synchronization] != 0 || b.Components[Imbalance] != 0.5 {
		t.Errorf("with the ends of the last tasks: %+v", b.Components)
	}
}

// TestMainWorks: the caller of a parallel stream is one of the threads.
func TestMainWorks(t *testing.T) {
	base := input(1, 0, 1000, sl(0, run, 0, 1000))
	base.Workers[0] = true
	par := input(2, 1, 600, sl(0, run, 0, 600), sl(1, futex, 0, 100), sl(1, run, 100, 500), sl(1, futex, 500, 600))
	par.Workers[0] = true
	b := Stack(reckon(t, base), reckon(t, par))
	if !b.AssumedSequential {
		t.Error("AssumedSequential is not set")
	}
	want := map[string]float64{"speedup": 1000.0 / 600, "sequential": 200.0 / 600}
	for name, v := range flat(b) {
		if math.Abs(v-want[name]) > 1e-12 {
			t.Errorf("%s is %v, want %v", name, v, want[name])
		}
	}
}

func TestSegments(t *testing.T) {
	in := input(2, 2, 0, sl(1, run, 0, 1000), sl(2, run, 0, 150), sl(2, futex, 150, 1000))
	in.Region = []Segment{{Span: activity.Span{From: 100, To: 200}}, {Span: activity.Span{From: 500, To: 800}}}
	a := reckon(t, in)
	if a.Duration != 400 || a.InState[run] != 450 || a.InState[futex] != 350 {
		t.Errorf("%+v", a)
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Input)
		want   error
	}{
		"no threads": {func(in *Input) { in.N = 0 }, ErrThreads},
		"no region":  {func(in *Input) { in.Region = nil }, ErrRegion},
		"empty":      {func(in *Input) { in.Region = []Segment{{Span: activity.Span{From: 5, To: 5}}} }, ErrRegion},
		"order":      {func(in *Input) { in.Region = append(in.Region, in.Region[0]) }, ErrRegion},
		"slices": {func(in *Input) {
			in.Stream = activity.Of([]activity.Slice{sl(1, run, 50, 60), sl(1, run, 10, 20)})
		}, activity.ErrOrder},
	} {
		in := input(2, 2, 1000, sl(1, run, 0, 1000))
		c.change(&in)
		if _, _, err := Reckon(in); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// TestSums: whatever the record, every slot counts once, and a bar adds up.
func TestSums(t *testing.T) {
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 7))
		base, run := reckon(t, random(rng, 1)), reckon(t, random(rng, 1+rng.IntN(5)))
		b := Stack(base, run)
		sum, rest := b.Speedup, 0.0
		for _, v := range b.Components {
			sum += v
		}
		for _, v := range b.Parts {
			rest += v
		}
		tolerance := 1e-9 * (1 + math.Abs(b.Speedup))
		if math.Abs(sum-float64(run.N)) > tolerance || math.Abs(rest-b.Components[Rest]) > tolerance {
			t.Fatalf("seed %d: a bar of %v for %d threads, a rest of %v of %v", seed, sum, run.N, b.Components[Rest], rest)
		}
	}
}

// random is a random but possible run.
func random(rng *rand.Rand, n int) Input {
	threads := rng.IntN(6)
	var all []activity.Slice
	lives := make([]activity.Span, threads+1)
	for th := range threads + 1 {
		at := units.MonoNs(rng.IntN(200))
		lives[th].From = at
		for range rng.IntN(12) {
			to := at + units.MonoNs(rng.IntN(60))
			all = append(all, activity.Slice{Thread: uint32(th), State: activity.ThreadState(rng.IntN(int(activity.NStates))), From: at, To: to})
			at = to + units.MonoNs(rng.IntN(2)*rng.IntN(20))
		}
		lives[th].To = at
	}
	in := input(n, threads, 0, all...)
	for th := range threads {
		if rng.IntN(3) > 0 {
			in = in.lives(th+1, lives[th+1].From, lives[th+1].To)
		}
	}
	in.Workers[0] = rng.IntN(4) == 0
	at := units.MonoNs(rng.IntN(100))
	in.Region = nil
	for range 1 + rng.IntN(3) {
		seg := Segment{Span: activity.Span{From: at, To: at + 1 + units.MonoNs(rng.IntN(300))}}
		if rng.IntN(2) == 0 {
			seg.Done = make([]units.MonoNs, len(in.Threads))
			for i := range seg.Done {
				seg.Done[i] = seg.From + units.MonoNs(rng.IntN(int(seg.Len()+1)))
			}
		}
		in.Region = append(in.Region, seg)
		at = seg.To + units.MonoNs(rng.IntN(50))
	}
	for range rng.IntN(5) {
		from := units.MonoNs(rng.IntN(500))
		in.Pauses = append(in.Pauses, activity.Span{From: from, To: from + units.MonoNs(rng.IntN(60))})
	}
	return in
}

// TestIntervals: Student's t for 95 % and two degrees of freedom is 4.3027.
func TestIntervals(t *testing.T) {
	if v := IntervalOf([]float64{1, 2, 3}); v.Mean != 2 || math.Abs(v.Half-4.302652730/math.Sqrt(3)) > 1e-6 {
		t.Errorf("%+v", v)
	}
	if v := IntervalOf([]float64{7}); v.Mean != 7 || !math.IsNaN(v.Half) {
		t.Errorf("%+v", v)
	}
	r := Repeat([]Bar{{Threads: 2, Speedup: 1}, {Threads: 2, Speedup: 2}})
	if r.Speedup.Mean != 1.5 || r.Threads != 2 || math.Abs(r.Speedup.Half-12.7062047*math.Sqrt(0.5)/math.Sqrt2) > 1e-5 {
		t.Errorf("%+v", r.Speedup)
	}
}

// TestParts: the accounts between moments are whole, and add up to that of the region.
func TestParts(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 7))
		in := random(rng, 1+rng.IntN(4))
		end := in.Region[len(in.Region)-1].To
		at := []units.MonoNs{math.MinInt64}
		for at[len(at)-1] < end {
			at = append(at, max(at[len(at)-1], 0)+1+units.MonoNs(rng.IntN(40)))
		}
		want, parts, err := Reckon(in, at...)
		if err != nil || len(parts) != len(at)-1 {
			t.Fatal(err, len(parts), len(at))
		}
		sum := Account{N: want.N, Workers: want.Workers, MostAlive: want.MostAlive, Slots: want.Slots, MainOnly: want.MainOnly}
		for _, p := range parts {
			whole(t, p)
			sum.Duration += p.Duration
			sum.GC += p.GC
			sum.Sequential += p.Sequential
			sum.Idle += p.Idle
			sum.Parallel += p.Parallel
			sum.Exited += p.Exited
			sum.Late += p.Late
			sum.Surplus += p.Surplus
			for i, d := range p.InState {
				sum.InState[i] += d
			}
		}
		if sum != want {
			t.Fatalf("seed %d: parts add up to %+v, want %+v", seed, sum, want)
		}
	}
}
