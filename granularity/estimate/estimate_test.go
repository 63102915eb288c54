package estimate

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
)

func near(a, b, within float64) bool { return math.Abs(a-b) <= within }

// sleep is the extra sleep of ten patients, the difference between two drugs (Cushny
// and Peebles 1905), the example of Student's paper of 1908.
var sleep = []float64{1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4}

// R: t.test(extra ~ group, data = sleep, paired = TRUE) prints 0.7001142 2.4598858.
func TestMeanOfSleep(t *testing.T) {
	m := Mean(sleep)
	if !near(m.Mean, 1.58, 1e-12) || !near(m.Low, 0.7001142, 5e-8) || !near(m.High, 2.4598858, 5e-8) || m.N != 10 {
		t.Errorf("%+v", m)
	}
	if !near(m.Half(), 0.8798858, 5e-8) || !m.Contains(2) || m.Contains(0.7) || !m.Known() {
		t.Errorf("half %v, contains 2: %v, contains 0.7: %v", m.Half(), m.Contains(2), m.Contains(0.7))
	}
	if d := m.Times(10); !near(d.Mean, 15.8, 1e-9) || !near(d.High, 24.598858, 5e-7) || d.N != 10 {
		t.Errorf("ten times: %+v", d)
	}
}

// The sleep data have the standard deviation 1.229995.
func TestVariation(t *testing.T) {
	if v := Variation(sleep); !near(v, 1.229995/1.58, 1e-6) {
		t.Errorf("%v", v)
	}
	if v := Variation([]float64{3}); !math.IsNaN(v) {
		t.Errorf("of one value: %v", v)
	}
}

func TestFewValues(t *testing.T) {
	for name, i := range map[string]Interval{"mean": Mean([]float64{7}), "bootstrap": Bootstrap([]float64{7}, mean, 1)} {
		if !near(i.Mean, 7, 1e-12) || i.Known() || i.Contains(7) || i.N != 1 {
			t.Errorf("%s: %+v", name, i)
		}
	}
	for name, i := range map[string]Interval{"mean": Mean(nil), "combine": Combine(nil), "combine zero": Combine([]Interval{{Mean: 0, Low: 0, High: 1}}), "ratio": Ratio(nil, []float64{1})} {
		if !math.IsNaN(i.Mean) || i.Known() {
			t.Errorf("%s: %+v", name, i)
		}
	}
}

func TestJSON(t *testing.T) {
	b, err := json.Marshal([]any{Mean([]float64{3}), Interval{2, 1, 3, 4}, EffectOf([]float64{2, 2}, []float64{1, 1}), EffectOf(nil, nil)})
	want := `[{"mean":3,"low":null,"high":null,"n":1},{"mean":2,"low":1,"high":3,"n":4},` +
		`{"hedges_g":null,"hedges_magnitude":"large","cliffs_delta":1,"cliffs_magnitude":"large"},{"hedges_g":null,"cliffs_delta":null}]`
	if err != nil || string(b) != want {
		t.Errorf("%s, %v", b, err)
	}
}

func TestCombine(t *testing.T) {
	// Bounds at a factor of e^0.03 and e^0.04 around 2 and 8: the mean of logarithms has 0.05/2.
	c := Combine([]Interval{{2, 2 * math.Exp(-0.03), 2 * math.Exp(0.03), 5}, {8, 8 * math.Exp(-0.04), 8 * math.Exp(0.04), 5}})
	if !near(c.Mean, 4, 1e-12) || !near(c.Low, 4*math.Exp(-0.025), 1e-12) || !near(c.High, 4*math.Exp(0.025), 1e-12) || c.N != 2 {
		t.Errorf("%+v", c)
	}
	// Equal estimates: sqrt(n) times narrower.
	one := Interval{1.5, 1.5 / 1.2, 1.5 * 1.2, 3}
	four := Combine([]Interval{one, one, one, one})
	if !near(four.High, 1.5*math.Sqrt(1.2), 1e-12) || !near(four.Low, 1.5/math.Sqrt(1.2), 1e-12) {
		t.Errorf("%+v", four)
	}
	if open := Combine([]Interval{one, unbounded(1.5, 1)}); !near(open.Mean, 1.5, 1e-12) || open.Known() {
		t.Errorf("with a single run: %+v", open)
	}
}

