package otlp

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	metrics "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
	trace "go.opentelemetry.io/proto/slim/otlp/trace/v1"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/analysis/summary/summarytest"
	"stackagent/shadow/exchange/export"
	"stackagent/shadow/exchange/export/exporttest"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
	"stackagent/shadow/store/storetest"
)

func source(t *testing.T, dir string) *export.Source {
	t.Helper()
	s, err := session.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return &export.Source{Session: s, Span: activity.Span{From: s.Manifest.StartNs, To: s.Manifest.EndNs}}
}

// sent exports a session to a fake receiver.
func sent(t *testing.T, dir string, slowest int) (*fake, []string) {
	t.Helper()
	f := newFake(t)
	notes, err := Export(NewReceiver(t.Context(), f.client(t, Options{}), nil), source(t, dir), slowest, "v1")
	if err != nil {
		t.Fatal(err)
	}
	return f, notes
}

func (f *fake) allSpans() (list []*trace.Span) {
	for _, r := range f.spans {
		for _, s := range r.ScopeSpans {
			list = append(list, s.Spans...)
		}
	}
	return list
}

const wallStart = uint64(exporttest.WallUnixNs) - uint64(exporttest.Start) // 0 of the session's clock

func TestExport(t *testing.T) {
	dir, err := exporttest.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f, notes := sent(t, dir, 1)
	for name, want := range map[string]map[string]int64{
		"stackagent_task_executions_total": {exporttest.Outer: 1, exporttest.Inner: 10},
		"stackagent_task_failed_total":     {exporttest.Outer: 1, exporttest.Inner: 0},
	} {
		for _, p := range f.named(name)[0].GetSum().DataPoints {
			class := values(p.Attributes)["class"].(string)
			if n, ok := want[class]; !ok || p.GetAsInt() != n || p.StartTimeUnixNano != exporttest.WallUnixNs || p.TimeUnixNano != wallStart+uint64(exporttest.End) {
				t.Errorf("%s: %v", name, p)
			}
			delete(want, class)
		}
		if len(want) > 0 {
			t.Errorf("%s: %v missing", name, want)
		}
	}
	type figures struct {
		count         uint64
		sum, min, max float64
	}
	for name, want := range map[string]map[string]figures{
		"stackagent_task_run_seconds":      {exporttest.Outer: {1, 0.010, 0.010, 0.010}, exporttest.Inner: {9, 0.00407, 0.00001, 0.002}},
		"stackagent_task_cpu_seconds":      {exporttest.Outer: {1, 0.005, 0.005, 0.005}, exporttest.Inner: {2, 0.002, 0.001, 0.001}},
		"stackagent_task_queue_seconds":    {exporttest.Outer: {1, 0.005, 0.005, 0.005}},
		"stackagent_task_response_seconds": {exporttest.Outer: {1, 0.015, 0.015, 0.015}},
		"stackagent_gc_pause_seconds":      {"G1 Evacuation Pause": {1, 0.001, 0.001, 0.001}},
	} {
		m := f.named(name)
		if len(m) != 1 || m[0].Unit != "s" || m[0].GetExponentialHistogram().AggregationTemporality != cumulative {
			t.Errorf("%s: %v", name, m)
			continue
		}
		for _, p := range m[0].GetExponentialHistogram().DataPoints {
			v := values(p.Attributes)
			key, _ := v["class"].(string)
			if cause, ok := v["cause"].(string); ok {
				key = cause
			}
			if got := (figures{p.Count, *p.Sum, *p.Min, *p.Max}); got != want[key] {
				t.Errorf("%s of %s: %v, want %v", name, key, got, want[key])
			}
			if q := quantile(p, 1); math.Abs(q-*p.Max)/(*p.Max) > RelativeError {
				t.Errorf("%s of %s: the largest value is %v in the buckets", name, key, q)
			}
			delete(want, key)
		}
		if len(want) > 0 {
			t.Errorf("%s: %v missing", name, want)
		}
	}
	if len(notes) != 1 || !strings.HasPrefix(notes[0], "1 execution had not ended") {
		t.Errorf("notes: %q", notes)
	}
	if r := values(f.metrics[0].Resource.Attributes); r["service.name"] != "shop" || r["service.version"] != "1.4" || r["team"] != "it's a" || r["process.pid"] != int64(4711) || r["stackagent.session"] != "known" {
		t.Errorf("resource: %v", r)
	}
}

