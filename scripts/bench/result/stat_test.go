package result

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		v    []float64
		want float64
	}{{[]float64{3}, 3}, {[]float64{5, 1}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 3, 2}, 2.5}} {
		if got := Median(c.v); got != c.want {
			t.Errorf("Median(%v) = %v, want %v", c.v, got, c.want)
		}
	}
	if !math.IsNaN(Median(nil)) {
		t.Error("the median of nothing is a number")
	}
	v := []float64{3, 1, 2}
	OfMedian(v)
	if v[0] != 3 || v[1] != 1 {
		t.Error("the measurements were reordered")
	}
}

func TestOfEqualMeasurements(t *testing.T) {
	base, v := []float64{2, 2, 2, 2, 2}, []float64{5, 5, 5, 5, 5}
	for name, c := range map[string]struct {
		got  Estimate
		want float64
	}{"median": {OfMedian(v), 5}, "ratio": {Ratio(v, base), 2.5}, "difference": {Difference(v, base), 3}} {
		if c.got != (Estimate{c.want, c.want, c.want, 5}) {
			t.Errorf("%s: %+v, want %v without spread", name, c.got, c.want)
		}
	}
}

func TestFewMeasurementsHaveNoInterval(t *testing.T) {
	e := Ratio([]float64{4, 4, 4}, []float64{2, 2, 2})
	if e.Value != 2 || e.N != 3 || !math.IsNaN(e.Low) || !math.IsNaN(e.High) {
		t.Errorf("%+v, want 2 without an interval", e)
	}
}

// A slow machine slows both of a pair: it must not affect the ratio.
func TestRatioIsOfPairs(t *testing.T) {
	slow := []float64{1, 7, 2, 9, 4, 30, 3}
	v := make([]float64, len(slow))
	for i, s := range slow {
		v[i] = 3 * s
	}
	if e := Ratio(v, slow); math.Abs(e.Low-3) > 1e-12 || math.Abs(e.High-3) > 1e-12 {
		t.Errorf("%+v, want exactly 3", e)
	}
	if e := OfMedian(v); e.High-e.Low < 10 {
		t.Errorf("%+v: the spread of the machine is gone", e)
	}
}

// With order statistics as the truth: of five measurements, a resample's
// median is the least one with probability sum(k>=3) C(5,k) (1/5)^k (4/5)^(5-k) = 5.79 %.
// So the 2.5th percentile is the least, the 97.5th the greatest.
func TestIntervalOfFive(t *testing.T) {
	e := OfMedian([]float64{10, 20, 30, 40, 50})
	if e != (Estimate{30, 10, 50, 5}) {
		t.Errorf("%+v, want 30 [10, 50]", e)
	}
}

// Of nine the least has probability sum(k>=5) C(9,k) (1/9)^k (8/9)^(9-k) = 0.15 %, the least two
// together (with 2/9 and 7/9) 3.0 %: the interval goes from the second to the second last.
func TestIntervalOfNine(t *testing.T) {
	e := OfMedian([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9})
	if e.Value != 5 || e.Low != 2 || e.High != 8 {
		t.Errorf("%+v, want 5 [2, 8]", e)
	}
}

func TestCoverage(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const trials, n = 200, 15
	covered := 0
	for range trials {
		v := make([]float64, n)
		for i := range v {
			v[i] = 100 + 10*random.NormFloat64()
		}
		if e := OfMedian(v); e.Low <= 100 && 100 <= e.High {
			covered++
		}
	}
	if share := float64(covered) / trials; share < 0.88 {
		t.Errorf("%.0f %% of the intervals hold the true median, want about 95", 100*share)
	}
}

// The base moves by a factor of ten, and both of a pair with it.
func TestPaired(t *testing.T) {
	var base, v []float64
	for i := range 20 {
		base = append(base, float64(1+i/2))
		v = append(v, 1.05*base[i])
	}
	e := Paired(v, base)
	if math.Abs(e.Value-1.05) > 1e-9 || e.High-e.Low > 1e-9 || e.N != 20 {
		t.Errorf("%+v, want 1.05", e)
	}
}
