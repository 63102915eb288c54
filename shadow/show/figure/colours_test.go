package figure

import (
	"image/color"
	"math"
	"testing"

	"stackagent/granularity/speedup"
)

// vision turns intensities of red, green and blue into those that look the same to a reader with this
// colour vision: Machado, Oliveira and Fernandes (2009), severity 1.
type vision struct {
	name   string
	matrix [3][3]float64
}

var visions = []vision{
	{"normal", [3][3]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
	{"protanopia", [3][3]float64{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}},
	{"deuteranopia", [3][3]float64{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}},
	{"tritanopia", [3][3]float64{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}},
}

// lab is a colour in CIELAB under D65.
type lab struct{ L, a, b float64 }

func (v vision) lab(c color.RGBA) lab {
	in := [3]float64{linear(c.R), linear(c.G), linear(c.B)}
	var rgb [3]float64
	for i, row := range v.matrix {
		for k, x := range row {
			rgb[i] += x * in[k]
		}
		rgb[i] = min(max(rgb[i], 0), 1)
	}
	f := func(t float64) float64 {
		if t > 216.0/24389 {
			return math.Cbrt(t)
		}
		return (24389.0/27*t + 16) / 116
	}
	x := f((0.4124564*rgb[0] + 0.3575761*rgb[1] + 0.1804375*rgb[2]) / 0.95047)
	y := f(0.2126729*rgb[0] + 0.7151522*rgb[1] + 0.0721750*rgb[2])
	z := f((0.0193339*rgb[0] + 0.1191920*rgb[1] + 0.9503041*rgb[2]) / 1.08883)
	return lab{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// ciede2000 is the distance of two colours as people see it (CIE 142-2001); 1 is just noticeable side by side.
func ciede2000(p, q lab) float64 {
	deg := math.Pi / 180
	mean := (math.Hypot(p.a, p.b) + math.Hypot(q.a, q.b)) / 2
	seventh := func(c float64) float64 { return math.Sqrt(math.Pow(c, 7) / (math.Pow(c, 7) + math.Pow(25, 7))) }
	g := 1 + 0.5*(1-seventh(mean))
	c1, c2 := math.Hypot(g*p.a, p.b), math.Hypot(g*q.a, q.b)
	hue := func(a, b float64) float64 { return math.Mod(math.Atan2(b, a)/deg+360, 360) }
	h1, h2 := hue(g*p.a, p.b), hue(g*q.a, q.b)
	dh, h := h2-h1, (h1+h2)/2
	switch {
	case c1*c2 == 0:
		dh, h = 0, h1+h2
	case dh > 180:
		dh, h = dh-360, math.Mod(h+180, 360)
	case dh < -180:
		dh, h = dh+360, math.Mod(h+180, 360)
	}
	L, c := (p.L+q.L)/2, (c1+c2)/2
	cos := func(x float64) float64 { return math.Cos(x * deg) }
	t := 1 - 0.17*cos(h-30) + 0.24*cos(2*h) + 0.32*cos(3*h+6) - 0.20*cos(4*h-63)
	dL := (q.L - p.L) / (1 + 0.015*math.Pow(L-50, 2)/math.Sqrt(20+math.Pow(L-50, 2)))
	dC := (c2 - c1) / (1 + 0.045*c)
	dH := 2 * math.Sqrt(c1*c2) * math.Sin(dh/2*deg) / (1 + 0.015*c*t)
	turn := -math.Sin(60*math.Exp(-math.Pow((h-275)/25, 2))*deg) * 2 * seventh(c)
	return math.Sqrt(dL*dL + dC*dC + dH*dH + turn*dC*dH)
}

// TestCIEDE2000 takes values published with the formula (Sharma, Wu and Dalal 2005).
func TestCIEDE2000(t *testing.T) {
	for _, c := range []struct {
		p, q lab
		want float64
	}{
		{lab{50, 2.6772, -79.7751}, lab{50, 0, -82.7485}, 2.0425},
		{lab{50, -1.3802, -84.2814}, lab{50, 0, -82.7485}, 1.0000},
		{lab{50, 0, 0}, lab{50, -1, 2}, 2.3669},
		{lab{50, 2.5, 0}, lab{73, 25, -18}, 27.1492},
		{lab{50, 2.5, 0}, lab{61, -5, 29}, 22.8977},
		{lab{2.0776, 0.0795, -1.1350}, lab{0.9033, -0.0636, -0.5514}, 0.9082},
	} {
		if got := ciede2000(c.p, c.q); math.Abs(got-c.want) > 5e-5 {
			t.Errorf("%v and %v: %.4f, want %.4f", c.p, c.q, got, c.want)
		}
	}
}

// named is an area of a figure with what it means.
type named struct {
	name string
	look look
}

// TestColourVision: any two areas of a figure, which may be neighbours, are apart for every reader: by
// colour, or less far by colour and by their patterns.
func TestColourVision(t *testing.T) {
	const byColour, withPattern, fromPaper = 12, 8, 5
	sets := map[string][]named{}
	for _, s := range stateLooks {
		sets["states"] = append(sets["states"], named{s.label, s.look})
	}
	for _, k := range kindLooks {
		for _, shade := range boxShades {
			sets["kinds"] = append(sets["kinds"], named{k.label, k.look.lighter(shade)})
		}
	}
	sets["stack"] = []named{{"measured", measuredLook}, {"bound", boundLook}}
	for i := range speedup.NComponents {
		sets["stack"] = append(sets["stack"], named{stackLabels[i], stackLooks[i]})
	}
	for set, looks := range sets {
		for i, a := range looks {
			for _, v := range visions {
				if d := ciede2000(v.lab(a.look.clr), v.lab(white)); d < fromPaper {
					t.Errorf("%s, %s: %s is invisible on white: %.1f", set, v.name, a.name, d)
				}
				for _, b := range looks[:i] {
					least := float64(byColour)
					if a.look.pattern != b.look.pattern {
						least = withPattern
					}
					if d := ciede2000(v.lab(a.look.clr), v.lab(b.look.clr)); d < least && a.name != b.name {
						t.Errorf("%s, %s: %s and %s are %.1f apart, want %v", set, v.name, b.name, a.name, d, least)
					}
				}
			}
		}
	}
}

// TestCurves: two curves of a figure differ by their dashes, or by their colour for every reader. Bands of
// the tasks of a class have their curve as upper edge.
func TestCurves(t *testing.T) {
	const byColour, withDashes = 12, 5
	for i := range 12 {
		for k := range i {
			a, b := curveStyle(i), curveStyle(k)
			if i%len(palette) == k%len(palette) {
				continue // the legend's names are all that tells these apart
			}
			least := float64(byColour)
			if i%len(dashes) != k%len(dashes) {
				least = withDashes
			}
			for _, v := range visions {
				if d := ciede2000(v.lab(a.Color.(color.RGBA)), v.lab(b.Color.(color.RGBA))); d < least {
					t.Errorf("%s: curves %d and %d are %.1f apart, want %v", v.name, k, i, d, least)
				}
			}
		}
	}
}

// TestReadable: a name in the colour of its kind has the contrast that WCAG 2 asks for, and so has a figure on a bar.
func TestReadable(t *testing.T) {
	contrast := func(a, b color.RGBA) float64 {
		x, y := luminance(a)+0.05, luminance(b)+0.05
		return max(x, y) / min(x, y)
	}
	for _, k := range kindLooks {
		if c := contrast(readable(k.look.clr), white); c < 4.5 {
			t.Errorf("%s: a contrast of %.2f", k.label, c)
		}
	}
	if c := contrast(grey, white); c < 4.5 {
		t.Errorf("grey: a contrast of %.2f", c)
	}
	for i, l := range stackLooks {
		if c := contrast(textOn(l.clr).(color.RGBA), l.clr); c < 4.5 {
			t.Errorf("%s: a contrast of %.2f", stackLabels[i], c)
		}
	}
}
