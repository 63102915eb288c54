package advice

import (
	"strings"
	"testing"

	"stackagent/granularity/speedup"
)

func TestOfBar(t *testing.T) {
	bar := func(c speedup.Component, v float64, p speedup.Part, w float64) *speedup.Bar {
		b := &speedup.Bar{Threads: 4, Speedup: 2}
		b.Components[c], b.Parts[p] = v, w
		return b
	}
	for name, c := range map[string]struct {
		bar  *speedup.Bar
		want string
	}{
		"gc":               {bar(speedup.GC, 1.5, speedup.Work, 0), "4 threads: 2.00 times as fast as one; most is lost to garbage collection (1.50 of 4): collections"},
		"oversubscription": {bar(speedup.Oversubscription, 1.5, speedup.Work, 0), "most is lost to oversubscription (1.50 of 4): threads are ready"},
		"io":               {bar(speedup.IO, 1.5, speedup.Work, 0), "most is lost to I/O"},
		"rest":             {bar(speedup.Rest, 1.5, speedup.Late, 1.5), "most is lost elsewhere (1.50 of 4): there are fewer threads"},
		"gain":             {bar(speedup.Rest, -1, speedup.Work, -1), "1.00 below zero"},
		"nothing":          {bar(speedup.GC, 0.1, speedup.Work, 0), "no component is large"},
	} {
		if got := OfBar(c.bar); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q does not say %q", name, got, c.want)
		}
	}
}
