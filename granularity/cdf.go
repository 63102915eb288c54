package granularity

import (
	"math"
	"sort"

	"stackagent/internal/units"
)

// Point of a cumulative distribution: Share of all values are at or below X.
type Point struct {
	X     units.Ns // > 0
	Share float64  // 0 to 1
}

// CDF is an empirical cumulative distribution, F(x) = |{v <= x}| / n, as the
// points after which it steps, on a logarithmic axis.
type CDF struct {
	N           int
	NonPositive int // values <= 0, which a logarithmic axis cannot show: F starts at NonPositive/N
	Points      []Point
	Summarised  int64 // of N, known by their bucket only
}

// CDFOf computes the cumulative distribution of v with at most limit points
// (at least 4). Every point is exact: it stands at the end of a bucket, and
// between two points the curve is off by less than a bucket's width in x (0.1 %,
// or 1.6 % where values are summarised). When there are more than limit, the
// axis is divided into limit/2 cells of equal width on a log scale and the first
// and the last point of each cell stay: the curve is off by less than a cell's
// width in x and not at all at the points.
func CDFOf(v *Values, limit int) CDF {
	n := v.Len()
	c := CDF{N: n, Summarised: v.Summarised()}
	if n <= 0 {
		return c
	}
	var total int64
	v.cells(func(b cell) bool {
		total += b.n
		if b.hi <= 0 {
			c.NonPositive = int(total)
			return true
		}
		c.Points = append(c.Points, Point{min(units.Ns(b.hi), v.Max()), float64(total) / float64(n)})
		return true
	})
	c.Points = thinned(c.Points, limit)
	return c
}

// thinned keeps the first and the last point of each of limit/2 cells.
func thinned(points []Point, limit int) []Point {
	if len(points) <= limit {
		return points
	}
	cells := max(limit/2, 2)
	low, high := math.Log(float64(points[0].X)), math.Log(float64(points[len(points)-1].X))
	var out []Point
	for cell, i := 0, 0; i < len(points); cell++ {
		end := len(points)
		if cell < cells-1 {
			edge := math.Exp(low + (high-low)*float64(cell+1)/float64(cells))
			end = i + sort.Search(end-i, func(k int) bool { return float64(points[i+k].X) > edge })
		}
		if end == i {
			continue
		}
		out = append(out, points[i])
		if end-1 > i {
			out = append(out, points[end-1])
		}
		i = end
	}
	return out
}

// At is F(x) according to the points.
func (c CDF) At(x units.Ns) float64 {
	if c.N == 0 {
		return 0
	}
	i := sort.Search(len(c.Points), func(i int) bool { return c.Points[i].X > x })
	switch {
	case i > 0:
		return c.Points[i-1].Share
	case x < 0:
		return 0 // not resolved below zero
	}
	return float64(c.NonPositive) / float64(c.N)
}
