package figure

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"stackagent/granularity"
	"stackagent/granularity/activity"
	"stackagent/granularity/timeline"
	"stackagent/internal/units"
)

// stateLooks are the colours of states in the order in which they are stacked
// in a row, running at the bottom.
var stateLooks = []struct {
	state activity.ThreadState
	label string
	clr   color.RGBA
}{
	{activity.Running, "running", color.RGBA{0, 158, 115, 255}},
	{activity.Runnable, "waiting for a processor", color.RGBA{213, 94, 0, 255}},
	{activity.IO, "input or output", color.RGBA{204, 121, 167, 255}},
	{activity.Stalled, "waiting for the collector", color.RGBA{0, 114, 178, 255}},
	{activity.Safepoint, "stopped by the JVM", color.RGBA{86, 180, 233, 255}},
	{activity.Futex, "waiting for another thread (futex)", color.RGBA{174, 210, 236, 255}},
	{activity.Unended, "waiting when the program ended", color.RGBA{190, 190, 214, 255}},
	{activity.Sleeping, "sleeping, or waiting until a time limit", color.RGBA{214, 214, 214, 255}},
	{activity.Blocked, "blocked, reason not known", color.RGBA{165, 165, 165, 255}},
	{activity.Unknown, "not observed", color.RGBA{240, 228, 66, 255}},
}

// Rows of a timeline: higher when there are few.
const (
	laneLeast  = vg.Length(10)
	laneMost   = vg.Length(22)
	laneTotal  = vg.Length(260)
	loadHeight = vg.Length(110)
)

// Timeline draws what each thread did over time, a row for each, and below it
// how many were running and how many waited for a processor. Pauses are shaded. Times
// count from start, the start of the session; the JVM itself started before. cpus is
// the number of processors, 0: unknown.
func Timeline(t *timeline.Timeline, pauses []activity.Span, start units.MonoNs, cpus int) *Figure {
	f := &Figure{
		Name: "timeline", Title: "Threads over time",
		Alt: "What each thread did over the time of the session, and the number of threads running and waiting for a processor.",
		W:   pageWidth, H: 60,
	}
	if t == nil || len(t.Rows) == 0 {
		f.body = empty("no scheduling record, or no thread was running")
		return f
	}
	lane := min(max(laneTotal/vg.Length(len(t.Rows)), laneLeast), laneMost)
	legend := stateLegend(t, len(pauses) > 0)
	h := legendHeight(legend, f.W-2*margin)
	lanes := lane * vg.Length(len(t.Rows))
	f.H = lanes + 8 + loadHeight + h
	f.body = func(c draw.Canvas) {
		names, width := laneNames(t)
		upper, lower := newPlot("", ""), newPlot("", "threads")
		scale := timeAxisSince(upper, t.Grid, start)
		timeAxisSince(lower, t.Grid, start)
		upper.X.Label.Text = ""
		upper.HideAxes()
		upper.Y.Min, upper.Y.Max = 0, float64(len(t.Rows))
		shade := pauseShades(t.Grid, pauses, scale)
		for i := range t.Rows {
			upper.Add(laneOf(t, i, names[i], scale))
		}
		upper.Add(shade)
		load(lower, t, cpus, scale, shade)
		left := margin + width + 8
		// Align the times of both.
		l0, r0 := dataEdges(upper)
		l1, r1 := dataEdges(lower)
		upper.Draw(draw.Crop(c, left, r0-r1-margin-8, f.H-lanes-4, -4))
		lower.Draw(draw.Crop(c, left+l0-l1, -margin-8, h, -lanes-8))
		low := draw.Crop(c, margin, -margin, 0, 0)
		low.Max.Y = low.Min.Y + h
		drawLegend(low, legend)
	}
	return f
}

// dataEdges are the distances of a plot's data from its left and right edges.
func dataEdges(p *plot.Plot) (left, right vg.Length) {
	const width = 400
	area := p.DataCanvas(draw.Canvas{Rectangle: vg.Rectangle{Max: vg.Point{X: width, Y: width}}})
	return area.Min.X, width - area.Max.X
}

func laneNames(t *timeline.Timeline) (names []string, width vg.Length) {
	names = make([]string, len(t.Rows))
	for i, r := range t.Rows {
		name := r.Name
		if name == "" {
			name = fmt.Sprintf("%s more: %s", units.FormatCount(int64(r.Threads)), kindLabel(r.Kind))
		}
		names[i] = fit(Printable(name), tickSize, 0.3*pageWidth)
		width = max(width, widthOf(names[i], tickSize))
	}
	return names, width
}

