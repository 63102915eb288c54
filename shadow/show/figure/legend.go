package figure

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// entry is a line of a legend.
type entry struct {
	text string
	line *draw.LineStyle // a stroke, or
	fill func(c *draw.Canvas, x0, y0, x1, y1 vg.Length)
}

const (
	legendRow    vg.Length = 14
	legendSample vg.Length = 26
)

// legendHeight is the height that drawLegend needs.
func legendHeight(entries []entry, width vg.Length) vg.Length {
	return vg.Length(len(legendRows(entries, width)))*legendRow + 6
}

// legendRows puts entries in two columns if all fit, else in one: a legend of
// its own below the axes cannot cover any data.
func legendRows(entries []entry, width vg.Length) [][]entry {
	half := width/2 - legendSample - 12
	columns := 2
	for _, e := range entries {
		if widthOf(e.text, tickSize) > half {
			columns = 1
		}
	}
	var rows [][]entry
	for len(entries) > 0 {
		n := min(columns, len(entries))
		rows = append(rows, entries[:n])
		entries = entries[n:]
	}
	return rows
}

// drawLegend draws entries into c from its top.
func drawLegend(c draw.Canvas, entries []entry) {
	width := c.Max.X - c.Min.X
	style := textStyle(tickSize, regular, left, middle)
	for i, row := range legendRows(entries, width) {
		y := c.Max.Y - 3 - (vg.Length(i)+0.5)*legendRow
		for j, e := range row {
			x := c.Min.X + vg.Length(j)*width/2
			if e.line != nil {
				c.StrokeLine2(*e.line, x, y, x+legendSample-6, y)
			} else if e.fill != nil {
				e.fill(&c, x+6, y-4, x+legendSample-6, y+4)
			}
			c.FillText(style, vg.Point{X: x + legendSample, Y: y}, fit(e.text, tickSize, width-legendSample))
		}
	}
}
