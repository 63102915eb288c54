package vertical

import (
	"os"
	"strconv"
	"testing"
)

func seeds(usual int) int {
	if n, err := strconv.Atoi(os.Getenv("VERTICAL_SEEDS")); err == nil {
		return n
	}
	return usual
}

func TestPlantedCause(t *testing.T) {
	n, first, grouped, found := seeds(60), 0, 0, 0
	for seed := range n {
		w := simulate(uint64(seed), true, 200)
		in := w.ranges[w.r.IntN(len(w.ranges))]
		if seed%2 == 0 {
			in = Range{}
		}
		e := Explain(w.target, w.others, in, ExplainOptions{})
		where := -1
		for i, g := range e.Causes {
			if g.Lead.Name == w.cause {
				where = 0
			}
			for _, o := range g.Others {
				if o.Name == w.cause {
					where = 1
				}
			}
			if where >= 0 {
				if i == 0 {
					grouped++
					if where == 0 {
						first++
					}
				}
				break
			}
		}
		if where >= 0 {
			found++
		}
		if testing.Verbose() && (where != 0 || os.Getenv("VERTICAL_ALL") != "" && len(e.Causes) > 1) {
			t.Logf("seed %d n %d true %v given %v used %v %v effect %.1f p %.2g: %s at %d", seed, w.n, w.ranges, in, e.Range, e.Similar, e.Effect, e.P, w.cause, where)
			for i, g := range e.Causes {
				if i < 3 {
					t.Logf("   lead %+v (%d)", g.Lead, len(g.Others))
				}
			}
			if where < 0 {
				for _, f := range e.Demoted {
					if f.Name == w.cause {
						t.Logf("   DEMOTED %+v", f)
					}
				}
			}
		}
	}
	t.Logf("of %d: first %d, in the first group %d, among the causes %d", n, first, grouped, found)
}

func TestNoCause(t *testing.T) {
	n, none := seeds(60), 0
	for seed := range n {
		w := simulate(uint64(seed)+1000, false, 200)
		in := w.ranges[w.r.IntN(len(w.ranges))]
		if seed%2 == 0 {
			in = Range{}
		}
		e := Explain(w.target, w.others, in, ExplainOptions{})
		if len(e.Causes) == 0 {
			none++
		} else if testing.Verbose() {
			t.Logf("seed %d n %d true %v given %v used %v %v effect %.1f p %.2g", seed, w.n, w.ranges, in, e.Range, e.Similar, e.Effect, e.P)
			t.Logf("   lead %+v (%d)", e.Causes[0].Lead, len(e.Causes[0].Others))
		}
	}
	t.Logf("of %d: nothing %d", n, none)
}
