package gc

import (
	"cmp"
	"math"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

// Utilization is a point of the curve of minimum mutator utilization.
type Utilization struct {
	Window units.Ns
	// Min is the least share, 0 to 1, of any window of this length that is not
	// stopped.
	Min float64
}

// Stop is a span in which part of the program is stopped.
type Stop struct {
	activity.Span
	Share float64 // of the program, 0 to 1
}

// MMU computes minimum mutator utilizations (Cheng and Blelloch): the minimum,
// over all windows of a length that lie in w, of the share of time not in a
// pause. A window longer than w is all of w.
func MMU(pauses []activity.Span, w activity.Span, lengths []units.Ns) []Utilization {
	return Utilizations(Stops(pauses, nil, 1, w), w, lengths)
}

// Stops are the pauses, in which all threads are stopped, and the stalls, in each of which one thread is stopped and the
// others are not: a share of 1/threads for each stalled thread. They are cut to w, in order, and do not overlap.
func Stops(pauses, stalls []activity.Span, threads int, w activity.Span) []Stop {
	type change struct {
		at             units.MonoNs
		pauses, stalls int
	}
	var changes []change
	for _, p := range activity.Union(pauses, w) {
		changes = append(changes, change{p.From, 1, 0}, change{p.To, -1, 0})
	}
	for _, s := range stalls {
		if s = s.Cut(w); s.To > s.From {
			changes = append(changes, change{s.From, 0, 1}, change{s.To, 0, -1})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	var out []Stop
	inPause, stalled := 0, 0
	for i, c := range changes {
		inPause, stalled = inPause+c.pauses, stalled+c.stalls
		share := min(1, float64(stalled)/float64(max(threads, 1)))
		if inPause > 0 {
			share = 1
		}
		if share > 0 && changes[i+1].at > c.at {
			out = append(out, Stop{activity.Span{From: c.at, To: changes[i+1].at}, share})
		}
	}
	return out
}

// Utilizations is MMU with stops that concern part of the program.
func Utilizations(stops []Stop, w activity.Span, lengths []units.Ns) []Utilization {
	out := make([]Utilization, 0, len(lengths))
	for _, length := range lengths {
		out = append(out, Utilization{length, mmu(stops, w, min(length, w.Len()))})
	}
	return out
}

// mmu looks at the windows that begin with a stop and those that end with one: as a
// window slides, the time stopped in it has its maxima there.
func mmu(stops []Stop, w activity.Span, length units.Ns) float64 {
	if length <= 0 {
		return 1
	}
	worst := 0.0
	size := units.MonoNs(length)
	before := make([]float64, len(stops)+1) // time stopped before each
	for i, p := range stops {
		before[i+1] = before[i] + p.Share*float64(p.Len())
	}
	first, last := 0, 0 // of the stops in a window that begins with stop i
	for i, p := range stops {
		from := min(p.From, w.To-size)
		for first < i && stops[first].To <= from {
			first++
		}
		for last < len(stops) && stops[last].From < from+size {
			last++
		}
		worst = max(worst, stopped(stops, before, first, last, from, from+size))
	}
	first, last = 0, 0
	for _, p := range stops {
		to := max(p.To, w.From+size)
		for last < len(stops) && stops[last].From < to {
			last++
		}
		for first < last && stops[first].To <= to-size {
			first++
		}
		worst = max(worst, stopped(stops, before, first, last, to-size, to))
	}
	return 1 - worst/float64(length)
}

// stopped is the time in stops first..last-1 that lies in from..to.
func stopped(stops []Stop, before []float64, first, last int, from, to units.MonoNs) float64 {
	if first >= last {
		return 0
	}
	begin, end := stops[first], stops[last-1]
	sum := before[last] - before[first]
	sum -= begin.Share * float64(max(from-begin.From, 0))
	return sum - end.Share*float64(max(end.To-to, 0))
}

// Lengths are the window lengths of a curve, from least to the length of w, steps
// per decade.
func Lengths(least units.Ns, w activity.Span, steps int) []units.Ns {
	var out []units.Ns
	for x := float64(least); units.Ns(x) < w.Len(); x *= root10(steps) {
		out = append(out, units.Ns(x))
	}
	return append(out, w.Len())
}

func root10(n int) float64 { return math.Pow(10, 1/float64(n)) }
