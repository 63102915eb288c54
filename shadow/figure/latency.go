package figure

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"stackagent/granularity/latency"
	"stackagent/internal/units"
)

// LatencyCurve is a curve of a percentile figure.
type LatencyCurve struct {
	Session, Kind string
	Count         int64
	RelativeError float64
	Points        []latency.Point
}

// Latency draws latencies over percentiles: the share of tasks above is logarithmic, so
// that each further nine of the percentile has as much room as the one before it. A
// colour and a width are a session, a dash a kind of latency.
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
	legend, styles := latencyLegend(curves)
	height := legendHeight(legend, f.W-2*margin)
	f.H += height
	r, decades := latencyRange(curves)
	f.body = func(c draw.Canvas) {
		p := newPlot("percentile", "latency")
		p.X.Min, p.X.Max, p.X.Tick.Marker = 0, decades, percentileTicks(decades)
		p.Y.Min, p.Y.Max, p.Y.Tick.Marker = r.lo, r.hi, r
		p.Add(gridLines(true, true))
		for i := len(curves) - 1; i >= 0; i-- {
			p.Add(latencyLine(curves[i].Points, styles[i], r))
		}
		inner := draw.Crop(c, margin, -margin-18, 0, -margin)
		p.Draw(draw.Crop(inner, 0, 0, height, 0))
		low := draw.Crop(c, margin, -margin, 0, 0)
		low.Max.Y = low.Min.Y + height
		drawLegend(low, legend)
	}
	return f
}

// latencyLegend has a line for each curve, and its style.
func latencyLegend(curves []LatencyCurve) ([]entry, []draw.LineStyle) {
	var sessions, kinds []string
	for _, c := range curves {
		if !slices.Contains(sessions, c.Session) {
			sessions = append(sessions, c.Session)
		}
		if !slices.Contains(kinds, c.Kind) {
			kinds = append(kinds, c.Kind)
		}
	}
	names := ShortenAll(sessions, nameLimit)
	entries, styles := make([]entry, len(curves)), make([]draw.LineStyle, len(curves))
	for i, c := range curves {
		session, kind := slices.Index(sessions, c.Session), slices.Index(kinds, c.Kind)
		colour := session
		text := names[session] + ": " + c.Kind
		if len(sessions) == 1 {
			colour, text = kind, c.Kind
		}
		styles[i] = draw.LineStyle{Color: palette[colour%len(palette)], Width: 1.3 + 0.7*vg.Length(session%3), Dashes: dashes[kind%len(dashes)]}
		text += fmt.Sprintf(" (n = %s", units.FormatCount(c.Count))
		if c.RelativeError > 0 {
			text += fmt.Sprintf(", ±%.1f %%", 100*c.RelativeError)
		}
		entries[i] = entry{text: text + ")", line: &styles[i]}
	}
	return entries, styles
}

// latencyRange is the range of latencies, and how many decades of shares there are.
func latencyRange(curves []LatencyCurve) (logRange, float64) {
	lo, hi, least := units.Ns(0), units.Ns(0), 0.1
	for _, c := range curves {
		for _, p := range c.Points {
			if p.Ns > 0 && (lo == 0 || p.Ns < lo) {
				lo = p.Ns
			}
			hi, least = max(hi, p.Ns), min(least, p.Above)
		}
	}
	return rangeOf("ns", lo, hi), math.Max(1, -math.Log10(least))
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

// percentileTicks are at 0, 50, 90, 99, 99.9, ...
func percentileTicks(decades float64) plot.TickerFunc {
	return func(_, _ float64) []plot.Tick {
		ticks := []plot.Tick{{Value: 0, Label: "0"}, {Value: -math.Log10(0.5), Label: "50"}}
		for k := 1; float64(k) <= decades+1e-9; k++ {
			ticks = append(ticks, plot.Tick{Value: float64(k), Label: nines(k)})
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
