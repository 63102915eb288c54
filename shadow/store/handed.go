package store

import (
	"github.com/parquet-go/parquet-go"

	"stackagent/internal/units"
)

// Construction is a row of the constructions table: what it cost to make a task.
type Construction struct {
	TaskID        uint64
	Class, Thread uint32
	WallNs, CPUNs units.Ns // CPUNs or units.NotMeasured
}

// Submission is a row of the submissions table: a hand-over of a task.
type Submission struct {
	TaskID, OuterTaskID uint64 // OuterTaskID: the execution inside which it was, 0: none
	Class, Thread       uint32
	Executor, Site      uint32 // 0: none, not known
	Flags               uint16 // wire.SubmissionFlags
	AtNs                units.MonoNs
}

// Executor is a row of the executors table; the last row of an id counts.
type Executor struct {
	ID    uint32 `parquet:"executor,delta"`
	Class string `parquet:"class_name,dict"`
	Name  string `parquet:"name"`
}

// Site is a row of the sites table: a place in the source; the last row of an id counts.
type Site struct {
	ID     uint32 `parquet:"site,delta"`
	Class  string `parquet:"class_name,dict"`
	Method string `parquet:"method"`
	File   string `parquet:"file,dict"` // "": not told
	Line   int32  `parquet:"line"`      // 0: not told
}

// ConstructionColumns is a run of constructions in columns of equal length.
type ConstructionColumns struct {
	TaskID []uint64
	Class  []uint32
	Thread []uint32
	WallNs []units.Ns
	CPUNs  []units.Ns
	Extra  [][]int64 // by place in Manifest.Extra; units.NotMeasured where not measured
}

// SubmissionColumns is a run of submissions in columns of equal length.
type SubmissionColumns struct {
	TaskID      []uint64
	OuterTaskID []uint64
	Class       []uint32
	Thread      []uint32
	Executor    []uint32
	Site        []uint32
	Flags       []uint16
	AtNs        []units.MonoNs
}

type constructionSchema struct {
	TaskID uint64 `parquet:"task_id,delta"`
	Class  uint32 `parquet:"class,delta"`
	Thread uint32 `parquet:"thread,delta"`
	WallNs int64  `parquet:"wall_ns,delta"`
	CPUNs  int64  `parquet:"cpu_ns,optional,delta"`
}

type submissionSchema struct {
	TaskID      uint64 `parquet:"task_id,delta"`
	OuterTaskID uint64 `parquet:"outer_task_id,optional,delta"`
	Class       uint32 `parquet:"class,delta"`
	Thread      uint32 `parquet:"thread,delta"`
	Executor    uint32 `parquet:"executor,optional,delta"`
	Site        uint32 `parquet:"site,optional,delta"`
	Flags       uint16 `parquet:"flags,delta"`
	AtNs        int64  `parquet:"at_ns,delta"`
}

var constructionColumns = []bigColumn[Construction]{
	{name: "task_id", wide: true, unsigned: true, get: plainColumn(func(x *Construction) int64 { return int64(x.TaskID) })},
	{name: "class", unsigned: true, get: plainColumn(func(x *Construction) int64 { return int64(x.Class) })},
	{name: "thread", unsigned: true, get: plainColumn(func(x *Construction) int64 { return int64(x.Thread) })},
	{name: "wall_ns", wide: true, get: plainColumn(func(x *Construction) int64 { return int64(x.WallNs) })},
	{name: "cpu_ns", wide: true, optional: true, get: wideOptional(func(x *Construction) (int64, bool) { return int64(x.CPUNs), x.CPUNs.Measured() })},
}

var submissionColumns = []bigColumn[Submission]{
	{name: "task_id", wide: true, unsigned: true, get: plainColumn(func(x *Submission) int64 { return int64(x.TaskID) })},
	{name: "outer_task_id", wide: true, optional: true, unsigned: true,
		get: wideOptional(func(x *Submission) (int64, bool) { return int64(x.OuterTaskID), x.OuterTaskID != 0 })},
	{name: "class", unsigned: true, get: plainColumn(func(x *Submission) int64 { return int64(x.Class) })},
	{name: "thread", unsigned: true, get: plainColumn(func(x *Submission) int64 { return int64(x.Thread) })},
	{name: "executor", optional: true, unsigned: true, get: narrowOptional(func(x *Submission) uint32 { return x.Executor })},
	{name: "site", optional: true, unsigned: true, get: narrowOptional(func(x *Submission) uint32 { return x.Site })},
	{name: "flags", unsigned: true, get: plainColumn(func(x *Submission) int64 { return int64(x.Flags) })},
	{name: "at_ns", wide: true, get: plainColumn(func(x *Submission) int64 { return int64(x.AtNs) })},
}

