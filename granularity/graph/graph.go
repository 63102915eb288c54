// Package graph has the model of a program that the critical path and what-if
// analyses share: a program activity graph (Yang and Miller, 1988). Its nodes are
// the steps of units of work; its edges are the order of steps in a unit, and what
// one unit's step makes possible for another's: a submission, the end of a unit, a
// release, an event.
//
// A Graph says what must happen, without times other than lengths. A Schedule says
// when each step of a graph ended and which step made it possible: recorded from a
// session, or computed by package replay. Package critical reads both.
//
// A unit runs from its start to its end on one thread. Threads that are not workers
// of an executor are units of an executor without a limit.
package graph

import "stackagent/internal/units"

// Kind is what a step does.
type Kind uint8

// The kinds. Compute and Outside take Len. For the waits Len is how long after the
// cause the unit goes on (the time to wake up); for the others it is 0.
const (
	Compute Kind = iota // on a CPU for Len
	Outside             // waits Len for something that is not in the graph: I/O, a time
	Submit              // submits unit On to its executor, or starts it as a thread
	Join                // waits for the end of unit On
	Acquire             // takes a permit of resource On, or waits for one
	Release             // gives a permit of resource On; a release without an acquire adds one
	Put                 // adds to queue On, or waits for room
	Take                // takes from queue On, or waits for an element
	Signal              // counts event On down
	Await               // waits until event On was counted down to 0
	Arrive              // waits at barrier On until all parties are there
	NKinds
)

var kindNames = [NKinds]string{"compute", "outside", "submit", "join", "lock", "release", "queue_full", "queue_empty", "signal", "wake-up", "barrier"}

// String names what a unit does, or waits for, in a step of the kind: "compute", "lock".
func (k Kind) String() string {
	if k >= NKinds {
		return "unknown"
	}
	return kindNames[k]
}

// Waits reports whether a step of the kind may wait for another unit.
func (k Kind) Waits() bool {
	return k == Join || k == Acquire || k == Put || k == Take || k == Await || k == Arrive
}

// Step is a step of a unit.
type Step struct {
	Kind  Kind
	Cause Cause // of an Outside step
	// Pinned: the unit keeps its worker while it waits, although the executor's units leave theirs.
	Pinned bool
	On     uint32 // index in Units or Resources, by kind; of a wait for the Collector, in Pauses; of a Poll, 1 + the unit whose end it is for, 0: not known
	Class  uint32 // index in Classes of whose time it is; 0: none
	Site   uint32 // index in Sites; 0: none
	Wait   uint32 // index in Graph.Waits: what is known of a wait; 0: nothing
	Len    units.Ns
}

// WantsCPU reports whether a step takes a CPU from the others: its unit computes, or waits while somebody else has one.
func (s *Step) WantsCPU() bool {
	return s.Kind == Compute || s.Kind == Outside && s.Cause == Machine
}

// Wait is what was recorded of a wait beside who ended it.
type Wait struct {
	Class  uint32 // index in Classes, of what was waited for; 0: not known
	Site   uint32 // index in Sites: where the program waited; 0: not known
	Kind   string // monitor, notify, park, sleep or io
	Object uint32 // of a lock: its identity hash; 0: not known
	Lock   bool   // it has holders: a monitor, a lock or permits
	Shared bool   // whoever ends it gives something, or changes a state, and need not end: a queue or a condition
	Room   bool   // it is for room in a queue that is full
	All    bool   // it is in a method that waits for several: invokeAll
	Stage  bool   // it is in a stage of a future, on the thread that completes that
	Sum    bool   // it stands for several waits, of which only the sum is recorded
	Init   uint32 // index in Classes: the class in whose initialiser the program waited; 0: none, or not known
}

// Cause is what an Outside step waits for.
type Cause uint8

// The causes.
const (
	NotKnown Cause = iota // nothing says what for
	Time                  // a sleep
	IO
	Collector // the garbage collector, or another operation of the VM
	Limit     // something that did not happen within a time limit
	Machine   // a CPU, which threads that are not in the graph had
	Thread    // a thread that it starts to be there
	Poll      // a sleep or Limit, and the unit then did nothing for others but wait with a limit again: what it waited for in the end may be sooner
	NCauses
)

var causeNames = [NCauses]string{"not_known", "sleep", "io", "gc", "sleep", "cpu", "starting_a_thread", "sleep"}

func (c Cause) String() string {
	if c >= NCauses {
		return "unknown"
	}
	return causeNames[c]
}

// Unit is a unit of work, or the body of a thread.
type Unit struct {
	ID       uint64 // in the session; 0: none
	Class    uint32 // index in Classes
	Thread   uint32 // index in Threads, where it was recorded; 0: none
	Executor uint32 // index in Executors
	// Left is 1 + the executor in whose queue a unit stayed that this one submitted and that never began, as one that is cancelled after a time limit; 0: none.
	Left     uint32
	First, N uint32 // its steps are Steps[First : First+N]
	// Delay is how long after its submission it is due; of a unit that nobody submits,
	// after the start of the graph.
	Delay units.Ns
	// Due is when it is due, counted from the start of the graph, if it is Fixed.
	Due units.Ns
	// Latency is how long after a worker is free for it the unit starts.
	Latency units.Ns
	// Wake is how much later it starts if its worker was idle: not if it comes from another unit.
	Wake units.Ns
	// Took and Waited are the thousandths of Latency in which the worker computed, as it took the unit, and in which it was ready for a CPU.
	Took, Waited uint16
	Beside       bool // of a thread of the JVM: the program's end does not wait for it
	// Background: a unit of a thread's own that continues until the others end, as a daemon or a loop that looks for something from time to time. It does not decide how long a run takes.
	Background bool
	// Late: it was due before it was submitted. When is not known: it cannot start much earlier than it did.
	Late bool
	// Fixed: it is due at Due whenever it is submitted, as a later period at a fixed rate is. Delay does not count.
	Fixed bool
	// Timed: when it is due was asked for, as for a periodic task.
	Timed bool
	// Again: an earlier unit of the same task submitted it.
	Again bool
}

