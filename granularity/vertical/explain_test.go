package vertical

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// dips is a run of 900 samples with three dips of a target, and series whose relation to it is known.
func dips(r *rand.Rand) (target Series, others []Series) {
	noisy := func(level float64, at ...Range) []float64 {
		v := red(r, 900, 0.2)
		for i := range v {
			f := 1.0
			if slices.ContainsFunc(at, func(r Range) bool { return r.From <= i && i < r.To }) {
				f = level
			}
			v[i] = 200 * f * (1 + 0.03*v[i])
		}
		return v
	}
	moved := func(by int) []Range { return []Range{{200 + by, 225 + by}, {450 + by, 475 + by}, {700 + by, 725 + by}} }
	target = Series{Name: "app.tasks.finished", Layer: "application", Values: noisy(0.5, moved(0)...)}
	add := func(name, layer string, values []float64) {
		others = append(others, Series{Name: name, Layer: layer, Values: values})
	}
	add("app.tasks.started", "application", noisy(0.5, moved(0)...))
	add("os.minor_faults", "os", noisy(40, moved(-2)...))
	add("vm.heap.committed_bytes", "vm", noisy(8, moved(-2)...))
	add("vm.alloc_bytes", "vm", noisy(0.5, moved(1)...))
	add("framework.queue", "framework", noisy(5, moved(9)...))
	add("native.reads", "native", noisy(6, append(moved(-1), Range{50, 75}, Range{300, 325}, Range{600, 625}, Range{820, 845})...))
	add("vm.jit", "vm", noisy(1))
	add("hardware.constant", "hardware", make([]float64, 900))
	return target, others
}

func TestExplain(t *testing.T) {
	target, others := dips(rand.New(rand.NewPCG(1, 2)))
	restates := func(s Series) bool { return s.Name == "app.tasks.started" }
	for _, in := range []Range{{}, {440, 480}, {700, 725}} {
		e := Explain(target, append(others, target), in, ExplainOptions{Restates: restates})
		if e.Found != (in.Len() == 0) || len(e.Similar) != 2 || e.Tried != 8 || !near(e.During/e.Before, 0.5, 0.03) || e.Effect > 0 {
			t.Errorf("%v: %+v", in, e)
		}
		if len(e.Causes) != 1 || !slices.Equal(names(e.Causes[0]), []string{"os.minor_faults", "vm.heap.committed_bytes"}) {
			t.Fatalf("%v: causes %+v, demoted %+v", in, e.Causes, e.Demoted)
		}
		lead := e.Causes[0].Lead
		if lead.Series != 1 || !lead.OnsetKnown || lead.Onset != -2 || lead.OnsetRange != [2]int{-2, -2} || lead.Coverage != 1 || lead.Specificity != 1 ||
			!near(lead.During/lead.Before, 40, 3) || lead.Effect < 0 || lead.R > -0.8 || lead.Corrected > 0.001 {
			t.Errorf("%v: lead %+v", in, lead)
		}
		want := map[string]Reason{"app.tasks.started": Restated, "app.tasks.finished": Restated, "vm.alloc_bytes": Follows, "framework.queue": Later, "native.reads": Elsewhere}
		for _, f := range e.Demoted {
			if want[f.Name] != f.Reason {
				t.Errorf("%v: %+v, want %q", in, f, want[f.Name])
			}
			delete(want, f.Name)
		}
		if len(want) > 0 {
			t.Errorf("%v: not demoted: %v", in, want)
		}
	}
}

// A series that is read less often than the target cannot be said to change before it within a reading.
func TestOnsetOfSeldomRead(t *testing.T) {
	target, others := dips(rand.New(rand.NewPCG(1, 2)))
	others[1].Coarse = 10 // os.minor_faults, two samples before
	others = append(others, others[1])
	others[len(others)-1].Name, others[len(others)-1].Coarse = "os.same_faults", 0
	e := Explain(target, others, Range{}, ExplainOptions{})
	found := map[string]Factor{}
	for _, g := range e.Causes {
		for _, f := range append(g.Others, g.Lead) {
			found[f.Name] = f
		}
	}
	if f := found["os.minor_faults"]; !f.OnsetKnown || f.OnsetRange != [2]int{-12, 8} || f.Coarse != 10 {
		t.Errorf("read every ten samples: %+v", f)
	}
	if f := found["os.same_faults"]; !f.OnsetKnown || f.OnsetRange != [2]int{-2, -2} {
		t.Errorf("read in each sample: %+v", f)
	}
	first, second := Factor{OnsetKnown: true, Onset: -5, own: 0.5, Score: 1}, Factor{OnsetKnown: true, own: 0.5, Score: 1}
	if !leads(&first, &second) {
		t.Error("what comes five samples earlier does not lead")
	}
	if first.dated(10); leads(&first, &second) {
		t.Error("what is dated to ten samples leads because it comes five earlier")
	}
}

// What changes by a thousandth is neither a cause nor worth a line, however sure the change is.
func TestExplainSlightChanges(t *testing.T) {
	target, others := dips(rand.New(rand.NewPCG(1, 2)))
	slight := Series{Name: "lib.sleep_ns", Layer: "libraries"}
	for _, v := range others[1].Values {
		slight.Values = append(slight.Values, 2-v/1e7)
	}
	e := Explain(target, append(others, slight), Range{}, ExplainOptions{})
	for _, g := range e.Causes {
		for _, f := range append(g.Others, g.Lead) {
			if f.Name == slight.Name {
				t.Errorf("a cause: %+v", f)
			}
		}
	}
	for _, f := range e.Demoted {
		if f.Name == slight.Name {
			t.Errorf("listed: %+v", f)
		}
	}
	if len(e.Causes) == 0 {
		t.Error("no causes at all")
	}
}

func TestExplainNothing(t *testing.T) {
	target, others := dips(rand.New(rand.NewPCG(3, 4)))
	flat := Series{Name: "flat", Values: make([]float64, 900)}
	for name, e := range map[string]Explanation{
		"the whole run":   Explain(target, others, Range{0, 900}, ExplainOptions{}),
		"a constant":      Explain(flat, others, Range{}, ExplainOptions{}),
		"where it is not": Explain(target, others, Range{260, 300}, ExplainOptions{}),
		"no samples":      Explain(Series{}, nil, Range{}, ExplainOptions{}),
		"beyond the end":  Explain(target, others, Range{2000, 3000}, ExplainOptions{}),
	} {
		if len(e.Causes) > 0 || len(e.Demoted) > 0 {
			t.Errorf("%s: %+v", name, e)
		}
	}
	short := Explain(target, []Series{{Name: "short", Values: make([]float64, 10)}}, Range{200, 225}, ExplainOptions{})
	if short.Tried != 0 || len(short.Causes) != 0 {
		t.Errorf("%+v", short)
	}
}
