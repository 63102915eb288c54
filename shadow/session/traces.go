package session

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/store"
)

// TraceID is the id of a trace.
type TraceID = store.TraceID

// SpanID is the id of a span.
type SpanID = store.SpanID

// Span is a span of a trace.
type Span struct {
	Trace TraceID
	ID    SpanID
}

// maxTraced bounds the tasks whose traces are held in memory, 40 bytes each.
const maxTraced = 1 << 25

// Traces says in which trace a task was executed. They hold what the session has of that.
type Traces struct {
	rows      []traced // by task and time
	ids       []TraceID
	inherited map[uint64]spanRef
	submitted *idSet
}

type spanRef struct {
	span  SpanID
	trace uint32 // in Traces.ids
}

type traced struct {
	task uint64
	at   units.MonoNs
	spanRef
	execution bool
}

// Traces reads which tasks were in which trace. A session without tracing has none, and they cost nothing.
func (s *Session) Traces() (*Traces, error) {
	t := &Traces{}
	if err := t.read(s); err != nil || len(t.rows) == 0 || s.Manifest.ImportedFrom != "" {
		return t, err // an imported session has the trace of each execution: what has none was in several, or in none
	}
	err := t.inherit(s)
	t.submitted = nil
	return t, err
}

func (t *Traces) read(s *Session) error {
	known := map[TraceID]uint32{}
	var strange, over int
	bad, err := s.folder.ReadTaskTraces(func(r *store.TaskTrace) {
		id, err := store.ParseTraceID(r.TraceID)
		span, spanErr := store.ParseSpanID(r.SpanID)
		if err != nil || spanErr != nil ||
			r.Kind != store.TraceSubmission && r.Kind != store.TraceExecution {
			strange++
			return
		}
		if len(t.rows) >= maxTraced {
			over++
			return
		}
		at, ok := known[id]
		if !ok {
			at = uint32(len(t.ids))
			known[id], t.ids = at, append(t.ids, id)
		}
		t.rows = append(t.rows, traced{r.TaskID, units.MonoNs(r.AtNs), spanRef{span, at}, r.Kind == store.TraceExecution})
	})
	s.warnAll(bad)
	if err != nil {
		return fmt.Errorf("reading the traces of session %s: %w", s.Manifest.Session, err)
	}
	if strange > 0 {
		s.warn(fmt.Sprintf("%d traces of tasks are of an unknown kind, or their ids are none: they are left out", strange))
	}
	if over > 0 {
		s.warn(fmt.Sprintf("the session has %d more traces of tasks than the %d that are read: the others are left out", over, maxTraced))
	}
	slices.SortStableFunc(t.rows, func(a, b traced) int { return cmp.Or(cmp.Compare(a.task, b.task), cmp.Compare(a.at, b.at)) })
	return nil
}

// maxGenerations bounds how often the session is read for tasks that were made by tasks that inherit their trace themselves.
// One reading follows any number of generations that come in the order of the batches.
const maxGenerations = 16

// inherit gives each task without a trace of its own that of the task around it: the one that submitted it, else the one
// that created it, else the one inside whose execution it is executed, if that has a single trace. A task that was submitted
// inherits from its submission only: the thread that executes it, a task as well, may have been started in some trace.
func (t *Traces) inherit(s *Session) error {
	t.inherited, t.submitted = map[uint64]spanRef{}, newIDSet()
	for range maxGenerations {
		before := len(t.inherited)
		err := s.Submissions(func(c *SubmissionChunk) error {
			for _, task := range c.TaskID {
				t.submitted.add(task)
			}
			t.inheritAll(c.TaskID, c.OuterTaskID, true)
			return nil
		})
		if err == nil {
			err = s.scanCreations(store.CreationTaskID|store.CreationOuter, 1, func(_ int, c *CreationChunk) error {
				t.inheritAll(c.TaskID, c.OuterTaskID, false)
				return nil
			})
		}
		if err == nil {
			err = s.scanExecutions(store.ExecutionTaskID|store.ExecutionOuter, 1, func(_ int, c *Chunk) error {
				t.inheritAll(c.TaskID, c.OuterTaskID, false)
				return nil
			})
		}
		if err != nil || len(t.inherited) == before || len(t.inherited) >= maxTraced {
			return err
		}
	}
	return nil
}

func (t *Traces) inheritAll(tasks, outers []uint64, submissions bool) {
	for i, outer := range outers {
		task := tasks[i]
		if outer == 0 || outer == task || len(t.inherited) >= maxTraced {
			continue
		}
		if _, ok := t.inherited[task]; ok || !submissions && t.submitted.has(task) || len(t.of(task)) > 0 {
			continue
		}
		if span, ok := t.single(outer); ok {
			t.inherited[task] = span
		}
	}
}

