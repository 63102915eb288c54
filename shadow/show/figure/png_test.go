package figure

import (
	"bytes"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// TestNoGlyph: what a font cannot draw is drawn as a question mark, not left out.
func TestNoGlyph(t *testing.T) {
	png := func(text string) []byte {
		f := &Figure{W: 200, H: 50, body: func(c draw.Canvas) {
			c.FillText(textStyle(titleSize, bold, left, top), vg.Point{X: 6, Y: 40}, text)
		}}
		var b bytes.Buffer
		if err := f.Write(&b, "png"); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	if !bytes.Equal(png("Täsk日本x"), png("Täsk??x")) {
		t.Error("PNG: not drawn as question marks")
	}
	if bytes.Equal(png("Täsk??x"), png("Täskx")) {
		t.Error("PNG: question marks are not drawn")
	}
	if got, err := codePage("Täsk日本x µ\uFFFD"); err != nil || got != "T\xe4sk??x \xb5?" {
		t.Errorf("PDF: %q, %v", got, err)
	}
}
