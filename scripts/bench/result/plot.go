package result

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"os"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Curve is a cost for each of several sizes.
type Curve struct {
	Name string
	X    []float64
	Y    []Estimate
}

// Figure is what one file shows.
type Figure struct {
	Title, X, Y string
	Curves      []Curve
}

// colours distinct with every kind of colour blindness (Okabe and Ito).
var colours = []color.RGBA{{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255}}

const width, height = 420, 240 // points

// Power is the exponent p with which the curve grows, as size^p, from its first point to its last: 0 is flat, 1 linear. NaN: it has fewer
// than two points above 0.
func (c Curve) Power() float64 {
	points := c.points()
	if len(points) < 2 {
		return math.NaN()
	}
	first, last := points[0], points[len(points)-1]
	return math.Log(last.Y/first.Y) / math.Log(last.X/first.X)
}

// Steepest is the largest such exponent between neighbours, and the size where that step begins. NaN: fewer than two points above 0.
func (c Curve) Steepest() (power, from float64) {
	power = math.NaN()
	points := c.points()
	for i := 1; i < len(points); i++ {
		p := math.Log(points[i].Y/points[i-1].Y) / math.Log(points[i].X/points[i-1].X)
		if !(p <= power) {
			power, from = p, points[i-1].X
		}
	}
	return power, from
}

// points are those that a logarithmic axis can show.
func (c Curve) points() (p plotter.XYs) {
	for i, x := range c.X {
		if c.Y[i].Value > 0 {
			p = append(p, plotter.XY{X: x, Y: c.Y[i].Value})
		}
	}
	return p
}

// intervals of the points, as far as there are any above 0.
func (c Curve) intervals() (lines []plotter.XYs) {
	for i, x := range c.X {
		if e := c.Y[i]; e.Low > 0 && e.High > e.Low {
			lines = append(lines, plotter.XYs{{X: x, Y: e.Low}, {X: x, Y: e.High}})
		}
	}
	return lines
}

// powers are the ticks of powers of ten, written out.
type powers struct{}

// Ticks implements plot.Ticker.
func (powers) Ticks(low, high float64) []plot.Tick {
	ticks := plot.LogTicks{}.Ticks(low, high)
	for i, t := range ticks {
		switch {
		case t.Label == "":
		case t.Value >= 1:
			ticks[i].Label = Grouped(int64(math.Round(t.Value)))
		default:
			ticks[i].Label = Number(t.Value)
		}
	}
	return ticks
}

// SVG draws the figure.
func (f Figure) SVG() ([]byte, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = f.Title, f.X, f.Y
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = powers{}, powers{}
	p.Legend.Top, p.Legend.Left = true, true
	p.Title.TextStyle.Font.Size, p.Legend.TextStyle.Font.Size = 11, 9
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Font.Size, axis.Tick.Label.Font.Size = 9, 8
	}
	p.Add(plotter.NewGrid())
	drawn := 0
	for i, c := range f.Curves {
		points := c.points()
		if len(points) == 0 {
			continue
		}
		drawn++
		line, dots, err := plotter.NewLinePoints(points)
		if err != nil {
			return nil, fmt.Errorf("drawing %s: %w", c.Name, err)
		}
		line.Color, dots.Color, line.Width = colours[i%len(colours)], colours[i%len(colours)], 1.4
		p.Add(line, dots)
		p.Legend.Add(c.Name, line, dots)
		for _, interval := range c.intervals() {
			bar, err := plotter.NewLine(interval)
			if err != nil {
				return nil, fmt.Errorf("drawing %s: %w", c.Name, err)
			}
			bar.Color = line.Color
			p.Add(bar)
		}
	}
	if drawn == 0 {
		return nil, fmt.Errorf("%s: there is nothing above 0 to draw", f.Title)
	}
	p.X.Max *= math.Pow(p.X.Max/p.X.Min, 0.06) // room for the last label
	p.Y.Max *= 10                              // and for the legend
	canvas := vgsvg.New(width, height)
	p.Draw(draw.New(canvas))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("writing %s: %w", f.Title, err)
	}
	return b.Bytes(), nil
}

// Write draws the figure into a file.
func (f Figure) Write(path string) error {
	b, err := f.SVG()
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o644)
}
