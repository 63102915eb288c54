package jfr_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"testing"

	"stackagent/granularity/activity"
	"stackagent/internal/jfrfile"
	"stackagent/shadow/analysis/summary/summarytest"
	"stackagent/shadow/exchange/export"
	"stackagent/shadow/exchange/export/exporttest"
	"stackagent/shadow/exchange/export/jfr"
	"stackagent/shadow/session"
	"stackagent/shadow/store/storetest"
)

// write exports the session in dir.
func write(t *testing.T, dir string) ([]byte, []string) {
	t.Helper()
	s, err := session.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	notes, err := jfr.Write(&out, &export.Source{Session: s, Span: activity.Span{From: s.Manifest.StartNs, To: s.Manifest.EndNs}})
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), notes
}

// each calls f with every event, read by the reader of recordings; it gives the number of chunks.
func each(t *testing.T, b []byte, f func(c *jfrfile.Chunk, name string, e jfrfile.Value)) (chunks int) {
	t.Helper()
	file := jfrfile.Open(bytes.NewReader(b), int64(len(b)))
	for {
		c, err := file.Next()
		if errors.Is(err, io.EOF) {
			return chunks
		}
		if err == nil {
			err = c.Events(func(e jfrfile.Value) error { f(c, e.Type().Name, e); return nil })
		}
		if err != nil {
			t.Fatal(err)
		}
		chunks++
	}
}

