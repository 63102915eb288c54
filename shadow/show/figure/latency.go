package figure

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"stackagent/granularity/latency"
	"stackagent/internal/units"
)

// LatencyCurve is a curve of a percentile figure: of a session, or of repeated runs of a configuration.
type LatencyCurve struct {
	Label, Kind   string
	Runs          int
	Count         int64
	RelativeError float64
	Points        []latency.Point
	// Low and High are the least and the greatest of the runs at each point; empty for a single run.
	Low, High []units.Ns
}

// Latency draws latencies over percentiles: the share of tasks above is logarithmic, so
// that each further nine of the percentile has as much room as the one before it. Several
// sessions have a panel for each kind of latency, all to one scale, and the slowest 5 % are shaded, as in
// the figures 3 and 6 of Blackburn and others (Rethinking Java Performance Analysis, 2025).
func Latency(class string, curves []LatencyCurve) *Figure {
	f := &Figure{
		Name: "latency", Title: "Latency of " + Shorten(class, nameLimit),
		Alt: "Latency over percentiles, both axes logarithmic.",
		W:   pageWidth, H: 250,
	}
	curves = slices.DeleteFunc(slices.Clone(curves), func(c LatencyCurve) bool { return len(c.Points) == 0 })
	if len(curves) == 0 {
		f.body = empty("no latencies")
		return f
	}
	l := layOutLatency(curves)
	height := legendHeight(l.legend, f.W-2*margin)
	rows := (len(l.panels) + l.columns - 1) / l.columns
	each := vg.Length(250)
	if rows > 1 || l.columns > 1 {
		each = 200
	}
	f.H = vg.Length(rows)*each + height
	f.body = func(c draw.Canvas) {
		width := (c.Max.X - c.Min.X - 2*margin) / vg.Length(l.columns)
		for i := range l.panels {
			r := draw.Canvas{Canvas: c.Canvas}
			r.Min = vg.Point{X: c.Min.X + margin + vg.Length(i%l.columns)*width, Y: c.Max.Y - vg.Length(i/l.columns+1)*each + 6}
			r.Max = vg.Point{X: r.Min.X + width, Y: r.Min.Y + each - 6}
			l.draw(r, &l.panels[i])
		}
		low := draw.Crop(c, margin, -margin, 0, 0)
		low.Max.Y = low.Min.Y + height
		drawLegend(low, l.legend)
	}
	return f
}

// slowest is the shade of the slowest 5 %.
var slowest = color.RGBA{240, 240, 240, 255}

// latencyLayout says what goes where in a figure.
type latencyLayout struct {
	panels  []latencyPanel
	columns int
	legend  []entry
	r       logRange
	decades float64
	shaded  bool // the slowest 5 %
}

// latencyPanel is the panel of a kind of latency; without a title it has all kinds.
type latencyPanel struct {
	title  string
	curves []LatencyCurve
	styles []draw.LineStyle
}

// layOutLatency puts the curves of several sessions into a panel for each kind, those of one into one panel.
func layOutLatency(curves []LatencyCurve) *latencyLayout {
	var labels, kinds []string
	for _, c := range curves {
		if !slices.Contains(labels, c.Label) {
			labels = append(labels, c.Label)
		}
		if !slices.Contains(kinds, c.Kind) {
			kinds = append(kinds, c.Kind)
		}
	}
	l := &latencyLayout{columns: 1}
	l.r, l.decades = latencyRange(curves)
	if len(labels) == 1 {
		p := latencyPanel{curves: curves}
		for i, c := range curves {
			style := latencyStyle(i)
			p.styles = append(p.styles, style)
			l.legend = append(l.legend, entry{text: c.Kind + latencyNote(c), line: &style})
		}
		l.panels = []latencyPanel{p}
		return l
	}
	l.columns, l.shaded = min(2, len(kinds)), true
	for _, kind := range kinds {
		p := latencyPanel{title: kind}
		for _, c := range curves {
			if c.Kind == kind {
				p.curves, p.styles = append(p.curves, c), append(p.styles, latencyStyle(slices.Index(labels, c.Label)))
			}
		}
		l.panels = append(l.panels, p)
	}
	for i, name := range ShortenAll(labels, nameLimit) {
		style := latencyStyle(i)
		first := curves[slices.IndexFunc(curves, func(c LatencyCurve) bool { return c.Label == labels[i] })]
		l.legend = append(l.legend, entry{text: name + latencyNote(first), line: &style})
	}
	if slices.ContainsFunc(curves, func(c LatencyCurve) bool { return len(c.Low) > 0 }) {
		l.legend = append(l.legend, entry{text: "bands: from the least to the greatest of the runs"})
	}
	l.legend = append(l.legend, entry{text: "shaded: the slowest 5 %", fill: func(c *draw.Canvas, x0, y0, x1, y1 vg.Length) { fillBox(c, slowest, x0, y0, x1, y1) }})
	return l
}

// latencyStyle is the style of the i-th curve of a panel.
func latencyStyle(i int) draw.LineStyle {
	return draw.LineStyle{Color: palette[i%len(palette)], Width: 1.3 + 0.4*vg.Length(i%3), Dashes: dashes[i%len(dashes)]}
}

