package figure

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// pattern is drawn over a colour, for readers and printers without colours.
type pattern uint8

const (
	plain   pattern = iota
	upright         // vertical lines
	level           // horizontal lines
)

// look is how an area of some meaning is filled. Any two looks of a figure differ for readers with
// every common kind of colour blindness; a test simulates them.
type look struct {
	clr     color.RGBA
	pattern pattern
}

// hatchGap is the distance of a pattern's lines.
const hatchGap vg.Length = 3

// stroke is the line of the pattern, darker than the colour, or lighter on a dark one.
func (l look) stroke() draw.LineStyle {
	clr := darker(l.clr)
	if luminance(l.clr) < 0.1 {
		clr = lighter(l.clr, 0.5)
	}
	return draw.LineStyle{Color: clr, Width: 0.7}
}

// lighter is the look with its colour mixed with white; share is that of the colour, 0 to 1.
func (l look) lighter(share float64) look { return look{lighter(l.clr, share), l.pattern} }

// fill fills a rectangle.
func (l look) fill(c *draw.Canvas, x0, y0, x1, y1 vg.Length) {
	fillBox(c, l.clr, x0, y0, x1, y1)
	x0, x1, y0, y1 = min(x0, x1), max(x0, x1), min(y0, y1), max(y0, y1)
	var lines vg.Path
	switch l.pattern {
	case upright:
		for x := x0 + hatchGap/2; x < x1; x += hatchGap {
			addLine(&lines, vg.Point{X: x, Y: y0}, vg.Point{X: x, Y: y1})
		}
	case level:
		for y := y0 + hatchGap/2; y < y1; y += hatchGap {
			addLine(&lines, vg.Point{X: x0, Y: y}, vg.Point{X: x1, Y: y})
		}
	}
	l.strokePattern(c, lines)
}

// strokePattern draws the lines of the pattern as one path: a figure has thousands.
func (l look) strokePattern(c *draw.Canvas, lines vg.Path) {
	if len(lines) > 0 {
		c.SetLineStyle(l.stroke())
		c.Stroke(lines)
	}
}

func addLine(p *vg.Path, from, to vg.Point) {
	p.Move(from)
	p.Line(to)
}

// stepArea is an area between two step lines over buckets of equal width, drawn from y up: floor and top are shares of
// its height h.
type stepArea struct {
	floor, top []float64
	x          func(bucket int) vg.Length
	y, h       vg.Length
}

// fill fills the area.
func (a *stepArea) fill(c *draw.Canvas, l look) {
	bands(a.floor, a.top, func(from, to int) {
		c.FillPolygon(l.clr, outline(a.floor, a.top, from, to, a.x, a.y, a.h))
	})
	switch l.pattern {
	case upright:
		l.strokePattern(c, a.uprights())
	case level:
		l.strokePattern(c, a.levels())
	}
}

// uprights are the vertical lines in the area.
func (a *stepArea) uprights() (lines vg.Path) {
	left, width := a.x(0), a.x(1)-a.x(0)
	for at := hatchGap / 2; ; at += hatchGap {
		b := int(at / width)
		if b >= len(a.top) {
			return lines
		}
		if a.top[b]-a.floor[b] > leastShare {
			addLine(&lines, vg.Point{X: left + at, Y: a.y + vg.Length(a.floor[b])*a.h}, vg.Point{X: left + at, Y: a.y + vg.Length(a.top[b])*a.h})
		}
	}
}

// levels are the horizontal lines in the area.
func (a *stepArea) levels() (lines vg.Path) {
	for at := hatchGap / 2; at < a.h; at += hatchGap {
		share := float64(at / a.h)
		inside := func(b int) bool { return a.floor[b] < share && share < a.top[b] }
		for b := 0; b < len(a.top); b++ {
			from := b
			for b < len(a.top) && inside(b) {
				b++
			}
			if b > from {
				addLine(&lines, vg.Point{X: a.x(from), Y: a.y + at}, vg.Point{X: a.x(b), Y: a.y + at})
			}
		}
	}
	return lines
}

// leastShare is the smallest share of a row's height that can be seen.
const leastShare = 0.004

// lighter is a colour mixed with white; share is that of the colour, 0 to 1.
func lighter(c color.RGBA, share float64) color.RGBA {
	mix := func(v uint8) uint8 { return uint8(255 - share*float64(255-v) + 0.5) }
	return color.RGBA{mix(c.R), mix(c.G), mix(c.B), 255}
}

// darker is a colour mixed with black.
func darker(c color.RGBA) color.RGBA {
	mix := func(v uint8) uint8 { return uint8(float64(v) * 0.72) }
	return color.RGBA{mix(c.R), mix(c.G), mix(c.B), 255}
}

// readable is a colour dark enough for text on white: a contrast of at least 4.5 (WCAG 2, level AA).
func readable(c color.RGBA) color.RGBA {
	for 1.05/(luminance(c)+0.05) < 4.5 {
		c = color.RGBA{uint8(float64(c.R) * 0.95), uint8(float64(c.G) * 0.95), uint8(float64(c.B) * 0.95), 255}
	}
	return c
}

// luminance is the relative luminance of a colour, 0 to 1.
func luminance(c color.RGBA) float64 {
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}

// linear is the intensity of a component of sRGB.
func linear(v uint8) float64 {
	s := float64(v) / 255
	if s <= 0.04045 {
		return s / 12.92
	}
	return math.Pow((s+0.055)/1.055, 2.4)
}
