// Package graph makes the activity graph of a session, with the schedule that was
// recorded: of its units of work, submissions, and the scheduling record's waits and
// who ended them.
//
// A unit of work of a pool is a unit of the graph, and so is the body of each other
// thread of the program. Time of executions inside that were not submitted is their
// class's, in the same unit. What a thread waited for is
//   - the end of another unit, if a thread ended the wait at the end of its unit, or
//     ran the unit itself (a helping join);
//   - else an event that the thread raised which ended it;
//   - else I/O, a time or the collector, of fixed length;
//   - else not known: a fixed length, too.
//
// A unit that joined one of the units that it submitted is taken to join also those
// that had ended by then: a program that waits for the slowest asks for all.
package graph

import (
	"stackagent/granularity/activity"
	"stackagent/granularity/graph"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/wait"
	"stackagent/shadow/session"
)

// unitOf is a recorded unit of work, or the body of a thread. There may be millions of them.
type unitOf struct {
	id         uint64
	start, end units.MonoNs
	submitted  units.MonoNs // 0: not known
	due        units.MonoNs // if it was to run later
	lateBy     units.Ns     // how long before its submission it was to run; 0: not known
	cpu        units.Ns     // of its own; 0: not measured
	busy       float64      // share of its own time on a CPU; used where no scheduling record is
	freedAt    units.MonoNs // when its worker was free

	class, site uint32 // names
	thread      uint32
	submitter   uint32  // thread; 0: not known
	executor    uint32  // in the session; 0: none
	at          uint32  // in the graph, + 1; 0: not there
	steps       uint32  // that it has so far
	freed       stepRef // the step after which its worker was free
	submittedBy stepRef

	late    bool // it was to run before its submission
	fixed   bool // it is a later period at a fixed rate: due is right even if it is late
	again   bool // an earlier unit of the same task submitted it
	inline  bool // runs inside another unit, and was not submitted: only a class
	beside  bool // what a thread of the JVM computed: the program does not wait for it
	virtual bool // on a virtual thread
	body    bool
}

// last is its last step so far.
func (u *unitOf) last() stepRef {
	if u.steps == 0 {
		return stepRef{}
	}
	return stepRef{u.at, u.steps - 1}
}

// timed reports whether the unit was to run later than it was submitted.
func (u *unitOf) timed() bool { return u.fixed || u.due > u.submitted }

// piece is a stretch of a thread's time: on a CPU or ready for it, or one wait.
type piece struct {
	activity.Span
	run     units.Ns // on a CPU; of a wait 0
	held    units.Ns // ready while threads that are not the program's had the CPUs
	state   activity.ThreadState
	by      uint32 // thread that ended the wait; 0: not known
	class   uint32 // name of what it waited for; 0: not known
	wait    uint32 // 1 + index in recording.waits: what else the agent recorded of a wait; 0: nothing
	lock    bool   // what it waited for is a lock: the wait is not a join, even if whoever ended it ends then
	pin     bool   // a virtual thread kept its carrier
	expired bool   // the wait for something ended at a time limit
}

// waitInfo is what the agent recorded of a wait.
type waitInfo struct {
	class, site, kind string
	init              string // the class in whose initialiser it was
	within            uint32 // the class, in the session, of the innermost execution that it was in; only for threads with stretches
	object            uint32 // of a lock
	lock              bool
	room              bool // in a queue that is full
	all               bool // in invokeAll
	stage             bool // in a stage that runs where its future is completed
	sum               bool // several waits, of which only the sum is recorded
}

// forElement reports whether it is a wait for what another thread gives, which need not be near its unit's end by more than chance.
func (w *waitInfo) forElement() bool { return w != nil && wait.HoldsElements(w.class) }

// waits reports whether the thread could not go on.
func (p *piece) waits() bool { return p.state != activity.Running && p.state != activity.Runnable }

// recording is what the graph is made of.
type recording struct {
	activity.Span
	cpus      int
	names     *graph.Names // of classes and sites
	waits     []waitInfo   // that are different
	threads   map[uint32]*threadOf
	units     []unitOf
	executors map[uint32]executorOf
	left      map[uint32][]leftTask // by thread: the tasks that it submitted inside another one, to run at once, and that never began
	refused   map[refusal]int       // how many submissions were refused
	beside    []*threadOf           // the JVM's own that compute beside the program: JIT compilers, concurrent collectors
	pauses    []session.Pause       // of the collector, in order; none overlap
	carriers  int                   // of virtual threads
	pins      pins
	pending   []pendingTask              // in order of time
	unlisted  map[uint32][]activity.Span // by thread, 0: any: when submissions were only counted; joined where they meet
	sums      map[SumOf]Unrecorded       // waits of virtual threads without a record of their own; class and wait are a name and 1 + index in waits
	turns     map[uint32]Turns           // by class of units, a name
	cpu       CPUTime
}

// refusal is who submitted what was refused, a thread, and to which executor of the session.
type refusal struct{ thread, executor uint32 }

// stretch is the time in which a worker ran units that only a summary has.
type stretch struct {
	activity.Span
	class, executor   uint32 // the name, and the executor in the session
	id, thread        uint32 // of the class and the thread in the session
	units             int
	queued, ran       units.Ns // summed, as in graph.Sum
	cpu, self         units.Ns
	took, ready, free units.Ns
	waits             map[ownWait]units.Ns
}

// leftTask is a submission of a task that never began.
type leftTask struct {
	at       units.MonoNs
	executor uint32
}

type executorOf struct {
	name     string
	forkJoin bool
	given    *session.Executor // nil: the session does not have it
}

// threadOf is a thread of the program.
type threadOf struct {
	id        uint32
	name      string
	worker    bool
	executor  uint32 // in the session, of which it is a worker; 0: none
	alive     bool   // it did not end before the program did, which does not wait for it
	daemon    bool   // the JVM does not wait for it
	collector bool   // it collects garbage while the program runs
	virtual   bool
	start     started
	pieces    []piece         // in order; none: no scheduling record of it
	stays     []activity.Span // on CPUs, in order; none: it is not known where in its pieces they are
	units     []uint32        // indices, by start, the outer one first
	stretches []stretch       // in order
	ends      []units.MonoNs  // by units: the latest end so far; nil: nobody has asked
	events    []event         // but for the starts and ends of its own units
}

// started is who started a thread, when and where; zero: not known.
type started struct {
	at   units.MonoNs
	by   uint32 // thread
	site uint32 // name
}

// waitAt is what the agent recorded of a wait; nil: nothing.
func (r *recording) waitAt(n uint32) *waitInfo {
	if n == 0 {
		return nil
	}
	return &r.waits[n-1]
}

// stepRef is a step of a unit of the graph.
type stepRef struct {
	unit, step uint32 // the unit + 1; 0: not known
}

func (r stepRef) known() bool { return r.unit != 0 }
