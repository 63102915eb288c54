package figure

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"stackagent/granularity/gc"
	"stackagent/internal/units"
)

// MMU draws the curve of minimum mutator utilization over a logarithmic axis of
// windows.
func MMU(curve []gc.Utilization) *Figure {
	f := &Figure{
		Name: "mmu", Title: "Minimum mutator utilization",
		Alt: "Worst case: in any window of this length, the program could run at least this share of the time.",
		W:   pageWidth, H: 210,
	}
	if len(curve) == 0 {
		f.body = empty("no windows")
		return f
	}
	f.body = func(c draw.Canvas) {
		p := newPlot("window", "utilization (least)")
		r := rangeOf("ns", curve[0].Window, curve[len(curve)-1].Window)
		p.X.Min, p.X.Max, p.X.Tick.Marker = r.lo, r.hi, r
		p.Y.Min, p.Y.Max = 0, 1.02
		p.Y.Tick.Marker = plot.TickerFunc(func(_, _ float64) []plot.Tick {
			var ticks []plot.Tick
			for i := range 6 {
				v := float64(i) / 5
				ticks = append(ticks, plot.Tick{Value: v, Label: units.FormatPercent(v)})
			}
			return ticks
		})
		p.Add(gridLines(true, true), plotter(func(c draw.Canvas, p *plot.Plot) {
			tx, ty := p.Transforms(&c)
			var line []vg.Point
			for _, u := range curve {
				line = append(line, vg.Point{X: tx(math.Log10(float64(u.Window))), Y: ty(u.Min)})
			}
			c.StrokeLines(draw.LineStyle{Color: blue, Width: 1.6}, line)
		}))
		p.Draw(draw.Crop(c, margin, -margin-8, 2, -4))
	}
	return f
}