func TestRecordingOfKnownSession(t *testing.T) {
	dir, err := exporttest.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b, notes := write(t, dir)
	var tasks []string
	counts := map[string]int{}
	each(t, b, func(c *jfrfile.Chunk, name string, e jfrfile.Value) {
		counts[name]++
		at := func() int64 { return (c.Ns(e.Get("startTime").Int()) - exporttest.WallUnixNs) / 1e6 }
		switch name {
		case "stackagent.Task":
			tasks = append(tasks, fmt.Sprintf("%d ms +%d %s %d in %d on %s, cpu %d, queued %d, %s, threw %d, running %d", at(), e.Get("duration").Int(),
				e.Get("taskClass").Get("name").Get("string").Text(), e.Get("taskId").Int(), e.Get("outerTaskId").Int(), e.Get("eventThread").Get("javaName").Text(),
				e.Get("cpuTime").Int(), e.Get("queueTime").Int(), e.Get("executor").Text(), e.Get("threw").Int(), e.Get("running").Int()))
		case "stackagent.Queue":
			if at() != 45 || e.Get("duration").Int() != 5e6 {
				t.Errorf("in the queue at %d for %d", at(), e.Get("duration").Int())
			}
		case "stackagent.Wait":
			if e.Get("duration").Int() != 3e6 || e.Get("blockerClass").Get("name").Get("string").Text() != "com/acme/Lock" || e.Get("waker").Get("javaThreadId").Int() != 21 {
				t.Errorf("a wait of %d", e.Get("duration").Int())
			}
		case "stackagent.Summary":
			if e.Get("executions").Int() != 7 || e.Get("wallTime").Int() != 70_000 {
				t.Errorf("a summary of %d, %d ns", e.Get("executions").Int(), e.Get("wallTime").Int())
			}
		case "jdk.GarbageCollection":
			if at() != 70 || e.Get("sumOfPauses").Int() != 1e6 || e.Get("cause").Text() != "G1 Evacuation Pause" {
				t.Errorf("a pause at %d of %d", at(), e.Get("sumOfPauses").Int())
			}
		case "stackagent.Submission":
			frame := e.Get("stackTrace").Get("frames")
			var line int64
			frame.Each(func(v jfrfile.Value) bool { line = v.Get("lineNumber").Int(); return true })
			if line != 7 || e.Get("eventThread").Get("javaName").Text() != "main" {
				t.Errorf("submitted at line %d", line)
			}
		}
	})
	const none = "-9223372036854775808"
	want := []string{
		"50 ms +2000000 com/acme/Outer$$Lambda -> com/acme/Outer/inner 2 in 1 on worker, cpu 1000000, queued " + none + ", , threw 0, running 0",
		"55 ms +2000000 com/acme/Outer$$Lambda -> com/acme/Outer/inner 3 in 1 on worker, cpu 1000000, queued " + none + ", , threw 0, running 0",
		"50 ms +10000000 com/acme/Outer 1 in 0 on worker, cpu 5000000, queued 5000000, com.acme.Pool #1, threw 1, running 0",
		"100 ms +50000000 com/acme/Outer$$Lambda -> com/acme/Outer/inner 4 in 0 on v, cpu " + none + ", queued " + none + ", , threw 0, running 1",
	}
	if got := strings.Join(tasks, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("tasks:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
	for name, n := range map[string]int{"stackagent.Queue": 1, "stackagent.Submission": 1, "stackagent.Wait": 1, "stackagent.Summary": 1, "stackagent.Note": 1,
		"jdk.GarbageCollection": 1, "jdk.GCPhasePause": 1, "jdk.JVMInformation": 1, "jdk.InitialSystemProperty": 5} {
		if counts[name] != n {
			t.Errorf("%d events %s, want %d", counts[name], name, n)
		}
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "7 executions have no event") {
		t.Errorf("notes: %q", notes)
	}
}

// TestChunks: a large session makes several chunks, each of which can be read by itself.
func TestChunks(t *testing.T) {
	root := t.TempDir()
	const n = 300_000
	if _, err := summarytest.Generate(root, "large", n, true); err != nil {
		t.Fatal(err)
	}
	b, _ := write(t, root)
	tasks := 0
	chunks := each(t, b, func(c *jfrfile.Chunk, name string, e jfrfile.Value) {
		if name != "stackagent.Task" {
			return
		}
		if tasks++; e.Get("taskClass").Get("name").Get("string").Text() == "" {
			t.Fatalf("chunk of %d bytes: a task without a class", c.Size)
		}
	})
	if tasks != n || chunks < 2 {
		t.Errorf("%d tasks in %d chunks", tasks, chunks)
	}
}

// TestHostileNames: names of the program are read back cleaned, and break nothing.
func TestHostileNames(t *testing.T) {
	root := t.TempDir()
	dir, err := storetest.Hostile(root, summarytest.Hostile)
	if err == nil {
		err = storetest.Submit(root, summarytest.Hostile)
	}
	if err != nil {
		t.Fatal(err)
	}
	b, _ := write(t, dir)
	tasks := 0
	each(t, b, func(_ *jfrfile.Chunk, name string, e jfrfile.Value) {
		if name != "stackagent.Task" {
			return
		}
		tasks++
		for _, s := range []string{e.Get("taskClass").Get("name").Get("string").Text(), e.Get("eventThread").Get("javaName").Text(), e.Get("executor").Text()} {
			if strings.ContainsAny(s, "\x00\x1b\n\u202e") {
				t.Errorf("%q", s)
			}
		}
	})
	if want := 2 * len(summarytest.Hostile); tasks != want {
		t.Errorf("%d tasks, want %d", tasks, want)
	}
}

// TestTraceIDs: an execution has the ids of the trace in which it was, and no others; a session without traces has no such fields.
func TestTraceIDs(t *testing.T) {
	none := [2]string{}
	first, second := [2]string{exporttest.Traces[0], exporttest.Spans[0]}, [2]string{exporttest.Traces[1], exporttest.Spans[1]}
	want := map[int64][2]string{1: first, 2: first, 3: second, 4: none}
	dir, err := exporttest.Traced(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	got := map[int64][2]string{}
	b, _ := write(t, dir)
	each(t, b, func(_ *jfrfile.Chunk, name string, e jfrfile.Value) {
		if name == "stackagent.Task" {
			got[e.Get("taskId").Int()] = [2]string{e.Get("traceId").Text(), e.Get("spanId").Text()}
		}
	})
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if dir, err = exporttest.Write(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	b, _ = write(t, dir)
	each(t, b, func(_ *jfrfile.Chunk, name string, e jfrfile.Value) {
		if name == "stackagent.Task" && !e.Get("traceId").Missing() {
			t.Error("a session without traces has a field for them")
		}
	})
}
