// Package session reads a session folder and hands its facts, joined on one
// clock, to the analyses.
package session

import (
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// Class is a task class of the session.
type Class = wire.Class

// Thread is a Java thread, or a service thread of the JVM (JavaID 0).
type Thread struct {
	ID      uint32 // 0 for a service thread of the JVM
	JavaID  int64
	OSID    int32
	Name    string
	Group   string
	Class   string
	Kind    string // "application", "main", "gc", "compiler", "vm", "other"
	Daemon  bool
	Virtual bool
	StartNs units.MonoNs // 0: before the agent looked
	EndNs   units.MonoNs // 0: alive at the end of the session
	CPU     units.Ns     // units.NotMeasured where not known
	// Executor is the executor whose worker it is; 0: none, or not known.
	Executor uint32
	// Waited is how long it was ready and waited for a processor, by the kernel's account;
	// nil where that is not known of next to all of its life.
	Waited *units.Ns

	// Counted says that the agent reported what the thread produced; Produced and
	// Lost include summarised and lost events then.
	Counted  bool
	Produced store.Counts
	Lost     uint64 // events, of these, that its ring had no room for
}

// Label is the thread's name with its Java id, "pool-1-thread-2#31".
func (t Thread) Label() string { return label(t.Name, t.JavaID, t.OSID) }

// Pause is a garbage collection pause.
type Pause struct {
	StartNs, EndNs units.MonoNs
	Cause          string // in HotSpot's words; "": not known
	Asker          uint32 // site of the program's method that called System.gc(); 0: nobody, or not known
	ForBuffers     bool   // the JDK called it, because a direct buffer found no memory
}

// Runs of rows in columns of equal length. Columns that were not asked for are empty. Slices are reused between
// calls: copy what is kept. Package schema declares the columns.
type (
	Chunk             = store.ExecutionColumns
	CreationChunk     = store.CreationColumns
	SubmissionChunk   = store.SubmissionColumns
	ConstructionChunk = store.ConstructionColumns
)

// Task is one row of the raw trace: an execution, or a task never executed.
type Task struct {
	TaskID                               uint64
	Class                                *Class
	Execution                            int32        // 1, 2, ... ; 0: never executed
	OuterTaskID                          uint64       // 0: outermost
	CreatedNs                            units.MonoNs // 0: creation not seen
	CreatorThread                        *Thread      // nil: creation not seen
	StartNs                              units.MonoNs
	EndNs                                units.MonoNs
	Thread                               *Thread // nil: never executed
	WallNs, CPUNs, SelfWallNs, SelfCPUNs units.Ns
	Threw, Running, Cut                  bool
	CPUEstimated                         bool // see wire.CPUEstimated
	State                                TaskState

	CreatedAt   *Site    // nil: not known
	InitNs      units.Ns // wall time of its construction, or NotMeasured
	QueueNs     units.Ns // StartNs - SubmittedNs - DelayNs if there is one, or NotMeasured
	DelayNs     units.Ns // from the submission to when it was due, or NotMeasured; of a later period since it was queued again
	SubmittedNs units.MonoNs
	// Submission is the latest one before the start, of a task never executed
	// the latest; nil where none was recorded.
	Submission *Submission

	Extra, SelfExtra []units.Ns // of extra metric k, see Metric; nil of a task never executed
}

// Submission is the submission of a task.
type Submission struct {
	AtNs       units.MonoNs
	Thread     *Thread   // that submitted it; nil: not known
	ExecutorID uint32    // 0: none (the start of a thread)
	Executor   *Executor // nil: none, or not known
	Site       *Site     // nil: not known
	Flags      wire.SubmissionFlags
}

// TaskState is what became of a task, as far as one row of the trace says.
type TaskState string

// The states.
const (
	Executed       TaskState = "executed"
	StillRunning   TaskState = "running"         // when the program ended
	NeverSubmitted TaskState = "never submitted" // nor was a library's task around it: never executed
	NeverRun       TaskState = "never run"       // submitted, and neither executed nor one of those that follow
	Cancelled      TaskState = "cancelled"       // or the library's task around it was, and never executed
	Rejected       TaskState = "rejected"        // by each executor it was submitted to, and never executed
	NeverExecuted  TaskState = "never executed"  // it is not known which of these four
)
