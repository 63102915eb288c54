package figure

import (
	"image/color"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The palette of Okabe and Ito, distinct with every kind of colour blindness. Its yellow
// is left out: it is invisible on white. Line styles keep black and white prints readable.
var (
	black  = color.RGBA{0, 0, 0, 255}
	white  = color.RGBA{255, 255, 255, 255}
	grey   = color.RGBA{110, 110, 110, 255}
	faint  = color.RGBA{222, 222, 222, 255}
	blue   = color.RGBA{0, 114, 178, 255}
	orange = color.RGBA{230, 159, 0, 255}
	red    = color.RGBA{213, 94, 0, 255}

	palette = []color.RGBA{
		blue, red, {0, 158, 115, 255}, {204, 121, 167, 255}, orange, {86, 180, 233, 255},
	}
	dashes = [][]vg.Length{
		nil, {6, 2}, {2, 2}, {8, 2, 2, 2}, {4, 1.5}, {1, 1.5},
	}
)

// Sizes in points. The smallest text is more than 8 pixels high in a page that shows the figure
// 420 pixels wide.
const (
	titleSize vg.Length = 11
	labelSize vg.Length = 10.4
	tickSize  vg.Length = 9.4

	// pageWidth is the width of a text block on A4 or Letter paper.
	pageWidth vg.Length = 480
)

const (
	regular = xfont.WeightNormal
	bold    = xfont.WeightBold
	left    = text.XLeft
	centre  = text.XCenter
	right   = text.XRight
	top     = text.YTop
	middle  = text.YCenter
	bottom  = text.YBottom
)

func textStyle(size vg.Length, weight xfont.Weight, x text.XAlignment, y text.YAlignment, c ...color.Color) text.Style {
	s := text.Style{
		Color:   black,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Weight: weight, Size: size},
		XAlign:  x,
		YAlign:  y,
		Handler: text.Plain{Fonts: font.DefaultCache},
	}
	if len(c) > 0 {
		s.Color = c[0]
	}
	return s
}

// curveStyle is the line of the i-th class.
func curveStyle(i int) draw.LineStyle {
	return draw.LineStyle{Color: palette[i%len(palette)], Width: 1.4, Dashes: dashes[i%len(dashes)]}
}

// wholeStyle is the line of all executions.
func wholeStyle() draw.LineStyle { return draw.LineStyle{Color: black, Width: 2} }

func hairline(c color.Color) draw.LineStyle { return draw.LineStyle{Color: c, Width: 0.5} }

// newPlot is a plot with this package's fonts and no background.
func newPlot(xLabel, yLabel string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font = textStyle(labelSize, regular, centre, middle).Font
		a.Tick.Label.Font = textStyle(tickSize, regular, centre, middle).Font
		a.LineStyle.Width = 0.6
		a.Tick.LineStyle.Width = 0.5
		a.Tick.Length = 4
		a.Padding = 3
	}
	p.X.Label.Text, p.Y.Label.Text = xLabel, yLabel
	p.X.Label.Padding, p.Y.Label.Padding = 3, 4
	return p
}

// plotter draws with a function.
type plotter func(c draw.Canvas, p *plot.Plot)

// Plot implements plot.Plotter.
func (f plotter) Plot(c draw.Canvas, p *plot.Plot) { f(c, p) }

// gridLines draws a faint line at every major tick of the chosen axes.
func gridLines(x, y bool) plotter {
	return func(c draw.Canvas, p *plot.Plot) {
		tx, ty := p.Transforms(&c)
		if x {
			for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
				if !t.IsMinor() && t.Value > p.X.Min && t.Value <= p.X.Max {
					c.StrokeLine2(hairline(faint), tx(t.Value), c.Min.Y, tx(t.Value), c.Max.Y)
				}
			}
		}
		if y {
			for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
				if !t.IsMinor() && t.Value > p.Y.Min && t.Value <= p.Y.Max {
					c.StrokeLine2(hairline(faint), c.Min.X, ty(t.Value), c.Max.X, ty(t.Value))
				}
			}
		}
	}
}

// fillBox fills a rectangle.
func fillBox(c *draw.Canvas, clr color.Color, x0, y0, x1, y1 vg.Length) {
	c.FillPolygon(clr, []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}})
}
