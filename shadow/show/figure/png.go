package figure

import (
	"strings"

	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
)

// pngDPI is the resolution of PNG files, sharp on a slide and in a printed column.
const pngDPI = 200

// pngCanvas draws '?' for characters that its font lacks. vgimg omits them, so
// different names would look the same.
type pngCanvas struct {
	vgimg.PngCanvas
}

func newPNG(w, h vg.Length) pngCanvas {
	return pngCanvas{vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(pngDPI))}}
}

// FillString implements vg.Canvas.
func (c pngCanvas) FillString(f font.Face, pt vg.Point, str string) {
	var buf sfnt.Buffer
	c.PngCanvas.FillString(f, pt, drawable(str, func(r rune) bool {
		glyph, err := f.Face.GlyphIndex(&buf, r)
		return err == nil && glyph != 0
	}))
}

// drawable is s with '?' for each rune that a font does not have.
func drawable(s string, has func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		if has(r) {
			return r
		}
		return '?'
	}, s)
}
