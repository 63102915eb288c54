package figure

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"stackagent/granularity/nominal"
)

// componentHeight is the height of a scatter plot of two components.
const componentHeight vg.Length = 215

// Components draws programs as points: their first against their second principal
// component, and below the third against the fourth. The further two programs are apart,
// the more they differ.
func Components(names []string, c *nominal.Components) *Figure {
	f := &Figure{
		Name: "components", Title: "Principal components of the programs",
		Alt: "Scatter plots of the programs over their first and second, and their third and fourth principal components.",
		W:   pageWidth, H: 60,
	}
	if c == nil || len(c.Explained) < 2 {
		f.body = empty("no principal components")
		return f
	}
	plots := min(len(c.Explained)/2, 2)
	f.H = vg.Length(plots) * componentHeight
	labels := ShortenAll(names, nameLimit)
	f.body = func(canvas draw.Canvas) {
		for i := range plots {
			bottom, top := vg.Length(plots-1-i)*componentHeight, -vg.Length(i)*componentHeight
			p := componentPlot(labels, c, 2*i)
			p.Draw(draw.Crop(canvas, margin, -margin, bottom+4, top-4))
		}
	}
	return f
}

func componentPlot(labels []string, c *nominal.Components, x int) *plot.Plot {
	axis := func(k int) string { return fmt.Sprintf("PC%d (%.0f %%)", k+1, 100*c.Explained[k]) }
	p := newPlot(axis(x), axis(x+1))
	p.X.Min, p.X.Max = scoreRange(c, x)
	p.Y.Min, p.Y.Max = scoreRange(c, x+1)
	p.X.Tick.Marker, p.Y.Tick.Marker = linearTicks(8), linearTicks(5)
	p.Add(gridLines(true, true), plotter(func(canvas draw.Canvas, p *plot.Plot) {
		tx, ty := p.Transforms(&canvas)
		points := make([]vg.Point, len(labels))
		for i := range labels {
			points[i] = vg.Point{X: tx(c.Scores[i][x]), Y: ty(c.Scores[i][x+1])}
			canvas.DrawGlyph(draw.GlyphStyle{Color: blue, Radius: 2.6, Shape: draw.CircleGlyph{}}, points[i])
		}
		labelPoints(&canvas, points, labels)
	}))
	return p
}

// scoreRange is the range of an axis: all programs, and zero, the average program. There
// is air for names.
func scoreRange(c *nominal.Components, component int) (lo, hi float64) {
	for _, at := range c.Scores {
		lo, hi = min(lo, at[component]), max(hi, at[component])
	}
	air := max(0.15*(hi-lo), 0.1)
	return lo - air, hi + air
}

// labelPoints writes names beside points, where they cover neither a point nor another
// name. A name further away has a line to its point; one without room is left out.
func labelPoints(c *draw.Canvas, points []vg.Point, labels []string) {
	const dot vg.Length = 3.5
	var taken []vg.Rectangle
	for _, p := range points {
		taken = append(taken, vg.Rectangle{Min: vg.Point{X: p.X - dot, Y: p.Y - dot}, Max: vg.Point{X: p.X + dot, Y: p.Y + dot}})
	}
	style := textStyle(tickSize, regular, left, bottom)
	for i, p := range points {
		size := vg.Point{X: style.Width(labels[i]), Y: tickSize}
		at, ok := roomFor(size, p, c.Rectangle, taken)
		if !ok {
			continue
		}
		taken = append(taken, at)
		edge := vg.Point{X: min(max(p.X, at.Min.X), at.Max.X), Y: min(max(p.Y, at.Min.Y), at.Max.Y)}
		if math.Hypot(float64(edge.X-p.X), float64(edge.Y-p.Y)) > 12 {
			c.StrokeLine2(hairline(grey), p.X, p.Y, edge.X, edge.Y)
		}
		c.FillText(style, at.Min, labels[i])
	}
}

// roomFor finds a free place for a text of some size: to the right of p, to its left, and
// so on around it in growing distance.
func roomFor(size, p vg.Point, within vg.Rectangle, taken []vg.Rectangle) (vg.Rectangle, bool) {
	const directions = 16
	for distance := vg.Length(6); distance < 70; distance += 8 {
		for k := range directions {
			// 0, 1, -1, 2, -2, ...: from the right on, both ways.
			angle := float64((k+1)/2) * 2 * math.Pi / directions
			if k%2 == 0 {
				angle = -angle
			}
			cos, sin := vg.Length(math.Cos(angle)), vg.Length(math.Sin(angle))
			x, y := p.X+distance*cos+(cos-1)*size.X/2, p.Y+distance*sin+(sin-1)*size.Y/2
			at := vg.Rectangle{Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + size.X, Y: y + size.Y}}
			if x >= within.Min.X && at.Max.X <= within.Max.X && y >= within.Min.Y && at.Max.Y <= within.Max.Y && free(at, taken) {
				return at, true
			}
		}
	}
	return vg.Rectangle{}, false
}

func free(r vg.Rectangle, taken []vg.Rectangle) bool {
	for _, t := range taken {
		if r.Min.X < t.Max.X && t.Min.X < r.Max.X && r.Min.Y < t.Max.Y && t.Min.Y < r.Max.Y {
			return false
		}
	}
	return true
}
