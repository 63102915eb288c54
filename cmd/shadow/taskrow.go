package main

import (
	"io"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// taskRow is a row of the raw trace; nil where nothing was measured. Its fields
// are the promised columns in their promised order. Times are CLOCK_MONOTONIC
// nanoseconds.
type taskRow struct {
	TaskID           uint64  `json:"task_id" parquet:"task_id,delta"`
	Class            string  `json:"class" parquet:"class,dict"`
	Kinds            string  `json:"kinds" parquet:"kinds,dict"`
	Execution        *int64  `json:"execution" parquet:"execution,optional"` // 1, 2, ...; null: never executed
	OuterTaskID      *uint64 `json:"outer_task_id" parquet:"outer_task_id,optional"`
	CreatedNs        *int64  `json:"created_ns" parquet:"created_ns,optional"`
	CreatorThread    *string `json:"creator_thread" parquet:"creator_thread,optional,dict"`
	CreatedAt        *string `json:"created_at" parquet:"created_at,optional,dict"`
	SubmittedNs      *int64  `json:"submitted_ns" parquet:"submitted_ns,optional"`
	SubmitterThread  *string `json:"submitter_thread" parquet:"submitter_thread,optional,dict"`
	ExecutorID       *uint64 `json:"executor_id" parquet:"executor_id,optional"`
	ExecutorClass    *string `json:"executor_class" parquet:"executor_class,optional,dict"`
	SubmittedAt      *string `json:"submitted_at" parquet:"submitted_at,optional,dict"`
	StartNs          *int64  `json:"start_ns" parquet:"start_ns,optional"`
	EndNs            *int64  `json:"end_ns" parquet:"end_ns,optional"` // null also while it was still running
	Thread           *string `json:"thread" parquet:"thread,optional,dict"`
	QueueNs          *int64  `json:"queue_ns" parquet:"queue_ns,optional"`
	WallNs           *int64  `json:"wall_ns" parquet:"wall_ns,optional"`
	CPUNs            *int64  `json:"cpu_ns" parquet:"cpu_ns,optional"`
	Bytecodes        *int64  `json:"bytecodes" parquet:"bytecodes,optional"`
	Instructions     *int64  `json:"instructions" parquet:"instructions,optional"`
	RefCycles        *int64  `json:"ref_cycles" parquet:"ref_cycles,optional"`
	Cycles           *int64  `json:"cycles" parquet:"cycles,optional"`
	AllocBytes       *int64  `json:"alloc_bytes" parquet:"alloc_bytes,optional"`
	InitNs           *int64  `json:"init_ns" parquet:"init_ns,optional"`
	Threw            *bool   `json:"threw" parquet:"threw,optional"`
	SelfWallNs       *int64  `json:"self_wall_ns" parquet:"self_wall_ns,optional"`
	SelfCPUNs        *int64  `json:"self_cpu_ns" parquet:"self_cpu_ns,optional"`
	SelfBytecodes    *int64  `json:"self_bytecodes" parquet:"self_bytecodes,optional"`
	SelfInstructions *int64  `json:"self_instructions" parquet:"self_instructions,optional"`
	SelfRefCycles    *int64  `json:"self_ref_cycles" parquet:"self_ref_cycles,optional"`
	SelfCycles       *int64  `json:"self_cycles" parquet:"self_cycles,optional"`
	SelfAllocBytes   *int64  `json:"self_alloc_bytes" parquet:"self_alloc_bytes,optional"`
	State            string  `json:"state" parquet:"state,dict"` // one of session's states
}

// taskColumns are the columns of the CSV form.
var taskColumns = []string{"task_id", "class", "kinds", "execution", "outer_task_id", "created_ns", "creator_thread", "created_at",
	"submitted_ns", "submitter_thread", "executor_id", "executor_class", "submitted_at", "start_ns",
	"end_ns", "thread", "queue_ns", "wall_ns", "cpu_ns", "bytecodes", "instructions", "ref_cycles", "cycles",
	"alloc_bytes", "init_ns", "threw",
	"self_wall_ns", "self_cpu_ns", "self_bytecodes", "self_instructions", "self_ref_cycles", "self_cycles", "self_alloc_bytes", "state"}

// cells are the row in the order of taskColumns and the further ones.
func (r *fullRow) cells(buf []string) []string {
	buf = r.taskRow.cells(buf)
	for _, n := range r.more {
		buf = append(buf, intCell(n))
	}
	return buf
}

// maxLabels bounds the labels that are kept.
const maxLabels = 10_000

// rowMaker makes rows and keeps the labels of threads and places.
type rowMaker struct {
	labels map[*session.Thread]*string
	sites  map[*session.Site]*string
	extra  [len(extraColumns)]int // places of the promised columns in the session's extra metrics, -1: not there
	more   []moreColumn
}

// extraColumns are the promised columns of extra metrics, in the order of taskRow.
var extraColumns = [...]string{"bytecodes", "instructions", "ref_cycles", "cycles", "alloc_bytes"}

func newRowMaker(s *session.Session) rowMaker {
	m := rowMaker{labels: map[*session.Thread]*string{}, sites: map[*session.Site]*string{}}
	for i, name := range extraColumns {
		m.extra[i] = slices.IndexFunc(s.ExtraMetrics(), func(x store.ExtraMetric) bool { return x.Column == name })
	}
	m.more = moreColumns(s.ExtraMetrics())
	return m
}

// row takes out of a task what this version records.
func (m rowMaker) row(t *session.Task) taskRow {
	r := taskRow{
		TaskID: t.TaskID, CreatedNs: unlessZero(int64(t.CreatedNs)), CreatorThread: m.label(t.CreatorThread),
		WallNs: ifMeasured(t.WallNs), CPUNs: ifMeasured(t.CPUNs), SelfWallNs: ifMeasured(t.SelfWallNs), SelfCPUNs: ifMeasured(t.SelfCPUNs),
	}
	if t.Class != nil {
		r.Class, r.Kinds = t.Class.Name, t.Class.Kinds.String()
	}
	if t.OuterTaskID != 0 {
		outer := t.OuterTaskID // the task is used again for the next row
		r.OuterTaskID = &outer
	}
	m.handed(&r, t)
	if t.Execution == 0 {
		r.WallNs, r.CPUNs, r.SelfWallNs, r.SelfCPUNs = nil, nil, nil, nil
		return r
	}
	threw := t.Threw
	r.Execution, r.Thread, r.Threw = unlessZero(int64(t.Execution)), m.label(t.Thread), &threw
	r.StartNs, r.EndNs = unlessZero(int64(t.StartNs)), unlessZero(int64(t.EndNs))
	for i, into := range []struct{ total, self **int64 }{
		{&r.Bytecodes, &r.SelfBytecodes}, {&r.Instructions, &r.SelfInstructions}, {&r.RefCycles, &r.SelfRefCycles},
		{&r.Cycles, &r.SelfCycles}, {&r.AllocBytes, &r.SelfAllocBytes},
	} {
		if k := m.extra[i]; k >= 0 && k < len(t.Extra) {
			*into.total, *into.self = ifMeasured(units.Ns(t.Extra[k])), ifMeasured(units.Ns(t.SelfExtra[k]))
		}
	}
	return r
}

// handed takes out of a task where it was made and handed over.
func (m rowMaker) handed(r *taskRow, t *session.Task) {
	r.State, r.CreatedAt, r.InitNs, r.QueueNs = string(t.State), m.site(t.CreatedAt), ifMeasured(t.InitNs), ifMeasured(t.QueueNs)
	r.SubmittedNs = unlessZero(int64(t.SubmittedNs))
	x := t.Submission
	if x == nil {
		return
	}
	r.SubmitterThread, r.SubmittedAt = m.label(x.Thread), m.site(x.Site)
	if x.ExecutorID != 0 {
		id := uint64(x.ExecutorID)
		r.ExecutorID = &id
	}
	if x.Executor != nil {
		class := x.Executor.Class
		r.ExecutorClass = &class
	}
}

func (m rowMaker) site(s *session.Site) *string {
	if s == nil {
		return nil
	}
	if m.sites[s] == nil {
		label := s.Label()
		m.sites[s] = &label
	}
	return m.sites[s]
}

func (m rowMaker) label(t *session.Thread) *string {
	if t == nil {
		return nil
	}
	if label, ok := m.labels[t]; ok {
		return label
	}
	if len(m.labels) > maxLabels {
		clear(m.labels) // a program can have a million virtual threads
	}
	label := t.Label()
	m.labels[t] = &label
	return &label
}

func uintCell(n *uint64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatUint(*n, 10)
}

func textCell(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func boolCell(b *bool) string {
	if b == nil {
		return ""
	}
	return strconv.FormatBool(*b)
}

// cells are the row in the order of taskColumns.
func (r *taskRow) cells(buf []string) []string {
	name := func(s *string) string { return csvName(textCell(s)) }
	buf = append(buf, uintCell(&r.TaskID), csvName(r.Class), csvName(r.Kinds), intCell(r.Execution), uintCell(r.OuterTaskID),
		intCell(r.CreatedNs), name(r.CreatorThread), name(r.CreatedAt), intCell(r.SubmittedNs), name(r.SubmitterThread),
		uintCell(r.ExecutorID), name(r.ExecutorClass), name(r.SubmittedAt), intCell(r.StartNs), intCell(r.EndNs), name(r.Thread))
	for _, n := range []*int64{r.QueueNs, r.WallNs, r.CPUNs, r.Bytecodes, r.Instructions, r.RefCycles, r.Cycles, r.AllocBytes, r.InitNs} {
		buf = append(buf, intCell(n))
	}
	buf = append(buf, boolCell(r.Threw))
	for _, n := range []*int64{r.SelfWallNs, r.SelfCPUNs, r.SelfBytecodes, r.SelfInstructions, r.SelfRefCycles, r.SelfCycles, r.SelfAllocBytes} {
		buf = append(buf, intCell(n))
	}
	return append(buf, r.State)
}

// parquetRows is how many rows are handed to the Parquet writer at once.
const parquetRows = 1024

type parquetSink struct {
	w    *parquet.GenericWriter[taskRow]
	rows []taskRow
}

func newParquetSink(w io.Writer, more []string) sink[*fullRow] {
	if len(more) > 0 {
		return newWideParquet(w, more)
	}
	return &parquetSink{w: parquet.NewGenericWriter[taskRow](w, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(1<<20))}
}

func (s *parquetSink) write(r *fullRow) error {
	s.rows = append(s.rows, r.taskRow)
	if len(s.rows) < parquetRows {
		return nil
	}
	return s.flush()
}

func (s *parquetSink) flush() error {
	_, err := s.w.Write(s.rows)
	clear(s.rows)
	s.rows = s.rows[:0]
	return err
}

func (s *parquetSink) close() error {
	if err := s.flush(); err != nil {
		return err
	}
	return s.w.Close()
}
