package advice

import (
	"strings"
	"testing"

	"stackagent/granularity"
	"stackagent/internal/units"
)

// left is a class of which so many of created tasks stayed in a queue.
func left(class string, created, never int64) granularity.Hotspot {
	return granularity.Hotspot{Class: class, Created: created, NeverExecuted: never, Executions: created - never, Fates: &granularity.Fates{NeverRun: never}}
}

// made is a class of 4,000 tasks that never ran, beside others of it that did.
func made(fates granularity.Fates, ran int64) granularity.Hotspot {
	return granularity.Hotspot{Class: "app.Job", Created: 4000 + ran, Executions: ran, NeverExecuted: 4000, Fates: &fates}
}

// TestNeverRun: tasks that never ran are advice where they are the program's
// own and not a few; cleaners of the platform hardly ever run.
func TestNeverRun(t *testing.T) {
	const future = "java.util.concurrent.CompletableFuture$"
	stage := granularity.Hotspot{Class: future + "UniApply", JDK: true, Created: 5000, NeverExecuted: 5000}
	supplied := granularity.Hotspot{Class: future + "AsyncSupply", JDK: true, Kinds: units.KindForkJoin, Created: 10, Executions: 7, NeverExecuted: 3}
	jdk := granularity.Hotspot{Class: "java.util.zip.Inflater$InflaterZStreamRef", JDK: true, Created: 100, NeverExecuted: 90}
	few := granularity.Hotspot{Class: "app.Job", Created: 100_000, Executions: 99_998, NeverExecuted: 2}
	const lambda = "app.Main$$Lambda -> app.Main.lambda$go$1"
	many, other, more := left(lambda, 10_000, 4000), left("app.Other", 10_000, 3000), left("app.More", 10_000, 3000)
	sent := made(granularity.Fates{NeverRun: 4000}, 0)
	sent.Executions, sent.CreateUnseen = 4000, 4000
	const fact4000 = "4,000 tasks (100 % of those created) never executed, all of them app.Job."
	for _, c := range []struct {
		name   string
		rows   []granularity.Hotspot
		lost   uint64
		advice bool
		want   string
	}{
		{"platform only", []granularity.Hotspot{jdk}, 0, false, "90 tasks (90 % of those created) never executed, all of them java.util.zip.Inflater$InflaterZStreamRef."},
		{"one of the program", []granularity.Hotspot{{Class: "app.Once", Created: 1, NeverExecuted: 1}, jdk}, 0, false,
			"91 tasks (90 % of those created) never executed: 1 of the program, of class app.Once; and 90 of the JDK, all of them java.util.zip.Inflater$InflaterZStreamRef."},
		{"few of the program", []granularity.Hotspot{few, jdk}, 0, false, "92 tasks (<0.1 % of those created) never executed: 2 of the program, all of them app.Job; and 90 of the JDK, all of them java.util.zip.Inflater$InflaterZStreamRef."},
		{"only the JDK's", []granularity.Hotspot{jdk, {Class: "java.lang.Thread", JDK: true, Created: 20, NeverExecuted: 10}}, 0, false,
			"100 tasks of the JDK (83 % of those created) never executed, most of them java.util.zip.Inflater$InflaterZStreamRef (90)."},
		{"many", []granularity.Hotspot{left("app.Job", 100_000, 2), many, jdk}, 0, true, "4,002 tasks of the program (3.6 % of those created) never executed, most of them app.Main.lambda$go$1 (4,000). Of these: 4,002 still queued"},
		{"no majority", []granularity.Hotspot{many, other, more}, 0, true, "10,000 tasks of the program (33 % of those created) never executed, the most app.Main.lambda$go$1 (4,000). Of these: 10,000 still queued"},
		{"one of each class", []granularity.Hotspot{left("app.A", 1, 1), left("app.B", 1, 1), left("app.C", 1, 1)}, 0, false,
			"3 tasks (100 % of those created) never executed."},
		{"in detail", []granularity.Hotspot{{Class: "app.Job", Created: 2000, NeverExecuted: 1500, Fates: &granularity.Fates{NeverSubmitted: 300, NeverRun: 1199, Cancelled: 1}}}, 0, true,
			"1,500 tasks of the program (75 % of those created) never executed, all of them app.Job. Of these: 300 never submitted; 1,199 still queued at the end, or when their executor was shut down; 1 cancelled before they began. If they were to run, let the executor end them"},
		{"refused", []granularity.Hotspot{made(granularity.Fates{Rejected: 4000}, 100)}, 0, true, "4,000 tasks of the program (98 % of those created) never executed, all of them app.Job. Of these: 4,000 refused by their executor"},
		// What is no task, and tasks of which nothing shows that somebody wanted them to run.
		{"fates not known", []granularity.Hotspot{{Class: "app.Job", Created: 4000, NeverExecuted: 4000}}, 0, false, fact4000},
		{"functions and entries of maps", []granularity.Hotspot{made(granularity.Fates{NeverSubmitted: 4000}, 0)}, 0, false, fact4000},
		{"functions, some of them called", []granularity.Hotspot{made(granularity.Fates{NeverSubmitted: 4000}, 3000)}, 0, false, "4,000 tasks (57 % of those created) never executed"},
		{"callbacks, of which few were submitted", []granularity.Hotspot{made(granularity.Fates{NeverSubmitted: 2000, NeverRun: 2000}, 0)}, 0, false, fact4000},
		{"most were submitted", []granularity.Hotspot{made(granularity.Fates{NeverSubmitted: 1999, NeverRun: 2001}, 0)}, 0, true, "4,000 tasks of the program"},
		{"copies of them ran", []granularity.Hotspot{sent}, 0, false, fact4000},
		{"timeouts", []granularity.Hotspot{made(granularity.Fates{Cancelled: 4000}, 0)}, 0, false,
			fact4000 + " 4,000 were cancelled."},
		{"lost", []granularity.Hotspot{many}, 3, true, "4,000 tasks of the program (40 % of those created) never executed, all of them app.Main.lambda$go$1. Events were lost, so it may be fewer."},
		{"fork/join", []granularity.Hotspot{{Class: "app.Fib", Kinds: units.KindForkJoin, Created: 10, Executions: 5, NeverExecuted: 5}}, 0, false,
			"5 tasks (50 % of those created) never executed, all of them app.Fib. They include fork/join tasks whose compute() is called directly"},
		{"below the floor", []granularity.Hotspot{left("app.Job", 1998, 999)}, 0, false, "999 tasks (50 % of those created) never executed, all of them app.Job."},
		{"at the floor", []granularity.Hotspot{left("app.Job", 2000, 1000)}, 0, true, "1,000 tasks of the program (50 %"},
		{"at the share", []granularity.Hotspot{left("app.Job", 100_000, 1000)}, 0, true, "1,000 tasks of the program"},
		{"below the share", []granularity.Hotspot{left("app.Job", 100_001, 1000)}, 0, false, "1,000 tasks (1.0 % of those created)"},
		{"a library's", []granularity.Hotspot{{Class: "lib.Worker", Library: true, Created: 10_000, NeverExecuted: 10_000}, few}, 0, false, "10,002 tasks (9.1 % of those created) never executed, most of them lib.Worker (10,000)."},
		{"a library's beside many", []granularity.Hotspot{{Class: "lib.Worker", Library: true, Created: 10_000, NeverExecuted: 10_000}, many}, 0, true, "4,000 tasks of the program (40 % of those created) never executed, all of them app.Main.lambda$go$1. Of these: 4,000 still queued"},
		{"steps of futures", []granularity.Hotspot{stage, few}, 0, false,
			"2 tasks (<0.1 % of those created) never executed, all of them app.Job. 5,000 CompletableFuture stages ran inline or were skipped."},
		{"steps and no tasks", []granularity.Hotspot{stage, {Class: "app.Job", Created: 5, Executions: 5}}, 0, false,
			"5,000 CompletableFuture stages ran inline or were skipped."},
		{"steps beside many", []granularity.Hotspot{stage, many}, 0, true, "4,000 tasks of the program (40 % of those created) never executed, all of them app.Main.lambda$go$1. Of these: 4,000 still queued"},
		{"supplied and never run", []granularity.Hotspot{stage, supplied}, 0, false, "3 tasks (30 % of those created) never executed, all of them java.util.concurrent.CompletableFuture$AsyncSupply. 5,000 CompletableFuture stages"},
		{"none", []granularity.Hotspot{{Class: "app.Job", Created: 5, Executions: 5}}, 0, false, ""},
	} {
		f := Facts{Rows: c.rows, LostEvents: c.lost}
		f.NeverExecuted, f.Created = granularity.SumNever(c.rows)
		if got := neverText(&f, c.advice); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if got := neverText(&f, !c.advice); got != "" {
			t.Errorf("%s: said twice, or as the wrong kind: %q", c.name, got)
		}
	}
}

