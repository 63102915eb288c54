package page

import (
	"stackagent/granularity/activity"
	"stackagent/granularity/speedup"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/scaling"
)

// components are those of a speedup stack without a base, from the bottom.
var components = []Label{
	{"base", "at work", "threads on a CPU for the program"},
	{"gc", "garbage collection", "pauses stop all threads; and what threads waited for the collector beside pauses"},
	{"sequential", "sequential part", "one thread was at work, and none of the others could be"},
	{"synchronization", "synchronization", "waiting for one another: locks, monitors, joins, empty queues"},
	{"imbalance", "imbalance", "threads had done their last task while others still worked"},
	{"io", "I/O", "waiting for a socket, a file or a pipe"},
	{"oversubscription", "oversubscription", "ready, waiting for a CPU"},
	{"rest", "rest", "sleep, safepoints, threads that had not begun, and what is not known"},
}

// stack fills in what became of the time of the program's threads, by slot.
func (b *builder) stack() error {
	b.progress("dividing the time of the threads")
	spans := b.slotSpans()
	at := []units.MonoNs{spans[0].From}
	for _, s := range spans {
		at = append(at, s.To)
	}
	run, err := scaling.Reckon(b.s, scaling.Options{Parts: at})
	switch {
	case err != nil:
		b.missing("stack", text.OneLine(err.Error()))
		return nil
	case run.Workers == 0:
		b.missing("stack", "no application thread beside the main thread was at work")
		return nil
	}
	to := &Stack{N: run.N, Components: components}
	for i := range run.Parts {
		to.Values = append(to.Values, stackOf(&run.Parts[i], run.Unseparated, spans[i].Len())...)
	}
	for _, n := range run.Notes {
		to.Notes = append(to.Notes, sentence(n))
	}
	b.data.Stack = to
	return nil
}

// stackOf divides N times the length of a slot among the components. The time of pauses, of the sequential part and of idleness counts
// once for each of N threads; of the sequential part one of them was at work. What the record does not cover is in the rest.
func stackOf(a *speedup.Account, unseparated bool, length units.Ns) []float64 {
	n, in := units.Ns(a.N), &a.InState
	v := []float64{
		float64(in[activity.Running] + a.Sequential), float64(n*a.GC + in[activity.Stalled]), float64((n - 1) * a.Sequential),
		float64(in[activity.Futex]), float64(a.Exited), float64(in[activity.IO]), float64(in[activity.Runnable]), 0,
	}
	if unseparated {
		v[3], v[4] = 0, 0
	}
	whole, rest := float64(n*length), len(v)-1
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	if sum <= whole {
		v[rest] = whole - sum
		return v
	}
	for i := range v { // more than N threads lived: N of them count
		v[i] *= whole / sum
	}
	return v
}
