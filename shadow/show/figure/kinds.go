package figure

import (
	"image/color"

	"stackagent/granularity/activity"
)

// kindLooks are the looks of kinds of threads, in the order of a legend.
var kindLooks = []struct {
	kind, label string
	look        look
}{
	{activity.KindApplication, "application", look{color.RGBA{0, 84, 150, 255}, plain}},
	{activity.KindMain, "main thread", look{color.RGBA{70, 210, 180, 255}, plain}},
	{activity.KindGC, "garbage collection", look{color.RGBA{180, 85, 5, 255}, plain}},
	{activity.KindCompiler, "compiler", look{color.RGBA{235, 150, 225, 255}, upright}},
	{activity.KindVM, "JVM", look{color.RGBA{248, 230, 70, 255}, plain}},
	{activity.KindOther, "launcher, profiler, other", look{color.RGBA{125, 123, 108, 255}, level}},
}

func lookOfKind(kind string) look {
	for _, k := range kindLooks {
		if k.kind == kind {
			return k.look
		}
	}
	return kindLooks[len(kindLooks)-1].look
}

func kindLabel(kind string) string {
	for _, k := range kindLooks {
		if k.kind == kind {
			return k.label
		}
	}
	return kind
}
