package vertical

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func near(a, b, within float64) bool { return math.Abs(a-b) <= within }

// Anscombe's quartet (1973): R's anscombe.
var anscombe = []struct{ x, y []float64 }{
	{[]float64{10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5}, []float64{8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68}},
	{[]float64{10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5}, []float64{9.14, 8.14, 8.74, 8.77, 9.26, 8.10, 6.13, 3.10, 9.13, 7.26, 4.74}},
	{[]float64{10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5}, []float64{7.46, 6.77, 12.74, 7.11, 7.81, 8.84, 6.08, 5.39, 8.15, 6.42, 5.73}},
	{[]float64{8, 8, 8, 8, 8, 8, 8, 19, 8, 8, 8}, []float64{6.58, 5.76, 7.71, 8.84, 8.47, 7.04, 5.25, 12.50, 5.56, 7.91, 6.89}},
}

// The four have the same r; what differs is found by the other figures.
func TestAnscombe(t *testing.T) {
	// R: cor(x, y), the same with method = "spearman", cor.test(x, y)$p.value.
	r := []float64{0.8164205, 0.8162365, 0.8162867, 0.8165214}
	spearman := []float64{0.8181818, 0.6909091, 0.9909091, 0.5}
	p := []float64{0.00217, 0.00218, 0.00218, 0.00216}
	cautions := [][]Caution{nil, {NonLinear}, {Leverage, NonLinear}, {Leverage, NonLinear}}
	for i, a := range anscombe {
		c := Correlate(a.x, a.y, Options{})
		if !near(c.R, r[i], 5e-8) || !near(c.Spearman, spearman[i], 5e-8) || !near(c.P, p[i], 5e-6) || c.Samples != 11 {
			t.Errorf("%d: %+v", i+1, c)
		}
		if !slices.Equal(c.Cautions, cautions[i]) {
			t.Errorf("%d: cautions %v, want %v", i+1, c.Cautions, cautions[i])
		}
		low, high := math.Inf(1), math.Inf(-1)
		for k := range a.x {
			if v := pearson(without(a.x, k), without(a.y, k)); !math.IsNaN(v) {
				low, high = min(low, v), max(high, v)
			}
		}
		if !near(c.LeaveOneOut[0], low, 1e-9) || !near(c.LeaveOneOut[1], high, 1e-9) {
			t.Errorf("%d: leave one out %v, want %v %v", i+1, c.LeaveOneOut, low, high)
		}
	}
	// Without its outlier the third is a line.
	if c := Correlate(anscombe[2].x, anscombe[2].y, Options{}); c.LeaveOneOut[1] < 0.9999 {
		t.Errorf("%v", c.LeaveOneOut)
	}
}

func without(v []float64, k int) []float64 { return slices.Delete(slices.Clone(v), k, k+1) }

// red is an autoregression of the first order.
func red(r *rand.Rand, n int, phi float64) []float64 {
	w := world{r: r, n: n}
	return w.noise(phi)
}

func TestChosenSamples(t *testing.T) {
	x, y := []float64{1, 2, 3, 4, 1000, 5, math.NaN(), 6}, []float64{2, 4, 6, 8, -7, 10, 3, math.Inf(1)}
	c := Correlate(x, y, Options{Use: []bool{true, true, true, true, false, true, true, true}})
	if c.Samples != 5 || !near(c.R, 1, 1e-12) || c.P != 0 {
		t.Errorf("%+v", c)
	}
	c = Correlate(x, y, Options{Events: []float64{9, 9, 9, 9, 4, 9, 9, 9}, MinEvents: 5})
	if c.Samples != 5 || !near(c.R, 1, 1e-12) || !slices.Contains(c.Cautions, FewSamples) {
		t.Errorf("%+v", c)
	}
}

