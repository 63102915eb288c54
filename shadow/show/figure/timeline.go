package figure

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"stackagent/granularity/activity"
	"stackagent/granularity/timeline"
	"stackagent/internal/text"
	"stackagent/internal/units"
)

// stateLooks are the looks of states in the order in which they are stacked
// in a row, running at the bottom.
var stateLooks = []struct {
	state activity.ThreadState
	label string
	look  look
}{
	{activity.Running, "running", look{color.RGBA{11, 129, 105, 255}, plain}},
	{activity.Runnable, "waiting for a processor", look{color.RGBA{226, 150, 20, 255}, plain}},
	{activity.IO, "input or output", look{color.RGBA{128, 95, 180, 255}, plain}},
	{activity.Stalled, "waiting for the collector", look{color.RGBA{5, 43, 104, 255}, plain}},
	{activity.Safepoint, "stopped by the JVM", look{color.RGBA{86, 152, 210, 255}, upright}},
	{activity.Futex, "waiting for another thread (futex)", look{color.RGBA{160, 196, 245, 255}, plain}},
	{activity.Unended, "waiting when the program ended", look{color.RGBA{195, 226, 195, 255}, level}},
	{activity.Sleeping, "sleeping, or waiting until a time limit", look{color.RGBA{228, 222, 228, 255}, plain}},
	{activity.Blocked, "blocked, reason not known", look{color.RGBA{165, 130, 155, 255}, level}},
	{activity.Unknown, "not observed", look{color.RGBA{240, 235, 80, 255}, upright}},
}

// Rows of a timeline: higher when there are few.
const (
	laneLeast  = vg.Length(11.5)
	laneMost   = vg.Length(22)
	laneTotal  = vg.Length(260)
	loadHeight = vg.Length(110)
)

// Timeline draws what each thread did over time, a row for each, and below it
// how many were running and how many waited for a processor. Pauses are shaded. cpus is
// the number of processors, 0: unknown.
func Timeline(times Times, t *timeline.Timeline, pauses []activity.Span, cpus int) *Figure {
	f := &Figure{
		Name: "timeline", Title: "Threads over time",
		Alt: "What each thread did over the time of the session, and the number of threads running and waiting for a processor.",
		W:   pageWidth, H: 60,
	}
	if t == nil || len(t.Rows) == 0 {
		f.body = empty("no scheduling record, or no thread was running")
		return f
	}
	times = times.With(t.Grid.From, t.Grid.End())
	lane := min(max(laneTotal/vg.Length(len(t.Rows)), laneLeast), laneMost)
	legend := stateLegend(t, len(pauses) > 0)
	h := legendHeight(legend, f.W-2*margin)
	lanes := lane * vg.Length(len(t.Rows))
	f.H = lanes + 8 + loadHeight + h
	f.body = func(c draw.Canvas) {
		upper, lower := newPlot("", ""), newPlot("", "threads")
		axis := overTime(upper, times)
		overTime(lower, times)
		upper.X.Label.Text = ""
		upper.HideAxes()
		upper.Y.Min, upper.Y.Max = 0, float64(len(t.Rows))
		shade := pauseShades(pauses, axis)
		for i := range t.Rows {
			upper.Add(laneOf(t, i, axis))
		}
		upper.Add(shade)
		load(lower, t, cpus, axis, shade)
		x0, x1 := threadArea(c)
		drawBetween(upper, c, x0, x1, c.Max.Y-lanes-4, c.Max.Y-4)
		drawBetween(lower, c, x0, x1, c.Min.Y+h, c.Max.Y-lanes-8)
		low := draw.Crop(c, margin, -margin, 0, 0)
		low.Max.Y = low.Min.Y + h
		drawLegend(low, legend)
	}
	return f
}

// laneName is the name of a row: a thread, or a number of a kind.
func laneName(r *timeline.Row) string {
	name := r.Name
	if name == "" {
		name = fmt.Sprintf("%s more: %s", units.FormatCount(int64(r.Threads)), kindLabel(r.Kind))
	}
	return fit(Printable(name), tickSize, threadNames)
}

// laneOf draws row i (0 is the uppermost): in each bucket the states stacked,
// each as high as its share of the row's threads' time.
func laneOf(t *timeline.Timeline, i int, axis timeAxis) plotter {
	return func(c draw.Canvas, p *plot.Plot) {
		tx, ty := p.Transforms(&c)
		r := &t.Rows[i]
		row := float64(len(t.Rows) - 1 - i)
		y0, y1 := ty(row)+0.8, ty(row+1)-0.8
		c.FillText(textStyle(tickSize, regular, right, middle, readable(lookOfKind(r.Kind).clr)), vg.Point{X: c.Min.X - 6, Y: (y0 + y1) / 2}, laneName(r))
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
			area := stepArea{floor, top, func(b int) vg.Length { return tx(axis.bucket(t.Grid, b)) }, y0, y1 - y0}
			area.fill(&c, look.look)
			floor = top
		}
	}
}

// bands calls f with each run of buckets in which top is above floor.
func bands(floor, top []float64, f func(from, to int)) {
	for i := 0; i < len(top); i++ {
		from := i
		for i < len(top) && top[i]-floor[i] > leastShare {
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
func pauseShades(pauses []activity.Span, axis timeAxis) plotter {
	return func(c draw.Canvas, p *plot.Plot) {
		tx, _ := p.Transforms(&c)
		last := c.Min.X
		for _, s := range pauses {
			from, to := max(s.From, axis.From), min(s.To, axis.To)
			if to <= from {
				continue
			}
			x0, x1 := tx(axis.x(from)), tx(axis.x(to))
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
func load(p *plot.Plot, t *timeline.Timeline, cpus int, axis timeAxis, shade plotter) {
	running, ready := t.Mean(t.Running), t.Mean(t.Ready)
	most := float64(cpus)
	for _, values := range [][]float64{running, ready} {
		for _, v := range values {
			most = max(most, v)
		}
	}
	countAxis(p, most)
	p.Add(gridLines(false, true), shade,
		stairs(t.Grid, axis, ready, draw.LineStyle{Color: stateLooks[1].look.clr, Width: 1}),
		stairs(t.Grid, axis, running, draw.LineStyle{Color: stateLooks[0].look.clr, Width: 1.4}))
	if cpus > 0 {
		p.Add(plotter(func(c draw.Canvas, p *plot.Plot) {
			_, ty := p.Transforms(&c)
			y := ty(float64(cpus))
			c.StrokeLine2(draw.LineStyle{Color: black, Width: 0.7, Dashes: []vg.Length{4, 3}}, c.Min.X, y, c.Max.X, y)
			text := text.PluralExact(cpus, "processor", "processors")
			x := c.Max.X - 2 - widthOf(text, tickSize)
			fillBox(&c, white, x-1, y+1, c.Max.X-1, y+tickSize) // lines may be there
			c.FillText(textStyle(tickSize, regular, left, bottom, grey), vg.Point{X: x, Y: y + 1}, text)
		}))
	}
}

// stateLegend lists the states that occur.
func stateLegend(t *timeline.Timeline, pauses bool) []entry {
	var out []entry
	for _, look := range stateLooks {
		for i := range t.Rows {
			if t.Rows[i].States[look.state] != nil {
				out = append(out, entry{text: look.label, fill: look.look.fill})
				break
			}
		}
	}
	if pauses {
		out = append(out, entry{text: "stopped for a garbage collection", fill: func(c *draw.Canvas, x0, y0, x1, y1 vg.Length) { fillBox(c, pauseShade, x0, y0, x1, y1) }})
	}
	return out
}
