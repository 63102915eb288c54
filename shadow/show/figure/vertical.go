package figure

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

// MonitorSeries is a monitor, or a metric, with a value for each sample.
type MonitorSeries struct {
	Name, Unit string
	Layer      string    // "": of several
	Values     []float64 // NaN: no value
}

// Profile is a vertical profile to draw: sample i is from Edges[i] to Edges[i+1].
type Profile struct {
	Times  Times
	Edges  []units.MonoNs
	Series []MonitorSeries // in the order in which they are drawn
	Pauses []activity.Span
	Marked []activity.Span // ranges that are explained
}

const (
	bandHeight = vg.Length(58)
	bandName   = vg.Length(13) // of it, above the plot
	layerWidth = vg.Length(16)
	// maxBands keeps a figure printable.
	maxBands = 40
)

var (
	markShade = color.RGBA{253, 240, 205, 255}
	markEdge  = draw.LineStyle{Color: orange, Width: 0.9, Dashes: []vg.Length{3, 2}}
)

// Vertical draws time series above each other on one axis, the layers as groups.
func Vertical(p Profile) *Figure {
	f := &Figure{
		Name: "vertical", Title: "Vertical profile: all layers on one time axis",
		Alt: "A line for each monitor over the same time axis, grouped by layer.",
		W:   pageWidth, H: 60,
	}
	more := max(len(p.Series)-maxBands, 0)
	p.Series = p.Series[:min(len(p.Series), maxBands)]
	if len(p.Series) == 0 || len(p.Edges) < 2 {
		f.body = empty("no monitors in this session")
		return f
	}
	p.Times = p.Times.With(p.Edges[0], p.Edges[len(p.Edges)-1])
	legend := p.legend(more)
	h := vg.Length(0)
	if len(legend) > 0 {
		h = legendHeight(legend, f.W-2*margin)
	}
	const axis = vg.Length(28) // below the last band
	f.H = bandHeight*vg.Length(len(p.Series)) + axis + h
	f.body = func(c draw.Canvas) {
		area := draw.Crop(c, margin+layerWidth, -margin-8, h, 0)
		p.bands(area, axis)
		p.layers(c)
		if len(legend) > 0 {
			foot := draw.Crop(c, margin, -margin, 0, 0)
			foot.Max.Y = foot.Min.Y + h
			drawLegend(foot, legend)
		}
	}
	return f
}

func (p *Profile) legend(more int) (out []entry) {
	if len(p.Marked) > 0 {
		out = append(out, entry{text: "explained range", fill: func(c *draw.Canvas, x0, y0, x1, y1 vg.Length) {
			fillBox(c, markShade, x0, y0, x1, y1)
			c.StrokeLine2(markEdge, x0, y0, x0, y1)
			c.StrokeLine2(markEdge, x1, y0, x1, y1)
		}})
	}
	if len(p.Pauses) > 0 {
		out = append(out, entry{text: "stopped for a garbage collection", fill: func(c *draw.Canvas, x0, y0, x1, y1 vg.Length) { fillBox(c, pauseShade, x0, y0, x1, y1) }})
	}
	if more > 0 {
		out = append(out, entry{text: fmt.Sprintf("%d more series have no room here", more)})
	}
	return out
}

func (p *Profile) bands(c draw.Canvas, axis vg.Length) {
	plots := make([]*plot.Plot, len(p.Series))
	for i := range p.Series {
		plots[i] = p.band(&p.Series[i], i == len(p.Series)-1)
	}
	names := vg.Length(0)
	for _, pl := range plots {
		for _, t := range pl.Y.Tick.Marker.Ticks(pl.Y.Min, pl.Y.Max) {
			names = max(names, widthOf(t.Label, tickSize))
		}
	}
	x0, x1, top := c.Min.X+names+9, c.Max.X, c.Max.Y
	for i, pl := range plots {
		low := top - bandHeight
		if i == len(plots)-1 {
			low -= axis
		}
		drawBetween(pl, c, x0, x1, low, top-bandName)
		s := &p.Series[i]
		name := Printable(s.Name)
		if unit, _ := scaleOf(s.Unit, biggest(s.Values)); unit != "" {
			name += " (" + unit + ")"
		}
		style := textStyle(tickSize, regular, left, bottom)
		c.FillText(style, vg.Point{X: x0, Y: top - bandName + 2}, fitIn(name, style, x1-x0))
		top -= bandHeight
	}
}

// layers names each group at the left, along a line as high as the group.
func (p *Profile) layers(c draw.Canvas) {
	style := textStyle(tickSize, bold, centre, bottom, grey)
	style.Rotation = math.Pi / 2
	for from := 0; from < len(p.Series); {
		to := from + 1
		for to < len(p.Series) && p.Series[to].Layer == p.Series[from].Layer {
			to++
		}
		top, low := c.Max.Y-bandHeight*vg.Length(from)-3, c.Max.Y-bandHeight*vg.Length(to)+5
		x := c.Min.X + margin + 11
		c.StrokeLine2(draw.LineStyle{Color: grey, Width: 1.2}, x+2, low, x+2, top)
		name := fit(layerLabel(p.Series[from].Layer), tickSize, top-low)
		c.FillText(style, vg.Point{X: x - 1, Y: (top + low) / 2}, name)
		from = to
	}
}

// layerLabel is short enough for a group of one band.
func layerLabel(layer string) string {
	switch layer {
	case "":
		return "metrics"
	case "vm":
		return "JVM"
	case "os":
		return "OS"
	}
	return layer
}

