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
)

// stackLooks are those of a speedup stack: the measured speedup, then the
// components.
var (
	measuredLook = look{color.RGBA{225, 155, 0, 255}, plain}
	boundLook    = look{color.RGBA{245, 238, 195, 255}, plain} // in place of it: at most so much
	stackLooks   = [speedup.NComponents]look{
		speedup.GC:               {color.RGBA{176, 61, 15, 255}, upright},
		speedup.Sequential:       {color.RGBA{14, 90, 70, 255}, plain},
		speedup.Synchronization:  {color.RGBA{20, 119, 212, 255}, plain},
		speedup.Imbalance:        {color.RGBA{100, 165, 225, 255}, upright},
		speedup.IO:               {color.RGBA{180, 115, 150, 255}, level},
		speedup.Oversubscription: {color.RGBA{101, 26, 106, 255}, level},
		speedup.Rest:             {color.RGBA{185, 205, 210, 255}, plain},
	}
	stackLabels = [speedup.NComponents]string{
		"garbage collection", "sequential part", "synchronization", "imbalance", "I/O", "oversubscription", "rest",
	}
)

// StackGroup is the stacks of one program.
type StackGroup struct {
	Label string // below its bars; "": none
	Bars  []speedup.Repeated
}

const stackHeight = vg.Length(250)

// Stacks draws speedup stacks: for each number of threads N a bar of height N, with the
// measured speedup at the bottom and the loss by each cause above it. Negative parts
// hang below zero and raise the others by as much.
func Stacks(groups []StackGroup) *Figure {
	f := &Figure{
		Name: "stack", Title: "Speedup stacks: where N threads' time goes",
		Alt: "A bar for each number of threads: the measured speedup, and above it the losses by cause, up to the number of threads.",
		W:   pageWidth, H: 60,
	}
	var bars []speedup.Repeated
	for _, g := range groups {
		bars = append(bars, g.Bars...)
	}
	if len(bars) == 0 {
		f.body = empty("no runs")
		return f
	}
	legend := stackLegend(bars)
	h := legendHeight(legend, f.W-2*margin)
	f.H = stackHeight + h
	f.body = func(c draw.Canvas) {
		p := newPlot("application threads", "speedup")
		lo, hi := stackRange(bars)
		p.Y.Min, p.Y.Max = lo, hi
		p.Y.Tick.Marker = linearTicks(6)
		middles, width := barMiddles(groups)
		p.X.Min, p.X.Max = 0, width
		p.X.Tick.Marker = plot.TickerFunc(func(_, _ float64) []plot.Tick {
			var ticks []plot.Tick
			for i, b := range bars {
				ticks = append(ticks, plot.Tick{Value: middles[i], Label: fmt.Sprint(b.Threads)})
			}
			return ticks
		})
		p.X.Tick.LineStyle.Width = 0
		if len(groups) > 1 {
			p.X.Label.Text = ""
		}
		p.Add(gridLines(false, true), stackPlotter(bars, middles), groupNames(groups, middles))
		low := vg.Length(0)
		if len(groups) > 1 {
			low = 14
		}
		p.Draw(draw.Crop(c, margin, -margin, h+low, -4))
		foot := draw.Crop(c, margin, -margin, 0, 0)
		foot.Max.Y = foot.Min.Y + h
		drawLegend(foot, legend)
	}
	return f
}

// stackRange leaves room for negative parts and for those they raise.
func stackRange(bars []speedup.Repeated) (lo, hi float64) {
	for _, b := range bars {
		up, down := max(b.Speedup.Mean, 0), min(b.Speedup.Mean, 0)
		for _, c := range b.Components {
			up, down = up+max(c.Mean, 0), down+min(c.Mean, 0)
		}
		lo, hi = min(lo, down), max(hi, up, float64(b.Threads))
	}
	if lo < 0 {
		lo -= 0.03 * hi
	}
	return lo, hi * 1.05
}

// barMiddles are the middles of the bars; between groups there is half a bar more.
func barMiddles(groups []StackGroup) (middles []float64, width float64) {
	at := 0.25
	for _, g := range groups {
		for range g.Bars {
			middles = append(middles, at+0.5)
			at++
		}
		at += 0.5
	}
	return middles, max(at-0.25, 4)
}

