package figure

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"stackagent/granularity/estimate"
	"stackagent/internal/units"
)

// Configurations are the configurations of an experiment: what varies, and the value of each factor in each of them.
type Configurations struct {
	Factors []string   // "GC threads"; the first is the horizontal axis, a line stands for the values of the others
	Levels  [][]string // by configuration, in the order of Factors
}

// Panel is a measured quantity of configurations.
type Panel struct {
	Label  string
	Time   bool // the values are nanoseconds
	Ratio  bool // the values are multiples of the first configuration's
	Values []estimate.Interval
}

const panelHeight = vg.Length(190)

// Over draws quantities of configurations, a panel for each. A value that is not a number leaves a gap.
func Over(f *Figure, c Configurations, panels []Panel) *Figure {
	f.W, f.H = pageWidth, 60
	panels = slices.DeleteFunc(slices.Clone(panels), func(p Panel) bool { return !slices.ContainsFunc(p.Values, isNumber) })
	if len(panels) == 0 {
		f.body, f.Empty = empty("no run has these figures"), true
		return f
	}
	xs, lines := c.levels()
	var legend []entry
	styles := make([]draw.LineStyle, len(lines))
	for i, name := range lines {
		styles[i] = curveStyle(i)
		if len(lines) > 1 {
			legend = append(legend, entry{text: name, line: &styles[i]})
		}
	}
	h := legendHeight(legend, f.W-2*margin)
	rows := (len(panels) + 1) / 2
	f.H = vg.Length(rows)*panelHeight + h
	f.body = func(c0 draw.Canvas) {
		width := (c0.Max.X - c0.Min.X) / 2
		for i, panel := range panels {
			r := draw.Canvas{Canvas: c0.Canvas}
			r.Min = vg.Point{X: c0.Min.X + vg.Length(i%2)*width + margin, Y: c0.Max.Y - vg.Length(i/2+1)*panelHeight + 4}
			r.Max = vg.Point{X: r.Min.X + width - 2*margin, Y: r.Min.Y + panelHeight - 10}
			panel.plot(c, xs, lines).Draw(r)
		}
		low := draw.Crop(c0, margin, -margin, 0, 0)
		low.Max.Y = low.Min.Y + h
		drawLegend(low, legend)
	}
	return f
}

func isNumber(v estimate.Interval) bool { return !math.IsNaN(v.Mean) }

// levels are the values of the first factor and the names of the lines, in the order of the configurations.
func (c *Configurations) levels() (xs, lines []string) {
	for i := range c.Levels {
		if x := c.Levels[i][0]; !slices.Contains(xs, x) {
			xs = append(xs, x)
		}
		if name := c.line(i); !slices.Contains(lines, name) {
			lines = append(lines, name)
		}
	}
	return xs, lines
}

// line names the line that a configuration is on.
func (c *Configurations) line(i int) string {
	var parts []string
	for k, factor := range c.Factors[1:] {
		parts = append(parts, factor+": "+c.Levels[i][k+1])
	}
	return Printable(strings.Join(parts, ", "))
}

func (panel *Panel) plot(c Configurations, xs, lines []string) *plot.Plot {
	label, scale, most := panel.Label, 1.0, 0.0
	for _, v := range panel.Values {
		if isNumber(v) {
			most = max(most, v.Mean)
		}
		if v.Known() {
			most = max(most, v.High)
		}
	}
	if panel.Ratio {
		label += ", of the first"
	} else if panel.Time {
		unit := ""
		unit, scale = timeUnit(units.Ns(most))
		label += " (" + unit + ")"
	}
	p := newPlot(c.Factors[0], label)
	countAxis(p, most/scale)
	p.X.Min, p.X.Max = -0.3, float64(len(xs))-0.7
	p.X.Tick.Marker = plot.TickerFunc(func(_, _ float64) []plot.Tick {
		var ticks []plot.Tick
		for i, x := range xs {
			ticks = append(ticks, plot.Tick{Value: float64(i), Label: cutMiddle(Printable(x), 12)})
		}
		return ticks
	})
	p.Add(gridLines(false, true), plotter(func(canvas draw.Canvas, p *plot.Plot) {
		tx, ty := p.Transforms(&canvas)
		for i, name := range lines {
			aside := vg.Length(i) - vg.Length(len(lines)-1)/2 // so that intervals do not cover each other
			x := func(k float64) vg.Length { return tx(k) + 5*aside }
			panel.line(&canvas, c, xs, name, i, x, func(v float64) vg.Length { return ty(v / scale) })
		}
	}))
	return p
}

// line draws a line of a panel with its intervals.
func (panel *Panel) line(canvas *draw.Canvas, c Configurations, xs []string, name string, style int, tx, y func(float64) vg.Length) {
	points := make([]estimate.Interval, len(xs))
	for i := range points {
		points[i].Mean = math.NaN()
	}
	for i, v := range panel.Values {
		if c.line(i) == name {
			points[slices.Index(xs, c.Levels[i][0])] = v
		}
	}
	var stretch []vg.Point
	stroke := func() {
		canvas.StrokeLines(curveStyle(style), stretch)
		stretch = nil
	}
	for i, v := range points {
		if !isNumber(v) {
			stroke()
			continue
		}
		at := vg.Point{X: tx(float64(i)), Y: y(v.Mean)}
		stretch = append(stretch, at)
		errorBarIn(canvas, palette[style%len(palette)], at.X, y, max(v.Low, 0), v.High) // no quantity is below zero
		canvas.DrawGlyph(draw.GlyphStyle{Color: palette[style%len(palette)], Radius: 2.2, Shape: draw.CircleGlyph{}}, at)
	}
	stroke()
}