// of are the rows of a task.
func (t *Traces) of(task uint64) []traced {
	from, ok := slices.BinarySearchFunc(t.rows, task, func(r traced, task uint64) int { return cmp.Compare(r.task, task) })
	if !ok {
		return nil
	}
	to := from + 1
	for to < len(t.rows) && t.rows[to].task == task {
		to++
	}
	return t.rows[from:to]
}

// single is the span of a task whose rows are all of one trace.
func (t *Traces) single(task uint64) (spanRef, bool) {
	rows := t.of(task)
	if len(rows) == 0 {
		span, ok := t.inherited[task]
		return span, ok
	}
	for _, r := range rows[1:] {
		if r.trace != rows[0].trace {
			return spanRef{}, false
		}
	}
	return rows[0].spanRef, true
}

// Any reports whether the session knows the trace of any task.
func (t *Traces) Any() bool { return len(t.rows) > 0 }

// Of is the trace of an execution of a task and the span in which it was handed over. What was current during the
// execution counts before what was when the task was handed over, that before what it inherits. False: it has none, or it
// was for several traces. end: 0 of one that has not ended.
func (t *Traces) Of(task uint64, start, end units.MonoNs) (Span, bool) {
	rows := t.of(task)
	if len(rows) == 0 {
		r, ok := t.inherited[task]
		return t.span(r, ok)
	}
	own, several := t.during(rows, start, end)
	over := handOver(rows, start)
	switch {
	case several:
		return Span{}, false
	case own == nil:
		if over == nil {
			return Span{}, false
		}
		return t.span(over.spanRef, true)
	case over != nil && over.trace == own.trace:
		own = over
	}
	return t.span(own.spanRef, true)
}

// Has reports whether an execution was in a trace, if only for a part of it.
func (t *Traces) Has(id TraceID, task uint64, start, end units.MonoNs) bool {
	rows := t.of(task)
	if own, several := t.during(rows, start, end); own != nil && several {
		return slices.ContainsFunc(rows, func(r traced) bool { return r.inside(start, end) && t.ids[r.trace] == id })
	}
	span, ok := t.Of(task, start, end)
	return ok && span.Trace == id
}

func (r *traced) inside(start, end units.MonoNs) bool {
	return r.execution && r.at >= start && (r.at <= end || end == 0)
}

// during is the first row of an execution; several: they are of more than one trace.
func (t *Traces) during(rows []traced, start, end units.MonoNs) (first *traced, several bool) {
	for i := range rows {
		r := &rows[i]
		switch {
		case !r.inside(start, end):
		case first == nil:
			first = r
		case r.trace != first.trace:
			return first, true
		}
	}
	return first, false
}

// handOver is the last submission before the start, else the first.
func handOver(rows []traced, start units.MonoNs) (found *traced) {
	for i := range rows {
		if r := &rows[i]; !r.execution && (found == nil || r.at <= start) {
			found = r
		}
	}
	return found
}

func (t *Traces) span(r spanRef, ok bool) (Span, bool) {
	if !ok {
		return Span{}, false
	}
	return Span{t.ids[r.trace], r.span}, true
}

// OfTask is Of for a row of EachTask; nil: none.
func (t *Traces) OfTask(x *Task) *Span {
	start, end := window(x)
	if span, ok := t.Of(x.TaskID, start, end); ok {
		return &span
	}
	return nil
}

// HasTask is Has for a row of EachTask.
func (t *Traces) HasTask(id TraceID, x *Task) bool {
	start, end := window(x)
	return t.Has(id, x.TaskID, start, end)
}

// window is when a task was executed; of one that never was, a moment after all that is known of it.
func window(x *Task) (start, end units.MonoNs) {
	if x.Execution == 0 {
		return math.MaxInt64, 0
	}
	return x.StartNs, x.EndNs
}

// WhyNoTraces is a sentence that says that the session knows no trace of any task, and why.
func (s *Session) WhyNoTraces() string {
	m := &s.Manifest
	why := m.NotAvailable["traces"]
	switch {
	case why != "":
	case m.Traces != nil && m.Traces.Produced > 0:
		return fmt.Sprintf("the traces of tasks are not known: %s lost or damaged", text.PluralExact(m.Traces.Produced, "record is", "records are"))
	case m.ImportedFrom != "":
		why = "it was imported from " + m.ImportedFrom + ", which has none"
	case m.Traces == nil:
		why = "the program loaded no OpenTelemetry library"
	default:
		why = "no span was current when tasks were submitted or executed"
	}
	return "the session has no traces of tasks: " + why
}