func TestSpans(t *testing.T) {
	dir, err := exporttest.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f, _ := sent(t, dir, 1)
	list := f.allSpans()
	if len(list) != 3 { // the slowest of each class, and one queue
		t.Fatalf("%d spans", len(list))
	}
	outer, queue, inner := list[0], list[1], list[2]
	at := func(ms units.MonoNs) uint64 { return wallStart + uint64(ms*exporttest.Ms) }
	if outer.Name != exporttest.Outer || outer.StartTimeUnixNano != at(95) || outer.EndTimeUnixNano != at(110) || outer.Status.Code != trace.Status_STATUS_CODE_ERROR || len(outer.ParentSpanId) != 0 {
		t.Errorf("outer: %v", outer)
	}
	a := values(outer.Attributes)
	for name, want := range map[string]any{"stackagent.task_id": int64(1), "stackagent.queue_ns": int64(5e6), "stackagent.cpu_ns": int64(5e6), "thread.id": int64(21), "thread.name": "worker",
		"stackagent.executor": "com.acme.Pool #1", "code.function.name": "com.acme.Main.start", "code.line.number": int64(7)} {
		if a[name] != want {
			t.Errorf("%s is %v, want %v", name, a[name], want)
		}
	}
	if queue.Name != "queue" || queue.StartTimeUnixNano != at(95) || queue.EndTimeUnixNano != at(100) || !bytes.Equal(queue.ParentSpanId, outer.SpanId) || !bytes.Equal(queue.TraceId, outer.TraceId) {
		t.Errorf("queue: %v", queue)
	}
	if inner.Name != exporttest.Inner || inner.StartTimeUnixNano != at(100) || inner.EndTimeUnixNano != at(102) || inner.Status.Code != trace.Status_STATUS_CODE_UNSET || bytes.Equal(inner.TraceId, outer.TraceId) {
		t.Errorf("inner, of the two that took the same the first: %v", inner)
	}
	again, _ := sent(t, dir, 2)
	if other := again.allSpans(); len(other) != 4 || !bytes.Equal(other[0].SpanId, outer.SpanId) || !bytes.Equal(other[0].TraceId, outer.TraceId) {
		t.Errorf("sent again: %d spans, the first %x", len(other), other[0].SpanId)
	}
	if none, _ := sent(t, dir, 0); len(none.spans) != 0 {
		t.Error("spans that nobody wants")
	}
}

