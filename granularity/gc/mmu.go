package gc

import (
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

// MMU computes minimum mutator utilizations (Cheng and Blelloch): the minimum,
// over all windows of a length that lie in w, of the share of time not in a
// pause. A window longer than w is all of w.
func MMU(pauses []activity.Span, w activity.Span, lengths []units.Ns) []Utilization {
	union := Union(pauses, w)
	out := make([]Utilization, 0, len(lengths))
	for _, length := range lengths {
		out = append(out, Utilization{length, mmu(union, w, min(length, w.Len()))})
	}
	return out
}

// mmu looks at the windows that begin with a pause and those that end with one: as a
// window slides, the time stopped in it has its maxima there.
func mmu(union []activity.Span, w activity.Span, length units.Ns) float64 {
	if length <= 0 {
		return 1
	}
	worst := units.Ns(0)
	size := units.MonoNs(length)
	before := make([]units.Ns, len(union)+1) // time stopped before each pause
	for i, p := range union {
		before[i+1] = before[i] + p.Len()
	}
	first, last := 0, 0 // of the pauses in a window that begins with pause i
	for i, p := range union {
		from := min(p.From, w.To-size)
		for first < i && union[first].To <= from {
			first++
		}
		for last < len(union) && union[last].From < from+size {
			last++
		}
		worst = max(worst, stopped(union, before, first, last, from, from+size))
	}
	first, last = 0, 0
	for _, p := range union {
		to := max(p.To, w.From+size)
		for last < len(union) && union[last].From < to {
			last++
		}
		for first < last && union[first].To <= to-size {
			first++
		}
		worst = max(worst, stopped(union, before, first, last, to-size, to))
	}
	return 1 - float64(worst)/float64(length)
}

// stopped is the time in pauses first..last-1 that lies in from..to.
func stopped(union []activity.Span, before []units.Ns, first, last int, from, to units.MonoNs) units.Ns {
	if first >= last {
		return 0
	}
	sum := before[last] - before[first]
	sum -= units.Ns(max(from-union[first].From, 0))
	return sum - units.Ns(max(union[last-1].To-to, 0))
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