// Equal relative errors of 5 values each: Welch's degrees are 8, t(0.975, 8) = 2.306004135.
func TestRatio(t *testing.T) {
	a, b := []float64{108, 109, 110, 111, 112}, []float64{98.1818181818, 99.0909090909, 100, 100.9090909091, 101.8181818182}
	r := Ratio(a, b)
	half := 2.306004135 * math.Sqrt(2.5/5) / 110 * math.Sqrt2
	if !near(r.Mean, 1.1, 1e-9) || !near(r.Low, 1.1*math.Exp(-half), 1e-6) || !near(r.High, 1.1*math.Exp(half), 1e-6) || r.N != 5 {
		t.Errorf("%+v, want 1.1 and e^±%v", r, half)
	}
	if same := Ratio([]float64{4, 4}, []float64{2, 2, 2}); same != (Interval{2, 2, 2, 2}) {
		t.Errorf("without spread: %+v", same)
	}
	for _, r := range []Interval{Ratio([]float64{3}, []float64{2, 2}), Ratio([]float64{0, 0}, []float64{2, 2}), Ratio([]float64{1, 2}, []float64{0, 0})} {
		if r.Known() {
			t.Errorf("an interval of nothing: %+v", r)
		}
	}
	if r := Ratio([]float64{3}, []float64{0}); !math.IsNaN(r.Mean) {
		t.Errorf("something over nothing is %v", r.Mean)
	}
}

// By hand: the residuals are ±0.01 and 0 (b is constant), t(0.975, 2) = 4.302652730. What is common to both cancels.
func TestPairedRatio(t *testing.T) {
	half := 4.302652730 * 0.01 / math.Sqrt(3)
	for _, load := range [][3]float64{{1, 1, 1}, {2, 2, 2}} {
		a, b := []float64{2 * 0.99 * load[0], 2 * load[1], 2 * 1.01 * load[2]}, load[:]
		r := PairedRatio(a, b)
		if !near(r.Mean, 2, 1e-12) || !near(r.Low, 2*math.Exp(-half), 1e-9) || !near(r.High, 2*math.Exp(half), 1e-9) || r.N != 3 {
			t.Errorf("%v over %v: %+v", a, b, r)
		}
	}
	if r := PairedRatio([]float64{3, 30, 300}, []float64{2, 20, 200}); !near(r.Low, 1.5, 1e-12) || !near(r.High, 1.5, 1e-12) {
		t.Errorf("always in the same ratio: %+v", r)
	}
	if r := PairedRatio([]float64{3}, []float64{2}); r.Mean != 1.5 || r.Known() {
		t.Errorf("one run: %+v", r)
	}
}

func mean(v []float64) float64 { return stat.Mean(v, nil) }

// variance divides by n, as in the textbook.
func variance(v []float64) float64 { return stat.Moment(2, v, nil) }

// spatial is the "spatial test data" of Efron and Tibshirani, An Introduction to the
// Bootstrap (1993), table 14.1, column A. For the variance they find 171.5, the
// acceleration 0.061, the bias correction 0.146 and the BCa interval at 90 % (115.8,
// 259.6), table 14.2, from 2000 resamples.
var spatial = []float64{48, 36, 20, 29, 42, 42, 20, 42, 22, 41, 45, 14, 6, 0, 33, 28, 34, 4, 32, 24, 47, 41, 24, 26, 30, 41}

func TestBootstrapOfTheTextbook(t *testing.T) {
	if v := variance(spatial); !near(v, 171.5, 0.05) {
		t.Fatalf("variance %v", v)
	}
	a := acceleration(spatial, variance)
	if !near(a, 0.061, 0.0005) {
		t.Errorf("acceleration %v", a)
	}
	low, high := bca(171.5, draw(spatial, variance, 1), a, 0.90)
	// 2000 resamples leave a standard error of 2 to 3 in the book's bounds.
	if !near(low, 115.8, 6) || !near(high, 259.6, 6) {
		t.Errorf("%.1f to %.1f, the book has 115.8 to 259.6", low, high)
	}
}

func TestBootstrapIsRepeatable(t *testing.T) {
	a, b, c := Bootstrap(sleep, mean, 7), Bootstrap(sleep, mean, 7), Bootstrap(sleep, mean, 8)
	if a != b || a == c {
		t.Errorf("seeds 7, 7, 8: %+v %+v %+v", a, b, c)
	}
	if a.N != 10 || !near(a.Mean, 1.58, 1e-12) || !(a.Low > 0.7 && a.Low < 1.58 && a.High > 1.58 && a.High < 3.2) {
		t.Errorf("%+v", a)
	}
}

// Of symmetrical data the bounds of the mean are symmetrical, and near those of the normal distribution.
func TestBootstrapOfSymmetry(t *testing.T) {
	var values []float64
	for i := -50; i <= 50; i++ {
		values = append(values, float64(i))
	}
	b, half := Bootstrap(values, mean, 3), 1.959964*math.Sqrt(variance(values)/101)
	if !near(b.Low, -half, 0.05*half) || !near(b.High, half, 0.05*half) {
		t.Errorf("%+v, want ±%v", b, half)
	}
}

