package perfetto

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/analysis/summary/summarytest"
	"stackagent/shadow/exchange/export"
	"stackagent/shadow/exchange/export/exporttest"
	"stackagent/shadow/session"
	"stackagent/shadow/store/storetest"
)

// decode calls f with the fields of a message; numbers are decoded, the rest is as it stands.
func decode(t *testing.T, b []byte, f func(field protowire.Number, v uint64, b []byte)) {
	t.Helper()
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
		var v uint64
		var m []byte
		switch kind {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			v, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			m, n = protowire.ConsumeBytes(b)
		default:
			t.Fatalf("field %d of kind %d", field, kind)
		}
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		f(field, v, m)
		b = b[n:]
	}
}

// event is a track event as a reader sees it.
type event struct {
	at, kind, track uint64
	name, category  string
	flow, ends      uint64
	args            map[string]string // texts
}

// read reads a trace as the trace processor does: events in the order of their times, equal ones as they stand.
func read(t *testing.T, trace []byte) (events []event, texts []string) {
	t.Helper()
	names := map[protowire.Number]map[uint64]string{internedNames: {}, internedCategories: {}, internedAnnotations: {}, internedStrings: {}}
	decode(t, trace, func(_ protowire.Number, _ uint64, packet []byte) {
		var e event
		decode(t, packet, func(field protowire.Number, v uint64, b []byte) {
			switch field {
			case packetTimestamp:
				e.at = v
			case packetInterned:
				decode(t, b, func(of protowire.Number, _ uint64, b []byte) {
					var id uint64
					decode(t, b, func(f protowire.Number, v uint64, b []byte) {
						if f == 1 {
							id = v
						} else {
							names[of][id] = string(b)
							texts = append(texts, string(b))
						}
					})
				})
			case packetEvent:
				decode(t, b, func(field protowire.Number, v uint64, b []byte) {
					switch field {
					case eventType:
						e.kind = v
					case eventTrack:
						e.track = v
					case eventName:
						e.name = names[internedNames][v]
					case eventText:
						e.name = string(b)
					case eventCategories:
						e.category = names[internedCategories][v]
					case eventAnnotations:
						var name, text string
						decode(t, b, func(f protowire.Number, v uint64, b []byte) {
							switch f {
							case annotationName:
								name = names[internedAnnotations][v]
							case annotationText:
								text = string(b)
							case annotationString:
								text = names[internedStrings][v]
							}
						})
						if e.args == nil {
							e.args = map[string]string{}
						}
						e.args[name] = text
					case eventFlows:
						e.flow = v
					case eventFlowsTerminate:
						e.ends = v
					}
				})
				events = append(events, e)
			}
		})
	})
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	return events, texts
}

func write(t *testing.T, dir string) ([]byte, Notes) {
	t.Helper()
	s, err := session.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	notes, err := Write(&out, &export.Source{Session: s, Span: activity.Span{From: s.Manifest.StartNs, To: s.Manifest.EndNs}})
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), notes
}

func TestTraceOfKnownSession(t *testing.T) {
	dir, err := exporttest.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	trace, notes := write(t, dir)
	events, _ := read(t, trace)
	open := map[uint64][]event{}
	var got []string
	var begun uint64
	for _, e := range events {
		switch e.kind {
		case sliceBegin:
			open[e.track] = append(open[e.track], e)
			if e.category == "task" && e.ends != 0 && e.ends != begun {
				t.Errorf("the hand-over to %s is none that began before", e.name)
			}
		case sliceEnd:
			stack := open[e.track]
			if len(stack) == 0 {
				t.Fatalf("an end at %d on track %x, where nothing is open", e.at, e.track)
			}
			b := stack[len(stack)-1]
			open[e.track] = stack[:len(stack)-1]
			got = append(got, fmt.Sprintf("%s %s in %d others: %d +%d", b.category, b.name, len(stack)-1, b.at, e.at-b.at))
		case instant:
			if e.flow != 0 {
				begun = e.flow
			}
			got = append(got, e.category+" "+e.name)
		}
	}
	for _, stack := range open {
		for _, b := range stack {
			got = append(got, fmt.Sprintf("open: %s %d", b.name, b.at))
		}
	}
	want := []string{
		"note " + notes[0], "note " + notes[1],
		"submission submit com.acme.Outer",
		"task com.acme.Outer$$Lambda -> com.acme.Outer.inner in 1 others: 100000000 +2000000",
		"wait monitor com.acme.Lock in 0 others: 101000000 +3000000",
		"task com.acme.Outer$$Lambda -> com.acme.Outer.inner in 1 others: 105000000 +2000000",
		"task com.acme.Outer in 0 others: 99999999 +10000001", // it begins with the one inside
		"gc G1 Evacuation Pause in 0 others: 120000000 +1000000",
		"open: com.acme.Outer$$Lambda -> com.acme.Outer.inner 150000000",
	}
	if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
		t.Errorf("slices:\n%s\nwant:\n%s", a, b)
	}
	if begun == 0 || len(notes) != 2 || !strings.Contains(strings.Join(notes, "\n"), "7 executions are not in the trace") {
		t.Errorf("flow %d, notes %q", begun, notes)
	}
}

