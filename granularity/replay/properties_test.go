package replay_test

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"stackagent/granularity/critical"
	"stackagent/granularity/graph"
	"stackagent/granularity/replay"
	"stackagent/internal/units"
)

// dag is a random graph of units that compute, submit each other and join those that they submitted, and its
// longest chain and total work, found by recursion over the units.
func dag(r *rand.Rand, cpus, workers int) (*graph.Graph, units.Ns, units.Ns) {
	var b graph.Builder
	e := b.Executor(graph.Executor{Name: "fj", Workers: workers, Order: graph.Order(r.IntN(3)), Helps: true})
	var work units.Ns
	left := 60
	// own is the end of the unit since its start, all that of the last of what it submitted, too.
	var grow func(depth int) (unit uint32, own, all units.Ns)
	grow = func(depth int) (uint32, units.Ns, units.Ns) {
		u := b.Unit([]string{"a", "b", "c"}[r.IntN(3)], e)
		now := units.Ns(0)
		type child struct {
			unit uint32
			ends units.Ns
		}
		var open []child
		farthest := units.Ns(0)
		for range 1 + r.IntN(5) {
			switch {
			case r.IntN(2) == 0 || depth == 0 || left <= 0:
				n := units.Ns(1 + r.IntN(100))
				b.Compute(u, n)
				now, work = now+n, work+n
			default:
				left--
				c, own, all := grow(depth - 1)
				b.Do(u, graph.Submit, c)
				open, farthest = append(open, child{c, now + own}), max(farthest, now+all)
			}
			if len(open) > 0 && r.IntN(2) == 0 {
				b.Do(u, graph.Join, open[0].unit)
				now, open = max(now, open[0].ends), open[1:]
			}
		}
		return u, now, max(now, farthest)
	}
	_, _, longest := grow(4)
	g, err := b.Graph(cpus)
	if err != nil {
		panic(err)
	}
	return g, longest, work
}

// checkPath checks that the parts of a path follow each other without a gap.
func checkPath(t *testing.T, parts []critical.Part, from, to units.Ns) {
	t.Helper()
	for _, p := range parts {
		if p.From != from || p.To <= p.From {
			t.Fatalf("a part from %d to %d after %d", p.From, p.To, from)
		}
		from = p.To
	}
	if from != to {
		t.Fatalf("the path ends at %d, not at %d", from, to)
	}
}

func TestWithoutLimitsTheReplayIsTheLongestChain(t *testing.T) {
	for seed := range uint64(300) {
		g, longest, _ := dag(rand.New(rand.NewPCG(seed, 1)), 0, 0)
		s, err := replay.Run(g)
		if err != nil {
			t.Fatal(err)
		}
		length, last := g.Length(s)
		if length != longest {
			t.Fatalf("seed %d: %d, the longest chain is %d", seed, length, longest)
		}
		parts := critical.Path(g, s, last, 0, length)
		checkPath(t, parts, 0, length)
		for _, p := range parts {
			if p.What != critical.Compute {
				t.Fatalf("seed %d: without limits nothing waits, but %+v is on the path", seed, p)
			}
		}
	}
}

// Graham's bound: no greedy schedule is longer than the work by the CPUs, plus the longest chain.
func TestGrahamsBound(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 2))
		m := 1 + r.IntN(4)
		cpus, workers := m, 0
		if seed%2 == 0 {
			cpus, workers = 0, m
		}
		g, longest, work := dag(r, cpus, workers)
		s, err := replay.Run(g)
		if err != nil {
			t.Fatal(err)
		}
		length, last := g.Length(s)
		slack := units.Ns(len(g.Steps)) // each end of a step is rounded up to a nanosecond
		if length < longest || length*units.Ns(m) < work || length > work/units.Ns(m)+longest+slack {
			t.Errorf("seed %d: %d on %d; chain %d, work %d", seed, length, m, longest, work)
		}
		checkPath(t, critical.Path(g, s, last, 0, length), 0, length)
		again, _ := replay.Run(g)
		if !reflect.DeepEqual(s, again) {
			t.Errorf("seed %d: two replays differ", seed)
		}
	}
}

