package jfr

import (
	"fmt"
	"io"
	"regexp"
	"strconv"

	"stackagent/internal/label"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/analysis/wait"
	"stackagent/shadow/exchange/export"
	"stackagent/shadow/session"
)

// BytesPerExecution is about how long a recording is.
const BytesPerExecution = 35

// recording is a recording that is being written.
type recording struct {
	*chunks
	src     *export.Source
	origins *export.Origins
	traces  *session.Traces
	extra   []int // metrics of the session that are fields of tasks
	notes   []string

	namer *wait.Namer
	parts map[string]bool // notes that say that the recording is a part of the session
}

// Write writes the recording of what src chooses. The notes say what it does not hold, in a sentence each.
func Write(to io.Writer, src *export.Source) (notes []string, err error) {
	r := &recording{src: src, parts: map[string]bool{}, chunks: &chunks{to: to, s: src.Session, pools: map[int]*pool{}, from: src.Span.From}}
	for _, n := range src.Left() {
		r.part("%s", n)
	}
	if r.traces, err = r.s.Traces(); err != nil {
		return nil, err
	}
	r.metadata = metadata(r.extraFields())
	if r.origins, err = src.Origins(); err != nil {
		return nil, err
	}
	for _, step := range []func() error{r.information, r.pauses, r.submissions, r.executions, r.waits, r.waitSums, r.summaries, r.writeNotes} {
		if err := step(); err != nil {
			return r.notes, err
		}
	}
	return r.notes, r.flush(max(r.from, src.Span.To))
}

func (r *recording) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// part is a note of tasks or other events that are missing.
func (r *recording) part(format string, args ...any) {
	r.note(format, args...)
	r.parts[r.notes[len(r.notes)-1]] = true
}

// fieldName matches names of metrics that can be those of fields in Java.
var fieldName = regexp.MustCompile(`^[a-z][A-Za-z0-9_]{0,63}$`)

// extraFields are the fields of tasks that only some sessions have: ids of traces, and metrics beside wall and CPU time.
func (r *recording) extraFields() (fields []field) {
	taken := map[string]bool{}
	for _, f := range (&eventKinds[0]).all(nil) {
		taken[f.name] = true
	}
	if r.traces.Any() {
		fields = append(fields, words("traceId", "Trace"), words("spanId", "Span"))
		taken["traceId"], taken["spanId"] = true, true
	}
	for k, m := range r.s.ExtraMetrics() {
		if !fieldName.MatchString(m.Name) || taken[m.Name] {
			r.note("the metric %q is not in the recording: fields of a recording have names of letters, digits and _", clean(m.Name))
			continue
		}
		taken[m.Name] = true
		r.extra = append(r.extra, k)
		fields = append(fields, count(m.Name, m.Name))
	}
	return fields
}

// information says which JVM it was.
func (r *recording) information() error {
	m := &r.s.Manifest
	j := &m.JVM
	r.start(eventJVM, m.StartNs)
	for _, s := range []string{j.Name, j.Version, "", "", j.MainClass} {
		r.words(s)
	}
	r.number(m.WallUnixNs / 1e6)
	r.number(int64(j.PID))
	if err := r.end(m.StartNs); err != nil {
		return err
	}
	for _, p := range m.Labels.Pairs() { // the programs that read recordings have no other place for them
		r.start(eventProperty, m.StartNs)
		r.words(label.Property + p.Name)
		r.words(p.Value)
		if err := r.end(m.StartNs); err != nil {
			return err
		}
	}
	r.start(eventCPU, m.StartNs)
	r.words("unknown")
	r.words("as the JVM sees it")
	for _, n := range []int{1, j.CPUs, j.CPUs} {
		r.number(int64(n))
	}
	if err := r.end(m.StartNs); err != nil {
		return err
	}
	for i := range eventKinds {
		r.start(eventSetting, m.StartNs)
		r.number(int64(eventKinds[i].id))
		r.words("enabled")
		r.words(strconv.FormatBool(eventKinds[i].id != eventWait || m.Waits != nil))
		if err := r.end(m.StartNs); err != nil {
			return err
		}
	}
	return r.waitSettings()
}

