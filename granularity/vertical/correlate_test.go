package vertical

import (
	"math"
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

func TestAnscombe(t *testing.T) {
	// cor() of R, with method = "spearman" for the second row.
	r := []float64{0.8164205, 0.8162365, 0.8162867, 0.8165214}
	spearman := []float64{0.8181818, 0.6909091, 0.9909091, 0.5}
	for i, a := range anscombe {
		c := Correlate(a.x, a.y, Options{})
		if !near(c.R, r[i], 5e-8) || !near(c.Spearman, spearman[i], 5e-8) {
			t.Errorf("%d: r %v, Spearman %v", i+1, c.R, c.Spearman)
		}
	}
}
