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

	"stackagent/granularity/bottle"
	"stackagent/internal/text"
	"stackagent/internal/units"
)

const (
	bottleHeight = vg.Length(330)
	bottleLabels = vg.Length(222) // room for the names beside the bottle
	bottleRow    = vg.Length(12.5)
	bottleRows   = 24    // the most names that fit
	bottleLeast  = 0.008 // of the height: smaller boxes are grouped by kind
)

// Bottle draws a bottle graph, a box for each thread, the widest at the bottom. The
// height is the thread's share of the time, the width the mean number of threads
// running at the same time, drawn to both sides of the middle. Boxes too low to see
// are grouped by kind.
func Bottle(g *bottle.Graph) *Figure {
	f := &Figure{
		Name: "bottle", Title: "Bottle graph: share of the time and parallelism of each " + boxIs(g),
		Alt: "Stacked boxes: the height is a " + boxIs(g) + "'s share of the time, the width the average number of threads running at the same time.",
		W:   pageWidth, H: 60,
	}
	if g == nil || len(g.Boxes) == 0 {
		f.body = empty("no scheduling record, or no thread was running")
		return f
	}
	boxes := gathered(g)
	legend := kindLegend(g)
	legend = append(legend, entry{text: bottleNote(g)})
	h := legendHeight(legend, f.W-2*margin)
	f.H = bottleHeight + h
	f.body = func(c draw.Canvas) {
		unit, scale := timeUnit(units.Ns(g.HeightNs("")))
		p := newPlot("threads "+countedAs(g)+" at once", "time ("+unit+")")
		bottleAxes(p, boxes, g.HeightNs("")/scale)
		p.Add(gridLines(true, true), bottlePlotter(boxes, scale))
		p.Draw(draw.Crop(c, margin, -bottleLabels-margin, h, -4))
		low := draw.Crop(c, margin, -margin, 0, 0)
		low.Max.Y = low.Min.Y + h
		drawLegend(low, legend)
	}
	return f
}

// boxIs describes a box.
func boxIs(g *bottle.Graph) string {
	switch {
	case g == nil || g.By == "" || g.By == bottle.ByThread:
		return "thread"
	case g.By == bottle.ByKind:
		return "kind of threads"
	}
	return string(g.By)
}

// countedAs says which threads count.
func countedAs(g *bottle.Graph) string {
	if g.Runnable {
		return "running or runnable"
	}
	return "running"
}

// bottleNote says what the boxes cannot show.
func bottleNote(g *bottle.Graph) string {
	text := fmt.Sprintf("a thread was %s for %s of %s", countedAs(g), units.FormatNs(g.BusyNs), units.FormatNs(units.Ns(g.To-g.From)))
	if g.UnknownNs > 0 {
		text += "; not observed: " + units.FormatNs(g.UnknownNs) + ", summed over all threads"
	}
	return text
}

func bottleAxes(p *plot.Plot, boxes []bottle.Box, height float64) {
	widest := 1.0
	for _, b := range boxes {
		widest = max(widest, b.Width)
	}
	widest *= 1.08
	p.X.Min, p.X.Max = -widest, widest
	p.Y.Min, p.Y.Max = 0, height
	p.X.Tick.Marker = plot.TickerFunc(func(lo, hi float64) []plot.Tick {
		ticks := linearTicks(6)(lo, hi)
		for i := range ticks { // the axis counts threads to both sides
			prec := 0
			if hi < 3 {
				prec = 1
			}
			ticks[i].Label = tickLabel(math.Abs(ticks[i].Value), prec)
		}
		return ticks
	})
	p.Y.Tick.Marker = linearTicks(6)
}

// gathered are the boxes to draw; those too low to see are joined by kind.
func gathered(g *bottle.Graph) []bottle.Box {
	total := g.HeightNs("")
	order := slices.Clone(g.Boxes)
	slices.SortStableFunc(order, func(a, b bottle.Box) int { return cmp.Compare(b.HeightNs, a.HeightNs) })
	var out, small []bottle.Box
	for i, b := range order {
		if i < bottleRows-len(kindLooks) && b.HeightNs >= bottleLeast*total {
			out = append(out, b)
		} else {
			small = append(small, b)
		}
	}
	rest := (&bottle.Graph{Boxes: small}).Group(bottle.ByKind).Boxes
	for i, b := range rest {
		rest[i].Name = fmt.Sprintf("%d more: %s", b.Threads, kindLabel(b.Kind))
		if b.Threads == 1 {
			rest[i].Name = small[slices.IndexFunc(small, func(s bottle.Box) bool { return s.Kind == b.Kind })].Name
		}
	}
	out = append(out, rest...)
	slices.SortStableFunc(out, func(a, b bottle.Box) int { return cmp.Compare(b.Width, a.Width) })
	return out
}

