package figure

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Scatter draws one metric against another, a dot for each sample. r is Pearson's coefficient; notes are printed below.
func Scatter(x, y MonitorSeries, r float64, notes []string) *Figure {
	f := &Figure{
		Name: "scatter", Title: "Correlation: " + rText(r),
		Alt: "A dot for each sample: " + x.Name + " to the right, " + y.Name + " upwards.",
		W:   340, H: 60,
	}
	if known(x.Values, y.Values) == 0 {
		f.body = empty("no sample has both values")
		return f
	}
	var legend []entry
	for _, n := range notes {
		for _, line := range lines(Printable(n), f.W-2*margin-legendSample) {
			legend = append(legend, entry{text: line})
		}
	}
	h := vg.Length(0)
	if len(legend) > 0 {
		h = vg.Length(len(legend))*legendRow + 6
	}
	f.H = 270 + h
	f.body = func(c draw.Canvas) {
		p := newPlot(axisName(x), axisName(y))
		p.X.Label.Text = fit(p.X.Label.Text, labelSize, f.W-60)
		p.Y.Label.Text = fit(p.Y.Label.Text, labelSize, 230)
		valueAxis(&p.X, x, 6)
		valueAxis(&p.Y, y, 5)
		p.Add(gridLines(true, true), dots(x, y, 1.7))
		p.Draw(draw.Crop(c, margin, -margin-8, h, -4))
		style := textStyle(tickSize, regular, left, middle)
		for i, e := range legend {
			c.FillText(style, vg.Point{X: c.Min.X + margin, Y: c.Min.Y + h - 3 - (vg.Length(i)+0.5)*legendRow}, e.text)
		}
	}
	return f
}

// lines breaks a text between words.
func lines(s string, width vg.Length) (out []string) {
	line := ""
	for from, rest := 0, s; rest != ""; {
		for from < len(rest) && rest[from] != ' ' {
			from++
		}
		word := rest[:from]
		switch {
		case line == "":
			line = word
		case widthOf(line+" "+word, tickSize) <= width:
			line += " " + word
		default:
			out, line = append(out, line), word
		}
		rest, from = rest[min(from+1, len(rest)):], 0
	}
	return append(out, line)
}

func rText(r float64) string {
	if math.IsNaN(r) {
		return "none can be computed"
	}
	return fmt.Sprintf("r = %.3f", r)
}

func axisName(s MonitorSeries) string {
	name := Printable(s.Name)
	if unit, _ := scaleOf(s.Unit, biggest(s.Values)); unit != "" {
		name += " (" + unit + ")"
	}
	return name
}

func valueAxis(a *plot.Axis, s MonitorSeries, ticks int) {
	_, scale := scaleOf(s.Unit, biggest(s.Values))
	low, high := rangeOfValues(s.Values)
	a.Min, a.Max = low/scale, high/scale
	air := 0.03 * (a.Max - a.Min)
	a.Max += air
	if a.Min < 0 {
		a.Min -= air
	}
	a.Tick.Marker = linearTicks(ticks)
}

func known(x, y []float64) (n int) {
	for i := range min(len(x), len(y)) {
		if !math.IsNaN(x[i]+y[i]) && !math.IsInf(x[i]+y[i], 0) {
			n++
		}
	}
	return n
}

// dots draws a dot for each sample. Those that would cover another one exactly are left out.
func dots(x, y MonitorSeries, radius vg.Length) plotter {
	_, sx := scaleOf(x.Unit, biggest(x.Values))
	_, sy := scaleOf(y.Unit, biggest(y.Values))
	return func(c draw.Canvas, p *plot.Plot) {
		tx, ty := p.Transforms(&c)
		type place struct{ x, y int }
		seen := map[place]bool{}
		style := draw.GlyphStyle{Color: blue, Radius: radius, Shape: draw.RingGlyph{}}
		for i := range min(len(x.Values), len(y.Values)) {
			if v := x.Values[i] + y.Values[i]; math.IsNaN(v) || math.IsInf(v, 0) {
				continue
			}
			pt := vg.Point{X: tx(x.Values[i] / sx), Y: ty(y.Values[i] / sy)}
			at := place{int(pt.X.Points() * 2), int(pt.Y.Points() * 2)}
			if !seen[at] {
				seen[at] = true
				c.DrawGlyph(style, pt)
			}
		}
	}
}

// maxMatrix is how many metrics a matrix of scatter plots has room for.
const maxMatrix = 8

