package budget

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// Of a session of which a part is missing, sums are bounds and means are not known. A result says the reason once.
func TestBounds(t *testing.T) {
	inf := math.Inf(1)
	tr := tree(t)
	for _, name := range []string{"metrics.*.sum", "metrics.*.max", "gc", "tasks"} {
		tr.Doubt(name, "a part is missing", 0, inf)
	}
	tr.Doubt("metrics.*.p99", "a part is missing", inf, inf)
	tr.Doubt("metrics.cpu_ns.max", "a part is missing", inf, inf) // a name goes before a pattern
	tr.Doubt("gc.share", "a part is missing", inf, inf)
	for text, want := range map[string]string{
		"cpu_ns.sum > 500ns":          "broken: cpu_ns.sum is at least 600 ns",
		"cpu_ns.sum > 700ns":          "not_available: not available: a part is missing; cpu_ns.sum is at least 600 ns",
		"cpu_ns.max > 1ns":            "not_available: not available: a part is missing",
		"cpu_ns.p99 > 1ns":            "not_available: not available: a part is missing",
		"gc.share > 1%":               "not_available: not available: a part is missing",
		"gc.pauses > 2":               "broken: gc.pauses is at least 3",
		"cpu_ns.count > 5":            "broken: cpu_ns.count is 12",
		"not within(cpu_ns.sum, 10%)": "not_available: not available: cpu_ns.sum is at least 600 ns: a part is missing",
	} {
		b, err := FailIf(text)
		if err != nil {
			t.Fatal(err)
		}
		all := []*Budget{b}
		f, err := Gather(Names(all), []map[Selector]Tree{{Selector{}: tr}})
		if err != nil {
			t.Fatal(err)
		}
		f.Baseline = &Baseline{figures: map[Name][]float64{b.Expr().Names[0]: {600}}}
		r := Check(all, f, "")[0]
		if got := string(r.State) + ": " + r.Text(); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
		data, err := json.Marshal(r.Figures[0])
		if err != nil || strings.Contains(string(data), `"at_least":`) != strings.Contains(r.Figures[0].Text(), "at least") {
			t.Errorf("%s: %v: %s", text, err, data)
		}
		_, missing := NewBaseline(f, Names(all))
		for _, n := range missing {
			if why := f.Sample(n).Missing(n); !strings.HasSuffix(why, ": a part is missing") {
				t.Errorf("%s is left out: %q", n, why)
			}
		}
	}
}
