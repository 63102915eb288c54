package figure

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"stackagent/granularity"
	"stackagent/granularity/activity"
	"stackagent/internal/text"
	"stackagent/internal/units"
)

// ClassSeries is a class, or an executor, over time.
type ClassSeries struct {
	Label  string
	Series *granularity.Series

	rest bool // everything that has no series of its own
}

// TasksOverTime draws two panels over the time of the session: executions (or
// units) started per second, stacked by class, and the mean number of them
// running at once, by class. total minus classes is drawn as other classes.
func TasksOverTime(t Times, of text.Population, total *granularity.Series, classes []ClassSeries) *Figure {
	many := of.Many()
	f := &Figure{
		Name: "tasks", Title: "Tasks over time: " + many,
		Alt: fmt.Sprintf("The %s started per second and the %s running at once, over the time of the session.", many, many),
	}
	return twoPanels(f, t, panels{none: "no " + many, others: "other classes", upper: many + " started / s", lower: many + " at once"}, total, classes)
}

// QueuesOverTime draws two panels of units that wait for a worker: those submitted per
// second, stacked by executor, and the depth of the queue, which is the mean number
// waiting. A span of a series lasts from submission to start. never counts submitted
// units that did not start: how long they waited is unknown.
func QueuesOverTime(t Times, total *granularity.Series, executors []ClassSeries, never granularity.Fates) *Figure {
	f := &Figure{
		Name: "queue", Title: "Queues over time",
		Alt: "Units of work submitted per second and units waiting, over the time of the session.",
	}
	texts := panels{none: "no submissions", others: "other executors", upper: "submitted per second", lower: "waiting at once"}
	if never.NeverRun > 0 {
		if never.NotKnown > 0 {
			texts.note = "at least "
		}
		texts.note += units.FormatCount(never.NeverRun) + " more were submitted and never run: still in the queue at the end, or dropped"
	}
	return twoPanels(f, t, texts, total, executors)
}

// panels are the texts of a figure of two panels.
type panels struct {
	none, upper, lower string
	others             string // label of everything without a series of its own
	note               string // in the legend; may be empty
}

func twoPanels(f *Figure, t Times, texts panels, total *granularity.Series, classes []ClassSeries) *Figure {
	f.W, f.H = pageWidth, 150
	if total == nil || total.StartedTotal()+total.Outside == 0 {
		if texts.note != "" {
			texts.none += " that were run; " + texts.note
		}
		f.body = empty(texts.none)
		return f
	}
	classes = withOther(total, classes, texts.others)
	t = t.With(total.Grid.From, total.Grid.End())
	legend := seriesLegend(classes)
	if total.Spreads > 0 {
		legend = append(legend, entry{text: units.FormatCount(total.Spreads) + " summarised executions, spread evenly over the intervals of their summaries"})
	}
	if texts.note != "" {
		legend = append(legend, entry{text: texts.note})
	}
	h := legendHeight(legend, f.W-2*margin)
	const panel = 140
	f.H = 2*panel + h
	f.body = func(c draw.Canvas) {
		started, running := startedPlot(t, total, classes, texts.upper), runningPlot(t, classes, texts.lower)
		c.Max.X -= margin + 8
		upper := draw.Crop(c, margin, 0, panel+h, -4)
		lower := draw.Crop(c, margin, 0, h, -panel)
		alignLeft(started, running)
		started.Draw(upper)
		running.Draw(lower)
		low := draw.Crop(c, margin, 0, 0, 0)
		low.Max.Y = low.Min.Y + h
		drawLegend(low, legend)
	}
	return f
}

// withOther adds the remainder of total under a label of its own, if there is one.
func withOther(total *granularity.Series, classes []ClassSeries, label string) []ClassSeries {
	rest := make([]int64, total.Grid.N)
	left := int64(0)
	for i, n := range total.Started {
		rest[i] = n
		for _, c := range classes {
			rest[i] -= c.Series.Started[i]
		}
		left += rest[i]
	}
	if left <= 0 {
		return classes
	}
	other := &granularity.Series{Grid: total.Grid, Started: rest}
	return append(append([]ClassSeries(nil), classes...), ClassSeries{Label: label, Series: other, rest: true})
}

func classColor(c ClassSeries, i int) color.Color {
	if c.rest {
		return color.RGBA{190, 190, 190, 255}
	}
	return palette[i%len(palette)]
}

func seriesLegend(classes []ClassSeries) []entry {
	names := make([]string, len(classes))
	for i, c := range classes {
		names[i] = c.Label
	}
	names = ShortenAll(names, nameLimit)
	entries := make([]entry, len(classes))
	for i, c := range classes {
		clr := classColor(c, i)
		style := curveStyle(i)
		entries[i] = entry{text: names[i], fill: func(dc *draw.Canvas, x0, y0, x1, y1 vg.Length) {
			fillBox(dc, tint(clr), x0, y0, x1, y1)
			if !c.rest {
				dc.StrokeLine2(style, x0, (y0+y1)/2, x1, (y0+y1)/2)
			}
		}}
	}
	return entries
}