// latencyNote says how many tasks and runs are behind a curve.
func latencyNote(c LatencyCurve) string {
	text := " (n = " + units.FormatCount(c.Count)
	if c.Runs > 1 {
		text += fmt.Sprintf(", %d runs", c.Runs)
	}
	if c.RelativeError > 0 {
		text += fmt.Sprintf(", ±%.1f %%", 100*c.RelativeError)
	}
	return text + ")"
}

// latencyRange is the range of latencies, and how many decades of shares there are.
func latencyRange(curves []LatencyCurve) (logRange, float64) {
	lo, hi, least := units.Ns(0), units.Ns(0), 0.1
	see := func(n units.Ns) {
		if n > 0 && (lo == 0 || n < lo) {
			lo = n
		}
		hi = max(hi, n)
	}
	for _, c := range curves {
		for i, p := range c.Points {
			see(p.Ns)
			least = min(least, p.Above)
			if i < len(c.Low) {
				see(c.Low[i])
				see(c.High[i])
			}
		}
	}
	return rangeOf("ns", lo, hi), math.Max(1, -math.Log10(least))
}

func (l *latencyLayout) draw(c draw.Canvas, panel *latencyPanel) {
	if panel.title != "" {
		style := textStyle(labelSize, bold, centre, top)
		c.FillText(style, vg.Point{X: (c.Min.X + c.Max.X) / 2, Y: c.Max.Y}, fitIn(panel.title, style, c.Max.X-c.Min.X))
		c.Max.Y -= 16
	}
	p := newPlot("percentile", "latency")
	p.X.Min, p.X.Max = 0, l.decades
	p.X.Tick.Marker = percentileTicks(l.decades, (c.Max.X-c.Min.X-70)/vg.Length(l.decades))
	p.Y.Min, p.Y.Max, p.Y.Tick.Marker = l.r.lo, l.r.hi, l.r
	if l.shaded {
		p.Add(plotter(func(c draw.Canvas, p *plot.Plot) {
			tx, _ := p.Transforms(&c)
			if from := -math.Log10(0.05); from < l.decades {
				fillBox(&c, slowest, tx(from), c.Min.Y, c.Max.X, c.Max.Y)
			}
		}))
	}
	p.Add(gridLines(true, true))
	for i := range panel.curves {
		p.Add(latencyBand(&panel.curves[i], panel.styles[i], l.r))
	}
	for i := len(panel.curves) - 1; i >= 0; i-- {
		p.Add(latencyLine(panel.curves[i].Points, panel.styles[i], l.r))
	}
	p.Draw(draw.Crop(c, 0, -18, 0, 0))
}

// latencyBand fills the area between the least and the greatest of repeated runs.
func latencyBand(curve *LatencyCurve, style draw.LineStyle, r logRange) plotter {
	return func(c draw.Canvas, p *plot.Plot) {
		if len(curve.Low) < 2 {
			return
		}
		tx, ty := p.Transforms(&c)
		var outline []vg.Point
		for i, n := range curve.High {
			outline = append(outline, vg.Point{X: tx(-math.Log10(curve.Points[i].Above)), Y: ty(r.clamp(n))})
		}
		for i := len(curve.Low) - 1; i >= 0; i-- {
			outline = append(outline, vg.Point{X: tx(-math.Log10(curve.Points[i].Above)), Y: ty(r.clamp(curve.Low[i]))})
		}
		clr := color.NRGBAModel.Convert(style.Color).(color.NRGBA)
		clr.A = 60
		c.FillPolygon(clr, outline)
	}
}

// latencyLine is a curve from the first percentile to the greatest value.
func latencyLine(points []latency.Point, style draw.LineStyle, r logRange) plotter {
	return func(c draw.Canvas, p *plot.Plot) {
		tx, ty := p.Transforms(&c)
		var line []vg.Point
		for _, pt := range points {
			line = append(line, vg.Point{X: tx(-math.Log10(pt.Above)), Y: ty(r.clamp(pt.Ns))})
		}
		c.StrokeLines(style, line)
	}
}

// percentileTicks are at 0, 50, 90, 99, 99.9, ...; a decade is so wide. Labels that would touch are left out.
func percentileTicks(decades float64, decade vg.Length) plot.TickerFunc {
	return func(_, _ float64) []plot.Tick {
		ticks := []plot.Tick{{Value: 0, Label: "0"}, {Value: -math.Log10(0.5), Label: "50"}}
		for k := 1; float64(k) <= decades+1e-9; k++ {
			ticks = append(ticks, plot.Tick{Value: float64(k), Label: nines(k)})
		}
		end := vg.Length(math.Inf(-1))
		for i, t := range ticks {
			at, half := vg.Length(t.Value)*decade, widthOf(t.Label, tickSize)/2
			if at-half < end+3 {
				ticks[i].Label = " " // a tick without a label would be a minor one
				continue
			}
			end = at + half
		}
		return ticks
	}
}

// nines is 90, 99, 99.9, ...
func nines(k int) string {
	if k == 1 {
		return "90"
	}
	return fmt.Sprintf("%.*f", k-2, 100-math.Pow(10, float64(2-k)))
}
