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
	NonPositive int // values <= 0, which have no place on the axis: F starts at NonPositive/N
	Points      []Point
}

// CDFOf computes the cumulative distribution of v with at most limit points
// (at least 4). Every point is exact. When there are more distinct values than
// that, the axis is divided into limit/2 cells of equal width on a log scale
// and the first and the last value of each cell stay: the curve is off by less
// than a cell's width in x and not at all at the points.
func CDFOf(v *Values, limit int) CDF {
	n := v.Len()
	c := CDF{N: n}
	if n == 0 {
		return c
	}
	c.NonPositive = v.CountBelow(1)
	if c.NonPositive == n {
		return c
	}
	if pts, ok := distinct(v, c.NonPositive, limit); ok {
		c.Points = pts
		return c
	}
	c.Points = celled(v, c.NonPositive, limit)
	return c
}

// distinct lists a point per distinct value from index from on, or gives up
// when there are more than limit.
func distinct(v *Values, from, limit int) ([]Point, bool) {
	var pts []Point
	n := v.Len()
	for i := from; i < n; {
		if len(pts) == limit {
			return nil, false
		}
		x := v.At(i)
		i = upTo(v, i, x)
		pts = append(pts, Point{x, float64(i) / float64(n)})
	}
	return pts, true
}

func celled(v *Values, from, limit int) []Point {
	n := v.Len()
	cells := max(limit/2, 2)
	low, high := math.Log(float64(v.At(from))), math.Log(float64(v.At(n-1)))
	var pts []Point
	for cell, i := 0, from; i < n; cell++ {
		end := n
		if cell < cells-1 {
			edge := math.Exp(low + (high-low)*float64(cell+1)/float64(cells))
			end = i + sort.Search(n-i, func(k int) bool { return float64(v.At(i+k)) > edge })
		}
		if end == i {
			continue
		}
		first := v.At(i)
		pts = append(pts, Point{first, float64(upTo(v, i, first)) / float64(n)})
		if last := v.At(end - 1); last != first {
			pts = append(pts, Point{last, float64(end) / float64(n)})
		}
		i = end
	}
	return pts
}

// upTo is the index after the run of values equal to x that starts at i.
func upTo(v *Values, i int, x units.Ns) int {
	return i + sort.Search(v.Len()-i, func(k int) bool { return v.At(i+k) > x })
}

// At is F(x) as the points tell it.
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
