package figure

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"stackagent/granularity"
	"stackagent/internal/text"
	"stackagent/internal/units"
)

// Measure is the quantity of a distribution.
type Measure struct {
	Label string          // "self CPU time"
	Of    text.Population // what is measured
	Unit  string          // of the values: "ns", "bytes", "": a count
}

// Time is a measure in nanoseconds.
func Time(label string, of text.Population) Measure { return Measure{label, of, "ns"} }

// each is the measure in a title and on an axis, "self CPU time per execution".
func (m Measure) each() string { return m.Label + " per " + m.Of.One() }

func (m Measure) none() func(draw.Canvas) { return empty("no " + m.Of.Many()) }

func (m Measure) format(n units.Ns) string { return granularity.FormatIn(m.Unit, n) }

// Shape is a distribution to draw, with its name.
type Shape struct {
	Label string
	All   bool // over all classes: drawn in bold black
	CDF   granularity.CDF
	Box   granularity.Box
}

const (
	nameLimit  = 64
	margin     = 6
	plotHeight = 215
	unseen     = 0.25 // points: smaller steps are invisible
)

// CDF draws cumulative distributions over a logarithmic axis: for each amount of work,
// the share of executions or units with at most that much.
func CDF(m Measure, shapes []Shape) *Figure {
	f := &Figure{
		Name: "cdf", Title: "Task granularity: cumulative distribution of " + m.each(),
		Alt: "Cumulative distribution of " + m.each() + " on a logarithmic axis.",
		W:   pageWidth, H: plotHeight,
	}
	shapes = withData(shapes)
	if len(shapes) == 0 {
		f.body = m.none()
		return f
	}
	legend, styles := shapeLegend(m, shapes)
	f.H += legendHeight(legend, f.W-2*margin)
	r := cdfRange(m, shapes)
	f.body = func(c draw.Canvas) {
		p := newPlot(m.each(), "share of "+m.Of.Many())
		p.X.Min, p.X.Max, p.X.Tick.Marker = r.lo, r.hi, r
		p.Y.Min, p.Y.Max = 0, 1
		p.Y.Tick.Marker = percentTicks
		p.Add(gridLines(true, true))
		// All classes together last, on top.
		for i := len(shapes) - 1; i >= 0; i-- {
			p.Add(steps(shapes[i].CDF, styles[i], r))
		}
		inner := draw.Crop(c, margin, -margin-12, 0, -margin)
		h := legendHeight(legend, f.W-2*margin)
		p.Draw(draw.Crop(inner, 0, 0, h, 0))
		low := draw.Crop(c, margin, -margin, 0, 0)
		low.Max.Y = low.Min.Y + h
		drawLegend(low, legend)
	}
	return f
}

func withData(shapes []Shape) []Shape {
	var out []Shape
	for _, s := range shapes {
		if s.CDF.N > 0 || s.Box.N > 0 {
			out = append(out, s)
		}
	}
	return out
}

// shapeLegend has an entry per shape: line, count and median.
func shapeLegend(m Measure, shapes []Shape) ([]entry, []draw.LineStyle) {
	names := shapeNames(shapes)
	entries := make([]entry, len(shapes))
	styles := make([]draw.LineStyle, len(shapes))
	class := 0
	for i, s := range shapes {
		if s.All {
			styles[i] = wholeStyle()
		} else {
			styles[i] = curveStyle(class)
			class++
		}
		text := fmt.Sprintf("%s (n = %s, median %s)", names[i], units.FormatCount(int64(s.CDF.N)), m.format(s.Box.Median))
		if s.CDF.NonPositive > 0 {
			text += fmt.Sprintf("; %s at 0", units.FormatPercent(float64(s.CDF.NonPositive)/float64(s.CDF.N)))
		}
		if note := summarisedNote(s); note != "" {
			text += "; " + note
		}
		entries[i] = entry{text: text, line: &styles[i]}
	}
	return entries, styles
}

// summarisedNote says what share of a shape is known only by bucket.
func summarisedNote(s Shape) string {
	n, all := max(s.CDF.Summarised, s.Box.Summarised), int64(max(s.CDF.N, s.Box.N))
	switch {
	case n == 0:
		return ""
	case n >= all:
		return "summarised, ±0.8 %"
	}
	return units.FormatPercent(float64(n)/float64(all)) + " summarised, ±0.8 %"
}

func shapeNames(shapes []Shape) []string {
	names := make([]string, len(shapes))
	for i, s := range shapes {
		names[i] = s.Label
	}
	return ShortenAll(names, nameLimit)
}

func cdfRange(m Measure, shapes []Shape) logRange {
	var lo, hi units.Ns
	for _, s := range shapes {
		if n := len(s.CDF.Points); n > 0 {
			if first := s.CDF.Points[0].X; lo == 0 || first < lo {
				lo = first
			}
			hi = max(hi, s.CDF.Points[n-1].X)
		}
	}
	return rangeOf(m.Unit, lo, hi)
}

// steps draws the step function, from the left edge to the right one.
func steps(cdf granularity.CDF, style draw.LineStyle, r logRange) plotter {
	return func(c draw.Canvas, p *plot.Plot) {
		tx, ty := p.Transforms(&c)
		share := 0.0
		if cdf.N > 0 {
			share = float64(cdf.NonPositive) / float64(cdf.N)
		}
		line := []vg.Point{{X: tx(r.lo), Y: ty(share)}}
		for _, pt := range cdf.Points {
			x := tx(r.clamp(pt.X))
			// Invisible steps only make files large; the last point is always
			// drawn.
			if last := line[len(line)-1]; pt.Share < 1 && x-last.X < unseen && ty(pt.Share)-last.Y < unseen {
				continue
			}
			line = append(line, vg.Point{X: x, Y: ty(share)}, vg.Point{X: x, Y: ty(pt.Share)})
			share = pt.Share
		}
		line = append(line, vg.Point{X: tx(r.hi), Y: ty(share)})
		c.StrokeLines(style, line)
	}
}

var percentTicks = plot.ConstantTicks{
	{Value: 0, Label: "0 %"}, {Value: 0.25, Label: "25 %"}, {Value: 0.5, Label: "50 %"},
	{Value: 0.75, Label: "75 %"}, {Value: 1, Label: "100 %"},
}
