package estimate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The extra sleep by two drugs (Student 1908). R: t.test(extra ~ group, data = sleep) prints t = -1.8608, df = 17.776,
// p-value = 0.07939. Shifted below 0, where there are no ratios.
func TestRatioPOfDifferences(t *testing.T) {
	a := []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}
	b := []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
	for i := range a {
		a[i], b[i] = a[i]-5, b[i]-5
	}
	if p := RatioP(a, b, 0); !near(p, 0.07939, 5e-6) {
		t.Errorf("p %v, R has 0.07939", p)
	}
}

// By hand, for the values of TestRatio: of the ratio t is log(1.1)*110/sqrt(1) = 10.4841 with 8 degrees, p = 5.957384e-6; of the
// difference t is 10/sqrt(0.5 + 0.5/1.21) = 10.4643 with 7.92841 degrees, p = 6.460474e-6 (the tails integrated numerically).
func TestRatioPOfRatios(t *testing.T) {
	a, b := []float64{108, 109, 110, 111, 112}, []float64{98.1818181818, 99.0909090909, 100, 100.9090909091, 101.8181818182}
	if p := RatioP(a, b, 0); !near(p, 6.460474e-6, 1e-11) {
		t.Errorf("p %v", p)
	}
	if p := welch(math.Log(1.1), spread{5, 0.5 / 110 / 110}, spread{5, 0.5 / 110 / 110}); !near(p, 5.957384e-6, 1e-11) {
		t.Errorf("of the ratio: p %v", p)
	}
}

// If p is below 0.05, the interval of the ratio excludes 1.
func TestRatioPBelongsToRatio(t *testing.T) {
	r, below := rand.New(rand.NewPCG(3, 1)), 0
	for range 2000 {
		a, b := normal(r, 2+r.IntN(6), 100, 8), normal(r, 2+r.IntN(6), 100+20*r.Float64(), 8)
		p, i := RatioP(a, b, 0), Ratio(a, b)
		if p >= 0.05 {
			continue
		}
		if below++; i.Contains(1) {
			t.Fatalf("p %v and %+v of %v and %v", p, i, a, b)
		}
	}
	if below < 200 || below > 1800 {
		t.Errorf("%d of 2000 are below: the test is about both cases", below)
	}
}

// Wall times in ms of two sets of runs of one program, as recorded: in two runs of ten a thread waited inside an execution.
func TestRatioPOfOutliers(t *testing.T) {
	a, b := []float64{382.9, 6.0, 355.1, 0.58, 1.17}, []float64{0.57, 0.58, 0.69, 3.1, 1.2}
	if p := RatioP(a, b, 0); p < 0.05 {
		t.Errorf("p %v", p)
	}
}

func TestRatioPOfFewAndEqual(t *testing.T) {
	for _, c := range []struct {
		a, b       []float64
		resolution float64
		want       float64
	}{
		{[]float64{1, 2, 3}, []float64{3, 2, 1}, 0, 1},
		{[]float64{12, 12}, []float64{13, 13}, 0, 0},
		{[]float64{0, 0, 0}, []float64{0, 0, 0}, 1, 1},
	} {
		if p := RatioP(c.a, c.b, c.resolution); p != c.want {
			t.Errorf("%v against %v: %v, want %v", c.a, c.b, p, c.want)
		}
	}
	if p := RatioP([]float64{12, 12, 12}, []float64{13, 13, 13}, 1); p < 0.05 {
		t.Errorf("a count that is one more without any spread: %v", p)
	}
	if p := RatioP([]float64{0, 0, 0}, []float64{5, 6, 5}, 1); p > 0.01 {
		t.Errorf("0 against 5: %v", p)
	}
	if p := RatioP([]float64{1}, []float64{2, 3}, 0); !math.IsNaN(p) {
		t.Errorf("of one value: %v", p)
	}
}

// R: p.adjust(c(0.04, 0.01, 0.05, 0.02, 0.03), "holm") is 0.09 0.05 0.09 0.08 0.09.
func TestHolm(t *testing.T) {
	got, want := Holm([]float64{0.04, 0.01, math.NaN(), 0.05, 0.02, 0.03}), []float64{0.09, 0.05, math.NaN(), 0.09, 0.08, 0.09}
	for i := range want {
		if !near(got[i], want[i], 1e-12) && !(math.IsNaN(got[i]) && math.IsNaN(want[i])) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	if got := Holm([]float64{0.9, 0.8}); got[0] != 1 || got[1] != 1 {
		t.Errorf("%v, want 1", got)
	}
}
