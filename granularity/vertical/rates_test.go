package vertical

import (
	"flag"
	"testing"
)

// The rates in docs/internals/vertical-analysis.md are of -seeds 1000.
var seeds = flag.Int("seeds", 24, "simulated runs of each kind")

// explained explains a simulated run: every other time a range is given, else it is to be found.
func explained(w *world, seed int) Explanation {
	in := w.ranges[w.r.IntN(len(w.ranges))]
	if seed%2 == 0 {
		in = Range{}
	}
	return Explain(w.target, w.others, in, ExplainOptions{})
}

func names(g Group) (out []string) {
	out = append(out, g.Lead.Name)
	for _, f := range g.Others {
		out = append(out, f.Name)
	}
	return out
}

// Of 220 series the cause is the first in nine of ten runs.
func TestPlantedCause(t *testing.T) {
	first, inFirst, among := 0, 0, 0
	for seed := range *seeds {
		w := simulate(uint64(seed), true, 200)
		e := explained(w, seed)
		is := false
		for i, g := range e.Causes {
			for k, name := range names(g) {
				if name != w.cause {
					continue
				}
				among++
				if i == 0 {
					inFirst++
				}
				if is = i == 0 && k == 0; is {
					first++
				}
			}
		}
		if !is {
			t.Logf("seed %d: %d samples, changes %v, explained %v %v, p %.2g; causes %d", seed, w.n, w.ranges, e.Range, e.Similar, e.P, len(e.Causes))
			for _, g := range e.Causes {
				t.Logf("  %s: %+v", g.Lead.Name, g)
			}
		}
	}
	t.Logf("of %d runs with a cause it is first in %d, in the first group in %d, among the causes in %d", *seeds, first, inFirst, among)
	if first < *seeds*9/10 {
		t.Errorf("first in %d of %d", first, *seeds)
	}
}

// Of runs whose target changes without a cause nine of ten have none, and of the series that have nothing to do with
// the target far less than 5 % are called causes.
func TestNoCause(t *testing.T) {
	nothing, called, tried := 0, 0, 0
	for seed := range *seeds {
		w := simulate(uint64(seed)+1_000_000, false, 200)
		e := explained(w, seed)
		tried += e.Tried
		if len(e.Causes) == 0 {
			nothing++
		}
		for _, g := range e.Causes {
			t.Logf("seed %d: %d samples, changes %v, explained %v: %s: %+v", seed, w.n, w.ranges, e.Range, g.Lead.Name, g)
			for _, name := range names(g) {
				if !w.moved[name] {
					called++
				}
			}
		}
	}
	t.Logf("of %d runs without a cause %d have none; of %d series %d are called causes by chance", *seeds, nothing, tried, called)
	if nothing < *seeds*9/10 || called*100 > tried {
		t.Errorf("nothing in %d of %d; %d of %d series called", nothing, *seeds, called, tried)
	}
}

// A target without changes has nothing to explain.
func TestNoChange(t *testing.T) {
	some := 0
	for seed := range *seeds {
		w := simulate(uint64(seed)+2_000_000, false, 20)
		for i := range w.target.Values {
			w.target.Values[i] = 100
		}
		for i, e := range w.noise(0.5) {
			w.target.Values[i] += 6 * e
		}
		if e := Explain(w.target, w.others, Range{}, ExplainOptions{}); e.Range.Len() > 0 {
			some++
		}
	}
	t.Logf("a change is found in %d of %d targets without one", some, *seeds)
	if some*10 > *seeds {
		t.Errorf("a change is found in %d of %d targets without one", some, *seeds)
	}
}