// TestNeverThresholds: both are settable.
func TestNeverThresholds(t *testing.T) {
	rows := []granularity.Hotspot{left("app.Job", 100, 40)}
	for text, want := range map[string]bool{"": false, "never-tasks=40": true, "never-tasks=41": false, "never-tasks=40 never-share=0.4": true, "never-tasks=40 never-share=0.41": false} {
		x := DefaultThresholds
		for set := range strings.FieldsSeq(text) {
			if err := x.Set(set); err != nil {
				t.Fatal(err)
			}
		}
		if got := neverText(&Facts{Rows: rows, Created: 100, NeverExecuted: 40, Thresholds: &x}, true) != ""; got != want {
			t.Errorf("%q: advice %v", text, got)
		}
	}
	stage := granularity.Hotspot{Class: "java.util.concurrent.CompletableFuture$UniApply", JDK: true, Created: 7, NeverExecuted: 7}
	if never, created := granularity.NeverExecuted(append(rows, stage)); never != 40 || created != 100 {
		t.Errorf("%d never executed of %d", never, created)
	}
}

// TestWrapperIsNotFine: a class that does little itself and runs long tasks
// inside is a wrapper, not fine-grained.
func TestWrapperIsNotFine(t *testing.T) {
	self, long := new(granularity.Values), new(granularity.Values)
	for range 2000 {
		self.Add(800)
		long.Add(30_000)
	}
	row := granularity.Hotspot{Class: "app.Wrapper", Executions: 2000, ExecutionShare: 0.5, Metrics: granularity.Metrics{granularity.SelfCPU: granularity.Describe(self), granularity.CPU: granularity.Describe(long)}}
	if got := fineExecutions(&search{Facts: &Facts{Rows: []granularity.Hotspot{row}}, t: DefaultThresholds}); len(got) != 0 {
		t.Errorf("a wrapper is called fine-grained: %v", got)
	}
	row.Metrics[granularity.CPU] = granularity.Describe(self)
	if got := fineExecutions(&search{Facts: &Facts{Rows: []granularity.Hotspot{row}}, t: DefaultThresholds}); len(got) != 1 {
		t.Errorf("2,000 tasks of 800 ns are not called fine-grained: %v", got)
	}
}