// bottlePlotter draws the boxes from the bottom, and their names beside them.
func bottlePlotter(boxes []bottle.Box, scale float64) plotter {
	return func(c draw.Canvas, p *plot.Plot) {
		tx, ty := p.Transforms(&c)
		at := 0.0
		middles := make([]vg.Length, len(boxes))
		for i, b := range boxes {
			y0, y1 := ty(at), ty(at+b.HeightNs/scale)
			at += b.HeightNs / scale
			x0, x1 := tx(-b.Width), tx(b.Width)
			shadeOfBox(boxes, i).fill(&c, x0, y0, x1, y1)
			edge := draw.LineStyle{Color: white, Width: min(0.7, (y1-y0)/4)}
			c.StrokeLines(edge, []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}, {X: x0, Y: y0}})
			middles[i] = (y0 + y1) / 2
		}
		c.StrokeLine2(hairline(black), tx(0), c.Min.Y, tx(0), c.Max.Y)
		for i, y := range apart(middles, bottleRow, c.Min.Y+bottleRow/2, c.Max.Y-bottleRow/2) {
			nameBox(&c, boxes[i], scale, tx(boxes[i].Width), middles[i], y)
		}
	}
}

// nameBox writes the name and figures of a box to the right of the bottle, and draws a
// line between the two.
func nameBox(c *draw.Canvas, b bottle.Box, scale float64, edge, middleY, y vg.Length) {
	end := c.Max.X + 14
	line := draw.LineStyle{Color: color.RGBA{170, 170, 170, 255}, Width: 0.5}
	c.StrokeLines(line, []vg.Point{{X: edge + 1, Y: middleY}, {X: c.Max.X + 2, Y: middleY}, {X: end - 2, Y: y}})
	figures := units.FormatNs(units.Ns(math.Round(b.HeightNs))) + " × " + fmt.Sprintf("%.2f", b.Width)
	rightEdge := c.Max.X + bottleLabels + margin - 4
	room := rightEdge - end - widthOf(figures, tickSize) - 8
	c.FillText(textStyle(tickSize, regular, left, middle, readable(lookOfKind(b.Kind).clr)), vg.Point{X: end, Y: y}, fit(Printable(b.Name), tickSize, room))
	c.FillText(textStyle(tickSize, regular, right, middle, grey), vg.Point{X: rightEdge, Y: y}, figures)
}

// boxShades are the shares of its kind's colour in a box.
var boxShades = []float64{0.9, 0.7}

// shadeOfBox alternates two shades of a kind's colour, to separate stacked boxes.
func shadeOfBox(boxes []bottle.Box, i int) look {
	nth := 0
	for _, b := range boxes[:i] {
		if b.Kind == boxes[i].Kind {
			nth++
		}
	}
	return lookOfKind(boxes[i].Kind).lighter(boxShades[nth%len(boxShades)])
}

// apart moves sorted positions as little as needed to be at least d apart and between
// lo and hi.
func apart(at []vg.Length, d, lo, hi vg.Length) []vg.Length {
	out := slices.Clone(at)
	if n := vg.Length(len(out) - 1); n > 0 && n*d > hi-lo {
		d = (hi - lo) / n
	}
	for range 200 {
		moved := false
		for i := 1; i < len(out); i++ {
			if over := d - (out[i] - out[i-1]); over > 0.01 {
				out[i-1] -= over / 2
				out[i] += over / 2
				moved = true
			}
		}
		for i := range out {
			out[i] = min(max(out[i], lo+vg.Length(i)*d), hi-vg.Length(len(out)-1-i)*d)
		}
		if !moved {
			break
		}
	}
	return out
}

// kindLegend lists the kinds of a graph with their sums.
func kindLegend(g *bottle.Graph) []entry {
	var out []entry
	byKind := map[string]bottle.Box{}
	for _, b := range g.Group(bottle.ByKind).Boxes {
		byKind[b.Kind] = b
	}
	for _, k := range kindLooks {
		b, ok := byKind[k.kind]
		if !ok {
			continue
		}
		text := fmt.Sprintf("%s: %s of the time, %.2f at once", k.label, units.FormatPercent(b.HeightNs/g.HeightNs("")), b.Width)
		out = append(out, entry{text: text, fill: k.look.lighter(boxShades[0]).fill})
	}
	return out
}