func TestNoCoefficient(t *testing.T) {
	flat := slices.Repeat([]float64{0.1}, 40)
	for _, other := range [][]float64{flat, red(rand.New(rand.NewPCG(1, 1)), 40, 0)} {
		if c := Correlate(flat, other, Options{MaxLag: 5}); !math.IsNaN(c.R) || !slices.Equal(c.Cautions, []Caution{Constant}) || c.BestLag != 0 {
			t.Errorf("%+v", c)
		}
	}
	if c := Correlate(nil, nil, Options{MaxLag: 5}); !math.IsNaN(c.R) || !slices.Equal(c.Cautions, []Caution{FewSamples}) {
		t.Errorf("%+v", c)
	}
}

func TestNonLinearAndRare(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var x, exponential, rare []float64
	w := world{r: r}
	for range 200 {
		v := r.NormFloat64()
		x, exponential, rare = append(x, v), append(exponential, math.Exp(3*v)), append(rare, w.poisson(0.4))
	}
	if c := Correlate(x, exponential, Options{}); !near(c.Spearman, 1, 1e-12) || !slices.Contains(c.Cautions, NonLinear) {
		t.Errorf("%+v", c)
	}
	if c := Correlate(rare, x, Options{}); !slices.Contains(c.Cautions, LowEvents) {
		t.Errorf("%+v", c)
	}
	running := append(make([]float64, 100), slices.Repeat([]float64{1}, 100)...)
	if c := Correlate(running, x, Options{}); slices.Contains(c.Cautions, LowEvents) {
		t.Errorf("an indicator is no rare event: %+v", c)
	}
}

// A series that is moved has its lag exactly, whatever the autocorrelation, and the matrix has it with both signs.
func TestLagOfShifted(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, phi := range []float64{0, 0.7, 0.95} {
		for _, lag := range []int{-9, -1, 0, 3, 20} {
			v := red(r, 640, phi)
			x, y := slices.Clone(v[20:620]), slices.Clone(v[20-lag:620-lag])
			m := Matrix([]Series{{Values: x}, {Values: y}}, Options{MaxLag: 25})
			c := m[0][1]
			if c.BestLag != lag || m[1][0].BestLag != -lag || !near(c.LagR, 1, 1e-9) || m[0][0].R != 1 {
				t.Errorf("phi %v, lag %d: %+v", phi, lag, c)
			}
			if slices.Contains(c.Cautions, Lagged) != (lag != 0 && c.R < 0.98) {
				t.Errorf("phi %v, lag %d: r %v, cautions %v", phi, lag, c.R, c.Cautions)
			}
		}
	}
}

// Of series that have nothing to do with each other the share that is called significant is about what it is to be,
// although they are autocorrelated; plain p values would be far too small.
func TestFalseCorrelations(t *testing.T) {
	const trials = 400
	r := rand.New(rand.NewPCG(7, 8))
	for _, phi := range []float64{0, 0.5, 0.9} {
		significant, lagged, plain := 0, 0, 0
		for range trials {
			c := Correlate(red(r, 400, phi), red(r, 400, phi), Options{MaxLag: 20})
			if c.P < 0.05 {
				significant++
			}
			if c.BestLag != 0 {
				lagged++
			}
			if significance(c.R, 400) < 0.05 {
				plain++
			}
		}
		t.Logf("phi %v: %.3f significant, %.3f with a lag, %.3f by a plain test", phi, float64(significant)/trials, float64(lagged)/trials, float64(plain)/trials)
		if significant > trials*9/100 || lagged > trials*8/100 {
			t.Errorf("phi %v: %d significant, %d with a lag, of %d", phi, significant, lagged, trials)
		}
	}
}

func TestBenjaminiHochberg(t *testing.T) {
	// R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "BH").
	got := BenjaminiHochberg([]float64{0.01, 0.04, math.NaN(), 0.03, 0.005})
	for i, want := range []float64{0.02, 0.04, math.NaN(), 0.04, 0.02} {
		if !near(got[i], want, 1e-12) && !math.IsNaN(want) {
			t.Errorf("%v", got)
		}
	}
}
