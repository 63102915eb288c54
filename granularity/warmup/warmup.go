// Package warmup finds out when a program is warm: how its iterations get faster, and what costs the time before.
package warmup

import (
	"math"
	"slices"
)

// Within is how close to the fastest iteration a warm one is.
const Within = 0.015

// WarmFrom is the first iteration, from 0, from which on all take at most within longer than the fastest one of all; -1: there is
// none, as the last one takes longer.
func WarmFrom(times []float64, within float64) int {
	if len(times) == 0 {
		return -1
	}
	limit := slices.Min(times) * (1 + within)
	warm := len(times)
	for warm > 0 && times[warm-1] <= limit {
		warm--
	}
	if warm == len(times) {
		return -1
	}
	return warm
}

// Reached is the first iteration, from 0, that takes at most within longer than the fastest one, whatever follows; -1: there are
// none.
func Reached(times []float64, within float64) int {
	best := math.Inf(1)
	for _, t := range times {
		best = min(best, t)
	}
	return slices.IndexFunc(times, func(t float64) bool { return t <= best*(1+within) })
}
