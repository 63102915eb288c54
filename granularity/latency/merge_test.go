package latency

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"stackagent/internal/units"
)

// TestMerge: the distribution of several is that of all their values, and the band has the least and the greatest of
// them at each point, whether some are summarised or not.
func TestMerge(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for _, summarised := range []bool{false, true} {
		var parts []*Distribution
		var all []units.Ns
		sum := 0.0
		for k := range 3 {
			var values []units.Ns
			for range 2000 + 500*k {
				n := units.Ns(1e6 * (1 + float64(k)) * math.Exp(rng.NormFloat64()))
				values, sum = append(values, n), sum+float64(n)
			}
			all = append(all, values...)
			if summarised && k == 1 {
				parts = append(parts, Describe(nil, []Summary{summarise(values)}))
			} else {
				parts = append(parts, Describe(values, nil))
			}
		}
		m, exact := Merge(parts), Describe(slices.Clone(all), nil)
		if m.Count() != exact.Count() || m.Max() != exact.Max() || math.Abs(m.Mean()-sum/float64(len(all))) > 1e-6*m.Mean() || (m.RelativeError() > 0) != summarised {
			t.Errorf("%d of %d, max %d of %d, mean %g of %g", m.Count(), exact.Count(), m.Max(), exact.Max(), m.Mean(), sum/float64(len(all)))
		}
		for _, p := range Percentiles {
			if got, want := float64(m.At(p)), float64(exact.At(p)); math.Abs(got-want) > m.RelativeError()*want+1 {
				t.Errorf("percentile %d: %g, want %g", p, got, want)
			}
		}
		curve := m.Curve()
		low, high := Band(parts, curve)
		for i, p := range curve {
			var at []units.Ns
			for _, d := range parts {
				at = append(at, d.At(min(All, Percentile(math.Round(float64(All)*(1-p.Above))))))
			}
			// The grid of percentiles is coarser than the curve near its end.
			if p.Above > 0.01 && (apart(low[i], slices.Min(at)) || apart(high[i], slices.Max(at))) {
				t.Errorf("at 1 - %g: %d to %d, want %d to %d", p.Above, low[i], high[i], slices.Min(at), slices.Max(at))
			}
			if low[i] > p.Ns || high[i] < p.Ns {
				t.Errorf("at 1 - %g: %d is not in %d to %d", p.Above, p.Ns, low[i], high[i])
			}
		}
		if high[len(high)-1] != exact.Max() {
			t.Errorf("the band ends at %d, the greatest is %d", high[len(high)-1], exact.Max())
		}
	}
	if m := Merge(nil); m.Count() != 0 || !math.IsNaN(m.Mean()) {
		t.Errorf("nothing: %+v", m)
	}
	if low, high := Band([]*Distribution{Describe(nil, nil)}, []Point{{0.5, 7}}); low[0].Measured() || high[0].Measured() {
		t.Error("nothing has a band")
	}
}

// apart reports a difference of more than a hundredth.
func apart(a, b units.Ns) bool { return math.Abs(float64(a-b)) > 0.01*float64(b) }