func TestChangesAreAsIfMade(t *testing.T) {
	for seed := range uint64(100) {
		g, _, _ := dag(rand.New(rand.NewPCG(seed, 3)), 2, 0)
		a := g.Units[0].Class
		faster, err := replay.Apply(g, replay.Change{Faster: map[uint32]float64{a: 1}, CPUs: 2, Split: map[uint32]int{a: 1}})
		if err != nil || !reflect.DeepEqual(faster, g) {
			t.Fatalf("seed %d: no change changes the graph (%v)", seed, err)
		}
		parts, err := replay.Apply(g, replay.Change{Split: map[uint32]int{a: 3}})
		if err != nil {
			t.Fatal(err)
		}
		before, after := work(g), work(parts)
		if after > before || before-after > units.Ns(3*len(g.Steps)) {
			t.Errorf("seed %d: the work is %d, in parts %d", seed, before, after)
		}
		if _, err := replay.Run(parts); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

func work(g *graph.Graph) (n units.Ns) {
	for _, s := range g.Steps {
		n += s.Len
	}
	return n
}

func TestUnitsThatWaitForEachOther(t *testing.T) {
	g := graphOf(t, 0, func(b *graph.Builder) {
		x, y := b.Unit("x", 0), b.Unit("y", 0)
		b.Do(x, graph.Join, y)
		b.Do(y, graph.Join, x)
	})
	_, err := replay.Run(g)
	if !errors.Is(err, replay.ErrStuck) {
		t.Errorf("a deadlock is %v", err)
	}
	p, err := replay.Predict(g, 10, replay.Change{})
	if err != nil || p.Predicted != graph.Never || !errors.Is(p.Why, replay.ErrStuck) {
		t.Errorf("a deadlock is answered by %+v, %v", p, err)
	}
}

func TestCannotTell(t *testing.T) {
	g := graphOf(t, 0, func(b *graph.Builder) { b.Compute(b.Unit("x", 0), 100) })
	for recorded, tells := range map[units.Ns]bool{100: true, 91: true, 111: true, 90: false, 112: false} {
		p, err := replay.Predict(g, recorded, replay.Change{})
		if err != nil || (p.Predicted != graph.Never) != tells {
			t.Errorf("recorded %d, replayed 100: %+v, %v", recorded, p, err)
		}
	}
}

// FuzzGraph builds a graph from bytes: whatever passes Check is replayed without a panic, and has a path.
func FuzzGraph(f *testing.F) {
	f.Add([]byte{3, 2, 1, 0, 0, 0, 10, 1, 2, 1, 0, 2, 3, 1, 0})
	f.Add([]byte{8, 1, 2, 0, 0, 4, 0, 0, 1, 5, 0, 0})
	f.Fuzz(func(t *testing.T, in []byte) {
		next := func() byte {
			if len(in) == 0 {
				return 0
			}
			b := in[0]
			in = in[1:]
			return b
		}
		var b graph.Builder
		b.Executor(graph.Executor{Name: "pool", Workers: int(next() % 4), Order: graph.Order(next() % 3), Helps: next()%2 == 0, Leaves: next()%2 == 0})
		for kind := range graph.Barrier + 1 {
			b.Resource(kind, "r", int(next()%4))
		}
		n := uint32(1 + next()%8)
		for range n {
			u := b.Unit(string('a'+rune(next()%3)), uint32(next()%3))
			b.At(u).Delay, b.At(u).Latency, b.At(u).Wake = units.Ns(next()%16), units.Ns(next()%4), units.Ns(next()%4)
		}
		for len(in) > 0 {
			b.Add(uint32(next())%n, graph.Step{Kind: graph.Kind(next() % 12), On: uint32(next() % 8), Len: units.Ns(next()%64) - 1, Cause: graph.Cause(next() % 5), Pinned: next()%2 == 0})
		}
		g, err := b.Graph(int(next() % 3))
		if err != nil {
			return
		}
		s, err := replay.Run(g)
		if err != nil && !errors.Is(err, replay.ErrStuck) {
			t.Fatal(err)
		}
		if length, last := g.Length(s); last >= 0 && err == nil {
			if parts := critical.Path(g, s, last, 0, length); length > 0 {
				checkPath(t, parts, 0, length)
			}
		}
		if p, err := replay.Predict(g, 100, replay.Change{Split: map[uint32]int{1: 3}, Faster: map[uint32]float64{1: 2}, CPUs: 2, Unpin: true}); err == nil && p == nil {
			t.Fatal("no answer and no error")
		}
	})
}