var submissionLayout = &layout[SubmissionColumns]{
	specs: []columnSpec{
		{name: "task_id", wide: true}, {name: "outer_task_id", wide: true, optional: true}, {name: "class"}, {name: "thread"},
		{name: "executor", optional: true}, {name: "site", optional: true}, {name: "flags"}, {name: "at_ns", wide: true},
	},
	fill: []func(*SubmissionColumns, *column, int) error{
		wide(func(c *SubmissionColumns) *[]uint64 { return &c.TaskID }, 0),
		wide(func(c *SubmissionColumns) *[]uint64 { return &c.OuterTaskID }, 0),
		narrow(func(c *SubmissionColumns) *[]uint32 { return &c.Class }),
		narrow(func(c *SubmissionColumns) *[]uint32 { return &c.Thread }),
		narrow(func(c *SubmissionColumns) *[]uint32 { return &c.Executor }),
		narrow(func(c *SubmissionColumns) *[]uint32 { return &c.Site }),
		narrow(func(c *SubmissionColumns) *[]uint16 { return &c.Flags }),
		wide(func(c *SubmissionColumns) *[]units.MonoNs { return &c.AtNs }, 0),
	},
	needs: asIs, done: func(*SubmissionColumns, Columns, int) {},
}

func submissionLayoutOf(*parquet.File) *layout[SubmissionColumns] { return submissionLayout }

func (f *Folder) constructionLayoutOf(pf *parquet.File) *layout[ConstructionColumns] {
	l := &layout[ConstructionColumns]{
		specs: []columnSpec{
			{name: "task_id", wide: true}, {name: "class"}, {name: "thread"}, {name: "wall_ns", wide: true}, {name: "cpu_ns", wide: true, optional: true},
		},
		fill: []func(*ConstructionColumns, *column, int) error{
			wide(func(c *ConstructionColumns) *[]uint64 { return &c.TaskID }, 0),
			narrow(func(c *ConstructionColumns) *[]uint32 { return &c.Class }),
			narrow(func(c *ConstructionColumns) *[]uint32 { return &c.Thread }),
			wide(func(c *ConstructionColumns) *[]units.Ns { return &c.WallNs }, units.NotMeasured),
			wide(func(c *ConstructionColumns) *[]units.Ns { return &c.CPUNs }, units.NotMeasured),
		},
		needs: asIs, done: func(*ConstructionColumns, Columns, int) {},
	}
	l.addExtra(f.extraOf(pf), false, func(c *ConstructionColumns) (*[][]int64, *[][]int64) { return &c.Extra, nil })
	return l
}

// ReadExecutors calls row for every row of the executors table, in order.
func (f *Folder) ReadExecutors(row func(*Executor)) ([]*PartError, error) {
	return readSmall(f, Executors, row)
}

// ReadSites calls row for every row of the sites table, in order.
func (f *Folder) ReadSites(row func(*Site)) ([]*PartError, error) {
	return readSmall(f, Sites, row)
}

// Handed is the account of the submissions or constructions of a session:
//
//	produced = stored + summarised + lost + in gaps (+ unaccounted)
type Handed struct {
	Produced uint64 `json:"produced"` // by the agent's own count
	Stored   uint64 `json:"stored"`   // rows in the parts
	// Summarised stands for those that summaries only tell: submissions with all
	// that is counted of them, constructions as creations, without what they cost.
	Summarised uint64 `json:"summarised,omitempty"`
	Lost       uint64 `json:"lost"`    // that the agent itself could not deliver
	InGaps     uint64 `json:"in_gaps"` // of batches that never arrived
	// Unaccounted is what the others leave of a session that ended in order,
	// where no batch is missing. Anything but 0 is a fault of ours.
	Unaccounted int64 `json:"unaccounted"`
}

// settle makes the sums agree.
func (h *Handed) settle(gaps, ended bool) {
	if h == nil {
		return
	}
	diff := int64(h.Produced) - int64(h.Stored) - int64(h.Summarised) - int64(h.Lost)
	h.InGaps, h.Unaccounted = 0, 0
	switch {
	case gaps && diff > 0:
		h.InGaps = uint64(diff)
	case ended:
		h.Unaccounted = diff
	}
}

// handed counts the rows of t, and what summaries tell, into its account, a copy of h.
func (w *Writer) handed(h *Handed, t Table, summarised uint64) *Handed {
	if h == nil && w.stored[t]+summarised == 0 {
		return nil
	}
	n := Handed{}
	if h != nil {
		n = *h
	}
	n.Stored, n.Summarised = w.stored[t], summarised
	return &n
}
