package result

import (
	"math"
	"strings"
	"testing"
)

func curve(name string, y ...float64) Curve {
	c := Curve{Name: name}
	for i, v := range y {
		c.X = append(c.X, math.Pow10(i))
		c.Y = append(c.Y, Estimate{Value: v, Low: v * 0.9, High: v * 1.1})
	}
	return c
}

func TestPower(t *testing.T) {
	for name, c := range map[string]struct {
		curve Curve
		want  float64
	}{
		"flat":          {curve("", 5, 5, 5), 0},
		"linear":        {curve("", 2, 20, 200), 1},
		"quadratic":     {curve("", 1, 100), 2},
		"zero left out": {curve("", 0, 3, 30), 1},
	} {
		if got := c.curve.Power(); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if got := curve("", 3).Power(); !math.IsNaN(got) {
		t.Errorf("one point grows as %v", got)
	}
}

func TestSteepest(t *testing.T) {
	if power, from := curve("", 1, 10, 1000, 1000).Steepest(); math.Abs(power-2) > 1e-9 || from != 10 {
		t.Errorf("n^%v from %v, want n^2 from 10", power, from)
	}
	if power, _ := curve("", 3).Steepest(); !math.IsNaN(power) {
		t.Errorf("one point grows as %v", power)
	}
}

func TestSVG(t *testing.T) {
	f := Figure{Title: "Cost of threads", X: "threads", Y: "ns", Curves: []Curve{curve("plain", 1, 2, 3), curve("nothing", 0, 0, 0), curve("ours", 4, -1, 500)}}
	b, err := f.SVG()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg", "Cost of threads", "threads", "plain", "ours"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %q in the figure", want)
		}
	}
	if strings.Contains(string(b), "nothing") || strings.Contains(string(b), "NaN") || len(b) > 60_000 {
		t.Errorf("%d bytes:\n%.300s", len(b), b)
	}
	if _, err := (Figure{Curves: []Curve{curve("nothing", 0)}}).SVG(); err == nil {
		t.Error("a figure of nothing: no error")
	}
}
