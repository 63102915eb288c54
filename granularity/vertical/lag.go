package vertical

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// autocorrelation are the coefficients at the lags 0 to most; values that were not measured are left out.
func autocorrelation(v []float64, most int) []float64 {
	m := Mean(v)
	c := make([]float64, 0, most+1)
	for lag := 0; lag <= most && lag < len(v); lag++ {
		sum, n := 0.0, 0
		for i := lag; i < len(v); i++ {
			if p := (v[i] - m) * (v[i-lag] - m); !math.IsNaN(p) {
				sum, n = sum+p, n+1
			}
		}
		// Divided by all samples, as usual: large lags count less, and the coefficients belong to some process.
		c = append(c, sum/float64(max(len(v), 1)))
	}
	if len(c) == 0 || c[0] <= 0 {
		return []float64{1}
	}
	for i := len(c) - 1; i >= 0; i-- {
		c[i] /= c[0]
	}
	return c
}

// mostLags bounds how far autocorrelation is followed.
const mostLags = 500

// effective is the number of independent samples behind the correlation of two autocorrelated series,
// n/(1 + 2 sum (1-k/n) rx(k) ry(k)) (Bartlett 1935; Pyper and Peterman 1998). The sum ends where one of the two is no
// longer significantly autocorrelated, and at a fifth of the samples; n is how many were measured.
func effective(x, y []float64, n int) float64 {
	most := min(len(x)/5, mostLags)
	rx, ry := autocorrelation(x, most), autocorrelation(y, most)
	bound := 2 / math.Sqrt(float64(n))
	sum := 1.0
	for k := 1; k < min(len(rx), len(ry)); k++ {
		if math.Abs(rx[k]) < bound || math.Abs(ry[k]) < bound {
			break
		}
		sum += 2 * (1 - float64(k)/float64(len(x))) * rx[k] * ry[k]
	}
	return min(max(float64(n)/max(sum, 1), 1), float64(n))
}

// bestLag is the lag in samples at which the whitened series correlate most, positive if x comes first, and whether
// that is more than chance among all lags that were tried (Haugh 1976: each series is replaced by the errors of its
// own autoregression, so that their cross-correlations are independent with variance 1/n).
func bestLag(x, y []float64, most int) (lag int, known bool) {
	most = min(most, len(x)/3)
	if most < 1 {
		return 0, false
	}
	x, y = whiten(x), whiten(y)
	best := 0.0
	for l := -most; l <= most; l++ {
		a, b := pairs(x, y, l)
		r := math.Abs(pearson(a, b))
		bound := distuv.UnitNormal.Quantile(1-0.05/2/float64(2*most+1)) / math.Sqrt(float64(len(a)))
		if r > bound && r > best {
			best, lag, known = r, l, true
		}
	}
	return lag, known
}

// whiten are the errors of predicting each value from those before. The order of
// the autoregression is Akaike's.
func whiten(v []float64) []float64 {
	order := min(10, len(v)/10)
	phi := autoregression(autocorrelation(v, order), len(v))
	m := Mean(v)
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = x - m
		for k, p := range phi {
			if i > k {
				out[i] -= p * (v[i-k-1] - m)
			}
		}
	}
	return out
}

// autoregression are the coefficients of the autoregression with these autocorrelations, by the recursion of Levinson
// and Durbin, of the order with the least criterion of Akaike.
func autoregression(r []float64, n int) []float64 {
	var phi, best []float64
	variance, least := 1.0, 0.0
	for k := 1; k < len(r) && variance > 1e-9; k++ {
		next := r[k]
		for j, p := range phi {
			next -= p * r[k-1-j]
		}
		next /= variance
		grown := make([]float64, k)
		for j, p := range phi {
			grown[j] = p - next*phi[k-2-j]
		}
		grown[k-1] = next
		phi, variance = grown, variance*(1-next*next)
		if aic := float64(n)*math.Log(max(variance, 1e-12)) + 2*float64(k); aic < least {
			least, best = aic, phi
		}
	}
	return best
}