// Order is the order in which the workers of an executor take units.
type Order uint8

// The orders. Stealing is that of fork/join pools: a worker takes the newest of the
// units that it submitted, then the oldest of those from outside, then the oldest of
// another worker.
const (
	FIFO Order = iota
	LIFO
	Stealing
)

// Executor runs units.
type Executor struct {
	Name    string
	Workers int // 0: one for each unit
	Order   Order
	// Leaves: a unit that waits for anything but a CPU or the collector leaves its worker, which takes other units,
	// as virtual threads leave their carriers. It goes on with the next worker that is free.
	Leaves bool
	// Helps: while a unit of it waits for another one's end, or for an event, its worker takes
	// other units, as in a fork/join pool; not if the wait is known to be another one than a park.
	Helps bool
}

// ResourceKind is what a resource is.
type ResourceKind uint8

// The kinds of resources. N is a lock's number of permits, a queue's capacity (0: no
// limit), an event's count, a barrier's number of parties.
const (
	Lock ResourceKind = iota // and semaphore
	Queue
	Event
	Barrier
)

// Resource is what units wait for.
type Resource struct {
	Kind  ResourceKind
	Class uint32 // index in Classes
	N     int
	Free  bool // of a lock or an event: nobody waits for it
}

// Sum is a stretch of a worker's time in which it ran units that are not in the graph, because they came too fast to be recorded one by one.
type Sum struct {
	Class, Thread, Executor uint32
	From, To                units.Ns
	Units                   int
	Queued                  units.Ns // from the submissions of the units to their starts, summed
	Ran, CPU                units.Ns // from their starts to their ends, summed, and the part of it in which they computed; others that they ran inside themselves are not in CPU
	// Free is the part of the stretch in which the worker was in no unit of the graph. In Free it was in these units for Self, and took one after the other, computing or
	// waiting for a lock, for Took, and was ready for a CPU for Ready.
	Free, Self, Took, Ready units.Ns
	Waits                   []SumWait // in Ran, the longest ones
}

// SumWait is what units that are only summed up waited for.
type SumWait struct {
	Wait uint32 // index in Graph.Waits
	By   uint32 // index in Classes: of the units that are only summed up which ended most of it; 0: not known
	Ns   units.Ns
}

// Unlisted is a stretch in which a thread submitted units of which the submissions were only counted.
type Unlisted struct {
	Thread   uint32 // index in Threads; 0: any of them
	From, To units.Ns
}

// Response is the time from the submissions of the units to their ends, summed.
func (x *Sum) Response() units.Ns { return x.Queued + x.Ran }

// Graph is a program. Entry 0 of Classes, Sites, Threads and Pauses is "" and stands for none;
// entry 0 of Executors runs what runs in threads of its own.
type Graph struct {
	Classes, Sites, Threads []string
	Pauses                  []string // what collections ran for
	Waits                   []Wait   // entry 0 is empty
	Executors               []Executor
	Resources               []Resource
	Units                   []Unit
	Steps                   []Step
	Sums                    []Sum      // by From; no replay has them
	Unlisted                []Unlisted // those of a thread in the order of time
	CPUs                    int        // 0: no limit
}

// Schedule is when the steps of a graph happened, since its start.
type Schedule struct {
	Start []Moment // of units
	End   []Moment // of steps; a step begins at the end of the one before, or with its unit
}

// Moment is a time and what made it possible.
type Moment struct {
	At units.Ns // Never: it did not happen
	By uint32   // 1 + the step at whose end this was possible; 0: none, or not known
}

// Never is the time of what did not happen.
const Never units.Ns = -1

// StepsOf are the steps of a unit.
func (g *Graph) StepsOf(unit int) []Step {
	u := &g.Units[unit]
	return g.Steps[u.First : u.First+u.N]
}

// Finish is when a unit ended in the schedule; Never if it did not.
func (g *Graph) Finish(s *Schedule, unit int) units.Ns {
	u := &g.Units[unit]
	if u.N == 0 {
		return s.Start[unit].At
	}
	return s.End[u.First+u.N-1].At
}

// Length is when the last unit of the program in a schedule ended, and which one that was; -1: none did.
func (g *Graph) Length(s *Schedule) (length units.Ns, last int) {
	last = -1
	for i := range g.Units {
		if g.Units[i].Beside || g.Units[i].Background {
			continue
		}
		if end := g.Finish(s, i); end > length || last < 0 && end == length {
			length, last = end, i
		}
	}
	return length, last
}

// All is when everything in a schedule has ended, that which the program's end does not wait for included.
func (g *Graph) All(s *Schedule) units.Ns {
	length, _ := g.Length(s)
	background := map[uint32]bool{} // what units in the background cause
	for i := range g.Units {
		for _, x := range g.StepsOf(i) {
			if g.Units[i].Background && x.Kind == Submit {
				background[x.On] = true
			}
		}
	}
	for i := range g.Units {
		if g.Units[i].Beside && !background[uint32(i)] {
			length = max(length, g.Finish(s, i))
		}
	}
	return length
}
