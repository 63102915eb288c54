package figure

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"stackagent/granularity/estimate"
	"stackagent/granularity/lbo"
)

// LBOPoint is a collector at a heap size. Overheads without a mean are a gap.
type LBOPoint struct {
	Collector string
	Multiple  float64 // of the smallest heap; NaN if not known
	HeapBytes int64
	Failed    bool // a program cannot run there
	Overheads [lbo.NClocks]estimate.Interval
}

// LBOPoints are those of a program.
func LBOPoints(r lbo.Result, b lbo.Bound) []LBOPoint {
	var points []LBOPoint
	for _, p := range r.Points {
		points = append(points, LBOPoint{p.Collector, p.Multiple, p.HeapBytes, p.Failed != "", [lbo.NClocks]estimate.Interval{p.Overheads[lbo.Wall][b], p.Overheads[lbo.CPU][b]}})
	}
	return points
}

// LBOMeans are the means over programs.
func LBOMeans(means []lbo.Mean, b lbo.Bound) []LBOPoint {
	var points []LBOPoint
	for _, m := range means {
		points = append(points, LBOPoint{m.Collector, m.Multiple, m.HeapBytes, len(m.Missing) > 0, [lbo.NClocks]estimate.Interval{m.Overheads[lbo.Wall][b], m.Overheads[lbo.CPU][b]}})
	}
	return points
}

// LBO draws lower-bound overheads over heap sizes, wall time beside CPU time. Both axes
// are logarithmic. of names the program, or says what the points are means of.
func LBO(of string, points []LBOPoint) *Figure {
	f := &Figure{
		Name: "lbo", Title: "Lower-bound GC overhead: " + Shorten(of, nameLimit),
		Alt: "The overhead of each collector over heap sizes, in wall time and in CPU time.",
		W:   pageWidth, H: 190,
	}
	d := newLBODrawing(points)
	if d == nil {
		f.body = empty("no overhead is known")
		return f
	}
	legend := d.legend()
	h := legendHeight(legend, f.W-2*margin)
	f.H += h
	f.body = func(c draw.Canvas) {
		width := (c.Max.X - c.Min.X) / 2
		for clock, label := range [lbo.NClocks]string{"overhead, wall time", "overhead, CPU time"} {
			p := d.plot(lbo.Clock(clock), label, width-2*margin-50)
			p.Draw(draw.Crop(c, vg.Length(clock)*width+margin, -vg.Length(1-clock)*width-margin, h, -4))
		}
		low := draw.Crop(c, margin, -margin, 0, 0)
		low.Max.Y = low.Min.Y + h
		drawLegend(low, legend)
	}
	return f
}

// lboDrawing is what both halves share.
type lboDrawing struct {
	points     []LBOPoint
	collectors []string
	styles     []draw.LineStyle // of the collectors
	xLabel     string
	heaps      []float64 // ascending
	lo, hi     float64   // of the overheads
	gaps       bool
}

// collectorOrder is the order of a legend. A collector has the same colour in every figure.
var collectorOrder = []string{"Serial", "Parallel", "G1", "Shenandoah", "ZGC", "Epsilon"}

// newLBODrawing returns nil if there is nothing to draw.
func newLBODrawing(points []LBOPoint) *lboDrawing {
	d := &lboDrawing{points: points, xLabel: "heap / smallest heap", lo: 1, hi: 1.1}
	if slices.ContainsFunc(points, func(p LBOPoint) bool { return !(p.Multiple > 0) }) {
		d.xLabel = "heap (MiB)"
	}
	drawn := false
	for i := range points {
		p := &points[i]
		if x := d.heap(p); x > 0 && !slices.Contains(d.heaps, x) {
			d.heaps = append(d.heaps, x)
		}
		if !slices.Contains(d.collectors, p.Collector) {
			d.collectors = append(d.collectors, p.Collector)
		}
		for _, o := range p.Overheads {
			drawn = drawn || o.Mean > 0
			for _, v := range []float64{o.Mean, o.Low, o.High} {
				if v > 0 && !math.IsInf(v, 0) {
					d.lo, d.hi = min(d.lo, v), max(d.hi, v)
				}
			}
		}
		d.gaps = d.gaps || p.Failed
	}
	if !drawn || len(d.heaps) == 0 {
		return nil
	}
	slices.Sort(d.heaps)
	slices.SortStableFunc(d.collectors, func(a, b string) int { return cmp.Compare(collectorRank(a), collectorRank(b)) })
	for i, name := range d.collectors {
		d.styles = append(d.styles, curveStyle(max(i, collectorRank(name))))
	}
	return d
}

func collectorRank(name string) int {
	if i := slices.Index(collectorOrder, name); i >= 0 {
		return i
	}
	return len(collectorOrder)
}

// heap is where a point is on the x axis, before the logarithm.
func (d *lboDrawing) heap(p *LBOPoint) float64 {
	if d.xLabel == "heap (MiB)" {
		return float64(p.HeapBytes) / (1 << 20)
	}
	return p.Multiple
}

