package ingest

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stackagent/internal/histogram"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// withSubmissions adds to each task a submission 3 us before its start and a
// construction of 400 ns, and to the tasks of every other batch counts of two
// extra metrics: 10 times the task's id, and 64 of which 16 nested.
func withSubmissions(all []*wire.Batch) {
	first := all[0]
	first.Hello.Extra = []wire.Extra{{Name: "bytecodes", How: "woven"}, {Name: "alloc", Unit: "bytes"}}
	first.Hello.Metrics = append(first.Hello.Metrics, "bytecodes", "alloc")
	first.Executors = []wire.Executor{{ID: 1, Class: "java.util.concurrent.ThreadPoolExecutor", Name: "pool"}}
	first.Sites = []wire.Site{{ID: 1, Class: "com.acme.Main", Method: "make", File: "Main.java", Line: 7}, {ID: 2, Class: "com.acme.Main", Method: "submit"}}
	n := uint64(0)
	for i, b := range all {
		var bytecodes, alloc, nested, none []int64
		for k := range b.Executions {
			x := &b.Executions[k]
			x.Submitted = bentClock(int64(i+1)*10_000_000 - 9_000_000 + int64(k)*10_000 - 3000)
			b.Creations[k].Site = 1
			b.Submissions = append(b.Submissions, wire.Submission{TaskID: x.TaskID, Class: 1, Thread: 1, Executor: 1, Site: 2, At: x.Submitted})
			b.Constructions = append(b.Constructions, wire.Construction{TaskID: x.TaskID, Class: 1, Thread: 1, Wall: 1000, CPU: 399})
			bytecodes, alloc = append(bytecodes, int64(10*x.TaskID)), append(alloc, 64)
			none, nested = append(none, 0), append(nested, 16)
			n++
		}
		if i%2 == 0 {
			b.ExecutionWork = wire.Work{Total: [][]int64{bytecodes, alloc}, Nested: [][]int64{none, nested}}
			b.ConstructionWork = wire.Work{Total: [][]int64{bytecodes}}
		}
		b.Totals.Submissions, b.Totals.Constructions, b.Totals.LostSubmissions = n+2, n+5, 2
		b.Totals.SummarisedConstructions = 5
	}
	last := all[len(all)-1]
	last.Summaries = append(last.Summaries, wire.Summary{Class: 1, Thread: 1, From: last.Clock.Ticks - 5000, To: last.Clock.Ticks, Executions: 1,
		Measures: []wire.Measure{
			{Metric: wire.MetricQueue, Count: 1, Sum: 2500, Min: 2500, Max: 2500, Buckets: []histogram.Bucket{{Index: uint16(histogram.Index(1000)), Count: 1}}},
			{Metric: wire.MetricOfExtra(1, true), Count: 1, Sum: 48, Min: 48, Max: 48, Buckets: []histogram.Bucket{{Index: 48, Count: 1}}},
		}})
	last.Totals.Executions++
}

// Submissions and extra metrics arrive out of order, twice and through shadows
// that die, and each is stored once, with its task.
func TestSubmissionIsStoredOnce(t *testing.T) {
	all, root, _ := disordered(t, withSubmissions)
	s := checkRows(t, filepath.Join(root, "job"), all)
	m := s.Manifest
	const n = 40 * perBatch
	if h := m.Submissions; h == nil || *h != (store.RecordAccount{Produced: n + 2, Stored: n, Lost: 2}) {
		t.Errorf("submissions %+v", h)
	}
	if h := m.Constructions; h == nil || *h != (store.RecordAccount{Produced: n + 5, Stored: n, Summarised: 5}) {
		t.Errorf("constructions %+v", h)
	}
	if len(m.Extra) != 2 || m.Extra[0].Column != "bytecodes" || m.Extra[1] != (store.ExtraMetric{Name: "alloc", Unit: "bytes", Column: "alloc_bytes"}) {
		t.Errorf("extra metrics %+v", m.Extra)
	}
	seen := 0
	must(t, s.Tasks(func(x *session.Task) error {
		seen++
		checkSubmission(t, x)
		return nil
	}))
	if seen != n || len(s.Warnings) != 2 || !strings.HasPrefix(s.Warnings[0], "2 of 802 submissions were lost") ||
		!strings.HasPrefix(s.Warnings[1], "what it cost to make 5 of 805 tasks was not recorded") {
		t.Errorf("%d rows, want %d; warnings %q", seen, n, s.Warnings)
	}
	must(t, s.Summaries(func(x *session.Summary) error {
		q, alloc := x.Measures[0], x.Measures[1]
		if q.Metric != wire.MetricQueue || q.SumNs < 999 || q.SumNs > 1001 || len(q.Buckets) != 1 {
			t.Errorf("queue time of the summary: %+v, want 2500 ticks of 0.4 ns", q)
		}
		if alloc.Metric != wire.MetricOfExtra(1, true) || alloc.SumNs != 48 || alloc.MinNs != 48 {
			t.Errorf("allocation of the summary: %+v", alloc)
		}
		return nil
	}))
}