// A task of a published trace is a span of it, below the span in which it was submitted.
func TestJoinedTrace(t *testing.T) {
	w, err := store.OpenWriter(t.TempDir(), "s", "s")
	if err != nil {
		t.Fatal(err)
	}
	w.Manifest = store.Manifest{Session: "s", StartNs: 1, EndNs: 1000, Ended: store.EndedExit, Metrics: []string{"wall"}, Produced: store.Counts{Executions: 1}}
	if err := w.Commit(&store.Part{
		Range: store.Range{From: 1, To: 1}, Classes: []store.Class{{ID: 1, Name: "T", Kinds: "runnable"}}, Threads: []store.Thread{{ID: 1, JavaID: 1}},
		Executions: []store.Execution{{TaskID: 9, Class: 1, Thread: 1, StartNs: 100, EndNs: 200, WallNs: 100, CPUNs: units.NotMeasured, SelfWallNs: 100, SelfCPUNs: units.NotMeasured}},
		TaskTraces: []store.TaskTrace{{TaskID: 9, Kind: store.TraceSubmission, AtNs: 50, TraceID: "0af7651916cd43dd8448eb211c80319c", SpanID: "b7ad6b7169203331"}},
	}); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := Export(File{&b}, source(t, w.Dir()), 10, "v1"); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	var got struct {
		ResourceSpans []struct {
			ScopeSpans []struct {
				Spans []struct {
					TraceID, SpanID, ParentSpanID, StartTimeUnixNano string
					Kind                                             int
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &got); err != nil {
		t.Fatal(err)
	}
	s := got.ResourceSpans[0].ScopeSpans[0].Spans[0]
	if s.TraceID != "0af7651916cd43dd8448eb211c80319c" || s.ParentSpanID != "b7ad6b7169203331" || len(s.SpanID) != 16 || s.SpanID == s.ParentSpanID || s.Kind != int(trace.Span_SPAN_KIND_INTERNAL) {
		t.Errorf("%+v in %s", s, lines[len(lines)-1])
	}
}

// Hostile names go to a receiver and into a file; every line of that is JSON.
func TestHostileSession(t *testing.T) {
	var names []string
	for _, n := range summarytest.Hostile {
		names = append(names, strings.ToValidUTF8(n, "?"))
	}
	dir, err := storetest.Hostile(t.TempDir(), names)
	if err != nil {
		t.Fatal(err)
	}
	f, _ := sent(t, dir, 10)
	if len(f.allSpans()) == 0 || len(f.named("stackagent_task_executions_total")) == 0 {
		t.Error("nothing came")
	}
	var b bytes.Buffer
	if _, err := Export(File{&b}, source(t, dir), 10, "v1"); err != nil {
		t.Fatal(err)
	}
	for _, line := range bytes.Split(bytes.TrimSpace(b.Bytes()), []byte("\n")) {
		if !json.Valid(line) || bytes.ContainsAny(line, "\x1b\x00\u202e") {
			t.Errorf("%.300q", line)
		}
	}
}

// Classes beyond the limit are summed up, and requests stay small.
func TestManyClasses(t *testing.T) {
	none := &session.Session{}
	x := &exporter{src: &export.Source{Session: none}, s: none, byName: map[string]*class{}, byID: map[uint32]*class{}}
	for i := range maxClasses + 100 {
		for range 2 {
			x.execution(&export.Execution{Class: uint32(i), Wall: 5, CPU: units.NotMeasured, Queue: units.NotMeasured})
		}
	}
	if len(x.classes) != maxClasses || x.byName[others].executions != 2*101 {
		t.Errorf("%d classes, %d executions of others", len(x.classes), x.byName[others].executions)
	}
	f := newFake(t)
	points := 0
	for _, m := range x.metrics() {
		eachPart(m, func(m *metrics.Metric) {
			points += len(m.GetExponentialHistogram().GetDataPoints())
			if err := NewReceiver(t.Context(), f.client(t, Options{}), nil).Metrics(&metrics.ResourceMetrics{ScopeMetrics: []*metrics.ScopeMetrics{{Metrics: []*metrics.Metric{m}}}}); err != nil {
				t.Fatal(err)
			}
		})
	}
	if points != maxClasses || slices.Max(f.sizes) > 1<<20 {
		t.Errorf("%d points, requests of up to %d bytes", points, slices.Max(f.sizes))
	}
}

func TestSlowest(t *testing.T) {
	s := slowest{most: 3}
	for i, took := range []units.MonoNs{5, 1, 9, 7, 9, 3} {
		s.add(&export.Execution{Task: uint64(i), Start: 100, End: 100 + took, Queue: units.NotMeasured})
	}
	s.add(&export.Execution{Task: 6, Start: 100, End: 102, Queue: 100, Flags: wire.Threw}) // waited longest
	var tasks []uint64
	for _, e := range s.sorted() {
		tasks = append(tasks, e.Task)
	}
	if !slices.Equal(tasks, []uint64{6, 2, 4}) {
		t.Errorf("%v", tasks)
	}
}

// What an export lacks stands in it: as notes of the resource, and in the description of figures that are lower bounds.
func TestNotesInExport(t *testing.T) {
	dir, err := exporttest.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*export.Source)
		says   []string
		low    bool
	}{
		"whole":   {func(*export.Source) {}, []string{"1 execution had not ended"}, false},
		"max":     {func(s *export.Source) { s.Max = 2 }, []string{"the export ends after the first 2 executions"}, true},
		"class":   {func(s *export.Source) { s.Filter.Class = exporttest.Inner }, []string{"only tasks of classes that match"}, false},
		"window":  {func(s *export.Source) { s.Span.To -= 1 }, []string{"only what overlaps"}, false},
		"partial": {func(s *export.Source) { s.Session.Manifest.PartOf = []string{"it was cut"} }, []string{"the session is incomplete: "}, true},
	} {
		var b bytes.Buffer
		src := source(t, dir)
		c.change(src)
		notes, err := Export(File{W: &b}, src, 1, "v1")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			for _, says := range c.says {
				if at := strings.Index(line, `"stackagent.notes"`); at < 0 || !strings.Contains(line[at:], says) || !strings.Contains(strings.Join(notes, "\n"), says) {
					t.Errorf("%s: %q is not in %s, or not in %q", name, says, line, notes)
				}
			}
			if strings.Contains(line, `"stackagent_task_executions_total"`) && strings.Contains(line, " At least: ") != c.low {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
}
