package account

import (
	"math/rand/v2"
	"testing"

	"stackagent/granularity/graph"
	"stackagent/internal/units"
)

// TestInflations: units that take twice as long beside others are found, whichever come first; as long units, units of random lengths, and
// those that only get faster as they warm up, are not.
func TestInflations(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for _, c := range []struct {
		name   string
		alone  func(i int) int // ms
		beside func(i int) int
		first  bool // those alone come first
		want   bool
	}{
		{"twice as long", func(int) int { return 5 }, func(int) int { return 10 }, true, true},
		{"twice as long, first", func(int) int { return 5 }, func(int) int { return 10 }, false, true},
		{"as long", func(int) int { return 5 }, func(int) int { return 5 }, true, false},
		{"of random lengths", func(int) int { return 1 + rng.IntN(20) }, func(int) int { return 1 + rng.IntN(20) }, true, false},
		{"cold", func(int) int { return 5 }, func(i int) int { return 5 + 10/(1+i) }, false, false},
	} {
		g, a := replayed(t, 2, func(b *graph.Builder) {
			one, two := b.Executor(graph.Executor{Name: "one", Workers: 1}), b.Executor(graph.Executor{Name: "two", Workers: 2})
			main := unit(b, "main", 0, "main")
			alone := func() {
				for i := range 20 {
					u := unit(b, "Job", one, "w")
					b.Do(main, graph.Submit, u)
					b.Compute(u, ms*units.Ns(c.alone(i)))
					b.Do(main, graph.Join, u)
				}
			}
			if c.first {
				alone()
			}
			var last []uint32
			for i := range 20 {
				for _, w := range []string{"w1", "w2"} {
					u := unit(b, "Job", two, w)
					b.Do(main, graph.Submit, u)
					b.Compute(u, ms*units.Ns(c.beside(i)))
					last = append(last, u)
				}
			}
			for _, u := range last {
				b.Do(main, graph.Join, u)
			}
			if !c.first {
				alone()
			}
		})
		found := len(a.Dearer) > 0
		if found != c.want {
			t.Errorf("%s: %+v", c.name, a.Dearer)
		}
		if found && (g.Classes[a.Dearer[0].Class] != "Job" || a.Dearer[0].Alone != 5*ms || a.Dearer[0].Beside != 10*ms || a.Dearer[0].Extra < 190*ms) {
			t.Errorf("%s: %+v", c.name, a.Dearer[0])
		}
	}
}

// TestInflationsReady: a unit that is ready for a CPU for half of its time, as other programs have it, takes no more CPU time.
func TestInflationsReady(t *testing.T) {
	g, a := replayed(t, 1, func(b *graph.Builder) { // one CPU for two workers: each is ready for it while the other computes
		one, two := b.Executor(graph.Executor{Name: "one", Workers: 1}), b.Executor(graph.Executor{Name: "two", Workers: 2})
		main := unit(b, "main", 0, "main")
		for range 20 {
			u := unit(b, "Job", one, "w")
			b.Do(main, graph.Submit, u)
			b.Compute(u, 5*ms)
			b.Do(main, graph.Join, u)
		}
		var last []uint32
		for range 20 {
			for _, w := range []string{"w1", "w2"} {
				u := unit(b, "Job", two, w)
				b.Do(main, graph.Submit, u)
				b.Compute(u, 5*ms)
				last = append(last, u)
			}
		}
		for _, u := range last {
			b.Do(main, graph.Join, u)
		}
	})
	if len(a.Dearer) > 0 {
		t.Errorf("%+v of %s", a.Dearer[0], g.Classes[a.Dearer[0].Class])
	}
}
