package figure

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"stackagent/granularity"
	"stackagent/internal/units"
)

// Times is what the figures of a session draw over: From to To, counted from Start, the start of the
// session. The JVM itself started before. Figures of the same Times can be compared by eye.
type Times struct{ From, To, Start units.MonoNs }

// TimesOf are those of a session from..to.
func TimesOf(from, to units.MonoNs) Times { return Times{from, to, from} }

// With are the times that have room for from..to, too.
func (t Times) With(from, to units.MonoNs) Times {
	return Times{min(t.From, from), max(t.To, to), t.Start}
}

// timeAxis is the x axis of a plot over time: seconds, or less, since From.
type timeAxis struct {
	Times
	unit float64 // ns
}

// overTime gives p an axis over t.
func overTime(p *plot.Plot, t Times) timeAxis {
	name, unit := timeUnit(units.Ns(t.To - t.From))
	a := timeAxis{t, unit}
	p.X.Label.Text = "time since the start (" + name + ")"
	p.X.Min, p.X.Max = 0, a.x(t.To)
	shift := float64(t.From-t.Start) / unit // zero is at the start of the session
	p.X.Tick.Marker = plot.TickerFunc(func(lo, hi float64) []plot.Tick {
		ticks := linearTicks(8)(lo+shift, hi+shift)
		for i := range ticks {
			ticks[i].Value -= shift
		}
		return ticks
	})
	return a
}

// x is the place of a moment.
func (a timeAxis) x(t units.MonoNs) float64 { return float64(t-a.From) / a.unit }

// bucket is where a bucket of g begins.
func (a timeAxis) bucket(g granularity.Grid, i int) float64 {
	return a.x(g.From) + float64(i)*float64(g.Width)/a.unit
}

// threadNames is the room for the names of threads, the same in all figures with a row for each thread, so that
// their times lie below each other.
const threadNames = vg.Length(136)

// drawBetween draws p with its data from x0 to x1.
func drawBetween(p *plot.Plot, c draw.Canvas, x0, x1, low, high vg.Length) {
	area := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{Min: vg.Point{X: x0, Y: low}, Max: vg.Point{X: x1, Y: high}}}
	for range 3 { // labels at the ends of the axis need more or less room then
		data := p.DataCanvas(area)
		area.Min.X += x0 - data.Min.X
		area.Max.X += x1 - data.Max.X
	}
	p.Draw(area)
}

// threadArea are the edges of the data of a figure with a row for each thread.
func threadArea(c draw.Canvas) (x0, x1 vg.Length) {
	return c.Min.X + margin + threadNames + 8, c.Max.X - margin - 12
}
