package figure

import (
	"bytes"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"stackagent/granularity"
)

// textBox is a text and the rectangle that it covers.
type textBox struct {
	text   string
	size   vg.Length
	width  vg.Length
	across vg.Rectangle
}

// texts are the texts of a figure as drawn in a file.
func texts(t *testing.T, f *Figure) []textBox {
	t.Helper()
	width, height := f.W, f.H+titleHeight
	var rec recorder.Canvas
	f.draw(draw.NewCanvas(&rec, width, height))
	turned := []bool{false} // by a quarter, to the left: the label of a y axis
	var out []textBox
	for _, a := range rec.Actions {
		now := &turned[len(turned)-1]
		switch a := a.(type) {
		case *recorder.Push:
			turned = append(turned, *now)
		case *recorder.Pop:
			turned = turned[:len(turned)-1]
		case *recorder.Rotate:
			if math.Abs(a.Angle-math.Pi/2) > 1e-9 || *now {
				t.Fatalf("%s: a text turned by %g", f.Name, a.Angle)
			}
			*now = true
		case *recorder.Translate, *recorder.Scale:
			t.Fatalf("%s: the test does not know %T", f.Name, a)
		case *recorder.FillString:
			if a.String == "" {
				continue
			}
			style := textStyle(a.Size, a.Font.Weight, left, top)
			w, h := style.Width(a.String), a.Size*0.72
			at := a.Point
			r := vg.Rectangle{Min: at, Max: vg.Point{X: at.X + w, Y: at.Y + h}}
			if *now { // (x, y) is drawn at (-y, x)
				r = vg.Rectangle{Min: vg.Point{X: -at.Y - h, Y: at.X}, Max: vg.Point{X: -at.Y, Y: at.X + w}}
			}
			out = append(out, textBox{a.String, a.Size, w, r})
		}
	}
	return out
}

// TestTextFits: every text is in the figure, covers no other, and can be read where the figure is shown
// 420 pixels wide.
func TestTextFits(t *testing.T) {
	const shown, least = 420, 8.0 // pixels
	figs := someFigures()
	figs["names"] = Threads(TimesOf(0, 1e9), granularity.NewGrid(0, 1e9, 10), []ThreadBar{{Label: strings.Repeat("WWWW", 40), Busy: make([]float64, 10)}})
	figs["title"] = Latency(strings.Repeat("com.acme.Wide$", 20), nil)
	for name, f := range figs {
		page := vg.Rectangle{Max: vg.Point{X: f.W, Y: f.H + titleHeight}}
		all := texts(t, f)
		if len(all) == 0 {
			t.Errorf("%s has no text", name)
		}
		for i, a := range all {
			if a.across.Min.X < 0 || a.across.Min.Y < 0 || a.across.Max.X > page.Max.X || a.across.Max.Y > page.Max.Y {
				t.Errorf("%s: %q reaches beyond the edge: %v in %v", name, a.text, a.across, page.Max)
			}
			if px := float64(a.size) * shown / float64(f.W); px < least {
				t.Errorf("%s: %q is %.1f pixels high where the figure is %d wide", name, a.text, px, shown)
			}
			for _, b := range all[:i] {
				if a.across.Min.X < b.across.Max.X && b.across.Min.X < a.across.Max.X && a.across.Min.Y < b.across.Max.Y && b.across.Min.Y < a.across.Max.Y {
					t.Errorf("%s: %q and %q cover each other", name, b.text, a.text)
				}
			}
		}
	}
}

// TestOneTimeAxis: the figures with a row for each thread have the same ticks at the same places.
func TestOneTimeAxis(t *testing.T) {
	const s = 1e9
	times := Times{From: s, To: 11 * s, Start: 2 * s}
	ticks := func(f *Figure) map[string]vg.Length {
		out := map[string]vg.Length{}
		for _, b := range texts(t, f) {
			if _, err := strconv.ParseFloat(b.text, 64); err == nil && b.across.Min.X > threadNames {
				out[b.text] = (b.across.Min.X + b.across.Max.X) / 2
			}
		}
		return out
	}
	g := granularity.NewGrid(2*s, 11*s, 50) // tasks are recorded from the start of the session
	want, got := ticks(timelineOf(2, 0)), ticks(Threads(times, g, []ThreadBar{{Label: "a", Busy: make([]float64, g.N)}}))
	if len(want) < 3 || len(got) != len(want) {
		t.Fatalf("ticks %v and %v", want, got)
	}
	for label, x := range want {
		if math.Abs(float64(got[label]-x)) > 0.1 {
			t.Errorf("%s is at %.2f and at %.2f", label, x, got[label])
		}
	}
}

// TestSVGTextWidths: every text of an SVG has the width of its layout, whatever font draws it.
func TestSVGTextWidths(t *testing.T) {
	f := Bottle(crowdedBottle())
	var b bytes.Buffer
	if err := f.Write(&b, "svg"); err != nil {
		t.Fatal(err)
	}
	wide := regexp.MustCompile(`<text textLength="([0-9.]+)" lengthAdjust="spacingAndGlyphs"[^>]*>[^<]`).FindAllStringSubmatch(b.String(), -1)
	all := texts(t, f)
	if len(wide) != len(all) {
		t.Fatalf("%d of %d texts have a width", len(wide), len(all))
	}
	for i, m := range wide {
		if w, err := strconv.ParseFloat(m[1], 64); err != nil || math.Abs(w-float64(all[i].width)) > 0.01 {
			t.Errorf("%q is %s wide, want %v (%v)", all[i].text, m[1], all[i].width, err)
		}
	}
}
