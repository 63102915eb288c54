package perfetto

import (
	"fmt"
	"io"
	"math"
	"math/bits"
	"strconv"

	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/exchange/export"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// BytesPerExecution is about how long a trace is.
const BytesPerExecution = 80

// Notes say what of the session the trace does not hold, or holds otherwise, in a sentence each.
type Notes []string

func (n *Notes) add(format string, args ...any) { *n = append(*n, fmt.Sprintf(format, args...)) }

// trace is a trace that is being written.
type trace struct {
	*writer
	src     *export.Source
	s       *session.Session
	tracks  *tracks
	origins *export.Origins
	traces  *session.Traces
	count   *counters
	notes   Notes

	labels  map[uint32]string // of sites
	crossed int               // executions that overlap others of their thread
}

// Write writes the trace of what src chooses.
func Write(to io.Writer, src *export.Source) (Notes, error) {
	t := &trace{writer: newWriter(to), src: src, s: src.Session, labels: map[uint32]string{}}
	t.tracks = newTracks(t.writer, t.s)
	t.count = newCounters(t)
	t.notes = src.Left()
	m := &t.s.Manifest
	for _, step := range []func() error{
		func() error { return t.clock(m.StartNs, m.WallUnixNs) }, t.tracks.process,
		func() (err error) { t.origins, err = src.Origins(); return err },
		func() (err error) { t.traces, err = t.s.Traces(); return err },
		t.pauses, t.submissions, t.executions, t.waits, t.count.write, t.summaries, t.writeNotes,
	} {
		if err := step(); err != nil {
			return t.notes, err
		}
	}
	return t.notes, nil
}

func (t *trace) pauses() error {
	for _, p := range t.src.Pauses() {
		if err := t.tracks.named(trackPauses, trackProcess, "GC pauses", nil); err != nil {
			return err
		}
		cause := p.Cause
		if cause == "" {
			cause = "pause"
		}
		if err := t.slice(trackPauses, p.StartNs, p.EndNs, func() { t.name(cause); t.category("gc") }); err != nil {
			return err
		}
	}
	return nil
}

// slice writes a slice, which describe names.
func (t *trace) slice(track uint64, from, to units.MonoNs, describe func()) error {
	t.start(sliceBegin, track)
	describe()
	if err := t.end(from); err != nil {
		return err
	}
	t.start(sliceEnd, track)
	return t.end(max(from, to))
}

// handOver numbers the submission of a task at a moment: what was executed from it has the same number.
func handOver(task uint64, at units.MonoNs) uint64 {
	h, l := bits.Mul64(task+0x9e3779b97f4a7c15, uint64(at)*2+1)
	return h ^ l | 1 // 0 is no flow
}

func (t *trace) submissions() error {
	return t.src.Submissions(func(x *export.Submission) error {
		track, shared, err := t.tracks.thread(x.Thread)
		if err != nil {
			return err
		}
		t.start(instant, track)
		t.name("submit " + t.class(x.Class))
		t.category("submission")
		t.argUint("task_id", x.Task)
		t.argString("executor", t.src.ExecutorName(x.Executor))
		t.argString("site", t.site(x.Site))
		t.argThread(shared, x.Thread)
		t.flow(eventFlows, handOver(x.Task, x.At))
		return t.end(x.At)
	})
}

func (t *trace) executions() error {
	t.src.Counted = t.count.execution
	err := t.src.Executions(t.execution)
	if t.src.Truncated {
		t.notes.add("the trace ends after the first %d executions, as --max wants it", t.src.Written)
	}
	if t.crossed > 0 {
		t.notes.add("%s on tracks of their own, named overlapping: they overlap others of their thread without lying in them", text.PluralExact(t.crossed, "execution is", "executions are"))
	}
	if t.tracks.shared > 0 {
		t.notes.add("virtual threads share %d tracks, as many as lived at once; the argument thread of a slice names its thread", t.tracks.shared)
	}
	return err
}

func (t *trace) execution(e *export.Execution) error {
	track, shared, err := t.tracks.thread(e.Thread)
	if err != nil {
		return err
	}
	track, from, err := t.fit(track, e)
	if err != nil {
		return err
	}
	origin := t.origins.Of(e.Task)
	t.start(sliceBegin, track)
	t.name(t.class(e.Class))
	t.category("task")
	t.argUint("task_id", e.Task)
	if e.Outer != 0 {
		t.argUint("outer_task_id", e.Outer)
	}
	t.argNs("cpu_ns", e.CPU)
	t.argNs("queue_ns", e.Queue)
	for k, m := range t.s.ExtraMetrics() {
		if k < len(e.Extra) {
			t.argNs(m.Name, e.Extra[k])
		}
	}
	t.argString("executor", t.src.ExecutorName(origin.Executor))
	t.argString("site", t.site(origin.Site))
	if span := e.TraceSpan(t.traces); span != nil {
		t.argID("trace_id", span.Trace.String())
		t.argID("span_id", span.ID.String())
	}
	t.argThread(shared, e.Thread)
	if e.Flags&wire.Threw != 0 {
		t.argString("ended", "by an exception")
	}
	if e.Submitted != 0 {
		t.flow(eventFlowsTerminate, handOver(e.Task, e.Submitted))
	}
	if err := t.end(from); err != nil || e.Running() { // a slice without an end is one that did not end
		return err
	}
	t.start(sliceEnd, track)
	return t.end(e.End)
}

// maxApart is how many tracks take the executions of a thread that overlap others.
const maxApart = 16

// fit finds the track on which an execution lies inside others or apart from them.
func (t *trace) fit(track uint64, e *export.Execution) (uint64, units.MonoNs, error) {
	x := span{e.Start, e.End}
	if e.Running() {
		x.to = math.MaxInt64
	}
	from, apart := t.tracks.nestingOf(track).place(x)
	for k := uint64(0); apart; k++ {
		if k == 0 {
			t.crossed++
		}
		other := track | (k+1)<<apartShift
		if err := t.tracks.named(other, track, "overlapping", nil); err != nil {
			return 0, 0, err
		}
		if from, apart = t.tracks.nestingOf(other).place(x); !apart || k == maxApart {
			return other, from, nil
		}
	}
	return track, from, nil
}

func (t *trace) waits() error {
	blockers, err := t.s.Blockers()
	if err != nil {
		return err
	}
	return t.src.Waits(func(x *store.Wait) error {
		thread, shared, err := t.tracks.thread(x.Thread)
		if err != nil {
			return err
		}
		track := thread | waitsBit
		if err := t.tracks.named(track, thread, "waits", nil); err != nil {
			return err
		}
		name := x.Kind
		if b, ok := blockers[x.Blocker]; ok && b.Class != "" {
			name += " " + b.Class
		}
		return t.slice(track, units.MonoNs(x.StartNs), units.MonoNs(x.EndNs), func() {
			t.name(name)
			t.category("wait")
			t.argString("site", t.site(x.Site))
			if x.Within != 0 {
				t.argString("within", t.class(x.Within))
			}
			if x.WakerTask != 0 {
				t.argUint("waker_task", x.WakerTask)
			}
			t.argOther("waker", x.Waker)
			t.argOther("holder", x.Holder)
			t.argThread(shared, x.Thread)
		})
	})
}

func (t *trace) argOther(name string, thread uint32) {
	if x := t.s.ThreadByID(thread); thread != 0 && x != nil {
		t.argText(name, x.Label())
	}
}

func (t *trace) argThread(shared bool, thread uint32) {
	if shared {
		t.argOther("thread", thread)
	}
}

// summaries says what has no slice.
func (t *trace) summaries() error {
	var n uint64
	err := t.src.Summaries(func(x *session.Summary) error { n += x.Executions; return nil })
	if n > 0 {
		t.notes.add("%s not in the trace: they were too fast to be recorded one by one and are in summaries; shadow hotspots counts them", text.PluralExact(n, "execution is", "executions are"))
	}
	if lost := t.s.Manifest.Lost.Events; lost > 0 {
		t.notes.add("%s lost while recording and not in the trace", text.PluralExact(lost, "event was", "events were"))
	}
	return err
}

// writeNotes puts the notes into the trace.
func (t *trace) writeNotes() error {
	for _, n := range t.notes {
		if err := t.tracks.named(trackNotes, trackProcess, "notes of stackagent", nil); err != nil {
			return err
		}
		t.start(instant, trackNotes)
		t.text(n)
		t.category("note")
		if err := t.end(t.src.Span.From); err != nil {
			return err
		}
	}
	return nil
}

func (t *trace) class(id uint32) string {
	if c := t.s.ClassByID(id); c != nil {
		return c.Name
	}
	return "unknown class " + strconv.FormatUint(uint64(id), 10)
}

// site is a place as a stack trace writes it.
func (t *trace) site(id uint32) string {
	if id == 0 {
		return ""
	}
	label, ok := t.labels[id]
	if !ok {
		if x := t.s.SiteByID(id); x != nil {
			label = x.Class + "." + x.Method
			if x.Line > 0 {
				label += fmt.Sprintf("(%s:%d)", x.File, x.Line)
			}
		}
		t.labels[id] = label
	}
	return label
}
