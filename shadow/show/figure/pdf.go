package figure

import (
	"golang.org/x/text/encoding/charmap"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgpdf"
)

// pdfCanvas works around two bugs of vgpdf. It embeds fonts with code page 1252 but
// writes UTF-8, so "µs" prints as "Âµs". And it registers bold fonts without their
// style, so it cannot find them.
type pdfCanvas struct {
	*vgpdf.Canvas
}

func newPDF(w, h vg.Length) pdfCanvas {
	c := vgpdf.New(w, h)
	c.EmbedFonts(true)
	return pdfCanvas{c}
}

// codePage is s in code page 1252, with '?' for all other characters.
func codePage(s string) (string, error) {
	return charmap.Windows1252.NewEncoder().String(drawable(s, func(r rune) bool {
		_, ok := charmap.Windows1252.EncodeRune(r)
		return ok
	}))
}

// FillString implements vg.Canvas.
func (c pdfCanvas) FillString(f font.Face, pt vg.Point, str string) {
	if f.Font.Weight == bold {
		plain := f.Font
		plain.Weight = regular
		f = font.DefaultCache.Lookup(plain, plain.Size)
	}
	if s, err := codePage(str); err == nil {
		str = s
	}
	c.Canvas.FillString(f, pt, str)
}
