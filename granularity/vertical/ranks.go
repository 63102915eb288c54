package vertical

import (
	"math"
	"slices"
)

// ranks are the ranks of the values from 1; equal values share the mean of theirs.
func ranks(v []float64) []float64 {
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case v[a] < v[b]:
			return -1
		case v[a] > v[b]:
			return 1
		}
		return 0
	})
	out := make([]float64, len(v))
	for i := 0; i < len(order); {
		j := i + 1
		for j < len(order) && v[order[j]] == v[order[i]] {
			j++
		}
		for _, k := range order[i:j] {
			out[k] = float64(i+j+1) / 2
		}
		i = j
	}
	return out
}

// leaveOneOut are the smallest and the largest r without one of the samples, and whether there is none without
// one of them because the others are constant.
func leaveOneOut(x, y []float64) (r [2]float64, undefined bool) {
	n := float64(len(x))
	r = [2]float64{math.NaN(), math.NaN()}
	if len(x) < 3 {
		return r, true
	}
	mx, my := Mean(x), Mean(y)
	var xx, yy, xy float64
	for i := range x {
		dx, dy := x[i]-mx, y[i]-my
		xx, yy, xy = xx+dx*dx, yy+dy*dy, xy+dx*dy
	}
	for i := range x {
		// Without a sample the sums of squares about the new mean are less by d² n/(n-1).
		dx, dy := x[i]-mx, y[i]-my
		f := n / (n - 1)
		sx, sy := xx-f*dx*dx, yy-f*dy*dy
		if sx <= 1e-9*xx || sy <= 1e-9*yy {
			undefined = true
			continue
		}
		v := min(max((xy-f*dx*dy)/math.Sqrt(sx*sy), -1), 1)
		if !(r[0] <= v) {
			r[0] = v
		}
		if !(r[1] >= v) {
			r[1] = v
		}
	}
	return r, undefined
}

// Mean is the mean of the values that were measured; NaN if none was.
func Mean(v []float64) float64 {
	sum, n := 0.0, 0
	for _, x := range v {
		if !math.IsNaN(x) {
			sum, n = sum+x, n+1
		}
	}
	return sum / float64(n)
}

// median is the median of the values that were measured; NaN if none was.
func median(v []float64) float64 { return quantile(v, 0.5) }

// quantile is the value below which the share q of those that were measured lies, by linear interpolation.
func quantile(v []float64, q float64) float64 {
	known := make([]float64, 0, len(v))
	for _, x := range v {
		if !math.IsNaN(x) {
			known = append(known, x)
		}
	}
	if len(known) == 0 {
		return math.NaN()
	}
	slices.Sort(known)
	at := q * float64(len(known)-1)
	i := int(at)
	if i+1 >= len(known) {
		return known[len(known)-1]
	}
	return known[i] + (at-float64(i))*(known[i+1]-known[i])
}

// normalMAD is the standard deviation of a normal distribution over its median absolute deviation.
const normalMAD = 1.4826

// deviation is the standard deviation, estimated from the median absolute deviation from a centre.
func deviation(v []float64, centre float64) float64 {
	d := make([]float64, len(v))
	for i, x := range v {
		d[i] = math.Abs(x - centre)
	}
	return normalMAD * median(d)
}

// rare reports whether the values look like counts of which there are about one a sample, or fewer. An indicator
// that stays 0 or 1 for long is none.
func rare(v []float64) bool {
	sum, changes, high := 0.0, 0, 0.0
	for i, x := range v {
		if x < 0 || x != math.Trunc(x) {
			return false
		}
		sum, high = sum+x, max(high, x)
		if i > 0 && x != v[i-1] {
			changes++
		}
	}
	n := float64(len(v))
	if high <= 1 && float64(changes) < 0.5*2*sum/n*(1-sum/n)*n {
		return false
	}
	return sum > 0 && sum/n < lowEvents
}
