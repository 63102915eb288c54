package jfrimport

import (
	"encoding/binary"
	"math"
	"slices"

	"stackagent/internal/jfrfile"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// These are the types of events that shadow export --format jfr writes.

// maxOurNotes bounds the notes of a kind that are taken over.
const maxOurNotes = 20

// ourClass is the class in a field.
func (b *builder) ourClass(e jfrfile.Value, field string) (uint32, error) {
	name := short(e.Get(field).Get("name").Text())
	if name == "" {
		return 0, nil
	}
	name, kinds := javaName(name)
	return b.classOf(name, kinds)
}

func (b *builder) ourTask(e jfrfile.Value) error {
	start, end, ok := b.clock.span(e)
	thread, err := b.thread(e, "eventThread")
	if err != nil {
		return err
	}
	class, err := b.ourClass(e, "taskClass")
	if err != nil || !ok || thread == 0 || class == 0 {
		b.facts.bad++
		return err
	}
	flags := wire.ExecutionFlags(b.flagsOf(thread)) &^ wire.First
	if e.Get("threw").Int() != 0 {
		flags |= wire.Threw
	}
	if e.Get("running").Int() != 0 {
		flags |= wire.Running
		end = maxTime
	}
	b.facts.ours++
	if err := b.ourTrace(e, start, thread); err != nil {
		return err
	}
	return b.rows.add(row{start: start, end: end, thread: thread, class: class, flags: uint32(flags), cpu: measured(e, "cpuTime"), queue: measured(e, "queueTime"), task: e.Get("taskId").Int()})
}

// ourTrace is the trace in which a task was executed.
func (b *builder) ourTrace(e jfrfile.Value, start int64, thread uint32) error {
	trace, span, task := e.Get("traceId").Text(), e.Get("spanId").Text(), e.Get("taskId").Int()
	if trace == "" && span == "" {
		return nil
	}
	id, err := store.ParseTraceID(trace)
	var within store.SpanID
	if err == nil {
		within, err = store.ParseSpanID(span)
	}
	if err != nil || task <= 0 {
		b.facts.badTraces++
		return nil
	}
	b.facts.traces++
	be := binary.BigEndian
	return b.rows.add(row{start: start, end: start, what: traceRow, thread: thread, task: task,
		cpu: int64(be.Uint64(id[:8])), queue: int64(be.Uint64(id[8:])), other: be.Uint32(within[:4]), holder: be.Uint32(within[4:])})
}

// measured is a time that may not be known.
func measured(e jfrfile.Value, field string) int64 {
	v := e.Get(field)
	if x := v.Int(); !v.Missing() && x >= 0 {
		return x
	}
	return int64(units.NotMeasured)
}

func (b *builder) ourSubmission(e jfrfile.Value) error {
	at, _, ok := b.clock.span(e)
	thread, err := b.thread(e, "eventThread")
	if err != nil {
		return err
	}
	class, err := b.ourClass(e, "taskClass")
	task := e.Get("taskId").Int()
	if err != nil || !ok || class == 0 || task <= 0 {
		b.facts.bad++
		return err
	}
	var flags wire.SubmissionFlags
	if e.Get("inner").Int() != 0 {
		flags = wire.Inner
	}
	b.facts.submissions++
	return b.rows.add(row{start: at, end: at, what: submissionRow, thread: thread, class: class, task: task, flags: uint32(flags),
		context: b.executor(e.Get("executor").Text()), site: b.ourSite(e)})
}

// ourSite is the one frame of the stack.
func (b *builder) ourSite(e jfrfile.Value) (site uint32) {
	e.Get("stackTrace").Get("frames").Each(func(f jfrfile.Value) bool {
		site = b.frame(f)
		return false
	})
	return site
}

// ourSummary counts executions of which the recording has no more than sums.
func (b *builder) ourSummary(e jfrfile.Value) error {
	n := e.Get("executions").Int()
	if _, _, ok := b.clock.span(e); !ok || n <= 0 || n > math.MaxInt64-b.facts.summarised {
		b.facts.bad++
		return nil
	}
	b.facts.summarised += n
	return nil
}

func (b *builder) ourNote(e jfrfile.Value) error {
	s, list := text.OneLine(short(e.Get("text").Text())), &b.facts.ourNotes
	if e.Get("part").Int() != 0 { // however many other notes there are
		list = &b.facts.partOf
	}
	if s != "" && len(*list) < maxOurNotes && !slices.Contains(*list, s) {
		*list = append(*list, s)
	}
	return nil
}