// TestPlainCallsAreNotFine: tasks that nobody submitted cost no submission, however small they are. Where no queue
// time is known, nobody knows how many were submitted.
func TestPlainCallsAreNotFine(t *testing.T) {
	self, waited := new(granularity.Values), new(granularity.Values)
	for range 2000 {
		self.Add(800)
		waited.Add(1000)
	}
	work, queue := granularity.Describe(self), granularity.Describe(waited)
	queue.Name = granularity.QueueName
	const queueAt = granularity.SelfCPU + 1
	row := granularity.Hotspot{Class: "app.Step", Executions: 2000, ExecutionShare: 0.5, Metrics: granularity.Metrics{granularity.SelfCPU: work, granularity.CPU: work}}
	outer := granularity.Hotspot{Class: "app.Batch", Executions: 10, Metrics: granularity.Metrics{queueAt: queue}}
	fine := func(rows ...granularity.Hotspot) int {
		return len(fineExecutions(&search{Facts: &Facts{Rows: rows, Duration: 1_000_000}, t: DefaultThresholds}))
	}
	if fine(row, outer) != 0 {
		t.Error("plain calls are called fine-grained")
	}
	if fine(row) != 1 {
		t.Error("2,000 tasks of 800 ns are not called fine-grained where submissions are not known")
	}
	row.Metrics[queueAt] = queue
	if fine(row, outer) != 1 {
		t.Error("2,000 submitted tasks of 800 ns are not called fine-grained")
	}
}

// TestNeverRunUnended: where the record breaks off, tasks that were being
// executed look as if they never had been.
func TestNeverRunUnended(t *testing.T) {
	f := Facts{Unended: true, Created: 10, NeverExecuted: 3, Rows: []granularity.Hotspot{{Class: "app.Job", Created: 10, Executions: 7, NeverExecuted: 3}}}
	const want = "3 tasks (30 % of those created) never executed, all of them app.Job. The record has no end, so some may have run."
	if got := neverText(&f, false); !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestFineness: the sentence about how fine the program's tasks are, of one and of
// several.
func TestFineness(t *testing.T) {
	cpu := granularity.SelfCPU
	for _, c := range []struct {
		fine granularity.Fineness
		all  bool
		want string
	}{
		{granularity.Fineness{Metric: cpu, N: 1, Median: 27_100_000}, false, "The one execution of the program's own tasks takes 27.1 ms of self CPU time."},
		{granularity.Fineness{Metric: cpu, N: 1, Median: 300, Below1us: 1, Below10us: 1, Below100us: 1}, true, "The one execution takes 300 ns of self CPU time."},
		{granularity.Fineness{Metric: cpu, N: 2, Median: 27_100_000}, true, "Of 2 executions, none takes less than 100 µs of self CPU time; the median is 27.1 ms."},
		{granularity.Fineness{}, false, ""},
	} {
		f := Facts{Fine: c.fine, FineIsAll: c.all, Rows: []granularity.Hotspot{{Class: "app.Job", WorkShare: 1}}}
		if got := textOf(&f, "fineness"); got != c.want {
			t.Errorf("%+v: %q, want %q", c.fine, got, c.want)
		}
	}
}

// textOf is the sentence of the finding of a rule, "" if there is none.
func textOf(f *Facts, rule string) string {
	for _, x := range Find(f) {
		if x.Rule == rule {
			return x.Text
		}
	}
	return ""
}

// neverText is the sentence about tasks that never ran, if it is advice or not.
func neverText(f *Facts, advice bool) string {
	x := neverRun(&search{Facts: f, t: f.thresholds()})
	if x == nil || (x.Kind == Advice) != advice {
		return ""
	}
	x.Describe()
	return x.Text
}
