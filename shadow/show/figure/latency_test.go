package figure

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"stackagent/granularity/latency"
	"stackagent/internal/units"
)

// curvesOf are the curves of so many runs of a configuration.
func curvesOf(label string, runs int, median float64, kinds ...string) []LatencyCurve {
	rng := rand.New(rand.NewPCG(uint64(len(label)), uint64(median)))
	var out []LatencyCurve
	for k, kind := range kinds {
		var all []*latency.Distribution
		for range runs {
			var values []units.Ns
			scale := math.Exp(0.15 * rng.NormFloat64())
			for range 20_000 {
				v := median * scale * math.Exp(0.4*rng.NormFloat64())
				if rng.IntN(200) < 1+k {
					v *= 40
				}
				values = append(values, units.Ns(v))
			}
			all = append(all, latency.Describe(values, nil))
		}
		m := latency.Merge(all)
		c := LatencyCurve{Label: label, Kind: kind, Runs: runs, Count: m.Count(), Points: m.Curve()}
		if runs > 1 {
			c.Low, c.High = latency.Band(all, c.Points)
		}
		out = append(out, c)
	}
	return out
}

func latencyFigures() map[string]*Figure {
	kinds := []string{"simple", "metered, 100ms", "metered, whole run", "response"}
	one := curvesOf("only", 1, 2e6, kinds...)
	one[1].RelativeError = 0.008
	var many []LatencyCurve
	for i, label := range []string{"G1 64 MiB", "ZGC 64 MiB", "\u202eevil", "a folder/with a name that is longer than any place in a figure could ever be/so it is cut"} {
		many = append(many, curvesOf(label, 1+2*(i%2), 1e6*float64(i+1), kinds[:len(kinds)-i%2]...)...)
	}
	return map[string]*Figure{
		"latency": Latency("com.acme.Request", one), "latency-runs": Latency("com.acme.Request", curvesOf("only", 3, 5e5, "simple")),
		"latency-sessions": Latency("com.acme.Request", many), "latency-kind": Latency("com.acme.Request", append(curvesOf("a", 1, 100, "simple"), curvesOf("b", 1, 1e9, "simple")...)),
		"latency-empty": Latency("com.acme.Request", []LatencyCurve{{Label: "a", Kind: "simple"}}),
	}
}

// TestLatencyPanels: several sessions have a panel for each kind, all with the same ticks.
func TestLatencyPanels(t *testing.T) {
	count := func(f *Figure, text string) (n int) {
		for _, b := range texts(t, f) {
			if b.text == text {
				n++
			}
		}
		return n
	}
	figs := latencyFigures()
	for name, panels := range map[string]int{"latency": 1, "latency-runs": 1, "latency-sessions": 4, "latency-kind": 1} {
		if got := count(figs[name], "percentile"); got != panels {
			t.Errorf("%s has %d panels, want %d", name, got, panels)
		}
		if got := count(figs[name], "99.9"); got != panels {
			t.Errorf("%s: the 99.9th percentile is at %d places, want %d", name, got, panels)
		}
	}
	if got := count(figs["latency-sessions"], "1 ms"); got != 4 {
		t.Errorf("%d of 4 panels show 1 ms", got)
	}
	legend := false
	for _, b := range texts(t, figs["latency-sessions"]) {
		legend = legend || strings.HasPrefix(b.text, "ZGC 64 MiB (n = 60,000, 3 runs)")
	}
	if !legend {
		t.Error("the legend does not say how many runs there are")
	}
}