// ScatterMatrix draws each pair of metrics: below the diagonal a dot for each sample, above it Pearson's r on a ground
// that is darker where it is stronger. r[i][j] is that of series i and j.
func ScatterMatrix(series []MonitorSeries, r [][]float64) *Figure {
	f := &Figure{
		Name: "matrix", Title: "Correlation of each pair of metrics",
		Alt: "A matrix of scatter plots, with the coefficient of correlation of each pair.",
		W:   pageWidth, H: 60,
	}
	n := len(series)
	if n < 2 || n > maxMatrix {
		f.Empty = true
		f.body = empty(fmt.Sprintf("a matrix has 2 to %d metrics", maxMatrix))
		return f
	}
	legend := []entry{{text: "below the diagonal: a dot for each sample, the column's metric to the right"}, {text: "above it: r, on a ground that is darker where it is stronger"}}
	h := legendHeight(legend, f.W-2*margin)
	cell := (f.W - 2*margin) / vg.Length(n)
	f.H = cell*vg.Length(n) + h + 4
	f.body = func(c draw.Canvas) {
		for row := range n {
			for column := range n {
				x0, y1 := c.Min.X+margin+cell*vg.Length(column), c.Max.Y-2-cell*vg.Length(row)
				box := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{Min: vg.Point{X: x0 + 1, Y: y1 - cell + 1}, Max: vg.Point{X: x0 + cell - 1, Y: y1 - 1}}}
				matrixCell(box, series, r, row, column)
			}
		}
		foot := draw.Crop(c, margin, -margin, 0, 0)
		foot.Max.Y = foot.Min.Y + h
		drawLegend(foot, legend)
	}
	return f
}

func matrixCell(c draw.Canvas, series []MonitorSeries, r [][]float64, row, column int) {
	switch {
	case row == column:
		fillBox(&c, faint, c.Min.X, c.Min.Y, c.Max.X, c.Max.Y)
		middleOf(c, nameLines(series[row], c.Max.X-c.Min.X-6))
		return
	case row < column:
		strength := math.Abs(r[row][column])
		if math.IsNaN(strength) {
			strength = 0
		}
		ground := blue
		if r[row][column] < 0 {
			ground = orange
		}
		fillBox(&c, lighter(ground, 0.05+0.5*strength), c.Min.X, c.Min.Y, c.Max.X, c.Max.Y)
		middleOf(c, []string{shortR(r[row][column])})
		return
	}
	const head = legendRow
	c.StrokeLines(hairline(grey), []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}, c.Min})
	style := textStyle(tickSize, regular, left, top)
	c.FillText(style, vg.Point{X: c.Min.X + 3, Y: c.Max.Y - 2}, shortR(r[row][column]))
	x, y := series[column], series[row]
	p := newPlot("", "")
	valueAxis(&p.X, x, 2)
	valueAxis(&p.Y, y, 2)
	p.HideAxes()
	p.Add(dots(x, y, 1.1))
	p.Draw(draw.Crop(c, 3, -3, 3, -head))
}

func shortR(r float64) string {
	if math.IsNaN(r) {
		return "no r"
	}
	return fmt.Sprintf("%.2f", r)
}

// nameLines breaks a name at its dots and underscores.
func nameLines(s MonitorSeries, width vg.Length) []string {
	var out []string
	line := ""
	for _, r := range Printable(s.Name) + "\x00" {
		if end := r == 0; end || line != "" && widthOf(line+string(r), tickSize) > width {
			if cut := lastBreak(line); !end && cut > 0 {
				out, line = append(out, line[:cut]), line[cut:]
			} else {
				out, line = append(out, line), ""
			}
			if end {
				break
			}
		}
		line += string(r)
	}
	const most = 4
	if len(out) > most {
		out = append(out[:most-1], "...")
	}
	return out
}

// lastBreak is behind the last dot or underscore; 0: there is none.
func lastBreak(s string) int {
	for i := len(s) - 1; i > 0; i-- {
		if s[i-1] == '.' || s[i-1] == '_' {
			return i
		}
	}
	return 0
}

// middleOf writes lines into the middle of a cell.
func middleOf(c draw.Canvas, text []string) {
	style := textStyle(tickSize, regular, centre, middle)
	y := c.Center().Y + legendRow*vg.Length(len(text)-1)/2
	for _, line := range text {
		c.FillText(style, vg.Point{X: c.Center().X, Y: y}, line)
		y -= legendRow
	}
}
