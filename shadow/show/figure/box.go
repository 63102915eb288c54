package figure

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"stackagent/granularity"
	"stackagent/internal/units"
)

const (
	boxRow   vg.Length = 36
	boxHalf  vg.Length = 6.5
	dotSize  vg.Length = 1.3
	nameSize           = tickSize
)

// Box draws a Tukey box plot per shape over a logarithmic axis: quartiles, the labelled
// median, whiskers to the last value within 1.5 interquartile ranges, and a dot for
// every value beyond.
func Box(m Measure, shapes []Shape) *Figure {
	f := &Figure{
		Name: "box", Title: "Task granularity: " + m.each(),
		Alt: "Box plots of " + m.each() + " on a logarithmic axis.",
		W:   pageWidth, H: plotHeight,
	}
	shapes = withData(shapes)
	if len(shapes) == 0 {
		f.body = m.none()
		return f
	}
	const axis = 44
	f.H = boxRow*vg.Length(len(shapes)) + axis
	r := boxRange(m, shapes)
	names := shapeNames(shapes)
	f.body = func(c draw.Canvas) {
		p := newPlot(m.each()+zeroNote(shapes), "")
		p.X.Min, p.X.Max, p.X.Tick.Marker = r.lo, r.hi, r
		p.Y.Min, p.Y.Max = 0, float64(len(shapes))
		p.HideY()
		p.Add(gridLines(true, false))
		for i, s := range shapes {
			p.Add(boxPlotter(m, s, names[i], len(shapes)-1-i, r, boxColor(shapes, i)))
		}
		p.Draw(draw.Crop(c, margin+12, -margin-12, 2, -2))
	}
	return f
}

// zeroNote says where values without a logarithm are drawn.
func zeroNote(shapes []Shape) string {
	for _, s := range shapes {
		if s.Box.LowWhisker < 1 || len(s.Box.Outliers) > 0 && s.Box.Outliers[0] < 1 {
			return " (0 and below at the left edge)"
		}
	}
	return ""
}

func boxColor(shapes []Shape, i int) color.Color {
	if shapes[i].All {
		return grey
	}
	class := 0
	for _, s := range shapes[:i] {
		if !s.All {
			class++
		}
	}
	return palette[class%len(palette)]
}

func boxRange(m Measure, shapes []Shape) logRange {
	lo, hi := units.Ns(math.MaxInt64), units.Ns(0)
	for _, s := range shapes {
		// The quartiles, too: the whisker may be at 0, which is not on the axis.
		ends := []units.Ns{s.Box.LowWhisker, s.Box.Q1, s.Box.Median, s.Box.Q3, s.Box.HiWhisker}
		if n := len(s.Box.Outliers); n > 0 {
			ends = append(ends, s.Box.Outliers[0], s.Box.Outliers[n-1])
		}
		for _, e := range ends {
			if e > 0 {
				lo = min(lo, e)
			}
			hi = max(hi, e)
		}
	}
	return rangeOf(m.Unit, lo, hi)
}

// boxPlotter draws a box in its row (0 is the lowest). The name and the median are above
// it, where they cannot cover data.
func boxPlotter(m Measure, s Shape, name string, row int, r logRange, clr color.Color) plotter {
	return func(c draw.Canvas, p *plot.Plot) {
		tx, ty := p.Transforms(&c)
		x := func(n units.Ns) vg.Length { return tx(r.clamp(n)) }
		bottomY := ty(float64(row))
		y := bottomY + boxHalf + 4
		b := s.Box
		stroke := draw.LineStyle{Color: black, Width: 0.9}
		c.StrokeLine2(stroke, x(b.LowWhisker), y, x(b.Q1), y)
		c.StrokeLine2(stroke, x(b.Q3), y, x(b.HiWhisker), y)
		for _, end := range []units.Ns{b.LowWhisker, b.HiWhisker} {
			c.StrokeLine2(stroke, x(end), y-boxHalf/2, x(end), y+boxHalf/2)
		}
		q1, q3 := x(b.Q1), x(b.Q3)
		fillBox(&c, tint(clr), q1, y-boxHalf, q3, y+boxHalf)
		c.StrokeLines(stroke, []vg.Point{
			{X: q1, Y: y - boxHalf}, {X: q3, Y: y - boxHalf}, {X: q3, Y: y + boxHalf}, {X: q1, Y: y + boxHalf}, {X: q1, Y: y - boxHalf},
		})
		c.StrokeLine2(draw.LineStyle{Color: black, Width: 2.2}, x(b.Median), y-boxHalf, x(b.Median), y+boxHalf)
		outliers(&c, b, x, y, clr)
		rowText(&c, m, s, name, y+boxHalf+2)
	}
}

func outliers(c *draw.Canvas, b granularity.Box, x func(units.Ns) vg.Length, y vg.Length, clr color.Color) {
	glyph := draw.GlyphStyle{Color: clr, Radius: dotSize, Shape: draw.CircleGlyph{}}
	last := vg.Length(math.Inf(-1))
	for _, o := range b.Outliers {
		// Dots that would overlap share one.
		if at := x(o); at-last >= dotSize/2 {
			c.DrawGlyph(glyph, vg.Point{X: at, Y: y})
			last = at
		}
	}
}

// rowText writes name and figures over a row.
func rowText(c *draw.Canvas, m Measure, s Shape, name string, y vg.Length) {
	weight := regular
	if s.All {
		weight = bold
	}
	right := "median " + m.format(s.Box.Median) + ",  n = " + units.FormatCount(int64(s.Box.N))
	if note := summarisedNote(s); note != "" {
		right += ",  " + note
	}
	if s.Box.OutlierCount > 0 {
		right += ",  " + about(s.Box) + units.FormatCount(int64(s.Box.OutlierCount)) + " outlier"
		if s.Box.OutlierCount > 1 {
			right += "s"
		}
	}
	room := c.Max.X - c.Min.X - widthOf(right, nameSize) - 12
	c.FillText(textStyle(nameSize, weight, left, bottom), vg.Point{X: c.Min.X, Y: y}, fit(name, nameSize, room))
	c.FillText(textStyle(nameSize, regular, text.XRight, bottom, grey), vg.Point{X: c.Max.X, Y: y}, right)
}

// about marks a count that depends on whiskers known only by bucket.
func about(b granularity.Box) string {
	if b.Summarised > 0 {
		return "about "
	}
	return ""
}

// tint is a light shade of a colour, under black lines.
func tint(c color.Color) color.Color {
	r, g, b, _ := c.RGBA()
	mix := func(v uint32) uint8 { return uint8((v>>8)/2 + 127) }
	return color.RGBA{mix(r), mix(g), mix(b), 255}
}
