package store

import (
	"slices"
	"strconv"

	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// Execution is a row of the executions table. EndNs is StartNs + WallNs; work of
// the execution itself is measured only where that of all it encloses is.
type Execution struct {
	TaskID, OuterTaskID                  uint64 // OuterTaskID 0: outermost
	Class, Thread                        uint32
	Depth, Flags                         uint16       // Flags: wire.ExecutionFlags
	StartNs, EndNs                       units.MonoNs // EndNs 0: still running
	WallNs, CPUNs, SelfWallNs, SelfCPUNs units.Ns     // or units.NotMeasured
	SubmittedNs                          units.MonoNs // the latest submission before StartNs, 0: not known
	Site                                 uint32       // Site.ID, 0: not known
}

// Creation is a row of the creations table.
type Creation struct {
	TaskID, OuterTaskID uint64
	Class, Thread       uint32
	Flags               uint16 // wire.CreationFlags
	AtNs                units.MonoNs
	Site                uint32 // Site.ID, 0: not known
}

// Class is a row of the classes table; the last row of an id counts.
type Class struct {
	ID     uint32 `parquet:"class"`
	Name   string `parquet:"name"`
	Kinds  string `parquet:"kinds,dict"` // units.Kinds as text, "runnable+callable"
	Loader string `parquet:"loader,dict"`
}

// Thread is a row of the threads table; the last row of an id counts.
type Thread struct {
	ID      uint32 `parquet:"thread,delta"`
	JavaID  int64  `parquet:"java_id,delta"`
	OSID    int32  `parquet:"os_id,delta"` // 0: a virtual thread
	Name    string `parquet:"name"`
	Group   string `parquet:"thread_group,dict"`
	Class   string `parquet:"class_name,dict"`
	Daemon  bool   `parquet:"daemon"`
	Virtual bool   `parquet:"virtual"`
	StartNs *int64 `parquet:"start_ns"` // nil: before the agent looked
	EndNs   *int64 `parquet:"end_ns"`   // nil: alive when the row was written
	CPUNs   *int64 `parquet:"cpu_ns"`   // nil: not measured

	// What the thread produced by the agent's own count, lost and summarised
	// events included, and how many of it its ring had no room for. nil: the
	// agent did not say; it says it of virtual threads together.
	Executions *int64 `parquet:"executions"`
	Creations  *int64 `parquet:"creations"`
	Lost       *int64 `parquet:"lost"`
}

// Pause is a row of the pauses table.
type Pause struct {
	StartNs int64 `parquet:"start_ns,delta"`
	EndNs   int64 `parquet:"end_ns,delta"`
}

// OSThread is a row of the os_threads table; the last row of an id counts.
type OSThread struct {
	OSID  int32  `parquet:"os_id,delta"`
	Name  string `parquet:"name"` // as the kernel knows it, at most 15 characters
	CPUNs *int64 `parquet:"cpu_ns"`
	RunNs *int64 `parquet:"run_ns"` // runnable, waiting for a CPU; nil: not measured
}

// Summary is a row of the summaries table; see wire.Summary.
type Summary struct {
	ID             uint64 `parquet:"summary,delta"` // of the session, see SummaryID
	Class          uint32 `parquet:"class,delta"`
	Thread         uint32 `parquet:"thread,delta"`
	Flags          uint32 `parquet:"flags,delta"` // wire.SummaryFlags
	FromNs         int64  `parquet:"from_ns,delta"`
	ToNs           int64  `parquet:"to_ns,delta"`
	Executions     uint64 `parquet:"executions,delta"`
	First          uint64 `parquet:"first,delta"`
	Threw          uint64 `parquet:"threw,delta"`
	Cut            uint64 `parquet:"cut,delta"`
	CreationUnseen uint64 `parquet:"creation_unseen,delta"`
	Creations      uint64 `parquet:"creations,delta"`
	Failed         uint64 `parquet:"failed,delta"`
	Withdrawn      uint64 `parquet:"withdrawn,delta"`
	Submissions    uint64 `parquet:"submissions,delta"`
	Inner          uint64 `parquet:"inner,delta"` // of the submissions
	Rejected       uint64 `parquet:"rejected,delta"`
	Cancelled      uint64 `parquet:"cancelled,delta"`
}

// SubmissionEvents is what the summary stands for in the account of submissions.
func (s *Summary) SubmissionEvents() uint64 { return s.Submissions + s.Rejected + s.Cancelled }

// Events is what the summary stands for in the counts of a session.
func (s *Summary) Events() Counts {
	return Counts{Executions: s.Executions, Creations: s.Creations + s.Failed + s.Withdrawn}
}

// SummaryID numbers entry i of the batch seq in the session: whatever comes
// again has the same number.
func SummaryID(seq uint64, i int) uint64 { return seq*wire.MaxSummaries + uint64(i) }

// The kinds of SiteSum, by wire.SiteKind.
var siteKinds = [wire.NumSiteKinds]string{"creation", "submission", "part", "inner", "rejected", "rejected_inner"}

// SiteKindName is a kind as the site_sums table has it.
func SiteKindName(k wire.SiteKind) string {
	if k < wire.NumSiteKinds {
		return siteKinds[k]
	}
	return "kind " + strconv.Itoa(int(k)) // of a newer agent
}

// SiteSum is a row of the site_sums table: what summaries tell of a class and
// thread, by place. Rows of the same add up.
type SiteSum struct {
	Class  uint32 `parquet:"class,delta"`
	Thread uint32 `parquet:"thread,delta"`
	Flags  uint32 `parquet:"flags,delta"` // wire.SummaryFlags
	Kind   string `parquet:"kind,dict"`   // SiteKindName, or a later version's
	Site   uint32 `parquet:"site,delta"`  // 0: not known
	Count  uint64 `parquet:"count,delta"`
}

// KindNumber is the kind of the row; ok is false for a later version's.
func (s *SiteSum) KindNumber() (k wire.SiteKind, ok bool) {
	i := slices.Index(siteKinds[:], s.Kind)
	return wire.SiteKind(max(i, 0)), i >= 0
}

// ReadSiteSums calls row for every row of the site_sums table, in order.
func (f *Folder) ReadSiteSums(row func(*SiteSum)) ([]*PartError, error) {
	return readSmall(f, SiteSums, row)
}

// Measure is a row of the measures table: one metric of a summary.
type Measure struct {
	Summary uint64 `parquet:"summary,delta"`
	Metric  string `parquet:"metric,dict"`
	Count   uint64 `parquet:"count,delta"` // executions measured
	SumNs   int64  `parquet:"sum_ns,delta"`
	MinNs   int64  `parquet:"min_ns,delta"` // extremes over all that the agent's cell has counted until to_ns
	MaxNs   int64  `parquet:"max_ns,delta"`
}

// Bucket is a row of the buckets table: how many executions of a measure lie
// between two values, both included.
type Bucket struct {
	Summary   uint64 `parquet:"summary,delta"`
	Metric    string `parquet:"metric,dict"`
	LowestNs  int64  `parquet:"lowest_ns,delta"`
	HighestNs int64  `parquet:"highest_ns,delta"`
	Count     uint64 `parquet:"count,delta"`
}

// Part is what a run of consecutive batches brought, on its way to the disk.
type Part struct {
	Range
	Executions []Execution
	Creations  []Creation
	Classes    []Class
	Threads    []Thread
	Pauses     []Pause
	OSThreads  []OSThread
	Summaries  []Summary // ascending by ID, as are the two that follow
	Measures   []Measure
	Buckets    []Bucket
	Clock      []wire.ClockPair // the knots of the clock that its times rest on

	// What is there only in sessions that asked for it.
	Extra            []string  // columns of the extra metrics, by the place in wire.Hello.Extra
	ExecutionWork    wire.Work // of Executions, or no columns
	Constructions    []Construction
	ConstructionWork wire.Work
	Submissions      []Submission
	Executors        []Executor
	Sites            []Site
	Frames           []Frame
	Contexts         []Context
	ContextSums      []ContextSum
	SiteSums         []SiteSum
	VirtualThreads   []VirtualThread
}

// rows tells how many rows of t are in p.
func (p *Part) rows(t Table) int {
	return [numTables]int{len(p.Executions), len(p.Creations), len(p.Classes), len(p.Threads), len(p.Pauses), len(p.OSThreads), len(p.Summaries), len(p.Measures), len(p.Buckets),
		len(p.Constructions), len(p.Submissions), len(p.Executors), len(p.Sites), len(p.Frames), len(p.Contexts), len(p.ContextSums), len(p.SiteSums), len(p.VirtualThreads)}[t]
}

// ExecutionColumns is a run of executions in columns of equal length. They are
// reused: copy what is kept. EndNs is 0 while running, work NotMeasured where
// it was not measured.
type ExecutionColumns struct {
	TaskID      []uint64
	OuterTaskID []uint64
	Class       []uint32
	Thread      []uint32
	Depth       []uint16
	Flags       []uint16
	StartNs     []units.MonoNs
	EndNs       []units.MonoNs
	WallNs      []units.Ns
	CPUNs       []units.Ns
	SelfWallNs  []units.Ns
	SelfCPUNs   []units.Ns
	Site        []uint32   // 0: not known
	QueueNs     []units.Ns // start - latest submission before it
	Extra       [][]int64  // by place in Manifest.Extra; values that were not measured are units.NotMeasured
	SelfExtra   [][]int64
}

// CreationColumns is a run of creations in columns of equal length.
type CreationColumns struct {
	TaskID      []uint64
	OuterTaskID []uint64
	Class       []uint32
	Thread      []uint32
	Flags       []uint16
	AtNs        []units.MonoNs
	Site        []uint32 // 0: not known
}

// executionSchema and creationSchema fix the columns of the big tables. A zero
// of an optional column here is null; the writer decides that per value.
type executionSchema struct {
	TaskID       uint64 `parquet:"task_id,delta"`
	OuterTaskID  uint64 `parquet:"outer_task_id,optional,delta"`
	Class        uint32 `parquet:"class,delta"`
	Thread       uint32 `parquet:"thread,delta"`
	Depth        uint16 `parquet:"depth,delta"`
	Flags        uint16 `parquet:"flags,delta"`
	StartNs      int64  `parquet:"start_ns,delta"`
	WallNs       int64  `parquet:"wall_ns,optional,delta"`
	CPUNs        int64  `parquet:"cpu_ns,optional,delta"`
	NestedWallNs int64  `parquet:"nested_wall_ns,delta"`
	NestedCPUNs  int64  `parquet:"nested_cpu_ns,optional,delta"`
	Site         uint32 `parquet:"site,optional,delta"`
	QueueNs      int64  `parquet:"queue_ns,optional,delta"`
}

type creationSchema struct {
	TaskID      uint64 `parquet:"task_id,delta"`
	OuterTaskID uint64 `parquet:"outer_task_id,optional,delta"`
	Class       uint32 `parquet:"class,delta"`
	Thread      uint32 `parquet:"thread,delta"`
	Flags       uint16 `parquet:"flags,delta"`
	AtNs        int64  `parquet:"at_ns,delta"`
	Site        uint32 `parquet:"site,optional,delta"`
}