func (d *lboDrawing) legend() []entry {
	var entries []entry
	for i, name := range ShortenAll(d.collectors, nameLimit) {
		entries = append(entries, entry{text: name, line: &d.styles[i]})
	}
	if d.gaps {
		entries = append(entries, entry{text: "gap: could not run there"})
	}
	return entries
}

func (d *lboDrawing) plot(clock lbo.Clock, label string, width vg.Length) *plot.Plot {
	p := newPlot(d.xLabel, label)
	first, last := math.Log10(d.heaps[0]), math.Log10(d.heaps[len(d.heaps)-1])
	air := max(0.04*(last-first), 0.02)
	p.X.Min, p.X.Max = first-air, last+air
	p.X.Tick.Marker = d.heapTicks(width)
	p.Y.Min, p.Y.Max = math.Log10(d.lo), math.Log10(d.hi*1.03)
	p.Y.Tick.Marker = plot.TickerFunc(overheadTicks)
	if !slices.ContainsFunc(d.points, func(pt LBOPoint) bool { return pt.Overheads[clock].Mean > 0 }) {
		p.Add(plotter(func(c draw.Canvas, _ *plot.Plot) { empty("not measured")(c) }))
		return p
	}
	p.Add(gridLines(false, true), plotter(func(c draw.Canvas, p *plot.Plot) {
		for i, name := range d.collectors {
			// Side by side, intervals do not hide each other.
			aside := lboAside * (vg.Length(i) - vg.Length(len(d.collectors)-1)/2)
			d.curve(&c, p, clock, name, d.styles[i], aside)
		}
	}))
	return p
}

// lboAside is how far the points of two collectors at a heap are apart.
const lboAside vg.Length = 2

// curve draws a collector's line, which ends where it could not run.
func (d *lboDrawing) curve(c *draw.Canvas, p *plot.Plot, clock lbo.Clock, name string, style draw.LineStyle, aside vg.Length) {
	tx, ty := p.Transforms(c)
	var line []vg.Point
	bar := draw.LineStyle{Color: style.Color, Width: 0.9}
	for _, x := range d.heaps {
		i := slices.IndexFunc(d.points, func(pt LBOPoint) bool { return pt.Collector == name && d.heap(&pt) == x })
		if i < 0 || !(d.points[i].Overheads[clock].Mean > 0) {
			c.StrokeLines(style, line)
			line = nil
			continue
		}
		o := d.points[i].Overheads[clock]
		at := vg.Point{X: tx(math.Log10(x)) + aside, Y: ty(math.Log10(o.Mean))}
		line = append(line, at)
		c.DrawGlyph(draw.GlyphStyle{Color: style.Color, Radius: 2, Shape: draw.CircleGlyph{}}, at)
		if o.Known() && o.Low > 0 && o.High > o.Low {
			low, high := ty(math.Log10(o.Low)), ty(math.Log10(o.High))
			c.StrokeLine2(bar, at.X, low, at.X, high)
			c.StrokeLine2(bar, at.X-2.5, low, at.X+2.5, low)
			c.StrokeLine2(bar, at.X-2.5, high, at.X+2.5, high)
		}
	}
	c.StrokeLines(style, line)
}

// heapTicks are at the heaps of the points. Short labels take the room first; one that
// has none is left out.
func (d *lboDrawing) heapTicks(width vg.Length) plot.TickerFunc {
	return func(lo, hi float64) []plot.Tick {
		ticks, byLength := make([]plot.Tick, len(d.heaps)), make([]int, len(d.heaps))
		for i, x := range d.heaps {
			ticks[i] = plot.Tick{Value: math.Log10(x), Label: tickLabel(x, -1)}
			byLength[i] = i
		}
		slices.SortStableFunc(byLength, func(a, b int) int { return cmp.Compare(len(ticks[a].Label), len(ticks[b].Label)) })
		for n, i := range byLength {
			at, half := place(ticks[i], lo, hi, width)
			for _, k := range byLength[:n] {
				if other, room := place(ticks[k], lo, hi, width); room > 0 && vg.Length(math.Abs(float64(at-other))) < half+room+4 {
					ticks[i].Label = ""
				}
			}
		}
		return ticks
	}
}

// place is where on the axis a label is, and half its width.
func place(t plot.Tick, lo, hi float64, width vg.Length) (at, half vg.Length) {
	return width * vg.Length((t.Value-lo)/(hi-lo)), widthOf(t.Label, tickSize) / 2
}

// overheadTicks are at round values: in equal steps over a small range, else at 1, 2 and
// 5 times a power of ten.
func overheadTicks(lo, hi float64) []plot.Tick {
	from, to := math.Pow(10, lo), math.Pow(10, hi)
	var ticks []plot.Tick
	if to/from < 5 {
		ticks = linearTicks(6)(from, to)
	} else {
		for d := math.Floor(lo); d <= hi; d++ {
			for _, m := range []float64{1, 2, 5} {
				if v := m * math.Pow(10, d); v >= from*(1-1e-9) && v <= to {
					ticks = append(ticks, plot.Tick{Value: v, Label: tickLabel(v, -1)})
				}
			}
		}
	}
	for i := range ticks {
		ticks[i].Value = math.Log10(ticks[i].Value)
	}
	return ticks
}
