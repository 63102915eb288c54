package session

import (
	"sync/atomic"

	"stackagent/internal/units"
	"stackagent/shadow/store"
)

// TraceScan reads the executions of one trace.
type TraceScan struct {
	s      *Session
	id     TraceID
	traces *Traces
	found  atomic.Int64
	parts  atomic.Int64
}

// TraceScan makes a reader of the executions of a trace: those that Traces.Of says are of it.
func (s *Session) TraceScan(id TraceID) (*TraceScan, error) {
	traces, err := s.Traces()
	if err != nil {
		return nil, err
	}
	return &TraceScan{s: s, id: id, traces: traces}, nil
}

// Any reports whether the session knows the trace of any task.
func (t *TraceScan) Any() bool { return t.traces.Any() }

// Parts is how many executions the latest Scan left out that were in the trace for a part only, see ScanParts.
func (t *TraceScan) Parts() int64 { return t.parts.Load() }

// Executions is how many the latest Scan found.
func (t *TraceScan) Executions() int64 { return t.found.Load() }

// Of reports whether an execution is of the trace; end: 0 of one that has not ended.
func (t *TraceScan) Of(task uint64, start, end units.MonoNs) bool {
	span, ok := t.traces.Of(task, start, end)
	return ok && span.Trace == t.id
}

// traceColumns are those by which it is known in which trace an execution was.
const traceColumns = store.ExecutionTaskID | store.ExecutionStart | store.ExecutionEnd

// Scan is Session.ScanExecutions for the trace.
func (t *TraceScan) Scan(want store.Columns, use func(worker int, c *Chunk) error) error {
	t.found.Store(0)
	t.parts.Store(0)
	return t.scan(want, func(c *Chunk, i int) bool {
		switch {
		case t.Of(c.TaskID[i], c.StartNs[i], c.EndNs[i]):
			t.found.Add(1)
			return true
		case t.inPart(c, i):
			t.parts.Add(1)
		}
		return false
	}, use)
}

// ScanParts is Scan for the executions that were in the trace for a part only: others were current, too.
func (t *TraceScan) ScanParts(want store.Columns, use func(worker int, c *Chunk) error) error {
	return t.scan(want, func(c *Chunk, i int) bool { return !t.Of(c.TaskID[i], c.StartNs[i], c.EndNs[i]) && t.inPart(c, i) }, use)
}

func (t *TraceScan) inPart(c *Chunk, i int) bool {
	return t.traces.Has(t.id, c.TaskID[i], c.StartNs[i], c.EndNs[i])
}

// scan reads the executions that are wanted.
func (t *TraceScan) scan(want store.Columns, wanted func(c *Chunk, i int) bool, use func(worker int, c *Chunk) error) error {
	if !t.Any() {
		return nil
	}
	kept, rows := make([]Chunk, Workers()), make([][]int, Workers())
	return t.s.ScanExecutions(want|traceColumns, func(worker int, c *Chunk) error {
		of := rows[worker][:0]
		for i := range c.TaskID {
			if wanted(c, i) {
				of = append(of, i)
			}
		}
		if rows[worker] = of; len(of) == 0 {
			return nil
		}
		pickRows(&kept[worker], c, of)
		return use(worker, &kept[worker])
	})
}

// pickRows copies rows of a chunk.
func pickRows(to, from *Chunk, rows []int) {
	to.TaskID, to.OuterTaskID = pick(to.TaskID, from.TaskID, rows), pick(to.OuterTaskID, from.OuterTaskID, rows)
	to.Class, to.Thread, to.Site = pick(to.Class, from.Class, rows), pick(to.Thread, from.Thread, rows), pick(to.Site, from.Site, rows)
	to.Depth, to.Flags = pick(to.Depth, from.Depth, rows), pick(to.Flags, from.Flags, rows)
	to.StartNs, to.EndNs = pick(to.StartNs, from.StartNs, rows), pick(to.EndNs, from.EndNs, rows)
	to.WallNs, to.CPUNs = pick(to.WallNs, from.WallNs, rows), pick(to.CPUNs, from.CPUNs, rows)
	to.SelfWallNs, to.SelfCPUNs = pick(to.SelfWallNs, from.SelfWallNs, rows), pick(to.SelfCPUNs, from.SelfCPUNs, rows)
	to.QueueNs, to.DelayNs = pick(to.QueueNs, from.QueueNs, rows), pick(to.DelayNs, from.DelayNs, rows)
	to.LateNs = pick(to.LateNs, from.LateNs, rows)
	to.Extra, to.SelfExtra = pickEach(to.Extra, from.Extra, rows), pickEach(to.SelfExtra, from.SelfExtra, rows)
}

// pick is nil for a column that was not read.
func pick[T any](to, from []T, rows []int) []T {
	if len(from) == 0 {
		return nil
	}
	to = to[:0]
	for _, i := range rows {
		to = append(to, from[i])
	}
	return to
}

func pickEach[T any](to, from [][]T, rows []int) [][]T {
	if len(to) != len(from) {
		to = make([][]T, len(from))
	}
	for k := range from {
		to[k] = pick(to[k], from[k], rows)
	}
	return to
}
