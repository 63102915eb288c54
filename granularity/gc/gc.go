// Package gc computes what garbage collection costs a program: its pauses, the
// least share of any time window that they leave to the program, and the latency
// of its tasks.
package gc

import (
	"slices"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

// Pauses sums up stop-the-world pauses; times in nanoseconds. Pauses that
// overlap are counted each, but the time stopped is that of their union.
type Pauses struct {
	Count                     int
	Total                     units.Ns // time stopped
	Mean, P50, P90, P99, P999 units.Ns // nearest rank; 0 without pauses
	Min, Max                  units.Ns
	Share                     float64 // of the window, 0 to 1
}

// Describe sums up the pauses that begin in w; the time stopped is that within w.
func Describe(pauses []activity.Span, w activity.Span) Pauses {
	var p Pauses
	var lengths []units.Ns
	var sum units.Ns
	for _, s := range pauses {
		if s.From >= w.From && s.From < w.To {
			lengths = append(lengths, s.Len())
			sum += s.Len()
		}
	}
	for _, s := range activity.Union(pauses, w) {
		p.Total += s.Len()
	}
	if w.Len() > 0 {
		p.Share = float64(p.Total) / float64(w.Len())
	}
	p.Count = len(lengths)
	if p.Count == 0 {
		return p
	}
	slices.Sort(lengths)
	p.Min, p.Max, p.Mean = lengths[0], lengths[p.Count-1], sum/units.Ns(p.Count)
	p.P50, p.P90, p.P99, p.P999 = rank(lengths, 5000), rank(lengths, 9000), rank(lengths, 9900), rank(lengths, 9990)
	return p
}

// rank is the smallest of the sorted values with at least q/10,000 of them at
// or below it.
func rank(sorted []units.Ns, q int) units.Ns {
	if len(sorted) == 0 {
		return units.NotMeasured
	}
	i := (len(sorted)*q + 9999) / 10000
	return sorted[max(i, 1)-1]
}