func (p *Profile) band(s *MonitorSeries, last bool) *plot.Plot {
	pl := newPlot("", "")
	axis := overTime(pl, p.Times)
	shared := pl.X.Tick.Marker
	if !last {
		pl.X.Label.Text = ""
		pl.X.Tick.Marker = unlabelled{shared}
	}
	low, high := rangeOfValues(s.Values)
	_, scale := scaleOf(s.Unit, biggest(s.Values))
	pl.Y.Min, pl.Y.Max = low/scale, high/scale*1.06
	pl.Y.Tick.Marker = plot.TickerFunc(fewTicks)
	pl.Add(p.shades(axis), plotter(func(c draw.Canvas, pl *plot.Plot) {
		lined := *pl
		lined.X.Tick.Marker = shared
		gridLines(true, true)(c, &lined)
	}), p.line(s, axis, scale))
	return pl
}

// fewTicks are at least two ticks, and hardly more: a band is low.
func fewTicks(lo, hi float64) (ticks []plot.Tick) {
	for n := 2; n < 6 && len(ticks) < 2; n++ {
		ticks = linearTicks(n)(lo, hi)
	}
	return ticks
}

// unlabelled are the ticks of an axis that a plot below shares.
type unlabelled struct{ plot.Ticker }

// Ticks implements plot.Ticker.
func (u unlabelled) Ticks(lo, hi float64) []plot.Tick {
	ticks := slices.Clone(u.Ticker.Ticks(lo, hi))
	for i := range ticks {
		ticks[i].Label = ""
	}
	return ticks
}

// shades are the explained ranges and the pauses, over the height of a band.
func (p *Profile) shades(axis timeAxis) plotter {
	pauses := pauseShades(p.Pauses, axis)
	return func(c draw.Canvas, pl *plot.Plot) {
		tx, _ := pl.Transforms(&c)
		for _, m := range p.Marked {
			x0, x1 := tx(axis.x(max(m.From, axis.From))), tx(axis.x(min(m.To, axis.To)))
			fillBox(&c, markShade, x0, c.Min.Y, max(x1, x0+0.5), c.Max.Y)
			c.StrokeLine2(markEdge, x0, c.Min.Y, x0, c.Max.Y)
			c.StrokeLine2(markEdge, x1, c.Min.Y, x1, c.Max.Y)
		}
		pauses(c, pl)
	}
}

// line draws a step for each sample. Where samples are closer than the eye can separate, it draws the mean of each
// column, over the range from its smallest to its largest value.
func (p *Profile) line(s *MonitorSeries, axis timeAxis, scale float64) plotter {
	return func(c draw.Canvas, pl *plot.Plot) {
		tx, ty := pl.Transforms(&c)
		const column = vg.Length(0.7)
		columns := max(int((c.Max.X-c.Min.X)/column), 1)
		groups := max(min(len(p.Edges)-1, columns), 1)
		var line []vg.Point
		flush := func() {
			c.StrokeLines(draw.LineStyle{Color: blue, Width: 0.9}, line)
			line = nil
		}
		for g := range groups {
			from, to := g*(len(p.Edges)-1)/groups, (g+1)*(len(p.Edges)-1)/groups
			mean, low, high := summary(s.Values, from, to)
			if math.IsNaN(mean) {
				flush()
				continue
			}
			x0, x1 := tx(axis.x(p.Edges[from])), tx(axis.x(p.Edges[to]))
			if to-from > 1 && high > low {
				fillBox(&c, lighter(blue, 0.35), x0, ty(low/scale), x1, ty(high/scale))
			}
			y := ty(mean / scale)
			line = append(line, vg.Point{X: x0, Y: y}, vg.Point{X: x1, Y: y})
		}
		flush()
	}
}

// summary of the values that are known in [from, to).
func summary(values []float64, from, to int) (mean, low, high float64) {
	n, sum := 0, 0.0
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range values[min(from, len(values)):min(to, len(values))] {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			n, sum, low, high = n+1, sum+v, min(low, v), max(high, v)
		}
	}
	if n == 0 {
		return math.NaN(), 0, 0
	}
	return sum / float64(n), low, high
}

// rangeOfValues is from zero, or below, to the largest value.
func rangeOfValues(values []float64) (low, high float64) {
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			low, high = min(low, v), max(high, v)
		}
	}
	if low == high {
		high = low + 1
	}
	return low, high
}

func biggest(values []float64) float64 {
	low, high := rangeOfValues(values)
	return max(high, -low)
}

// scaleOf is the unit in which values up to most are labelled, and its size.
func scaleOf(unit string, most float64) (string, float64) {
	switch unit {
	case "ns":
		return timeUnit(units.Ns(min(most, 1e18)))
	case "bytes", "bytes/s":
		scale, name := 1.0, "B"
		for _, s := range []string{"kB", "MB", "GB", "TB"} {
			if most/scale < 1000 {
				break
			}
			scale, name = scale*1000, s
		}
		return name + unit[len("bytes"):], scale
	case "ratio", "s/s":
		if most < 0.2 {
			return "%", 0.01
		}
		if unit == "ratio" {
			return "", 1
		}
	}
	return unit, 1
}

// ByLayer sorts series by their layers, the topmost first, and otherwise keeps their order.
func ByLayer(series []MonitorSeries, layers []string) {
	slices.SortStableFunc(series, func(a, b MonitorSeries) int {
		return cmp.Compare(slices.Index(layers, a.Layer), slices.Index(layers, b.Layer))
	})
}
