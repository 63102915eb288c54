package vertical

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// factor is how a signal changed together with the target; false if there is nothing to compare.
func (s *scene) factor(x *signal) (Factor, bool) {
	f := Factor{P: 1, Corrected: 1, R: math.NaN()}
	if !x.varies || len(x.v) != s.n {
		return f, false
	}
	c := s.contrasts(x, 0)
	if math.IsNaN(mean(c)) {
		return f, false
	}
	f.Effect = mean(c)
	f.P = s.chance(x, c, f.Effect)
	f.Before, f.During = s.levels(x)
	f.R = s.dose(x)
	return f, true
}

// chance is the two-sided p of the mean contrast: by Student's t, with the larger of two standard errors, from the
// contrasts of controls and from the long-run deviation of the signal.
func (s *scene) chance(x *signal, c []float64, effect float64) float64 {
	var controls []float64
	for _, r := range s.controls {
		if v := s.contrast(x, r, 0); !math.IsNaN(v) {
			controls = append(controls, v)
		}
	}
	d := float64(len(c))
	se := x.run * math.Sqrt(1/float64(s.ranges[0].Len())+1/float64(2*s.side)) / math.Sqrt(d)
	degrees := 15.0
	usual := 0.0
	if independent := float64(len(controls)*s.stride) / float64(s.ranges[0].Len()); independent >= 2 {
		m, sd := stat.MeanStdDev(controls, nil)
		if v := sd * math.Sqrt(1/d+1/independent); v > se {
			se, usual, degrees = v, m, max(independent-1, 3)
		}
	}
	if se == 0 {
		return 1
	}
	return 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: degrees}.Survival(math.Abs(effect-usual)/se)
}

// dose is Pearson's r with the target over the whole run, of means of windows.
func (s *scene) dose(x *signal) float64 {
	w := max(1, s.ranges[0].Len()/3)
	a, b := pairs(windows(x.v, w), windows(s.target.v, w), 0)
	return pearson(a, b)
}

// windows are the means of windows of w samples.
func windows(v []float64, w int) (out []float64) {
	for from := 0; from+w <= len(v); from += w {
		m, _ := over(v, Range{from, from + w})
		out = append(out, m)
	}
	return out
}
