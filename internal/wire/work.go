package wire

import "stackagent/internal/units"

// Limits on the extra metrics of a session.
const MaxExtra = 8

// Extra is a work metric beside wall and CPU time. Its place in Hello.Extra is
// its place in every list of work columns of the session.
type Extra struct {
	Name string // "bytecodes", "alloc", "instructions", "cycles", "ref_cycles", or the name of a perf event
	Unit string // "" for a count, "bytes"
	How  string // how it is read: "woven", "thread-local buffer", "rdpmc", "read"
}

// Work holds the extra metrics of a batch's records in columns, one for each
// entry of Hello.Extra, or none at all where there are no extra metrics. Each
// column is as long as the records it belongs to; a value that was not
// measured is units.NotMeasured.
type Work struct {
	Total  [][]int64 // between start and end of the execution (or construction)
	Nested [][]int64 // of this, in the executions nested directly in it; empty for constructions
}

// Construction is what it cost to make a task: from the begin of its outermost
// constructor to that constructor's end, nested executions and constructions
// included. Its Work is Batch.ConstructionWork.
type Construction struct {
	TaskID uint64
	Class  uint32
	Thread uint32
	Wall   units.Ticks
	CPU    units.Ns // or NotMeasured
}

// SubmissionFlags qualify a submission.
type SubmissionFlags uint16

// The bits of SubmissionFlags. They equal those of jvmti/ring/record.h.
const (
	Rejected  SubmissionFlags = 1 << iota // takes back the latest submission of the task: the executor refused it
	Cancelled                             // not a submission: the task was cancelled at this time
	Scheduled                             // to run later, or again and again: its queue time includes the delay asked for
	Started                               // Thread.start, of a platform or virtual thread
	Forked                                // ForkJoinTask.fork
	Inner                                 // handed over inside another hand-over, by a library: not the program's own
	Asked                                 // not a submission: somebody was given the exception by which the task's execution ended
	Forgotten                             // the same: from now on nobody knows whether somebody is
	// NoSubmission are the flags of what is none. Asked with Forgotten says that what is asked for is told from now on.
	NoSubmission = Cancelled | Asked | Forgotten
)

// Submission is a hand-over of a task to an executor.
type Submission struct {
	TaskID      uint64
	OuterTaskID uint64 // the execution inside which it was submitted, 0 if none
	Class       uint32 // of the task
	Thread      uint32 // that submitted it
	Executor    uint32 // Executor.ID, 0: none (Thread.start)
	Site        uint32 // Site.ID, 0: not known
	Flags       SubmissionFlags
	At          units.Ticks
}

// Executor describes an executor the first time it is used.
type Executor struct {
	ID    uint32 // session-wide, never reused
	Class string // Java name of its class
	Name  string // "" where it has none
}

// Site is a place in the source.
type Site struct {
	ID     uint32 // session-wide, never reused; 0 is not a site
	Class  string // Java name
	Method string
	File   string // "" where the class file does not say
	Line   int32  // 0 where the class file does not say
}
