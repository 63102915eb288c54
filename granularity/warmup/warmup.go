// Package warmup finds out when a program is warm: how its iterations get faster, and what costs the time before.
package warmup

import (
	"math"
	"slices"
)

// Within is how close to the fastest iteration a warm one is.
const Within = 0.015

// limit is the most that a warm iteration takes; NaN if no time is known.
func limit(times []float64, within float64) float64 {
	best := math.NaN()
	for _, t := range times {
		if math.IsNaN(best) || t < best {
			best = t
		}
	}
	return best * (1 + within)
}

// WarmFrom is the first iteration, from 0, from which on all take at most within longer than the fastest one of all; -1: there is
// none, as the last one takes longer. A time that is NaN is not known, and not warm.
func WarmFrom(times []float64, within float64) int {
	most, warm := limit(times, within), len(times)
	for warm > 0 && times[warm-1] <= most {
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
	most := limit(times, within)
	return slices.IndexFunc(times, func(t float64) bool { return t <= most })
}

// Settled is the first of the iterations that stand for the warm program: those from WarmFrom, or where it never got warm the
// second half.
func Settled(times []float64, within float64) int {
	if warm := WarmFrom(times, within); warm >= 0 {
		return warm
	}
	return (len(times) + 1) / 2
}