// Bottles draws the bottle graphs of consecutive windows in rows, all to one scale.
func Bottles(graphs []*bottle.Graph) *Figure {
	f := &Figure{
		Name: "bottles", Title: "Bottle graphs over time",
		Alt: "A bottle graph for each window of time, all to the same scale.",
		W:   pageWidth, H: 60,
	}
	if len(graphs) == 0 {
		f.body = empty("no windows")
		return f
	}
	const perRow, maxPanels = 5, 45
	shown := graphs[:min(len(graphs), maxPanels)]
	const cell = vg.Length(120)
	rows := (len(shown) + perRow - 1) / perRow
	whole := bottle.Graph{From: graphs[0].From, To: graphs[len(graphs)-1].To}
	for _, g := range graphs {
		whole.Boxes = append(whole.Boxes, g.Boxes...)
		whole.BusyNs += g.BusyNs
		whole.UnknownNs += g.UnknownNs
	}
	legend := kindLegend(&whole)
	if n := len(graphs) - len(shown); n > 0 {
		legend = append(legend, entry{text: text.PluralExact(n, "more window is", "more windows are") + " not shown"})
	}
	wide, high := extent(shown)
	legend = append(legend, entry{text: fmt.Sprintf("each is %.1f threads wide on each side, and %s high", wide, units.FormatNs(units.Ns(high)))})
	h := legendHeight(legend, f.W-2*margin)
	f.H = vg.Length(rows)*cell + h + 4
	f.body = func(c draw.Canvas) {
		width := (c.Max.X - c.Min.X - 2*margin) / perRow
		for i, g := range shown {
			r := draw.Canvas{Canvas: c.Canvas}
			r.Min = vg.Point{X: c.Min.X + margin + vg.Length(i%perRow)*width, Y: c.Max.Y - vg.Length(i/perRow+1)*cell}
			r.Max = vg.Point{X: r.Min.X + width - 6, Y: r.Min.Y + cell - 4}
			panel(r, g, graphs[0].From, wide, high)
		}
		low := draw.Crop(c, margin, -margin, 0, 0)
		low.Max.Y = low.Min.Y + h
		drawLegend(low, legend)
	}
	return f
}

// extent is the widest box that is drawn and the greatest height.
func extent(graphs []*bottle.Graph) (wide, high float64) {
	wide = 1
	for _, g := range graphs {
		high = max(high, g.HeightNs(""))
		for _, b := range gathered(g) {
			wide = max(wide, b.Width)
		}
	}
	return wide, max(high, 1)
}

// panel draws one bottle of several.
func panel(c draw.Canvas, g *bottle.Graph, start units.MonoNs, wide, high float64) {
	const low = vg.Length(25)
	middleX := (c.Min.X + c.Max.X) / 2
	x := func(w float64) vg.Length { return vg.Length(w/wide) * (c.Max.X - c.Min.X) / 2 }
	base, room := c.Min.Y+low, c.Max.Y-c.Min.Y-low
	at := base
	for _, b := range gathered(g) {
		upper := at + vg.Length(b.HeightNs/high)*room
		lookOfKind(b.Kind).lighter(boxShades[0]).fill(&c, middleX-x(b.Width), at, middleX+x(b.Width), upper)
		c.StrokeLine2(draw.LineStyle{Color: white, Width: 0.3}, middleX-x(b.Width), upper, middleX+x(b.Width), upper)
		at = upper
	}
	c.StrokeLine2(hairline(black), c.Min.X, base, c.Max.X, base)
	c.StrokeLine2(hairline(grey), middleX, base, middleX, c.Max.Y)
	style := textStyle(tickSize, regular, centre, top)
	c.FillText(style, vg.Point{X: middleX, Y: base - 2}, fmt.Sprintf("%s – %s", units.FormatNs(units.Ns(g.From-start)), units.FormatNs(units.Ns(g.To-start))))
	text := "nothing ran"
	if k := g.RunningNs(); k > 0 {
		text = fmt.Sprintf("%.2f at once", float64(k)/g.HeightNs(""))
	}
	c.FillText(textStyle(tickSize, regular, centre, top, grey), vg.Point{X: middleX, Y: base - 13}, text)
}
