package figure

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"stackagent/granularity/activity"
	"stackagent/granularity/estimate"
	"stackagent/internal/units"
)

// WarmPoint is an iteration, or a window, of one or several runs.
type WarmPoint struct {
	Time         estimate.Interval // or what else is compared
	Each         []float64         // of each run, where there are several
	Compiler, GC float64           // their shares of the CPU time; NaN: not known
	Deopts       float64           // deoptimisations; NaN: not known
}

// WarmCurve is how a program gets warm.
type WarmCurve struct {
	Points []WarmPoint
	What   string // "time", "CPU time per task"
	Of     string // "iteration", "window"
	Runs   int
	Warm   int     // the first warm point, from 0; -1: none
	Limit  float64 // what a warm one takes at most
	Within float64 // how much that is above the fastest
}

// Warmup draws the time of each iteration, and below it what share of the CPU time the compiler and the collector took.
func Warmup(w WarmCurve) *Figure {
	f := &Figure{
		Name: "warmup", Title: "Warm-up: " + w.What + " of each " + w.Of + ", and what the JVM did beside the program",
		Alt: "The " + w.What + " of each " + w.Of + ", and below it the shares of the CPU time that the compiler's and the collector's threads took.",
		W:   pageWidth, H: 60,
	}
	most := 0.0
	for _, p := range w.Points {
		most = max(most, upper(p.Time))
		for _, v := range p.Each {
			most = max(most, v)
		}
	}
	if most == 0 {
		f.body = empty("no times")
		return f
	}
	shares := warmShares(w)
	legend := warmLegend(w, shares > 0)
	h, low := legendHeight(legend, f.W-2*margin), vg.Length(0)
	if shares > 0 {
		low = 112
	}
	f.H = 190 + low + h
	f.body = func(c draw.Canvas) {
		above := warmTimes(w, most)
		plots := []*plot.Plot{above}
		if shares > 0 {
			plots = append(plots, warmSharePlot(w, shares))
		}
		plots[len(plots)-1].X.Label.Text = w.Of
		alignLeft(plots...)
		above.Draw(draw.Crop(c, margin, -margin, h+low, -4))
		if shares > 0 {
			plots[1].Draw(draw.Crop(c, margin, -margin, h, -(c.Max.Y - c.Min.Y - h - low)))
		}
		foot := draw.Crop(c, margin, -margin, 0, 0)
		foot.Max.Y = foot.Min.Y + h
		drawLegend(foot, legend)
	}
	return f
}

// upper is the end of an interval, or its mean where it has none; 0: not known.
func upper(i estimate.Interval) float64 {
	switch {
	case math.IsNaN(i.Mean):
		return 0
	case i.Known():
		return i.High
	}
	return i.Mean
}

// warmShares is the greatest share of compiler and collector together; 0: none is known.
func warmShares(w WarmCurve) (most float64) {
	for _, p := range w.Points {
		if s := p.Compiler + p.GC; !math.IsNaN(s) {
			most = max(most, s)
		}
	}
	return most
}

func warmLegend(w WarmCurve, shares bool) []entry {
	line := wholeStyle()
	text := "one run"
	if w.Runs > 1 {
		text = fmt.Sprintf("mean of %d runs with its 95 %% interval", w.Runs)
	}
	out := []entry{{text: text, line: &line}}
	limit := limitStyle()
	out = append(out, entry{text: "fastest + " + units.FormatPercent(w.Within), line: &limit})
	if w.Warm < 0 {
		out = append(out, entry{text: "it never gets warm"})
	} else {
		out = append(out, entry{text: "warm", fill: func(c *draw.Canvas, x0, y0, x1, y1 vg.Length) { fillBox(c, warmShade, x0, y0, x1, y1) }})
	}
	if w.Runs > 1 {
		out = append(out, entry{text: "dots: each run"})
	}
	if shares {
		out = append(out, entry{text: "compiler", fill: lookOfKind(activity.KindCompiler).fill}, entry{text: "garbage collection", fill: lookOfKind(activity.KindGC).fill})
		if showsDeopts(w) {
			out = append(out, entry{text: "numbers: deoptimisations"})
		}
	}
	return out
}

var warmShade = color.RGBA{228, 242, 235, 255}

func limitStyle() draw.LineStyle {
	return draw.LineStyle{Color: red, Width: 1, Dashes: []vg.Length{4, 2}}
}

// crowded reports whether points are too close to be told apart.
func crowded(w WarmCurve) bool { return len(w.Points) > 80 }

