package latency

import (
	"cmp"
	"math"
	"slices"

	"stackagent/internal/units"
)

// Whole is the window of Metered that covers the whole run.
const Whole units.Ns = -1

// Metered are the latencies for clients that send requests at a steady rate: from
// the earlier of the start and a synthetic start to the end, as the harness of DaCapo
// Chopin computes it. A pause also delays the requests that had to wait for it.
//
// The synthetic start of an event is where it would start if the events of the window
// around it, half before its start and half after, had started at equal distances. The
// window is a length of time. With Whole the starts are uniform from the first to the
// last. Metered sorts events.
func Metered(events []Event, window units.Ns) []units.Ns {
	slices.SortStableFunc(events, func(a, b Event) int { return cmp.Compare(a.Start, b.Start) })
	out := make([]units.Ns, len(events))
	first, next, last := 0, 0, len(events)-1
	for i, e := range events {
		if window == Whole {
			next = last
		} else {
			half := float64(window) / 2
			for float64(events[first].Start-e.Start) < -half {
				first++
			}
			for next < last && float64(events[next].Start-e.Start) < half {
				next++
			}
		}
		out[i] = units.Ns(e.End - min(e.Start, synthetic(events, first, i, next)))
	}
	return out
}

// synthetic is the start of event i if the events first to next started at equal distances.
func synthetic(events []Event, first, i, next int) units.MonoNs {
	if next == first {
		return events[i].Start
	}
	distance := float64(events[next].Start-events[first].Start) / float64(next-first)
	return events[first].Start + units.MonoNs(math.Round(float64(i-first)*distance))
}
