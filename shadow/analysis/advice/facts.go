package advice

import (
	"stackagent/granularity"
	"stackagent/granularity/gc"
	"stackagent/granularity/unit"
	"stackagent/internal/text"
	"stackagent/internal/units"
)

// Facts are what the rules look at.
type Facts struct {
	Of            text.Population // what Executions, Total, Fine and Rows are of
	Like          string          // glob that selects their classes; "": all
	Duration      units.Ns
	CPUs          int
	Created       int64
	Executions    int64
	Summarised    int64 // executions that were summarised
	NeverExecuted int64
	Threw         int64
	Running       int64
	Threads       int64 // threads that executed tasks
	ThreadsLow    bool  // Threads is a minimum
	Total         granularity.Metrics
	Fine          granularity.Fineness // of the program's own tasks, loops left out
	FineIsAll     bool                 // there were none: Fine is of all executions
	Rows          []granularity.Hotspot
	GC            granularity.PauseStats
	Standstill    *gc.Standstill // nil: not known
	ProfilerNs    units.Ns       // of it, at most: the profiler changed classes
	LostEvents    uint64
	LostBatches   uint64
	Unended       bool // the record breaks off: executions still running then are missing
	Partial       bool // executions are missing: counts and sums are lower bounds, shares and rates are not known
	Damaged       bool // files of the session are damaged or missing: counts are of what is left
	Refused       []Refusal
	Sites         map[string]string // by class: the site of all its tasks, if there is one
	NotAvailable  []string
	Observed      *Observed   // nil: the session does not say who observed its JVM
	Thresholds    *Thresholds // nil: DefaultThresholds
	Replayer      Replayer    // nil: findings about no pool have no prediction

	Kept        []Kept       // cancelled tasks that executors keep, most first
	Allocated   *Allocated   // nil: not known
	Units       *UnitFacts   // nil: units and the machine are unknown
	Note        *unit.Note   // nil: the facts are of executions
	Submissions *Submissions // nil: units were not read
	Skipped     *Skipped     // nil: units were read, or there are none
}

// unitsRead reports whether rules about units replace those about executions.
func (f *Facts) unitsRead() bool { return f.Units != nil && f.Units.Read }

func (f *Facts) thresholds() Thresholds {
	if f.Thresholds == nil {
		return DefaultThresholds
	}
	return *f.Thresholds
}

// Refusal counts what could not be instrumented or recorded, for one reason: classes
// and methods, but also threads and pauses.
type Refusal struct {
	Reason string `json:"reason"`
	Count  uint64 `json:"count"`
	Sample string `json:"sample,omitempty"`
}

// Submissions counts the submissions of a session.
type Submissions struct{ Produced, Stored, Summarised uint64 }

// Skipped is why the units of a session were not read.
type Skipped struct {
	Recorded uint64 `json:"recorded"` // executions with a record of their own
	Limit    uint64 `json:"limit"`    // the most for which units are read
	Asked    bool   `json:"asked"`    // the user asked for units
}

// UnitFacts describe units of work and the machine.
type UnitFacts struct {
	Read      bool // false: only the machine is known
	Duration  units.Ns
	CPUs      int
	Classes   []UnitClass
	Pools     []Pool
	Finalizer units.Ns        // CPU time of the thread that runs finalize(); 0: none, or not known
	Backlogs  []Backlog       // most first
	Ended     []EndedPeriodic // most missing first
	Polling   []Seen          // busy threads that poll, most CPU time first
	Stages    []Seen          // those that serve others, in stages of the futures that they complete
	Late      []Seen          // busy threads that took long to stop; Wall is how long in all
	Finalized []Seen          // the Finalizer, by the finalize() that it runs
	MaxDepth  int64           // executions on the deepest stack
	Deepest   string          // the class of the innermost one
	Lost      bool            // events were lost: no finding may rest on missing events
	Unended   bool            // the record breaks off, or the session still runs
	Virtual   *VirtualFacts   // nil: no virtual threads, or nothing known about them
	// Taken is the CPU time of other programs while threads of the JVM waited for a
	// processor, during Recorded; NotMeasured: not known.
	Taken    units.Ns
	Recorded units.Ns // how long the scheduler was recorded
	// Waits is nil if it is not known, or too little to change a finding.
	Waits       *Waits
	Collections *Collections // nil: not known
}