// laneOf draws row i (0 is the uppermost): in each bucket the states stacked,
// each as high as its share of the row's threads' time.
func laneOf(t *timeline.Timeline, i int, name string, scale float64) plotter {
	return func(c draw.Canvas, p *plot.Plot) {
		tx, ty := p.Transforms(&c)
		r := &t.Rows[i]
		row := float64(len(t.Rows) - 1 - i)
		y0, y1 := ty(row)+0.8, ty(row+1)-0.8
		c.FillText(textStyle(tickSize, regular, right, middle, darker(kindColor(r.Kind))), vg.Point{X: c.Min.X - 6, Y: (y0 + y1) / 2}, name)
		c.StrokeLine2(hairline(faint), c.Min.X, y0, c.Max.X, y0)
		whole := float64(t.Grid.Width) * float64(r.Threads)
		floor := make([]float64, t.Grid.N)
		for _, look := range stateLooks {
			states := r.States[look.state]
			if states == nil {
				continue
			}
			top := make([]float64, t.Grid.N)
			for b, d := range states {
				top[b] = min(floor[b]+float64(d)/whole, 1)
			}
			step := func(b int) vg.Length { return tx(float64(b) * float64(t.Grid.Width) / scale) }
			bands(floor, top, func(from, to int) {
				c.FillPolygon(look.clr, outline(floor, top, from, to, step, y0, y1-y0))
			})
			floor = top
		}
	}
}

// bands calls f with each run of buckets in which top is above floor.
func bands(floor, top []float64, f func(from, to int)) {
	const least = 0.004 // less is invisible
	for i := 0; i < len(top); i++ {
		from := i
		for i < len(top) && top[i]-floor[i] > least {
			i++
		}
		if i > from {
			f(from, i)
		}
	}
}

// outline goes along the top and back along the floor, in steps.
func outline(floor, top []float64, from, to int, x func(int) vg.Length, y, h vg.Length) []vg.Point {
	var pts []vg.Point
	add := func(x vg.Length, share float64) {
		pt := vg.Point{X: x, Y: y + vg.Length(share)*h}
		// A level line needs only its two ends.
		if n := len(pts); n >= 2 && pts[n-1].Y == pt.Y && pts[n-2].Y == pt.Y {
			pts = pts[:n-1]
		}
		pts = append(pts, pt)
	}
	for b := from; b < to; b++ {
		add(x(b), top[b])
		add(x(b+1), top[b])
	}
	for b := to - 1; b >= from; b-- {
		add(x(b+1), floor[b])
		add(x(b), floor[b])
	}
	return pts
}

var pauseShade = color.NRGBA{213, 94, 0, 80}

// pauseShades shades the pauses over the whole height of a plot and joins those too
// close to separate.
func pauseShades(g granularity.Grid, pauses []activity.Span, scale float64) plotter {
	return func(c draw.Canvas, p *plot.Plot) {
		tx, _ := p.Transforms(&c)
		last := c.Min.X
		for _, s := range pauses {
			from, to := max(s.From, g.From), min(s.To, g.End())
			if to <= from {
				continue
			}
			x0, x1 := tx(float64(from-g.From)/scale), tx(float64(to-g.From)/scale)
			x1 = max(x1, x0+0.4)
			if x1 <= last {
				continue
			}
			fillBox(&c, pauseShade, max(x0, last), c.Min.Y, x1, c.Max.Y)
			last = x1
		}
	}
}

// load adds the numbers of threads running and waiting for a processor.
func load(p *plot.Plot, t *timeline.Timeline, cpus int, scale float64, shade plotter) {
	running, ready := t.Mean(t.Running), t.Mean(t.Ready)
	most := float64(cpus)
	for _, values := range [][]float64{running, ready} {
		for _, v := range values {
			most = max(most, v)
		}
	}
	countAxis(p, most)
	p.Add(gridLines(false, true), shade,
		stairs(t.Grid, scale, ready, draw.LineStyle{Color: stateLooks[1].clr, Width: 1}),
		stairs(t.Grid, scale, running, draw.LineStyle{Color: stateLooks[0].clr, Width: 1.4}))
	if cpus > 0 {
		p.Add(plotter(func(c draw.Canvas, p *plot.Plot) {
			_, ty := p.Transforms(&c)
			y := ty(float64(cpus))
			c.StrokeLine2(draw.LineStyle{Color: black, Width: 0.7, Dashes: []vg.Length{4, 3}}, c.Min.X, y, c.Max.X, y)
			text := fmt.Sprintf("%d processors", cpus)
			x := c.Max.X - 2 - widthOf(text, tickSize-1)
			fillBox(&c, white, x-1, y+1, c.Max.X-1, y+tickSize) // lines may be there
			c.FillText(textStyle(tickSize-1, regular, left, bottom, grey), vg.Point{X: x, Y: y + 1}, text)
		}))
	}
}

// stateLegend lists the states that occur.
func stateLegend(t *timeline.Timeline, pauses bool) []entry {
	var out []entry
	sample := func(text string, clr color.Color) {
		out = append(out, entry{text: text, fill: func(c *draw.Canvas, x0, y0, x1, y1 vg.Length) { fillBox(c, clr, x0, y0, x1, y1) }})
	}
	for _, look := range stateLooks {
		for i := range t.Rows {
			if t.Rows[i].States[look.state] != nil {
				sample(look.label, look.clr)
				break
			}
		}
	}
	if pauses {
		sample("stopped for a garbage collection", pauseShade)
	}
	return out
}
