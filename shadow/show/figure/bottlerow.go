package figure

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"stackagent/granularity/bottle"
	"stackagent/internal/text"
	"stackagent/internal/units"
)

// LabelledBottle is the bottle graph of a session, a configuration or an iteration.
type LabelledBottle struct {
	Label string
	Graph *bottle.Graph
}

const (
	bottlesPerRow = 4
	bottlesMost   = 24
	bottlePanel   = vg.Length(190) // height of the axes of a row
	bottleCaption = vg.Length(30)  // two lines below the axis
	bottleName    = vg.Length(10)  // least height of a box with its name in it
)

// BottleRow draws bottle graphs side by side, as the figures 3, 4, 11, 13 and 14 of the paper: all have one scale of
// time and one of parallelism. A thread's name stands in its box where there is room. normalise gives heights as
// a share of the first graph's height.
func BottleRow(all []LabelledBottle, normalise bool) *Figure {
	f := &Figure{
		Name: "bottles", Title: "Bottle graphs side by side, on one scale",
		Alt: "A bottle graph for each session or iteration: the height is a thread's share of the time, the width the average number of threads running at the same time.",
		W:   pageWidth, H: 60,
	}
	shown := all[:min(len(all), bottlesMost)]
	var graphs []*bottle.Graph
	for _, b := range shown {
		graphs = append(graphs, b.Graph)
	}
	wide, high := extent(graphs)
	if high <= 1 {
		f.body = empty("no thread was running")
		return f
	}
	legend := rowLegend(all, len(shown))
	h := legendHeight(legend, f.W-2*margin)
	perRow := min(len(shown), bottlesPerRow)
	rows := (len(shown) + perRow - 1) / perRow
	f.H = vg.Length(rows)*(bottlePanel+bottleCaption+26) + h + 8
	f.body = func(c draw.Canvas) {
		each := (c.Max.Y - c.Min.Y - h - 8) / vg.Length(rows)
		for row := range rows {
			r := draw.Crop(c, margin, -margin, 0, 0)
			r.Max.Y = c.Max.Y - vg.Length(row)*each - 4
			r.Min.Y = r.Max.Y - each
			some := shown[row*perRow : min((row+1)*perRow, len(shown))]
			bottleRowAxes(r, some, perRow, wide, high, all[0].Graph.HeightNs(""), normalise)
		}
		low := draw.Crop(c, margin, -margin, 0, 0)
		low.Max.Y = low.Min.Y + h
		drawLegend(low, legend)
	}
	return f
}

// rowLegend names the kinds of threads, and what the panels cannot show.
func rowLegend(all []LabelledBottle, shown int) []entry {
	var out []entry
	whole := &bottle.Graph{}
	for _, b := range all {
		whole.Boxes = append(whole.Boxes, b.Graph.Boxes...)
		whole.UnknownNs += b.Graph.UnknownNs
	}
	for _, k := range kindLooks {
		if whole.Sum(k.kind).Threads > 0 {
			out = append(out, entry{text: k.label, fill: k.look.lighter(boxShades[0]).fill})
		}
	}
	out = append(out, entry{text: "width: threads " + countedAs(all[0].Graph)})
	if n := len(all) - shown; n > 0 {
		out = append(out, entry{text: text.PluralExact(n, "more graph is", "more graphs are") + " not shown"})
	}
	if whole.UnknownNs > 0 {
		out = append(out, entry{text: "not observed: " + units.FormatNs(whole.UnknownNs) + ", summed over all threads"})
	}
	return out
}

// bottleRowAxes draws a row of graphs: the axis of time once, that of parallelism below each.
func bottleRowAxes(c draw.Canvas, some []LabelledBottle, perRow int, wide, high, first float64, normalise bool) {
	unit, scale := timeUnit(units.Ns(high))
	label := "time (" + unit + ")"
	if normalise {
		label, scale = "time, of the first", first
	}
	p := newPlot("", label)
	p.X.Min, p.X.Max = 0, float64(perRow)
	p.X.Tick.Marker = plot.ConstantTicks(nil)
	p.X.LineStyle.Width = 0
	p.Y.Min, p.Y.Max, p.Y.Tick.Marker = 0, high/scale, linearTicks(6)
	p.Add(gridLines(false, true), plotter(func(c draw.Canvas, p *plot.Plot) {
		tx, ty := p.Transforms(&c)
		for i, b := range some {
			area := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
				Min: vg.Point{X: tx(float64(i)) + 3, Y: c.Min.Y}, Max: vg.Point{X: tx(float64(i+1)) - 3, Y: c.Max.Y},
			}}
			bottleInRow(area, b, wide, scale, ty)
		}
	}))
	p.Draw(draw.Crop(c, 0, 0, bottleCaption+14, 0))
}

// bottleInRow draws a graph with its axis and caption, which hang below the canvas.
func bottleInRow(c draw.Canvas, b LabelledBottle, wide, scale float64, ty func(float64) vg.Length) {
	middleX, half := (c.Min.X+c.Max.X)/2, (c.Max.X-c.Min.X)/2
	x := func(w float64) vg.Length { return vg.Length(w/(1.04*wide)) * half }
	boxes, at := gathered(b.Graph), 0.0
	for i, box := range boxes {
		y0, y1 := ty(at/scale), ty((at+box.HeightNs)/scale)
		at += box.HeightNs
		shade := shadeOfBox(boxes, i)
		shade.fill(&c, middleX-x(box.Width), y0, middleX+x(box.Width), y1)
		c.StrokeLine2(draw.LineStyle{Color: white, Width: min(0.7, (y1-y0)/4)}, middleX-x(box.Width), y1, middleX+x(box.Width), y1)
		nameInBox(&c, box, shade, middleX, (y0+y1)/2, 2*x(box.Width)-6, y1-y0)
	}
	c.StrokeLine2(hairline(black), c.Min.X, c.Min.Y, c.Max.X, c.Min.Y)
	ticks := textStyle(tickSize, regular, centre, top)
	for _, t := range linearTicks(2)(0, wide) {
		for _, side := range []vg.Length{-1, 1} {
			at := middleX + side*x(t.Value)
			c.StrokeLine2(hairline(black), at, c.Min.Y, at, c.Min.Y-3)
			c.FillText(ticks, vg.Point{X: at, Y: c.Min.Y - 4}, t.Label)
			if t.Value == 0 {
				break
			}
		}
	}
	room := c.Max.X - c.Min.X - 2
	c.FillText(textStyle(tickSize, bold, centre, top), vg.Point{X: middleX, Y: c.Min.Y - 17}, fitIn(Printable(b.Label), textStyle(tickSize, bold, centre, top), room))
	caption := "nothing ran"
	if h := b.Graph.HeightNs(""); h > 0 {
		caption = fmt.Sprintf("%s × %.2f", units.FormatNs(units.Ns(math.Round(h))), float64(b.Graph.RunningNs())/h)
	}
	c.FillText(textStyle(tickSize, regular, centre, top, grey), vg.Point{X: middleX, Y: c.Min.Y - 29}, fit(caption, tickSize, room))
}

// nameInBox writes a thread's name into its box if it fits.
func nameInBox(c *draw.Canvas, b bottle.Box, shade look, x, y, width, height vg.Length) {
	name := Printable(b.Name)
	if height < bottleName || shade.pattern != plain || widthOf(name, tickSize) > width {
		return
	}
	c.FillText(textStyle(tickSize, regular, centre, middle, textOn(shade.clr)), vg.Point{X: x, Y: y}, name)
}
