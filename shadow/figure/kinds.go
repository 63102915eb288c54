package figure

import (
	"image/color"

	"stackagent/granularity/activity"
)

// kindColors are the colours of kinds of threads, in the order of a legend.
var kindColors = []struct {
	kind, label string
	clr         color.RGBA
}{
	{activity.KindApplication, "application", blue},
	{activity.KindMain, "main thread", color.RGBA{0, 158, 115, 255}},
	{activity.KindGC, "garbage collection", red},
	{activity.KindCompiler, "compiler", color.RGBA{204, 121, 167, 255}},
	{activity.KindVM, "JVM", orange},
	{activity.KindOther, "launcher, profiler, other", color.RGBA{150, 150, 150, 255}},
}

func kindColor(kind string) color.RGBA {
	for _, k := range kindColors {
		if k.kind == kind {
			return k.clr
		}
	}
	return kindColors[len(kindColors)-1].clr
}

func kindLabel(kind string) string {
	for _, k := range kindColors {
		if k.kind == kind {
			return k.label
		}
	}
	return kind
}

// lighter is a colour mixed with white; share is that of the colour, 0 to 1.
func lighter(c color.RGBA, share float64) color.RGBA {
	mix := func(v uint8) uint8 { return uint8(255 - share*float64(255-v) + 0.5) }
	return color.RGBA{mix(c.R), mix(c.G), mix(c.B), 255}
}
