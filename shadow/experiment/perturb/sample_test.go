package perturb

import (
	"encoding/json"
	"math"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(b)) }

// By hand: 1, 2, 3, 4 have mean 2.5, deviation sqrt(5/3); t(0.975, 3) = 3.182446305.
func TestSample(t *testing.T) {
	s := SampleOf([]float64{1, 2, 3, 4})
	if !near(s.Mean, 2.5) || !near(s.StdDev, math.Sqrt(5.0/3)) || math.Abs(s.Half-3.182446305*math.Sqrt(5.0/3)/2) > 1e-6 {
		t.Errorf("%+v", s)
	}
	one := SampleOf([]float64{7})
	if one.Mean != 7 || !math.IsNaN(one.StdDev) || !math.IsNaN(one.Half) {
		t.Errorf("a single run has no spread: %+v", one)
	}
}

func TestRatio(t *testing.T) {
	r := RatioOf(SampleOf([]float64{4, 4}), SampleOf([]float64{2, 2}))
	if r != (Ratio{2, 2, 2}) {
		t.Errorf("without spread: %+v", r)
	}
	if r := RatioOf(SampleOf([]float64{3}), SampleOf([]float64{2, 2})); r.Value != 1.5 || !math.IsNaN(r.Low) || !math.IsNaN(r.High) {
		t.Errorf("of a single run: %+v", r)
	}
}

func TestJSON(t *testing.T) {
	b, err := json.Marshal(struct {
		S Sample
		R Ratio
	}{SampleOf([]float64{3}), Ratio{math.NaN(), math.NaN(), math.NaN()}})
	want := `{"S":{"values":[3],"mean":3,"stddev":null,"ci95_half":null},"R":{"ratio":null,"ci95_low":null,"ci95_high":null}}`
	if err != nil || string(b) != want {
		t.Errorf("%s, %v", b, err)
	}
}
