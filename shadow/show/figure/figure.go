// Package figure draws figures for print and for pages: SVG, PNG and PDF with
// gonum/plot. Figures take results of package granularity and know nothing of sessions.
// A logarithmic axis is the decimal logarithm on a linear axis, so no value can make it
// fail. Values at or below zero cannot be on it; the legend counts them.
package figure

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Figure is a drawing that can be written in every format.
type Figure struct {
	Name  string // "cdf", the stem of its file's name
	Title string // one line
	Alt   string // one sentence for readers who cannot see it
	W, H  vg.Length
	Empty bool // there is nothing to draw: it only says why
	body  func(draw.Canvas)
}

// Formats lists the formats of Write.
var Formats = []string{"svg", "png", "pdf"}

// ErrUnknownFormat is returned for a format that is not in Formats.
var ErrUnknownFormat = errors.New("unknown figure format")

// titleHeight is the height of the title in a file.
const titleHeight vg.Length = 20

// Write writes f with its title, as a file of its own.
func (f *Figure) Write(w io.Writer, format string) error {
	width, height := f.W, f.H+titleHeight
	var c vg.CanvasWriterTo
	switch format {
	case "svg":
		c = newSVG(width, height)
	case "png":
		c = newPNG(width, height)
	case "pdf":
		c = newPDF(width, height)
	default:
		return fmt.Errorf("figure %s: %w %q: use one of %v", f.Name, ErrUnknownFormat, format, Formats)
	}
	dc := draw.New(c)
	if format != "png" { // a PNG canvas is white already
		dc.SetColor(white)
		dc.Fill(dc.Rectangle.Path())
	}
	f.draw(dc)
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return fmt.Errorf("drawing figure %s as %s: %w", f.Name, format, err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("writing figure %s as %s: %w", f.Name, format, err)
	}
	return nil
}

// draw draws the title, and below it the figure.
func (f *Figure) draw(c draw.Canvas) {
	style := textStyle(titleSize, bold, left, top)
	c.FillText(style, vg.Point{X: c.Min.X + margin, Y: c.Max.Y - 5}, fitIn(Printable(f.Title), style, f.W-2*margin))
	f.body(draw.Crop(c, 0, 0, 0, -titleHeight))
}

// WriteAll writes figs to dir, one file per figure and format ("cdf.svg"), and
// lists the files.
func WriteAll(dir string, figs []*Figure, formats []string) ([]string, error) {
	for _, format := range formats {
		if !slices.Contains(Formats, format) {
			return nil, fmt.Errorf("%w %q: use one of %v", ErrUnknownFormat, format, Formats)
		}
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("making the folder for figures: %w", err)
	}
	var files []string
	for _, f := range figs {
		for _, format := range formats {
			path := filepath.Join(dir, f.Name+"."+format)
			if err := f.writeFile(path, format); err != nil {
				return files, err
			}
			files = append(files, path)
		}
	}
	return files, nil
}

// writeFile draws first: a file with the figure's name is a whole figure.
func (f *Figure) writeFile(path, format string) error {
	var drawn bytes.Buffer
	if err := f.Write(&drawn, format); err != nil {
		return err
	}
	tmp := path + ".tmp"
	err := os.WriteFile(tmp, drawn.Bytes(), 0o666)
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		_ = os.Remove(tmp) // it may not be there
		return fmt.Errorf("writing figure %s: %w", f.Name, err)
	}
	return nil
}

// empty draws a figure without data: one line that says why.
func empty(text string) func(draw.Canvas) {
	return func(c draw.Canvas) {
		c.FillText(textStyle(labelSize, regular, centre, middle, grey), c.Center(), text)
	}
}
