package figure

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"stackagent/granularity"
	"stackagent/internal/text"
)

// ThreadBar is a thread over time.
type ThreadBar struct {
	Label string
	Busy  []float64 // per bucket of the grid, the share of time inside tasks, 0 to 1
	// Spread: part of it was summarised and is spread evenly over the summary's span.
	Spread bool
}

const (
	barRow     = vg.Length(13)
	maxBars    = 32
	busyShades = 10
)

// Threads draws a bar per thread (the first 32): darker where the thread spent more time
// inside tasks.
func Threads(t Times, g granularity.Grid, bars []ThreadBar) *Figure {
	f := &Figure{
		Name: "threads", Title: "Threads inside tasks over time",
		Alt: "For each thread, the share of time inside tasks over the time of the session.",
		W:   pageWidth, H: 60,
	}
	if len(bars) == 0 {
		f.body = empty("no thread executed tasks")
		return f
	}
	t = t.With(g.From, g.End())
	shown := bars[:min(len(bars), maxBars)]
	legend := shadeLegend(len(bars) - len(shown))
	if slices.ContainsFunc(shown, func(b ThreadBar) bool { return b.Spread }) {
		legend = append(legend, entry{text: "the time of summarised tasks is spread evenly over the intervals of their summaries"})
	}
	h := legendHeight(legend, f.W-2*margin)
	f.H = barRow*vg.Length(len(shown)) + 44 + h
	f.body = func(c draw.Canvas) {
		p := newPlot("", "")
		axis := overTime(p, t)
		p.Y.Min, p.Y.Max = 0, float64(len(shown))
		p.HideY()
		for i, b := range shown {
			p.Add(bar(b, len(shown)-1-i, g, axis))
		}
		x0, x1 := threadArea(c)
		drawBetween(p, c, x0, x1, c.Min.Y+h, c.Max.Y-2)
		low := draw.Crop(c, margin, -margin, 0, 0)
		low.Max.Y = low.Min.Y + h
		drawLegend(low, legend)
	}
	return f
}

func bar(b ThreadBar, row int, g granularity.Grid, axis timeAxis) plotter {
	return func(c draw.Canvas, p *plot.Plot) {
		tx, ty := p.Transforms(&c)
		y0, y1 := ty(float64(row))+1.5, ty(float64(row+1))-1.5
		c.FillText(textStyle(tickSize, regular, right, middle), vg.Point{X: c.Min.X - 6, Y: (y0 + y1) / 2}, fit(Printable(b.Label), tickSize, threadNames))
		fillBox(&c, color.RGBA{243, 243, 243, 255}, c.Min.X, y0, c.Max.X, y1)
		for i := 0; i < len(b.Busy); {
			level, from := shadeOf(b.Busy[i]), i
			for i < len(b.Busy) && shadeOf(b.Busy[i]) == level {
				i++
			}
			if level > 0 {
				fillBox(&c, shade(level), tx(axis.bucket(g, from)), y0, tx(axis.bucket(g, i)), y1)
			}
		}
	}
}

// shadeOf is 0 for idle and 1 to busyShades for busy, so any work is visible.
func shadeOf(share float64) int {
	if share <= 0 {
		return 0
	}
	return min(busyShades, 1+int(share*busyShades))
}

// shade goes from a light to a dark blue.
func shade(level int) color.Color {
	t := float64(level) / busyShades
	mix := func(light, dark float64) uint8 { return uint8(light + (dark-light)*t) }
	return color.RGBA{mix(222, 0), mix(235, 80), mix(247, 150), 255}
}

func shadeLegend(hidden int) []entry {
	swatch := func(level int) func(*draw.Canvas, vg.Length, vg.Length, vg.Length, vg.Length) {
		return func(c *draw.Canvas, x0, y0, x1, y1 vg.Length) { fillBox(c, shade(level), x0, y0, x1, y1) }
	}
	entries := []entry{
		{text: "inside tasks for a tenth of the time", fill: swatch(2)},
		{text: "all of the time", fill: swatch(busyShades)},
	}
	if hidden > 0 {
		entries = append(entries, entry{text: text.PluralExact(hidden, "more thread", "more threads") + " not shown"})
	}
	return entries
}

var _ plot.Plotter = plotter(nil)
