package store

import "stackagent/internal/units"

// The kinds of context.
const (
	ContextCreation   = "creation"
	ContextSubmission = "submission"
	ContextExecution  = "execution"
)

// Frame is a row of the frames table: a place on a stack.
type Frame struct {
	ID     uint32 `parquet:"frame,delta"`
	Class  string `parquet:"class_name,dict"` // "": not known
	Method string `parquet:"method,dict"`     // the same
	File   string `parquet:"file,dict"`       // "": not told
	Line   int32  `parquet:"line"`            // 0: not told
}

// Context is a row of the contexts table: a stack on which tasks of a class were
// created, handed over or executed.
type Context struct {
	ID     uint32   `parquet:"context,delta"`
	Kind   string   `parquet:"kind,dict"` // one of the above, or a later version's
	Class  uint32   `parquet:"class"`     // of the task
	Cut    bool     `parquet:"cut"`       // the stack goes on
	Frames []uint32 `parquet:"frames,list"`
}

// ContextSum is a row of the context_sums table: what was added to a context.
// Rows of a context add up.
type ContextSum struct {
	ID         uint32   `parquet:"context,delta"`
	Count      uint64   `parquet:"count"`        // events looked at, of all as Manifest.Contexts says
	SelfWallNs units.Ns `parquet:"self_wall_ns"` // of executions
	Measured   uint64   `parquet:"cpu_measured"` // of how many the next is known
	SelfCPUNs  units.Ns `parquet:"self_cpu_ns"`
}

// ContextAccount says how the contexts of a session came about.
type ContextAccount struct {
	Every  uint64 `json:"every"`  // of each thread, and of each kind, one event in so many was looked at
	Taken  uint64 `json:"taken"`  // events looked at
	Lost   uint64 `json:"lost"`   // of these: no room for a further context
	Unseen uint64 `json:"unseen"` // of these: the JVM did not give the stack
}

// ReadFrames calls row for every row of the frames table, in order.
func (f *Folder) ReadFrames(row func(*Frame)) ([]*PartError, error) { return readSmall(f, Frames, row) }

// ReadContexts calls row for every row of the contexts table, in order. The list
// of frames is the row's own.
func (f *Folder) ReadContexts(row func(*Context)) ([]*PartError, error) {
	return readSmall(f, Contexts, row)
}

// ReadContextSums calls row for every row of the context_sums table, in order.
func (f *Folder) ReadContextSums(row func(*ContextSum)) ([]*PartError, error) {
	return readSmall(f, ContextSums, row)
}
