package latency

import (
	"cmp"
	"math"
	"slices"

	"stackagent/internal/units"
)

// Whole is the window of Metered that covers the whole run.
const Whole units.Ns = -1

// Metered are the latencies for clients that send requests at a steady rate: from the earlier of the start and a
// synthetic start to the end. A pause also delays the requests that had to wait for it.
//
// Synthetic starts are a sliding average of the starts over a window of time (Blackburn et al., ASPLOS 2025): those of
// the window around an event, half before its start and half after, both ends included, are put at equal distances from
// the first to the last of them. With Whole all starts of the run are. The harness of DaCapo Chopin takes one event more,
// the first behind the window: where that comes after a stall, all starts before it move later and the stall is hidden.
// Metered sorts events.
func Metered(events []Event, window units.Ns) []units.Ns {
	slices.SortStableFunc(events, func(a, b Event) int { return cmp.Compare(a.Start, b.Start) })
	out := make([]units.Ns, len(events))
	first, last := 0, 0
	for i, e := range events {
		if window == Whole {
			last = len(events) - 1
		} else {
			half := float64(window) / 2
			for float64(events[first].Start-e.Start) < -half {
				first++
			}
			for last+1 < len(events) && float64(events[last+1].Start-e.Start) <= half {
				last++
			}
		}
		out[i] = units.Ns(e.End - min(e.Start, synthetic(events, first, i, last)))
	}
	return out
}

// synthetic is the start of event i if the events first to last started at equal distances.
func synthetic(events []Event, first, i, last int) units.MonoNs {
	if last == first {
		return events[i].Start
	}
	distance := float64(events[last].Start-events[first].Start) / float64(last-first)
	return events[first].Start + units.MonoNs(math.Round(float64(i-first)*distance))
}