// checkSubmission holds a row against what withSubmissions gave its task.
func checkSubmission(t *testing.T, x *session.Task) {
	t.Helper()
	bytecodes, alloc, self := units.NotMeasured, units.NotMeasured, units.NotMeasured
	if (x.TaskID-1)/perBatch%2 == 0 {
		bytecodes, alloc, self = units.Ns(10*x.TaskID), 64, 48
	}
	if x.Extra[0] != bytecodes || x.SelfExtra[0] != bytecodes || x.Extra[1] != alloc || x.SelfExtra[1] != self {
		t.Fatalf("task %d: extra %v, self %v, want %d, %d and %d", x.TaskID, x.Extra, x.SelfExtra, bytecodes, alloc, self)
	}
	if x.QueueNs < 2995 || x.QueueNs > 3005 || x.SubmittedNs != x.StartNs-units.MonoNs(x.QueueNs) {
		t.Fatalf("task %d: queue time %d, submitted at %d, started at %d", x.TaskID, x.QueueNs, x.SubmittedNs, x.StartNs)
	}
	if h := x.Submission; h == nil || h.AtNs != x.SubmittedNs || h.Executor == nil || h.Executor.Name != "pool" || h.Site.Label() != "com.acme.Main.submit" || h.Thread.Name != "main" {
		t.Fatalf("task %d: submission %+v", x.TaskID, h)
	}
	if x.CreatedAt == nil || x.CreatedAt.Label() != "com.acme.Main.make:7" || x.InitNs < 399 || x.InitNs > 401 {
		t.Fatalf("task %d: created at %+v in %d ns", x.TaskID, x.CreatedAt, x.InitNs)
	}
}

// What was in batches that never came is counted for submissions as for the others.
func TestSubmissionInGaps(t *testing.T) {
	b, root := startBus(t), t.TempDir()
	all := fakeBatches("job", 4, 7)
	withSubmissions(all)
	in := startIngest(t, Options{Bus: b, Root: root})
	publishAll(t, b, all[0], all[1], all[3])
	drain(t, in)
	must(t, in.Close(store.EndedClosed))
	s, err := session.Open(filepath.Join(root, "job"))
	must(t, err)
	if h := s.Manifest.Submissions; *h != (store.RecordAccount{Produced: 4*perBatch + 2, Stored: 3 * perBatch, Lost: 2, InGaps: perBatch}) {
		t.Errorf("submissions %+v", h)
	}
	if h := s.Manifest.Constructions; *h != (store.RecordAccount{Produced: 4*perBatch + 5, Stored: 3 * perBatch, Summarised: 5, InGaps: perBatch}) {
		t.Errorf("constructions %+v", h)
	}
	if w := strings.Join(s.Warnings, "\n"); !strings.Contains(w, "22 of 82 submissions were lost") || !strings.Contains(w, "20 of 85 constructions were lost") {
		t.Errorf("warnings %q", s.Warnings)
	}
}

// The batch that names the extra metrics comes last: what was stored before is
// read under their names all the same.
func TestExtraNamedLate(t *testing.T) {
	b, root := startBus(t), t.TempDir()
	all := fakeBatches("job", 7, 7)
	withSubmissions(all)
	all[6].Hello = all[0].Hello
	in := startIngest(t, Options{Bus: b, Root: root, PartInterval: time.Millisecond})
	for _, batch := range all[2:] { // each becomes a part of its own, enough of them to be merged
		publishAll(t, b, batch)
		drain(t, in)
	}
	must(t, in.Close(store.EndedClosed))
	s, err := session.Open(filepath.Join(root, "job"))
	must(t, err)
	n := 0
	must(t, s.Executions(func(c *session.Chunk) error {
		for i, id := range c.TaskID {
			if (id-1)/perBatch%2 == 0 {
				n++
				if c.Extra[0][i] != units.Ns(10*id) || c.SelfExtra[1][i] != 48 {
					t.Fatalf("task %d: %d bytecodes, %d bytes", id, c.Extra[0][i], c.SelfExtra[1][i])
				}
			}
		}
		return nil
	}))
	if n != 3*perBatch {
		t.Errorf("%d tasks with extra metrics, want %d", n, 3*perBatch)
	}
}