func stackPlotter(bars []speedup.Repeated, middles []float64) plotter {
	return func(c draw.Canvas, p *plot.Plot) {
		tx, ty := p.Transforms(&c)
		for i, b := range bars {
			x0, x1 := tx(middles[i]-0.31), tx(middles[i]+0.31)
			up, down := 0.0, 0.0
			box := func(v float64, l look) {
				from := up
				if v < 0 {
					from, down = down, down+v
				} else {
					up += v
				}
				y0, y1 := ty(from), ty(from+v)
				l.fill(&c, x0, y0, x1, y1)
				c.StrokeLine2(draw.LineStyle{Color: white, Width: 0.6}, x0, y1, x1, y1)
				if h := y1 - y0; h > tickSize+1 || -h > tickSize+1 {
					figureOn(&c, l, (x0+x1)/2, (y0+y1)/2, fmt.Sprintf("%.2f", v))
				}
			}
			box(b.Speedup.Mean, speedupLook(b))
			for k, part := range b.Components {
				box(part.Mean, stackLooks[k])
			}
			errorBar(&c, (x0+x1)/2+(x1-x0)*0.38, ty, b.Speedup.Mean-b.Speedup.Half, b.Speedup.Mean+b.Speedup.Half)
			// The ideal.
			c.StrokeLine2(draw.LineStyle{Color: black, Width: 0.9, Dashes: []vg.Length{3, 2}}, x0-4, ty(float64(b.Threads)), x1+4, ty(float64(b.Threads)))
		}
		c.StrokeLine2(hairline(black), c.Min.X, ty(0), c.Max.X, ty(0))
	}
}

// figureOn writes a figure on a part of a bar, without the pattern below it.
func figureOn(c *draw.Canvas, l look, x, y vg.Length, text string) {
	if l.pattern != plain {
		half := widthOf(text, tickSize)/2 + 1.5
		fillBox(c, l.clr, x-half, y-tickSize/2, x+half, y+tickSize/2)
	}
	c.FillText(textStyle(tickSize, regular, centre, middle, textOn(l.clr)), vg.Point{X: x, Y: y}, text)
}

// speedupLook is that of the lowest part: the measured speedup, or a bound of it.
func speedupLook(b speedup.Repeated) look {
	if b.AtMost {
		return boundLook
	}
	return measuredLook
}

// errorBar draws a confidence interval, where there is one.
func errorBar(c *draw.Canvas, x vg.Length, ty func(float64) vg.Length, low, high float64) {
	errorBarIn(c, black, x, ty, low, high)
}

// errorBarIn is errorBar in a colour.
func errorBarIn(c *draw.Canvas, clr color.Color, x vg.Length, ty func(float64) vg.Length, low, high float64) {
	if !(low < high) { // equal, or not a number
		return
	}
	line := draw.LineStyle{Color: clr, Width: 0.9}
	// An interval that goes beyond the plot has no cap there.
	lo, hi := max(ty(low), c.Min.Y), min(ty(high), c.Max.Y)
	if lo >= hi {
		return
	}
	c.StrokeLine2(line, x, lo, x, hi)
	for _, end := range []struct{ at, drawn vg.Length }{{ty(low), lo}, {ty(high), hi}} {
		if end.at == end.drawn {
			c.StrokeLine2(line, x-2.5, end.at, x+2.5, end.at)
		}
	}
}

// textOn is black or white, whichever is readable on a colour.
func textOn(c color.RGBA) color.Color {
	if luminance(c) > 0.179 { // here both have a contrast of 4.58
		return black
	}
	return white
}

func groupNames(groups []StackGroup, middles []float64) plotter {
	return func(c draw.Canvas, p *plot.Plot) {
		tx, _ := p.Transforms(&c)
		i := 0
		for _, g := range groups {
			if len(g.Bars) == 0 {
				continue
			}
			from, to := tx(middles[i]), tx(middles[i+len(g.Bars)-1])
			i += len(g.Bars)
			if len(groups) > 1 {
				c.FillText(textStyle(labelSize, regular, centre, top), vg.Point{X: (from + to) / 2, Y: c.Min.Y - 17}, fit(Printable(g.Label), labelSize, to-from+60))
			}
		}
	}
}

// stackLegend lists the components visible in at least one bar.
func stackLegend(bars []speedup.Repeated) []entry {
	sample := func(text string, l look) entry { return entry{text: text, fill: l.fill} }
	var out []entry
	if slices.ContainsFunc(bars, func(b speedup.Repeated) bool { return !b.AtMost }) {
		out = append(out, sample("measured speedup", measuredLook))
	}
	if slices.ContainsFunc(bars, func(b speedup.Repeated) bool { return b.AtMost }) {
		out = append(out, sample("speedup: at most the rest", boundLook))
	}
	for k, label := range stackLabels {
		for _, b := range bars {
			if math.Abs(b.Components[k].Mean) >= 0.005*float64(b.Threads) {
				out = append(out, sample(label, stackLooks[k]))
				break
			}
		}
	}
	return append(out, entry{text: "ideal: the number of threads", line: &draw.LineStyle{Color: black, Width: 0.9, Dashes: []vg.Length{3, 2}}})
}