func TestBootstrapWithoutBounds(t *testing.T) {
	if b := Bootstrap([]float64{5, 5, 5}, mean, 1); b != (Interval{5, 5, 5, 3}) {
		t.Errorf("without spread: %+v", b)
	}
	undefined := func(v []float64) float64 { return 1 / variance(v) } // of equal values
	if b := Bootstrap([]float64{1, 2, 3}, undefined, 1); b.Known() || math.IsNaN(b.Mean) {
		t.Errorf("not finite for some resamples: %+v", b)
	}
}

func normal(r *rand.Rand, n int, mean, sd float64) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = mean + sd*r.NormFloat64()
	}
	return values
}

// The share of intervals that contain the truth is within four binomial standard errors of what it is to be.
func TestCoverage(t *testing.T) {
	r := rand.New(rand.NewPCG(2026, 11))
	for _, c := range []struct {
		name         string
		trials       int
		truth, level float64
		of           func() Interval
	}{
		{"mean of 4", 4000, 10, 0.95, func() Interval { return Mean(normal(r, 4, 10, 3)) }},
		{"ratio of 5 and 8", 4000, 1.25, 0.95, func() Interval { return Ratio(normal(r, 5, 125, 6), normal(r, 8, 100, 2)) }},
		// BCa of 60 values still lacks about one percent (the bootstrap's variance divides by n).
		{"bootstrapped mean of 60", 400, 10, 0.945, func() Interval { return Bootstrap(normal(r, 60, 10, 3), mean, r.Uint64()) }},
		// Five half-widths with 18 degrees each have 90 together: a little more than 95 %.
		{"combined", 2000, 1.1, 0.96, func() Interval {
			var ratios []Interval
			for range 5 {
				ratios = append(ratios, Ratio(normal(r, 10, 110, 5), normal(r, 10, 100, 5)))
			}
			return Combine(ratios)
		}},
	} {
		hits := 0
		for range c.trials {
			if c.of().Contains(c.truth) {
				hits++
			}
		}
		share, e := float64(hits)/float64(c.trials), math.Sqrt(c.level*(1-c.level)/float64(c.trials))
		t.Logf("%s: %.4f", c.name, share)
		if !near(share, c.level, 4*e) {
			t.Errorf("%s: %.4f of %d intervals contain the truth, want %.3f ± %.4f", c.name, share, c.trials, c.level, 4*e)
		}
	}
}

// Borenstein and others, Introduction to Meta-Analysis (2009), p. 27: means 103 and 100,
// deviations 5.5 and 4.5, 50 values each: d = 0.5970, g = 0.5924.
func TestHedges(t *testing.T) {
	of := func(mean, sd float64) (values []float64) {
		for i := range 50 {
			values = append(values, mean+sd*math.Sqrt(49.0/50)*float64(2*(i%2)-1))
		}
		return values
	}
	e := EffectOf(of(103, 5.5), of(100, 4.5))
	if !near(e.HedgesG, 0.5924, 5e-5) || e.HedgesWord() != "medium" {
		t.Errorf("%+v %s", e, e.HedgesWord())
	}
	if back := EffectOf(of(100, 4.5), of(103, 5.5)); back.HedgesG != -e.HedgesG || back.CliffsDelta != -e.CliffsDelta {
		t.Errorf("%+v and back %+v", e, back)
	}
	for _, c := range []struct {
		a, b []float64
		g    float64
	}{{[]float64{2, 2}, []float64{1, 1}, math.Inf(1)}, {[]float64{1, 1}, []float64{2, 2}, math.Inf(-1)}, {[]float64{2, 2}, []float64{2, 2}, 0}} {
		if g := EffectOf(c.a, c.b).HedgesG; g != c.g {
			t.Errorf("%v against %v: %v, want %v", c.a, c.b, g, c.g)
		}
	}
}

// The example of the R package effsize, cliff.delta: -0.25, small.
func TestCliff(t *testing.T) {
	treatment, control := []float64{10, 10, 20, 20, 20, 30, 30, 30, 40, 50}, []float64{10, 20, 30, 40, 40, 50}
	e := EffectOf(treatment, control)
	if e.CliffsDelta != -0.25 || e.CliffsWord() != "small" {
		t.Errorf("%+v %s", e, e.CliffsWord())
	}
	apart := EffectOf([]float64{4, 5}, []float64{1, 2, 3})
	if apart.CliffsDelta != 1 || apart.CliffsWord() != "large" {
		t.Errorf("apart: %+v", apart)
	}
	if none := EffectOf(nil, control); !math.IsNaN(none.CliffsDelta) || none.CliffsWord() != "" || none.HedgesWord() != "" {
		t.Errorf("of nothing: %+v", none)
	}
	if same := EffectOf(control, control); same.CliffsDelta != 0 || same.CliffsWord() != "negligible" || same.HedgesWord() != "negligible" {
		t.Errorf("the same: %+v", same)
	}
}
