package figure

import (
	"bytes"
	"fmt"
	"io"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// svgCanvas gives every text the width that it was laid out with. Browsers draw it with the fonts they
// have; a wider one would reach into its neighbours and beyond the edge of the figure.
type svgCanvas struct {
	*vgsvg.Canvas
	widths *[]vg.Length // of the texts, in the order in which they were drawn
}

func newSVG(w, h vg.Length) svgCanvas {
	return svgCanvas{vgsvg.New(w, h), new([]vg.Length)}
}

// FillString implements vg.Canvas.
func (c svgCanvas) FillString(f font.Face, pt vg.Point, str string) {
	*c.widths = append(*c.widths, f.Width(str))
	c.Canvas.FillString(f, pt, str)
}

// WriteTo implements vg.CanvasWriterTo.
func (c svgCanvas) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	if _, err := c.Canvas.WriteTo(&b); err != nil {
		return 0, err
	}
	var out bytes.Buffer
	rest := b.Bytes()
	for _, width := range *c.widths {
		before, after, _ := bytes.Cut(rest, []byte("<text ")) // no name holds this: "<" is escaped
		out.Write(before)
		out.WriteString("<text ")
		if width > 0 {
			fmt.Fprintf(&out, `textLength="%.5g" lengthAdjust="spacingAndGlyphs" `, float64(width))
		}
		rest = after
	}
	out.Write(rest)
	// Fonts of about the same width, for machines without the font of the layout.
	n, err := w.Write(bytes.ReplaceAll(out.Bytes(), []byte("font-family:Liberation Sans;"),
		[]byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;")))
	return int64(n), err
}
