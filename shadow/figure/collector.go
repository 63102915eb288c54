package figure

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"stackagent/granularity/speedup"
	"stackagent/internal/units"
)

// CollectorPoint is what the collector's threads did in runs with these numbers of
// application and collector threads, in nanoseconds.
type CollectorPoint struct {
	Threads, GCThreads int              // Threads 0: as many as the program chose
	Work               speedup.Interval // running time of the collector's threads: the area of their boxes
	Time               speedup.Interval // height of their boxes in the bottle graph
}

// Collector draws the collector's work and time against its number of threads,
// a line for each number of application threads.
func Collector(points []CollectorPoint) *Figure {
	f := &Figure{
		Name: "collector", Title: "Garbage collection: work and time against the collector's threads",
		Alt: "The running time of the collector's threads and their share of the time, for each number of collector and application threads.",
		W:   pageWidth, H: 60,
	}
	if len(points) == 0 {
		f.body = empty("no runs")
		return f
	}
	var counts []int
	for _, p := range points {
		if !slices.Contains(counts, p.Threads) {
			counts = append(counts, p.Threads)
		}
	}
	slices.Sort(counts)
	var legend []entry
	for i, n := range counts {
		style := curveStyle(i)
		text := fmt.Sprintf("%d application threads", n)
		switch n {
		case 0:
			text = "the program's own number of application threads"
		case 1:
			text = "1 application thread"
		}
		legend = append(legend, entry{text: text, line: &style})
	}
	h := legendHeight(legend, f.W-2*margin)
	f.H = 190 + h
	f.body = func(c draw.Canvas) {
		width := (c.Max.X - c.Min.X) / 2
		for i, side := range []struct {
			label string
			of    func(CollectorPoint) speedup.Interval
		}{
			{"work: running time", func(p CollectorPoint) speedup.Interval { return p.Work }},
			{"time: height of the boxes", func(p CollectorPoint) speedup.Interval { return p.Time }},
		} {
			p := collectorPlot(points, counts, side.label, side.of)
			p.Draw(draw.Crop(c, vg.Length(i)*width+margin, -vg.Length(1-i)*width-margin, h, -4))
		}
		low := draw.Crop(c, margin, -margin, 0, 0)
		low.Max.Y = low.Min.Y + h
		drawLegend(low, legend)
	}
	return f
}

func collectorPlot(points []CollectorPoint, counts []int, label string, of func(CollectorPoint) speedup.Interval) *plot.Plot {
	top := 0.0
	var gcs []int
	for _, p := range points {
		v := of(p)
		top = max(top, v.Mean)
		if !math.IsNaN(v.Half) {
			top = max(top, v.Mean+v.Half)
		}
		if !slices.Contains(gcs, p.GCThreads) {
			gcs = append(gcs, p.GCThreads)
		}
	}
	slices.Sort(gcs)
	unit, scale := timeUnit(units.Ns(top))
	p := newPlot("GC threads", label+" ("+unit+")")
	countAxis(p, top/scale)
	p.X.Min, p.X.Max = -0.3, float64(len(gcs))-0.7
	p.X.Tick.Marker = plot.TickerFunc(func(_, _ float64) []plot.Tick {
		var ticks []plot.Tick
		for i, n := range gcs {
			ticks = append(ticks, plot.Tick{Value: float64(i), Label: fmt.Sprint(n)})
		}
		return ticks
	})
	p.Add(gridLines(false, true), plotter(func(c draw.Canvas, p *plot.Plot) {
		tx, ty := p.Transforms(&c)
		y := func(v float64) vg.Length { return ty(v / scale) }
		for i, n := range counts {
			var line []vg.Point
			for _, pt := range points {
				if pt.Threads != n {
					continue
				}
				x := tx(float64(slices.Index(gcs, pt.GCThreads)))
				v := of(pt)
				line = append(line, vg.Point{X: x, Y: y(v.Mean)})
				errorBar(&c, x, y, v)
			}
			c.StrokeLines(curveStyle(i), line)
			for _, pt := range line {
				c.DrawGlyph(draw.GlyphStyle{Color: color.Color(palette[i%len(palette)]), Radius: 2.2, Shape: draw.CircleGlyph{}}, pt)
			}
		}
	}))
	return p
}
