package otlp

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	trace "go.opentelemetry.io/proto/slim/otlp/trace/v1"

	"stackagent/internal/heap"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/exchange/export"
	"stackagent/shadow/session"
)

// slowest are the executions of a class with the longest response times: the least of them first.
type slowest struct {
	most int
	list heap.Heap[slow]
}

// took is by what executions are slow: where their response time is not known, the time that they ran.
func took(e *export.Execution) units.Ns {
	if r := response(e); r.Measured() {
		return r
	}
	return units.Ns(e.End - e.Start)
}

// Of executions that took the same, the first stays: an export does not depend on the order of the rows.
func faster(a, b *export.Execution) bool {
	return cmp.Or(cmp.Compare(took(a), took(b)), cmp.Compare(b.Start, a.Start), cmp.Compare(b.Task, a.Task)) < 0
}

type slow struct{ *export.Execution }

// Before reports whether s took less than o.
func (s slow) Before(o slow) bool { return faster(s.Execution, o.Execution) }

func (s *slowest) add(e *export.Execution) {
	if s.most == 0 || len(s.list) == s.most && !faster(s.list[0].Execution, e) {
		return
	}
	x := *e
	x.Extra = nil // it is the reader's
	if len(s.list) < s.most {
		s.list.Push(slow{&x})
		return
	}
	s.list[0].Execution = &x
	s.list.Fix()
}

// sorted are they, the slowest first.
func (s *slowest) sorted() []slow {
	list := slices.Clone(s.list)
	slices.SortFunc(list, func(a, b slow) int {
		if b.Before(a) {
			return -1
		}
		return 1
	})
	return list
}

// spanner makes spans of executions.
type spanner struct {
	*exporter
	traces  *session.Traces
	origins *export.Origins
	seed    [sha256.Size]byte // of the session: its ids are always the same, and those of no other
}

func (x *exporter) spanner() (*spanner, error) {
	t := &spanner{exporter: x}
	m := &x.s.Manifest
	t.seed = sha256.Sum256(binary.BigEndian.AppendUint64([]byte(m.Session+"\x00"+m.Process+"\x00"+m.JVM.Host+"\x00"), uint64(m.WallUnixNs)))
	var err error
	if t.traces, err = x.s.Traces(); err != nil {
		return nil, err
	}
	t.origins, err = x.src.Origins()
	return t, err
}

// id is derived from the session and an execution, so that an export that is sent twice is the same trace twice.
func (t *spanner) id(what string, e *export.Execution) []byte {
	data := append(slices.Clone(t.seed[:]), what...)
	data = binary.BigEndian.AppendUint64(data, e.Task)
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(data, uint64(e.Start)))
	return sum[:]
}

// of are the spans of an execution: from its submission to its end, and inside that of the time in a queue.
func (t *spanner) of(c *class, e *export.Execution) []*trace.Span {
	trc, id := t.id("trace", e)[:16], t.id("span", e)[:8]
	var parent []byte
	if span := e.TraceSpan(t.traces); span != nil {
		trc, parent = span.Trace[:], span.ID[:]
	}
	from := e.Start
	if e.Queue.Measured() {
		from -= units.MonoNs(e.Queue)
	}
	whole := &trace.Span{TraceId: trc, SpanId: id, ParentSpanId: parent, Name: c.name, Kind: trace.Span_SPAN_KIND_INTERNAL,
		StartTimeUnixNano: t.wall(from), EndTimeUnixNano: t.wall(e.End), Attributes: t.attributes(c, e), Status: &trace.Status{}}
	if e.Flags&wire.Threw != 0 {
		whole.Status = &trace.Status{Code: trace.Status_STATUS_CODE_ERROR, Message: "ended by an exception"}
	}
	spans := []*trace.Span{whole}
	if e.Queue.Measured() && e.Queue > 0 {
		spans = append(spans, &trace.Span{TraceId: trc, SpanId: t.id("queue", e)[:8], ParentSpanId: id, Name: "queue", Kind: trace.Span_SPAN_KIND_INTERNAL,
			StartTimeUnixNano: t.wall(from), EndTimeUnixNano: t.wall(e.Start), Attributes: t.handOver(e)})
	}
	return spans
}

func (t *spanner) attributes(c *class, e *export.Execution) []*common.KeyValue {
	list := []*common.KeyValue{str("stackagent.class", c.name), integer("stackagent.task_id", int64(e.Task))}
	if e.Outer != 0 {
		list = append(list, integer("stackagent.outer_task_id", int64(e.Outer)))
	}
	for _, m := range []struct {
		name string
		ns   units.Ns
	}{{"stackagent.run_ns", e.Wall}, {"stackagent.cpu_ns", e.CPU}, {"stackagent.queue_ns", e.Queue}} {
		if m.ns.Measured() {
			list = append(list, integer(m.name, int64(m.ns)))
		}
	}
	if th := t.s.ThreadByID(e.Thread); th != nil {
		list = append(list, integer("thread.id", th.JavaID), str("thread.name", th.Name))
	}
	return append(list, t.handOver(e)...)
}

// handOver says where a task was submitted, as far as that is known.
func (t *spanner) handOver(e *export.Execution) (list []*common.KeyValue) {
	o := t.origins.Of(e.Task)
	if name := t.src.ExecutorName(o.Executor); name != "" {
		list = append(list, str("stackagent.executor", name))
	}
	if s := t.s.SiteByID(o.Site); o.Site != 0 && s != nil {
		list = append(list, str("code.function.name", s.Class+"."+s.Method), str("code.file.path", s.File))
		if s.Line > 0 {
			list = append(list, integer("code.line.number", int64(s.Line)))
		}
	}
	return list
}
