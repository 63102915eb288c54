package gc

import (
	"cmp"
	"math"
	"slices"

	"stackagent/internal/units"
)

// Event is an execution of a task: a request, say.
type Event struct{ Start, End units.MonoNs }

// Quantiles lists the quantiles of a Latency, in 1/10,000.
var Quantiles = []int{5000, 9000, 9500, 9900, 9990, 9999}

// Latency is the distribution of the latency of events, in nanoseconds.
type Latency struct {
	// Window over which starts were smoothed; 0: not smoothed (simple latency).
	Window units.Ns
	Whole  bool // smoothed over the whole run
	Count  int
	Values []units.Ns // at Quantiles, nearest rank
	Max    units.Ns
}

// Simple is the latency from start to end.
func Simple(events []Event) Latency {
	return describe(events, func(i int) units.MonoNs { return events[i].Start })
}

// Metered is the latency for clients that send requests at a steady rate: from the
// earlier of the start and a synthetic start to the end (Blackburn et al., DaCapo
// Chopin). A pause also delays the requests that waited for it. The synthetic
// starts are the starts in order, smoothed by a sliding average over the mean
// number of events in window; near the ends of the run the average covers fewer
// events. With whole they are uniform, from the first start to the last. Metered
// sorts events.
func Metered(events []Event, window units.Ns, whole bool) Latency {
	slices.SortFunc(events, func(a, b Event) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	synthetic := smoothed(events, window)
	if whole {
		synthetic = uniform(events)
	}
	l := describe(events, func(i int) units.MonoNs { return min(events[i].Start, synthetic(i)) })
	l.Window, l.Whole = window, whole
	return l
}

func uniform(events []Event) func(i int) units.MonoNs {
	n := len(events)
	if n < 2 {
		return func(i int) units.MonoNs { return events[i].Start }
	}
	first, span := events[0].Start, float64(events[n-1].Start-events[0].Start)
	return func(i int) units.MonoNs { return first + units.MonoNs(math.Round(span*float64(i)/float64(n-1))) }
}

// smoothed averages, for each event, the starts of h events before and h after.
func smoothed(events []Event, window units.Ns) func(i int) units.MonoNs {
	n := len(events)
	if n < 2 || window <= 0 {
		return func(i int) units.MonoNs { return events[i].Start }
	}
	first, span := events[0].Start, float64(events[n-1].Start-events[0].Start)
	h := n
	if per := float64(n) * float64(window) / span; per < float64(n) {
		h = int(per / 2)
	}
	sums := make([]float64, n+1) // of starts since the first
	for i, e := range events {
		sums[i+1] = sums[i] + float64(e.Start-first)
	}
	return func(i int) units.MonoNs {
		r := min(h, i, n-1-i)
		if r == 0 {
			return events[i].Start
		}
		return first + units.MonoNs(math.Round((sums[i+r+1]-sums[i-r])/float64(2*r+1)))
	}
}

func describe(events []Event, start func(i int) units.MonoNs) Latency {
	l := Latency{Count: len(events)}
	values := make([]units.Ns, len(events))
	for i, e := range events {
		values[i] = units.Ns(e.End - start(i))
	}
	slices.Sort(values)
	for _, q := range Quantiles {
		l.Values = append(l.Values, rank(values, q))
	}
	if len(values) > 0 {
		l.Max = values[len(values)-1]
	}
	return l
}

// Windows are the smoothing windows of metered latency: 1 ms, 10 ms, ... below the
// length of the run.
func Windows(events []Event) []units.Ns {
	if len(events) < 2 {
		return nil
	}
	first, last := events[0].Start, events[0].Start
	for _, e := range events {
		first, last = min(first, e.Start), max(last, e.Start)
	}
	var out []units.Ns
	for w := units.Ns(1e6); w < units.Ns(last-first); w *= 10 {
		out = append(out, w)
	}
	return out
}

func root10(n int) float64 { return math.Pow(10, 1/float64(n)) }