// TestQueueInWindow: the counter of a queue has the tasks that wait in a window, also if they start after it, are of
// another class than what is written, or more than --max.
func TestQueueInWindow(t *testing.T) {
	dir, err := exporttest.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	window, whole := activity.Span{From: 96 * exporttest.Ms, To: 98 * exporttest.Ms}, activity.Span{From: s.Manifest.StartNs, To: s.Manifest.EndNs}
	for name, src := range map[string]*export.Source{ // Outer waits from 95 to 100 ms, and alone
		"window": {Span: window}, "class": {Span: whole, Filter: summary.Filter{Class: exporttest.Inner}}, "max": {Span: whole, Max: 1},
	} {
		src.Session = s
		var out bytes.Buffer
		if _, err := Write(&out, src); err != nil {
			t.Fatal(err)
		}
		waiting := 0.0
		decode(t, out.Bytes(), func(_ protowire.Number, _ uint64, packet []byte) {
			decode(t, packet, func(field protowire.Number, _ uint64, b []byte) {
				if field != packetEvent {
					return
				}
				decode(t, b, func(field protowire.Number, v uint64, _ []byte) {
					if field == eventDoubleCounter {
						waiting = max(waiting, math.Float64frombits(v))
					}
				})
			})
		})
		if waiting < 0.99 || waiting > 1.01 {
			t.Errorf("%s: at most %g tasks wait, want 1", name, waiting)
		}
	}
}

func TestNesting(t *testing.T) {
	type placed struct {
		from  units.MonoNs
		apart bool
	}
	for name, x := range map[string]struct {
		spans []span
		want  []placed
	}{
		"inside":                      {[]span{{10, 20}, {30, 40}, {5, 50}}, []placed{{10, false}, {30, false}, {5, false}}},
		"begin together":              {[]span{{10, 20}, {10, 30}, {10, 40}}, []placed{{10, false}, {9, false}, {10, true}}},
		"begin together, no room":     {[]span{{1, 10}, {10, 20}, {10, 30}}, []placed{{1, false}, {10, false}, {10, true}}},
		"one after the other":         {[]span{{1, 10}, {10, 10}, {10, 12}}, []placed{{1, false}, {10, false}, {10, true}}},
		"overlap":                     {[]span{{10, 20}, {15, 25}}, []placed{{10, false}, {15, true}}},
		"written late":                {[]span{{10, 50}, {20, 30}, {20, 50}}, []placed{{10, false}, {20, false}, {20, false}}},
		"running, in one that is too": {[]span{{10, 1 << 62}, {20, 1 << 62}}, []placed{{10, false}, {20, false}}},
	} {
		var n nesting
		for i, s := range x.spans {
			from, apart := n.place(s)
			if (placed{from, apart}) != x.want[i] {
				t.Errorf("%s: %v is placed at %d, apart %t; want %v", name, s, from, apart, x.want[i])
			}
		}
	}
}

// TestHostileNames: names of the program are valid UTF-8 without characters that act on a terminal.
func TestHostileNames(t *testing.T) {
	root := t.TempDir()
	dir, err := storetest.Hostile(root, summarytest.Hostile)
	if err == nil {
		err = storetest.Submit(root, summarytest.Hostile)
	}
	if err != nil {
		t.Fatal(err)
	}
	trace, _ := write(t, dir)
	events, texts := read(t, trace)
	tasks := 0
	for _, e := range events {
		if e.kind == sliceBegin && e.category == "task" {
			tasks++
		}
	}
	if want := 2 * len(summarytest.Hostile); tasks != want {
		t.Errorf("%d tasks, want %d", tasks, want)
	}
	for _, s := range texts {
		if s != clean(s) || s == "" {
			t.Errorf("%q", s)
		}
	}
}

// TestTraceIDs: the slice of an execution has the ids of the trace in which it was, and no others.
func TestTraceIDs(t *testing.T) {
	want := []string{
		exporttest.Inner + " at 100: " + exporttest.Traces[0] + " " + exporttest.Spans[0],
		exporttest.Inner + " at 105: " + exporttest.Traces[1] + " " + exporttest.Spans[1],
		exporttest.Inner + " at 150:  ",
		exporttest.Outer + " at 99: " + exporttest.Traces[0] + " " + exporttest.Spans[0],
	}
	for name, write1 := range map[string]func(string) (string, error){"traced": exporttest.Traced, "untraced": exporttest.Write} {
		dir, err := write1(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		trace, _ := write(t, dir)
		if name == "untraced" {
			if bytes.Contains(trace, []byte("trace_id")) {
				t.Error("a session without traces has ids of some")
			}
			continue
		}
		events, _ := read(t, trace)
		var got []string
		for _, e := range events {
			if e.kind == sliceBegin && e.category == "task" {
				got = append(got, fmt.Sprintf("%s at %d: %s %s", e.name, e.at/uint64(exporttest.Ms), e.args["trace_id"], e.args["span_id"]))
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s, want %s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestManyIDs: beyond those that are held in memory, ids stand in the slices themselves.
func TestManyIDs(t *testing.T) {
	var out bytes.Buffer
	w := newWriter(&out)
	const n = maxIDs + 2
	for i := range n {
		w.start(sliceBegin, 1)
		w.argID("trace_id", fmt.Sprintf("%032x", i))
		if err := w.end(units.MonoNs(i)); err != nil {
			t.Fatal(err)
		}
	}
	events, _ := read(t, out.Bytes())
	for i, e := range events {
		if want := fmt.Sprintf("%032x", i); e.args["trace_id"] != want {
			t.Fatalf("slice %d: %q, want %s", i, e.args["trace_id"], want)
		}
	}
	if len(events) != n || len(w.strings.numbers) != maxIDs {
		t.Errorf("%d slices, %d texts in memory", len(events), len(w.strings.numbers))
	}
}
