// Package speedup computes speedup stacks: how far a run with N threads is
// faster than one with a single thread, and what became of the rest (Sartor,
// Du Bois, Eyerman, Eeckhout: Analyzing the Scalability of Managed Language
// Applications with Speedup Stacks).
//
// Each run first gets an Account: each moment of the region counts N times, once
// for each thread that could do the program's work, and each of the N slots is in
// exactly one field of the Account. Two accounts, of the run and of the run with
// one thread, give a Bar.
package speedup

import (
	"errors"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

// Input is what the account of a run is made of.
type Input struct {
	Threads []activity.Thread
	Stream  activity.Stream // in order of From, see activity.Stream
	Pauses  []activity.Span // stop-the-world pauses, by From; they may overlap
	// N is the number of application threads that the run should use.
	N int
	// Workers says, by thread, which ones are application threads: each has a slot. A
	// driver has one if it does a share of the parallel work, as the caller of a
	// parallel stream does.
	Workers []bool
	// Drivers says, by thread, which ones submit work to the workers. The main thread
	// (of KindMain) always is one.
	Drivers []bool
	// Lives is, by thread, when a thread of no pool could work, by the JVM: it ends with its task, and the kernel's thread
	// a while later, beside its successor. Zero: as long as the kernel's thread. nil: not known for any.
	Lives []activity.Span
	// Region is the time that the account is about: one or more spans, in order.
	Region []Segment
}

// Segment is a span of the region.
type Segment struct {
	activity.Span
	// Done has, by thread, when a worker ended its last task in the segment: from
	// then on it counts as exited. 0: not known, so it is done when it exits. nil: not
	// known for any.
	Done []units.MonoNs
	// Shifts has, by thread, when a driver does the workers' tasks itself: it is a
	// worker then. In order, without overlaps. nil: it never does, or not known.
	Shifts [][]activity.Span
}

// Account is where N threads' time went, in nanoseconds. GC, Sequential, Idle and
// Parallel make up the region; they are times of the whole program and count once.
// The fields after them add up to N times Parallel:
//
//	sum(InState) + Exited + Late - Surplus = N * Parallel
type Account struct {
	N        int
	Duration units.Ns // of the region
	// GC is the time stopped for garbage collections.
	GC units.Ns
	// Sequential is the time outside pauses in which a driver was running or ready to
	// run outside the workers' tasks, and no worker was: there were none yet, none any
	// more, or all were waiting. A driver in its shift is a worker.
	Sequential units.Ns
	// Idle is the time outside pauses in which there was no application thread
	// and the drivers had nothing to do (the start of the JVM, for example).
	Idle units.Ns
	// Parallel is the rest: an application thread existed, and drivers were not the
	// only ones at work.
	Parallel units.Ns

	// InState is what the living application threads did in Parallel, summed.
	InState [activity.NStates]units.Ns
	// Exited counts the slots of threads that had exited, or were done, while
	// others lived.
	Exited units.Ns
	// Late counts slots for which no thread had begun.
	Late units.Ns
	// Surplus counts living threads beyond N.
	Surplus units.Ns

	Workers   int // application threads that lived in the region
	MostAlive int // at once
	// Slots is how many application threads there were at once while their pool was at work, for a time that
	// matters: slotTime of that in which there were any. A thread of a pool counts whether it is done or not, another one
	// during its life (Input.Lives).
	Slots int
	// Unseparated: when the workers ended their last tasks is not known, so what they
	// waited for then (imbalance) cannot be told from waiting for each other.
	Unseparated bool
	MainOnly    bool // drivers were the only application threads, and their shifts are not known
}

// Errors of an account.
var (
	ErrRegion  = errors.New("the region has no length, or its spans are not in order")
	ErrThreads = errors.New("the number of threads must be 1 or more")
)

// phase is what the program as a whole is doing.
type phase int

const (
	outside phase = iota // of the region
	inGC
	inSequential
	inIdle
	inParallel
	nPhases
)

// emptySlots divides n slots with alive threads, after gone have exited: the slots
// whose thread has exited, those whose thread has not begun, and the threads beyond
// n.
func emptySlots(n, alive, gone int) (exited, late, surplus int) {
	free := n - alive
	if free < 0 {
		return 0, 0, -free
	}
	exited = min(gone, free)
	return exited, free - exited, 0
}
