// Package unit makes units of work of executions. One submission by the program
// (submit, execute, fork, start) is one unit, however many wrappers the
// libraries put around it. A nested execution whose task was not submitted by
// itself belongs to the unit of its outer execution. The loops of threads and
// workers are no units, nor are tasks that the platform runs for itself. A unit
// is named after the program's own task in it.
//
// The Builder takes executions in the order in which each thread ended them,
// nested ones before their outer one. Memory is bounded by the number of
// executions that are open at a time.
package unit

import "stackagent/internal/units"

// Role says what executions of a class are.
type Role uint8

// The roles.
const (
	Task     Role = iota // a task of the program, or a fork/join task of the platform
	Library              // a task of a library that schedules tasks: a unit like any other, named after the program's task in it
	Platform             // a task of the platform: a unit only if it was submitted
	Wrapper              // a library's, around the task that it was made for
	Loop                 // the loop of a thread or of a pool's worker
	Internal             // a task that the platform makes and submits for itself: never a unit
)

// Execution is one execution.
type Execution struct {
	Task, Outer uint64 // Outer 0: not nested
	Class       uint32
	Role        Role
	Thread      uint32
	ForkJoin    bool // the class is a ForkJoinTask
	Submitted   bool // its task was submitted by itself, before its start
	Named       bool // the user named the method: each call of it is a unit, as if it was submitted
	// Inner: tasks of its class are submitted only inside another submission. Around a
	// submitted task it is a wrapper, whoever's class it is.
	Inner        bool
	Started      bool // that submission was the start of a thread
	Whole        bool // executions inside it have no record, or a later one; all of them belong to its unit
	Start, End   units.MonoNs
	Threw        bool
	Running, Cut bool
	Virtual      bool
	Unseen       bool // its creation was not seen
	Work         Work
	Queue        units.Ns // start less the latest submission, or less the due time if that is later, or NotMeasured
	Delay        units.Ns // due time less that submission, or NotMeasured
	Late         units.Ns // how long before that submission it was due; 0: it was not, or is not known
}

// MaxMetrics is how many metrics a unit has room for: wall and CPU time and
// eight of the session's own, total and self.
const MaxMetrics = 2 * (2 + 8)

// Work is the work of an execution or a unit by granularity.Metric. It is an
// array so that the Builder allocates nothing for it.
type Work [MaxMetrics]units.Ns

// Unit is one unit of work.
type Unit struct {
	Root   uint64 // task of its outermost execution
	Around uint32 // class of that
	Outer  uint64 // that around it; 0: none
	Named  uint64 // task after which it is named
	Class  uint32 // its class
	Thread uint32
	// StartedAs is the thread, as a task, whose start submitted the unit; 0: it was
	// submitted by itself, or not at all.
	StartedAs uint64
	// SubmittedAs is the task that was submitted; 0: that of the outermost execution, if any.
	SubmittedAs uint64
	// Start and End are those of its outermost execution; End 0: still running.
	Start, End units.MonoNs
	// Work has the total metrics from start to end and, as the self metrics, what
	// the unit did itself: without the units nested in it.
	Work       Work
	Queue      units.Ns // of a unit that a thread was started for: since the start of the thread
	Delay      units.Ns // that was asked for, or NotMeasured
	Late       units.Ns // how long before its submission it was due; 0: it was not, or is not known
	Executions int64    // in it
	Depth      int32    // of the deepest execution in it, 0: a single one
	Inside     bool     // it ran inside an execution that is not the loop of a thread
	Submitted  bool
	Threw      bool // the task it is named after ended by an exception
	Swallowed  bool // it did, and the outermost execution, a wrapper, did not
	// Keeper is the class of the wrapper that kept the exception, if Swallowed.
	Keeper   uint32
	ForkJoin bool // the outermost task is a fork/join task, which keeps its exception for whoever joins it
	Running  bool
	Cut      bool
	Virtual  bool
	Unseen   bool
}