func (r *recording) pauses() error {
	for i, p := range r.src.Pauses() {
		long := max(0, int64(p.EndNs-p.StartNs))
		r.start(eventCollection, p.StartNs)
		r.number(long)
		r.number(int64(i))
		r.words(r.s.Manifest.JVM.GC)
		r.words(p.Cause)
		r.number(long)
		r.number(long)
		if err := r.end(p.EndNs); err != nil {
			return err
		}
		r.start(eventPause, p.StartNs)
		r.number(long)
		r.number(0)
		r.number(int64(i))
		r.words("GC Pause")
		if err := r.end(p.EndNs); err != nil {
			return err
		}
	}
	return nil
}

func (r *recording) submissions() error {
	return r.src.Submissions(func(x *export.Submission) error {
		r.start(eventSubmission, x.At)
		r.number(r.thread(x.Thread))
		r.number(r.site(x.Site))
		r.number(r.taskClass(x.Class))
		r.number(int64(x.Task))
		r.words(r.src.ExecutorName(x.Executor))
		r.boolean(x.Flags&wire.Inner != 0)
		return r.end(x.At)
	})
}

func (r *recording) executions() error {
	err := r.src.Executions(r.execution)
	if r.src.Truncated {
		r.part("the recording ends after the first %d executions, as --max wants it", r.src.Written)
	}
	return err
}

func (r *recording) execution(e *export.Execution) error {
	origin := r.origins.Of(e.Task)
	executor := r.src.ExecutorName(origin.Executor)
	if e.Queue.Measured() {
		r.start(eventQueue, e.Start-units.MonoNs(e.Queue))
		r.span(e.Queue)
		r.number(r.thread(e.Thread))
		r.number(r.site(origin.Site))
		r.number(r.taskClass(e.Class))
		r.number(int64(e.Task))
		r.words(executor)
		if err := r.end(e.Start); err != nil {
			return err
		}
	}
	r.start(eventTask, e.Start)
	r.number(int64(e.End - e.Start))
	r.number(r.thread(e.Thread))
	r.number(r.site(origin.Site))
	r.number(r.taskClass(e.Class))
	r.number(int64(e.Task))
	r.number(int64(e.Outer))
	r.span(e.CPU)
	r.span(e.Queue)
	r.words(executor)
	r.boolean(e.Flags&wire.Threw != 0)
	r.boolean(e.Running())
	if r.traces.Any() {
		trace, span := "", ""
		if x := e.TraceSpan(r.traces); x != nil {
			trace, span = x.Trace.String(), x.ID.String()
		}
		r.words(trace)
		r.words(span)
	}
	for _, k := range r.extra {
		v := units.NotMeasured
		if k < len(e.Extra) {
			v = e.Extra[k]
		}
		r.span(v)
	}
	return r.end(e.End)
}

func (r *recording) summaries() error {
	var n uint64
	err := r.src.Summaries(func(x *session.Summary) error {
		n += x.Executions
		wall := units.NotMeasured
		for i := range x.Measures {
			if x.Measures[i].Metric == wire.MetricWall {
				wall = x.Measures[i].SumNs
			}
		}
		r.start(eventSummary, x.FromNs)
		r.number(max(0, int64(x.ToNs-x.FromNs)))
		r.number(r.thread(x.Thread))
		r.number(r.taskClass(x.Class))
		r.number(int64(x.Executions))
		r.span(wall)
		return r.end(x.ToNs)
	})
	if n > 0 {
		r.note("%s no event stackagent.Task: they were too fast to be recorded one by one; events stackagent.Summary count them", text.PluralExact(n, "execution has", "executions have"))
	}
	if lost := r.s.Manifest.Lost.Events; lost > 0 {
		r.part("%s lost while recording and not in this one", text.PluralExact(lost, "event was", "events were"))
	}
	return err
}

func (r *recording) writeNotes() error {
	for _, n := range r.notes {
		r.start(eventNote, r.src.Span.From)
		r.words(n)
		r.boolean(r.parts[n])
		if err := r.end(r.src.Span.From); err != nil {
			return err
		}
	}
	return nil
}