// Collections are what collections cost, and why they ran by the JVM's own counters.
type Collections struct {
	// Stopped is how long the program stood still for them, Around whether that includes the
	// time to reach their safepoints and to leave them. Else it is that of the pauses.
	Stopped units.Ns
	Around  bool
	Reached units.Ns // of Stopped: the time to reach their safepoints and to leave them; 0: not known
	// The number and time of those that the program asked for with System.gc(), of those that
	// someone else asked for, and of those that ran because of the heap. A time is from the
	// begin to the end, concurrent phases included; of pauses it is their part of Stopped.
	Explicit, Asked, Other             int64
	ExplicitTime, AskedTime, OtherTime units.Ns
	Unseen                             int64   // of which only the number is known
	Askers                             []Asker // of Explicit, most first
	Buffers                            int64   // of Explicit: the JDK asked, because a direct buffer found no memory
	Cause                              string  // the most frequent one of Other
	OfCause                            int64
	Paused                             bool // the numbers are of pauses, of which a concurrent collection has several
}

// Asker is a place in the program that asks for collections.
type Asker struct {
	Site  string `json:"site"`
	Count int64  `json:"collections"`
}

// Waits is what was lost by waiting for processors, by the scheduling record: while r of
// w threads that want one run, 1 - r / min(w, c) of the time, on c processors.
type Waits struct {
	Lost    units.Ns // of the session: by all threads of the JVM
	Stopped units.Ns // of the collections' standstill: by the threads of the collector, and by those that had to reach a safepoint
	// Beside is the time outside of pauses in which a thread of the program waited for a
	// processor for long, times the share of the processors that the collector had then.
	Beside units.Ns
	// Stalled is how long a thread of the program waited for the collector outside of
	// pauses, Held the same times the share of such threads among those that wanted to go on.
	Stalled, Held units.Ns
}

// UnitClass describes the units named after one class.
type UnitClass struct {
	Name      string
	JDK       bool
	Bulk      bool // the JDK splits an operation into such tasks, as a parallel stream
	Units     int64
	Threw     int64
	Joins     bool               // the program's fork/join tasks: they submit and join their parts
	Swallowed int64              // units whose future kept an exception that nobody asked for
	Kept      int64              // those for which it is unknown whether anybody asked
	Self      granularity.Values // self CPU time, or self wall time if that was not measured
	SelfIsCPU bool
	// OwnWall is the median self wall time: units that mostly wait are not fine.
	OwnWall units.Ns
	Wall    units.Ns // self wall time of all recorded units
	// Summarised is the number of summarised units: their submissions are not known,
	// but Self includes them.
	Summarised int64
	Direct     int64  // units that nobody submitted: their methods were called
	Site       string // where most of them were submitted, "" if not known
	Pool       int    // index into UnitFacts.Pools of where most of them ran; -1: none
}

// Pool is an executor, or the threads started for one class of tasks.
type Pool struct {
	PoolName
	// From is the first submission (or start) of its units, To the last end.
	From, To units.MonoNs
	Workers  int // threads that ran its units
	Units    int64
	Wall     units.Ns // of the outermost units, summed
	// Gaps are the times between two units on a worker, if the second was queued already:
	// the cost of a submission to the worker.
	Gaps granularity.Values
	// Inner are such times between two units inside a third one. The program's own code
	// runs in a part of them.
	Inner      granularity.Values
	Active     units.Ns // how long a unit of it was waiting or running
	Beside     units.Ns // the most that another thread of the program computed meanwhile; 0: none, or not known
	Virtual    bool     // units ran on virtual threads
	AtOnce     int64    // units that their executor ran inside the submission
	Summarised int64    // summarised units
	Self       units.Ns // work of all its units, nested ones taken out
	Waited     units.Ns // of its workers, for a processor; 0: not known
	Foreign    bool     // it mostly runs tasks that the JDK or a scheduling library makes for itself
}

// PoolName names a pool.
type PoolName struct {
	Label   string `json:"pool"`              // the executor, or the class that the threads were started for
	Threads bool   `json:"threads,omitempty"` // no executor: threads started for tasks
}

// PoolLabel is the label of the pool that evidence is about.
func (p PoolName) PoolLabel() string { return p.Label }

// VirtualFacts describe how virtual threads used their carriers.
type VirtualFacts struct {
	JDK      int // feature release; 0: not known
	Carriers int // platform threads that carried them
	// Pins and Pinned are how often and how long threads parked without leaving their carriers.
	Pins   int64
	Pinned units.Ns
	// Class is the task class pinned for longest, ClassPins and ClassPinned its share.
	Class       string
	ClassPins   int64
	ClassPinned units.Ns
	Active      units.Ns // how long a unit waited or ran on one of them
	// Waited and Waiting are bounds of how long a thread waited for a carrier: at least, at most.
	Waited, Waiting units.Ns
	// Mounted is how long they were on carriers and not parked there, summed.
	Mounted units.Ns
	CPU     units.Ns // of their units; NotMeasured: not known of all
	Partly  bool     // some were recorded as a group, without the times of each
}
