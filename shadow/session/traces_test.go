package session

import (
	"testing"

	"stackagent/internal/units"
)

func id(n byte) TraceID { return TraceID{15: n} }

func TestTracesOf(t *testing.T) {
	s := func(trace uint32, span byte) spanRef { return spanRef{SpanID{7: span}, trace} }
	x := &Traces{inherited: map[uint64]spanRef{}, submitted: newIDSet(), ids: []TraceID{id(1), id(2)}, rows: []traced{
		{10, 5, s(0, 1), false},                          // handed over
		{11, 5, s(0, 1), false}, {11, 12, s(0, 2), true}, // and a span of its own in the same trace
		{12, 5, s(0, 1), false}, {12, 12, s(1, 3), true}, // in another one
		{13, 12, s(0, 1), true}, {13, 14, s(1, 3), true}, // a loop that serves two
		{14, 5, s(0, 1), false}, {14, 30, s(1, 2), false}, // submitted twice
	}}
	x.inheritAll([]uint64{20, 21, 22, 10}, []uint64{11, 20, 13, 12}, true)
	x.submitted.add(23)
	x.inheritAll([]uint64{23}, []uint64{10}, false) // a worker that was started in a trace
	end := units.MonoNs(20)
	for _, c := range []struct {
		task       uint64
		start, end units.MonoNs
		trace      byte
		span       byte
	}{
		{10, 10, end, 1, 1}, {11, 10, end, 1, 1}, {12, 10, end, 2, 3}, {12, 13, end, 1, 1}, {13, 10, end, 0, 0}, {13, 10, 12, 1, 1}, {13, 13, 0, 2, 3},
		{14, 10, end, 1, 1}, {14, 31, 40, 2, 2}, {14, 1, 2, 1, 1}, {20, 10, end, 1, 1}, {21, 10, end, 1, 1}, {22, 10, end, 0, 0}, {23, 10, end, 0, 0}, {99, 10, end, 0, 0},
	} {
		span, ok := x.Of(c.task, c.start, c.end)
		if ok != (c.trace != 0) || ok && span != (Span{id(c.trace), SpanID{7: c.span}}) {
			t.Errorf("task %d from %d to %d: %v %v, want trace %d span %d", c.task, c.start, c.end, span, ok, c.trace, c.span)
		}
	}
	if !x.Has(id(1), 13, 10, end) || !x.Has(id(2), 13, 10, end) || x.Has(id(2), 13, 10, 12) || x.Has(id(2), 10, 10, end) || !x.Has(id(1), 21, 10, end) {
		t.Error("Has")
	}
}