func startedPlot(t Times, total *granularity.Series, classes []ClassSeries, label string) *plot.Plot {
	g := total.Grid
	p := newPlot("", label)
	axis := overTime(p, t)
	p.X.Label.Text = ""
	perSecond := 1e9 / float64(g.Width)
	levels := make([][]float64, len(classes)+1)
	levels[0] = make([]float64, g.N)
	top := 0.0
	for k, c := range classes {
		levels[k+1] = make([]float64, g.N)
		for i, n := range c.Series.Started {
			levels[k+1][i] = levels[k][i] + float64(n)*perSecond
			top = max(top, levels[k+1][i])
		}
	}
	countAxis(p, top)
	for k := range classes {
		p.Add(band(g, axis, levels[k], levels[k+1], tint(classColor(classes[k], k))))
		if !classes[k].rest { // its edge tells a band from the next, as its line does below
			p.Add(stairs(g, axis, levels[k+1], curveStyle(k)))
		}
	}
	p.Add(gridLines(false, true))
	return p
}

func runningPlot(t Times, classes []ClassSeries, label string) *plot.Plot {
	p := newPlot("", label)
	top := 0.0
	axis := overTime(p, t)
	var lines []plot.Plotter
	for k, c := range classes {
		if c.rest {
			continue
		}
		running := c.Series.Running()
		for _, r := range running {
			top = max(top, r)
		}
		lines = append(lines, stairs(c.Series.Grid, axis, running, curveStyle(k)))
	}
	countAxis(p, top)
	p.Add(gridLines(false, true))
	p.Add(lines...)
	return p
}

// countAxis makes a y axis from zero to a little above top.
func countAxis(p *plot.Plot, top float64) {
	if top <= 0 {
		top = 1
	}
	p.Y.Min, p.Y.Max = 0, top*1.06
	p.Y.Tick.Marker = linearTicks(4)
}

// alignLeft makes the y axes of stacked plots equally wide, to align their times.
func alignLeft(plots ...*plot.Plot) {
	widest := vg.Length(0)
	label := func(p *plot.Plot) (w vg.Length) {
		for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
			w = max(w, widthOf(t.Label, tickSize))
		}
		return w
	}
	for _, p := range plots {
		widest = max(widest, label(p))
	}
	for _, p := range plots {
		p.Y.Label.Padding += widest - label(p)
	}
}

// stairs draws a value per bucket as a step line.
func stairs(g granularity.Grid, axis timeAxis, values []float64, style draw.LineStyle) plotter {
	return func(c draw.Canvas, p *plot.Plot) {
		c.StrokeLines(style, stairPoints(c, p, g, axis, values))
	}
}

func stairPoints(c draw.Canvas, p *plot.Plot, g granularity.Grid, axis timeAxis, values []float64) []vg.Point {
	tx, ty := p.Transforms(&c)
	x := func(i int) vg.Length { return tx(axis.bucket(g, i)) }
	var pts []vg.Point
	for i, v := range values {
		y := ty(v)
		// A level line needs only its two ends.
		if n := len(pts); n >= 2 && pts[n-1].Y == y && pts[n-2].Y == y {
			pts[n-1].X = x(i + 1)
			continue
		}
		pts = append(pts, vg.Point{X: x(i), Y: y}, vg.Point{X: x(i + 1), Y: y})
	}
	return pts
}

// band fills the area between two step lines.
func band(g granularity.Grid, axis timeAxis, low, high []float64, clr color.Color) plotter {
	return func(c draw.Canvas, p *plot.Plot) {
		pts := stairPoints(c, p, g, axis, high)
		under := stairPoints(c, p, g, axis, low)
		for i := len(under) - 1; i >= 0; i-- {
			pts = append(pts, under[i])
		}
		c.FillPolygon(clr, pts)
	}
}

// Pauses draws every collection pause: when it began and how long it took.
func Pauses(t Times, pauses []activity.Span) *Figure {
	f := &Figure{
		Name: "gc", Title: "Garbage collection pauses",
		Alt: "Length of each garbage collection pause over the time of the session.",
		W:   pageWidth, H: 150,
	}
	if len(pauses) == 0 {
		f.H = 60
		f.body = empty("no garbage collection pauses")
		return f
	}
	longest := units.Ns(0)
	for _, s := range pauses {
		longest = max(longest, s.Len())
		t = t.With(s.From, s.To)
	}
	f.body = func(c draw.Canvas) {
		unit, yScale := timeUnit(longest)
		p := newPlot("", "pause ("+unit+")")
		axis := overTime(p, t)
		countAxis(p, float64(longest)/yScale)
		p.Add(gridLines(false, true), pauseStems(pauses, axis, yScale))
		p.Draw(draw.Crop(c, margin, -margin-8, 2, -4))
	}
	return f
}

// pauseStems draws a stem with a dot per pause. Of stems too close to separate it draws
// the longest.
func pauseStems(pauses []activity.Span, axis timeAxis, yScale float64) plotter {
	return func(c draw.Canvas, p *plot.Plot) {
		tx, ty := p.Transforms(&c)
		const apart = 0.7
		longest := map[int]vg.Point{}
		var columns []int
		for _, s := range pauses {
			pt := vg.Point{X: tx(axis.x(s.From)), Y: ty(float64(s.Len()) / yScale)}
			column := int(math.Floor(pt.X.Points() / apart))
			old, ok := longest[column]
			if !ok {
				columns = append(columns, column)
			}
			if !ok || pt.Y > old.Y {
				longest[column] = pt
			}
		}
		zero := ty(0)
		for _, column := range columns {
			pt := longest[column]
			c.StrokeLine2(draw.LineStyle{Color: red, Width: 0.8}, pt.X, zero, pt.X, pt.Y)
			c.DrawGlyph(draw.GlyphStyle{Color: red, Radius: 1.7, Shape: draw.CircleGlyph{}}, pt)
		}
	}
}