// warmAxis numbers the points from 1.
func warmAxis(p *plot.Plot, n int) {
	p.X.Min, p.X.Max = 0.5, float64(n)+0.5
	p.X.Tick.Marker = plot.TickerFunc(func(lo, hi float64) []plot.Tick {
		var ticks []plot.Tick
		for _, t := range linearTicks(min(n, 12))(lo, hi) {
			if t.Value == math.Trunc(t.Value) {
				t.Label = fmt.Sprint(int(t.Value))
				ticks = append(ticks, t)
			}
		}
		return ticks
	})
}

func warmTimes(w WarmCurve, most float64) *plot.Plot {
	unit, scale := timeUnit(units.Ns(most))
	p := newPlot("", w.What+" ("+unit+")")
	countAxis(p, most/scale)
	warmAxis(p, len(w.Points))
	p.Add(plotter(func(c draw.Canvas, p *plot.Plot) {
		tx, _ := p.Transforms(&c)
		if w.Warm >= 0 {
			fillBox(&c, warmShade, tx(float64(w.Warm)+0.5), c.Min.Y, c.Max.X, c.Max.Y)
		}
	}), gridLines(false, true), plotter(func(c draw.Canvas, p *plot.Plot) {
		tx, ty := p.Transforms(&c)
		y := func(v float64) vg.Length { return ty(v / scale) }
		c.StrokeLine2(limitStyle(), c.Min.X, y(w.Limit), c.Max.X, y(w.Limit))
		var line []vg.Point
		for i, pt := range w.Points {
			x := tx(float64(i + 1))
			for _, v := range pt.Each {
				c.DrawGlyph(draw.GlyphStyle{Color: grey, Radius: 1.3, Shape: draw.CircleGlyph{}}, vg.Point{X: x, Y: y(v)})
			}
			if math.IsNaN(pt.Time.Mean) { // a gap
				c.StrokeLines(wholeStyle(), line)
				line = nil
				continue
			}
			line = append(line, vg.Point{X: x, Y: y(pt.Time.Mean)})
			errorBar(&c, x, y, max(pt.Time.Low, 0), pt.Time.High)
			if !crowded(w) {
				c.DrawGlyph(draw.GlyphStyle{Color: black, Radius: 2, Shape: draw.CircleGlyph{}}, vg.Point{X: x, Y: y(pt.Time.Mean)})
			}
		}
		c.StrokeLines(wholeStyle(), line)
	}))
	return p
}

// showsDeopts reports whether deoptimisations are known, and there is room for their numbers.
func showsDeopts(w WarmCurve) bool {
	known := func(p WarmPoint) bool { return !math.IsNaN(p.Deopts) }
	return len(w.Points) <= 24 && slices.ContainsFunc(w.Points, known)
}

// deoptText is the mean number of deoptimisations, as short as it can be.
func deoptText(n float64) string {
	if n < 10 && n != math.Trunc(n) {
		return strconv.FormatFloat(n, 'f', 1, 64)
	}
	return units.FormatCount(int64(math.Round(n)))
}

// warmSharePlot stacks the shares of compiler and collector, with the number of deoptimisations above them.
func warmSharePlot(w WarmCurve, most float64) *plot.Plot {
	p := newPlot("", "CPU time (%)")
	deopts := showsDeopts(w)
	if deopts {
		most *= 1.2 // room for the numbers
	}
	countAxis(p, 100*most)
	warmAxis(p, len(w.Points))
	half := 0.35
	if crowded(w) {
		half = 0.5 // gaps would be all that one sees
	}
	p.Add(gridLines(false, true), plotter(func(c draw.Canvas, p *plot.Plot) {
		tx, ty := p.Transforms(&c)
		for i, pt := range w.Points {
			if math.IsNaN(pt.Compiler + pt.GC) {
				continue
			}
			x0, x1 := tx(float64(i)+1-half), tx(float64(i)+1+half)
			between := ty(100 * pt.Compiler)
			lookOfKind(activity.KindCompiler).fill(&c, x0, ty(0), x1, between)
			top := ty(100 * (pt.Compiler + pt.GC))
			lookOfKind(activity.KindGC).fill(&c, x0, between, x1, top)
			if deopts && !math.IsNaN(pt.Deopts) {
				c.FillText(textStyle(tickSize, regular, centre, bottom), vg.Point{X: (x0 + x1) / 2, Y: top + 1}, deoptText(pt.Deopts))
			}
		}
	}))
	return p
}
