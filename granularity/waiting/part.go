// Package waiting divides the time of a thread, and of the units of work on it, by what the thread did: it ran, or it
// waited for something. The parts of any span add up to its length.
//
// A Line takes what is known of one thread in the order of time. Memory depends on the number of units that
// are open at a time.
package waiting

import (
	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

// Part is what a thread did for a part of its time.
type Part uint8

// The parts.
const (
	CPU      Part = iota // on a CPU
	Runnable             // ready, waiting for a CPU
	Lock                 // for a monitor or another lock
	IO                   // for a socket, a pipe, a file or the disk
	Sleep                // for a given time
	Carrier              // a virtual thread, ready, waiting for a carrier
	GC                   // in a pause of the collector, or for its threads
	Idle                 // a worker, for work
	Other                // for anything else: a condition, a future, a latch, a safepoint
	Unnamed              // blocked in the kernel; what for is not known
	Unknown              // not observed
	NParts
)

// Times are nanoseconds by part.
type Times [NParts]units.Ns

// Sum is the time of all parts.
func (t *Times) Sum() (n units.Ns) {
	for _, part := range t {
		n += part
	}
	return n
}

// Add adds o.
func (t *Times) Add(o *Times) {
	for i := range t {
		t[i] += o[i]
	}
}

// Ran gives a thread its CPU time by its own clock, as far as nothing else is known of the time that it takes.
func (t *Times) Ran(cpu units.Ns) { t.Know(CPU, cpu-t[CPU], Unknown) }

// Know moves at most n nanoseconds to a part, from those of which less is known, in their order.
func (t *Times) Know(as Part, n units.Ns, from ...Part) (moved units.Ns) {
	for _, p := range from {
		some := min(max(n-moved, 0), t[p])
		t[p] -= some
		moved += some
	}
	t[as] += moved
	return moved
}

// Wait is one wait of a thread, From <= t < To. From Ready on the thread waits for a carrier.
type Wait struct {
	From, Ready, To units.MonoNs
	Thread          uint32
	Waker, Holder   uint32 // threads; 0: not known
	What            uint32 // an index of the caller's: what the wait was for
	Site, Context   uint32 // the caller's
	Within          uint32 // class of the innermost execution; 0: none
	Part            Part   // without a scheduling record and outside of pauses
	Flags           uint8  // the caller's
	Index           uint32 // the caller's
}

// Unit is a unit of work on a thread, From <= t < To.
type Unit struct {
	From, To   units.MonoNs
	CPU, Queue units.Ns // or NotMeasured
	Thread     uint32
	Class      uint32 // an index of the caller's
	Task       uint64 // the caller's
}

// partOf is what a thread does by the scheduling record, in a wait w or in none, in a pause or not. The pause comes
// first, as in the definition of pauses in a speedup stack: only what runs in it is not stopped.
func partOf(state activity.ThreadState, w *Wait, ready, pause bool) Part {
	switch {
	case state == activity.Running:
		return CPU
	case pause:
		return GC
	}
	switch state {
	case activity.Runnable:
		return Runnable
	case activity.Stalled:
		return GC
	case activity.Safepoint:
		return Other
	case activity.IO:
		if w != nil && w.Part == Idle { // it accepts connections
			return Idle
		}
		return IO
	}
	switch {
	case w != nil && ready:
		return Carrier
	case w != nil:
		return w.Part
	case state == activity.Sleeping:
		return Sleep
	case state == activity.Unknown:
		return Unknown
	}
	return Unnamed
}
