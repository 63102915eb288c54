package summary_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

const ms = 1_000_000

// poolSession is a pool of one worker that runs three futures, submitted at
// two sites, the last of which failed, and a started thread with a runnable.
func poolSession(t *testing.T) *session.Session {
	t.Helper()
	w, err := store.OpenWriter(t.TempDir(), "s", "s")
	if err != nil {
		t.Fatal(err)
	}
	w.Manifest = store.Manifest{Session: "s", StartNs: 1, EndNs: 1000 * ms, Ended: store.EndedExit, Metrics: []string{"wall", "cpu"},
		JVM: store.JVM{CPUs: 2}, Produced: store.Counts{Executions: 10}, Submissions: &store.RecordAccount{Produced: 7}}
	p := &store.Part{Range: store.Range{From: 1, To: 1}}
	for i, name := range []string{"java.lang.Thread", "java.util.concurrent.ThreadPoolExecutor$Worker", "java.util.concurrent.FutureTask", "com.acme.Job", "com.acme.Started"} {
		kinds := units.KindRunnable
		if i == 0 {
			kinds |= units.KindThread | units.KindJDK
		}
		p.Classes = append(p.Classes, store.Class{ID: uint32(i + 1), Name: name, Kinds: kinds.String()})
	}
	p.Threads = []store.Thread{{ID: 1, JavaID: 11, Name: "pool-1-thread-1", Group: "main"}, {ID: 2, JavaID: 12, Name: "own", Group: "main"}}
	p.Executors = []store.Executor{{ID: 7, Class: "com.acme.Pool"}}
	p.Sites = []store.Site{{ID: 1, Class: "com.acme.Main", Method: "first", Line: 10}, {ID: 2, Class: "com.acme.Main", Method: "second", Line: 20}}
	exec := func(id, outer uint64, class, thread uint32, start, wall, self int64, queue int64, flags wire.ExecutionFlags) {
		e := store.Execution{TaskID: id, OuterTaskID: outer, Class: class, Thread: thread, Flags: uint16(flags | wire.First), StartNs: units.MonoNs(start * ms),
			EndNs: units.MonoNs((start + wall) * ms), WallNs: units.Ns(wall * ms), CPUNs: units.Ns(wall * ms), SelfWallNs: units.Ns(self * ms), SelfCPUNs: units.Ns(self * ms)}
		if outer != 0 {
			e.Depth = 1
		}
		if queue >= 0 {
			e.SubmittedNs = units.MonoNs((start - queue) * ms)
		}
		p.Executions = append(p.Executions, e)
	}
	for i, start := range []int64{100, 120, 140} {
		job, future, flags := uint64(20+i), uint64(30+i), wire.ExecutionFlags(0)
		if i == 2 {
			flags = wire.Threw
		}
		exec(job, future, 4, 1, start, 10, 10, 5, flags)
		exec(future, 2, 3, 1, start, 12, 2, 5, 0)
		site := uint32(1 + i/2)
		at := units.MonoNs((start - 5) * ms)
		p.Submissions = append(p.Submissions,
			store.Submission{TaskID: job, Class: 4, Thread: 2, Executor: 7, Site: site, AtNs: at},
			store.Submission{TaskID: future, Class: 3, Thread: 2, Executor: 7, Site: site, Flags: uint16(wire.Inner), AtNs: at})
	}
	exec(2, 1, 2, 1, 90, 100, 64, -1, 0)
	exec(1, 0, 1, 1, 80, 120, 20, 1, 0)
	exec(5, 6, 5, 2, 300, 50, 50, -1, 0)
	exec(6, 0, 1, 2, 299, 52, 2, 1, 0)
	p.Submissions = append(p.Submissions, store.Submission{TaskID: 6, Class: 1, Thread: 1, Flags: uint16(wire.Started), AtNs: 298 * ms})
	if err := w.Commit(p); err != nil {
		t.Fatal(err)
	}
	s, err := session.Open(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestAllSummarised: where no submission has a record there is no advice about
// them, and that is said.
func TestAllSummarised(t *testing.T) {
	says := func(s *session.Session) bool {
		sum, err := summary.Build(s, summary.Options{Units: true})
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(sum.Findings, func(f advice.Finding) bool { return strings.HasPrefix(f.Text, "All 7 submissions were summarised") })
	}
	s := poolSession(t)
	if says(s) {
		t.Error("submissions with records are called summarised")
	}
	delete(s.Manifest.Rows, store.Submissions.String())
	if says(s) {
		t.Error("submissions that were not observed are called summarised")
	}
	s.Manifest.Submissions = &store.RecordAccount{Produced: 7, Summarised: 7}
	if !says(s) {
		t.Error("no finding says why there is no advice")
	}
}

// TestSummarisedQueues: summarised executions waited too, for an executor that is not
// recorded; the loops of threads and wrappers around tasks are no units there either.
func TestSummarisedQueues(t *testing.T) {
	b := newSessionBuilder(t, []string{"", "com.acme.Job", "java.util.concurrent.FutureTask"})
	b.exec(1, 0, 1, 1, 5, 5, 3)
	for i, class := range []uint32{1, 2} {
		id := store.SummaryID(1, i)
		b.part.Summaries = append(b.part.Summaries, store.Summary{ID: id, Class: class, Thread: 1, FromNs: 100 * ms, ToNs: 300 * ms, Executions: 50, First: 50})
		b.part.Measures = append(b.part.Measures, store.Measure{Summary: id, Metric: "wall", Count: 50, SumNs: 50, MinNs: 1, MaxNs: 1},
			store.Measure{Summary: id, Metric: "queue", Count: 40, SumNs: 400 * ms, MinNs: 10 * ms, MaxNs: 10 * ms})
	}
	sum, err := summary.Build(b.open(true), summary.Options{Shapes: true})
	if err != nil {
		t.Fatal(err)
	}
	f := sum.InUnits.Figures
	if f.Waiting.StartedTotal() != 41 || f.Waiting.Spreads != 40 || len(f.Queues) != 2 || f.Queues[0].Label != "t (summarised)" {
		t.Fatalf("%d waited, %d summarised, by %+v; want 41, 40, by summaries and the pool", f.Waiting.StartedTotal(), f.Waiting.Spreads, f.Queues)
	}
	// 40 times 10 ms within 200 ms: two at once.
	i, _ := f.Grid.Bucket(200 * ms)
	if at := f.Queues[0].Series.Running()[i]; at < 1.99 || at > 2.01 {
		t.Errorf("%v waited at once, want 2", at)
	}
}

// TestBacklog: where all submissions are summarised queues are drawn too, and waits that
// are longer than the interval of their summary lie before it.
func TestBacklog(t *testing.T) {
	b := newSessionBuilder(t, []string{"", "com.acme.Job"})
	id, end := store.SummaryID(1, 0), int64(700*ms)
	b.part.Summaries = append(b.part.Summaries, store.Summary{ID: id, Class: 1, Thread: 1, FromNs: 500 * ms, ToNs: 900 * ms, LastEndNs: &end, Executions: 100, First: 100})
	b.part.Measures = append(b.part.Measures, store.Measure{Summary: id, Metric: "wall", Count: 100, SumNs: 100, MinNs: 1, MaxNs: 1},
		store.Measure{Summary: id, Metric: "queue", Count: 100, SumNs: 100 * 400 * ms, MinNs: 400 * ms, MaxNs: 400 * ms})
	s := b.open(true)
	s.Manifest.Submissions = &store.RecordAccount{Produced: 100, Summarised: 100}
	sum, err := summary.Build(s, summary.Options{Shapes: true})
	if err != nil {
		t.Fatal(err)
	}
	if sum.InUnits == nil || sum.InUnits.Figures.Waiting == nil {
		t.Fatal("no queues are drawn where all submissions are summarised")
	}
	f := sum.InUnits.Figures
	for at, want := range map[units.MonoNs]float64{50 * ms: 0, 200 * ms: 50, 400 * ms: 100, 600 * ms: 50, 750 * ms: 0} {
		i, _ := f.Grid.Bucket(at)
		if got := f.Waiting.Running()[i]; math.Abs(got-want) > 2 {
			t.Errorf("%v waited at %v, want %v", got, at, want)
		}
	}
}

// rowsOf prints rows as "name executions work-in-ms queued".
func rowsOf(rows []granularity.Hotspot) []string {
	var out []string
	for _, r := range rows {
		if r.Executions > 0 {
			out = append(out, fmt.Sprintf("%s%s%s %d %d %d", r.Class, r.Site, r.Executor, r.Executions, r.Work/ms, r.Queue().Sum/ms))
		}
	}
	slices.Sort(out)
	return out
}

func TestUnitsOfSession(t *testing.T) {
	s := poolSession(t)
	sum, err := summary.Build(s, summary.Options{Units: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := rowsOf(sum.Rows), []string{"com.acme.Job 3 36 15", "com.acme.Started 1 50 2"}; !slices.Equal(got, want) {
		t.Errorf("units %q, want %q", got, want)
	}
	if sum.Units == nil || !sum.Units.SubmissionsKnown || advice.NoteText(sum.Units) != "" {
		t.Errorf("note %+v", sum.Units)
	}
	swallowed := slices.ContainsFunc(sum.Findings, func(f advice.Finding) bool {
		return f.Rule == "swallowed-exceptions" && f.Class == "com.acme.Job" && strings.Contains(f.Text, "1 unit of")
	})
	if !swallowed {
		t.Errorf("no advice about the exception: %+v", sum.Findings)
	}
	raw, err := summary.Build(s, summary.Options{Shapes: true})
	if err != nil {
		t.Fatal(err)
	}
	if raw.Tasks.Executions != 10 || raw.InUnits == nil || raw.InUnits.Tasks.Executions != 4 {
		t.Fatalf("%d executions, units %+v", raw.Tasks.Executions, raw.InUnits)
	}
	if f := raw.InUnits.Figures; f.Waiting.StartedTotal() != 4 || len(f.Queues) != 2 || f.Queues[0].Label != "pool-1 (Pool)" || f.Queues[1].Label != "own (own thread)" {
		t.Errorf("queues %+v", f.Queues)
	}
}

func TestSites(t *testing.T) {
	s := poolSession(t)
	for _, c := range []struct {
		by   string
		opts summary.Options
		want []string
	}{
		{summary.BySite, summary.Options{Units: true}, []string{"com.acme.Main.first:10 2 24 10", "com.acme.Main.second:20 1 12 5", "com.acme.Started (call site unknown) 1 50 2"}},
		{summary.ByExecutor, summary.Options{Units: true}, []string{"own (own thread) 1 50 2", "pool-1 (Pool) 3 36 15"}},
		{summary.ByExecutor, summary.Options{}, []string{"own (no executor) 1 50 0", "own (own thread) 1 2 1", "pool-1 (Pool) 6 36 30", "pool-1-thread (no executor) 2 84 1"}},
		{summary.BySite, summary.Options{Filter: summary.Filter{Class: "com.acme.Job"}}, []string{"com.acme.Main.first:10 2 20 10", "com.acme.Main.second:20 1 10 5"}},
	} {
		sum, err := summary.BuildByOrigin(s, c.opts, c.by)
		if err != nil {
			t.Fatal(err)
		}
		if got := rowsOf(sum.Rows); !slices.Equal(got, c.want) {
			t.Errorf("by %s %+v: %q, want %q", c.by, c.opts.Filter, got, c.want)
		}
	}
}

// TestPassedOn: what a delegating executor passes on, a periodic task that is
// queued anew, a task submitted at two sites, first refused by another
// executor, or delayed, were each submitted to one.
func TestPassedOn(t *testing.T) {
	b := newSessionBuilder(t, []string{"", "com.acme.Passed", "com.acme.Periodic", "com.acme.Twice", "com.acme.Retried", "com.acme.Both", "com.acme.Delayed"})
	submit := func(task uint64, class, executor, site uint32, flags wire.SubmissionFlags) {
		b.now++
		b.part.Submissions = append(b.part.Submissions, store.Submission{TaskID: task, Class: class, Thread: 1, Executor: executor, Site: site,
			Flags: uint16(flags), AtNs: units.MonoNs(b.now * b.unit)})
	}
	run := func(task uint64, class uint32) { b.exec(task, 0, class, 2, 1, 1, -1) }
	for range 2 {
		submit(1, 1, 2, 1, 0)
		submit(1, 1, 1, 1, wire.Inner)
		run(1, 1)
	}
	submit(2, 2, 1, 1, wire.Scheduled)
	run(2, 2)
	submit(2, 2, 1, 0, wire.Scheduled|wire.Inner)
	run(2, 2)
	submit(3, 3, 1, 1, 0)
	run(3, 3)
	submit(3, 3, 1, 2, 0)
	run(3, 3)
	submit(4, 4, 2, 2, 0)
	submit(4, 4, 2, 2, wire.Rejected)
	submit(4, 4, 1, 1, 0)
	run(4, 4)
	submit(5, 5, 1, 1, 0)
	run(5, 5)
	submit(5, 5, 2, 3, 0) // another call on the same line
	run(5, 5)
	submit(6, 6, 3, 1, 0)
	submit(6, 6, 1, 0, 0)
	run(6, 6)
	submit(7, 6, 1, 0, 0) // the two threads' records the other way round
	submit(7, 6, 3, 1, 0)
	run(7, 6)
	s := b.open(true)
	for _, c := range []struct {
		by, class string
		want      []string
	}{
		{summary.BySite, "com.acme.Passed", []string{"com.acme.Main.run:7 2 2 0"}},
		{summary.ByExecutor, "com.acme.Passed", []string{"t (Pool) 2 2 0"}},
		{summary.BySite, "com.acme.Periodic", []string{"com.acme.Main.run:7 2 2 0"}},
		{summary.BySite, "com.acme.Twice", []string{"(several) 2 2 0"}},
		{summary.ByExecutor, "com.acme.Twice", []string{"t (Pool) 2 2 0"}},
		{summary.BySite, "com.acme.Retried", []string{"com.acme.Main.run:7 1 1 0"}},
		{summary.ByExecutor, "com.acme.Retried", []string{"t (Pool) 1 1 0"}},
		{summary.BySite, "com.acme.Both", []string{"com.acme.Main.run:7 2 2 0"}},
		{summary.ByExecutor, "com.acme.Both", []string{"(several) 2 2 0"}},
		{summary.BySite, "com.acme.Delayed", []string{"com.acme.Main.run:7 2 2 0"}},
		{summary.ByExecutor, "com.acme.Delayed", []string{"t (Pool) 2 2 0"}},
	} {
		sum, err := summary.BuildByOrigin(s, summary.Options{Filter: summary.Filter{Class: c.class}}, c.by)
		if err != nil {
			t.Fatal(err)
		}
		if got := rowsOf(sum.Rows); !slices.Equal(got, c.want) {
			t.Errorf("%s by %s: %q, want %q", c.class, c.by, got, c.want)
		}
	}
}

func TestStacks(t *testing.T) {
	stacks, err := summary.StacksOf(poolSession(t), summary.Options{Units: true})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range stacks {
		site := ""
		if x.Site != nil {
			site = x.Site.Label()
		}
		got = append(got, fmt.Sprintf("%s|%s|%s %d %d %d", x.Executor, site, x.Class, x.Count, x.SelfCPU/ms, x.Queue/ms))
	}
	want := []string{"own (own thread)||com.acme.Started 1 50 2", "pool-1 (Pool)|com.acme.Main.first:10|com.acme.Job 2 24 10", "pool-1 (Pool)|com.acme.Main.second:20|com.acme.Job 1 12 5"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// platformSession is what a program and the platform around it do: the program
// starts a virtual thread, hands a supplier to the common pool, and one task of
// the platform's to it; the cleaner and the shutdown do for themselves.
func platformSession(t *testing.T, submissions bool) *session.Session {
	t.Helper()
	names := []string{"", "jdk.internal.misc.InnocuousThread", "jdk.internal.ref.CleanerImpl", "java.lang.invoke.MethodHandleNatives$CallSiteContext",
		"java.util.concurrent.CompletableFuture$AsyncSupply", "java.lang.VirtualThread$VThreadContinuation$1", "java.lang.VirtualThread", "com.acme.Job",
		"java.util.concurrent.ForkJoinTask$RunnableExecuteAction", "java.lang.VirtualThread$$Lambda -> java.lang.VirtualThread.runContinuation",
		"java.util.concurrent.FutureTask", "java.net.Fetch",
		"java.util.concurrent.DelayScheduler$ScheduledForkJoinTask", "java.lang.VirtualThread$$Lambda -> java.lang.VirtualThread.parkTimeoutExpired"}
	b := newSessionBuilder(t, names)
	// The cleaner's thread, two actions in its loop; and one on the main thread at the end.
	b.exec(1, 0, 1, 1, 100, 10, -1)
	b.exec(2, 1, 2, 1, 90, 80, -1)
	b.exec(3, 2, 3, 1, 5, 5, -1)
	b.exec(4, 2, 3, 1, 6, 6, -1)
	b.exec(5, 0, 3, 2, 4, 4, -1)
	b.exec(6, 0, 4, 3, 20, 20, 2) // supplied
	// A virtual thread, mounted once.
	b.exec(9, 8, 7, 4, 30, 30, -1)
	b.exec(8, 7, 6, 4, 33, 3, 3)
	b.exec(7, 0, 5, 4, 35, 2, -1)
	b.exec(11, 10, 9, 3, 9, 9, -1)
	b.exec(10, 0, 8, 3, 12, 3, 1)
	// A future of the program's, and a task of the platform's that the program submitted.
	b.exec(13, 12, 7, 3, 7, 7, 1)
	b.exec(12, 0, 10, 3, 8, 1, 1)
	b.exec(14, 0, 11, 3, 50, 50, 1)
	// A virtual thread's sleep is over: a timer that the platform hands to its scheduler.
	b.exec(16, 15, 13, 3, 2, 2, 20)
	b.exec(15, 0, 12, 3, 3, 1, 1)
	for _, class := range []uint32{3, 3, 3, 4, 7, 8, 9, 10, 11} {
		b.part.Creations = append(b.part.Creations, store.Creation{TaskID: uint64(100 + len(b.part.Creations)), Class: class, Thread: 1, AtNs: ms})
	}
	return b.open(submissions)
}

// TestWrapperAlone: of a class that is around the program's tasks and, at other
// times, all there is of a unit, those are counted as created that stand alone.
func TestWrapperAlone(t *testing.T) {
	names := []string{"", "com.google.common.util.concurrent.ListenableFutureTask", "com.acme.Job"}
	b := newSessionBuilder(t, names)
	b.exec(2, 1, 2, 1, 7, 7, -1) // a Job in a future
	b.exec(1, 0, 1, 1, 8, 1, 1)
	b.exec(3, 0, 1, 1, 5, 5, 1) // two futures around nothing
	b.exec(4, 0, 1, 1, 6, 6, 1)
	for _, class := range []uint32{1, 2, 1, 1, 1} {
		b.part.Creations = append(b.part.Creations, store.Creation{TaskID: uint64(1 + len(b.part.Creations)), Class: class, Thread: 1, AtNs: ms})
	}
	sum, err := summary.Build(b.open(true), summary.Options{Units: true, Shapes: true})
	if err != nil {
		t.Fatal(err)
	}
	created := map[string]int64{}
	for _, r := range sum.Rows {
		created[r.Class] = r.Created
	}
	if want := map[string]int64{names[1]: 2, names[2]: 1}; !maps.Equal(created, want) {
		t.Errorf("created %v, want %v", created, want)
	}
}

// TestFunctionNamesUnit: the unit of supplyAsync is its function's, with all that the function calls: a task that it runs
// by a plain call gives it no name, nor does a stage that runs behind it. The Runnable of runAsync is a task itself.
func TestFunctionNamesUnit(t *testing.T) {
	const future = "java.util.concurrent.CompletableFuture$"
	b := newSessionBuilder(t, []string{"", future + "AsyncSupply", future + "AsyncRun", "com.acme.Job", "com.acme.Step"})
	b.exec(2, 1, 4, 1, 3, 3, -1)
	b.exec(3, 1, 4, 1, 2, 2, -1)
	b.exec(1, 0, 1, 1, 9, 4, 1)
	b.exec(6, 5, 4, 1, 3, 3, -1)
	b.exec(5, 4, 3, 1, 7, 4, -1)
	b.exec(4, 0, 2, 1, 8, 1, 1)
	sum, err := summary.Build(b.open(true), summary.Options{Units: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := rowsOf(sum.Rows), []string{"com.acme.Job 1 8 1", future + "AsyncSupply 1 9 1"}; !slices.Equal(got, want) {
		t.Errorf("units %q, want %q", got, want)
	}
}

// TestPlatformsOwn: what the program did not submit is no unit if it is the
// platform's, and neither are the parts of a virtual thread but its task.
func TestPlatformsOwn(t *testing.T) {
	sum, err := summary.Build(platformSession(t, true), summary.Options{Units: true, Shapes: true})
	if err != nil {
		t.Fatal(err)
	}
	// The virtual thread was started 3 ms before it ran.
	want := []string{"com.acme.Job 2 38 4", "java.net.Fetch 1 50 1", "java.util.concurrent.CompletableFuture$AsyncSupply 1 20 2"}
	if got := rowsOf(sum.Rows); !slices.Equal(got, want) {
		t.Errorf("units %q, want %q", got, want)
	}
	// Created: a Job, a supplier and a Fetch; the future is around a Job, the rest is the platform's.
	if sum.Tasks.Executions != 4 || sum.Tasks.Created != 3 {
		t.Errorf("%d units, %d created", sum.Tasks.Executions, sum.Tasks.Created)
	}
	if d := sum.Metrics[granularity.SelfCPU]; d.Count != 4 || d.Min != 8*ms {
		t.Errorf("self CPU time %+v", d)
	}
	p := sum.Units.Platform
	if p.Executions != 5 || p.SelfCPU != 18*ms || !slices.Equal(p.Classes, []string{"java.lang.invoke.MethodHandleNatives$CallSiteContext",
		"java.lang.VirtualThread$$Lambda -> java.lang.VirtualThread.parkTimeoutExpired"}) {
		t.Errorf("left out %+v", p)
	}
	if text := advice.NoteText(sum.Units); !strings.Contains(text, "5 executions of the JDK's own tasks, which the program did not submit") {
		t.Errorf("note %q", text)
	}
}

// TestDelayedUnit: what is submitted to CompletableFuture.delayedExecutor is one
// unit; the task of the platform's that hands it on is none.
func TestDelayedUnit(t *testing.T) {
	b := newSessionBuilder(t, []string{"", "java.util.concurrent.ScheduledThreadPoolExecutor$ScheduledFutureTask",
		"java.util.concurrent.Executors$RunnableAdapter", "java.util.concurrent.CompletableFuture$TaskSubmitter", "com.acme.Job"})
	b.exec(3, 2, 3, 1, 2, 2, 20) // the timer's thread
	b.exec(2, 1, 2, 1, 3, 1, -1)
	b.exec(1, 0, 1, 1, 4, 1, 20)
	b.exec(4, 0, 4, 2, 9, 9, 1) // the pool's
	sum, err := summary.Build(b.open(true), summary.Options{Units: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := rowsOf(sum.Rows), []string{"com.acme.Job 1 9 1"}; !slices.Equal(got, want) {
		t.Errorf("units %q, want %q", got, want)
	}
}

// TestUnitsWithoutSubmissions: without a record of submissions every task may be a
// unit, so that nothing is left out, and the note has the rule.
func TestUnitsWithoutSubmissions(t *testing.T) {
	imported := platformSession(t, true) // names the executors of tasks, but no times
	imported.Manifest.NotAvailable = map[string]string{"queue": "a trace of tgp"}
	for name, s := range map[string]*session.Session{"off": platformSession(t, false), "imported": imported} {
		sum, err := summary.Build(s, summary.Options{Units: true})
		if err != nil {
			t.Fatal(err)
		}
		checkWithout(t, name, sum)
	}
}

func checkWithout(t *testing.T, name string, sum *summary.Summary) {
	t.Helper()
	want := []string{"com.acme.Job 2 38 0", "java.lang.invoke.MethodHandleNatives$CallSiteContext 3 15 0", "java.net.Fetch 1 50 0", "java.util.concurrent.CompletableFuture$AsyncSupply 1 20 0"}
	for i := range sum.Rows {
		delete(sum.Rows[i].Metrics, granularity.MetricOf(2, false)) // no queue times
	}
	if got := rowsOf(sum.Rows); !slices.Equal(got, want) {
		t.Errorf("%s: units %q, want %q", name, got, want)
	}
	if text := advice.NoteText(sum.Units); !strings.Contains(text, "no record of when tasks were submitted: each execution that is not nested in another one counts as a unit, the JDK's own included") {
		t.Errorf("%s: note %q", name, text)
	}
}

// TestFineByWhom: of classes of the JDK those are named as too fine that stand
// for what the program called or submitted, with its site; not what the JDK
// does for itself, submitted or not.
func TestFineByWhom(t *testing.T) {
	b := newSessionBuilder(t, []string{"", "java.util.stream.ReduceOps$ReduceTask", "java.lang.ref.Cleanup", "java.net.Poll",
		"java.util.concurrent.CompletableFuture$AsyncSupply", "java.util.concurrent.CompletableFuture$UniApply",
		"java.util.concurrent.DelayScheduler$ScheduledForkJoinTask", "java.util.concurrent.SubmissionPublisher$ConsumerTask"})
	b.unit = 1000
	task := uint64(0)
	each := func(class uint32, queue int64, site ...uint32) {
		for range 1500 {
			task++
			b.exec(task, 0, class, class, 2, 2, queue, site...)
			b.now += 3 // 2 of work and 2 until the next, which waits
		}
	}
	each(1, 100)
	each(2, -1)
	each(3, 100)
	each(4, 100, 1)
	each(5, 100)
	each(6, 100)
	each(7, 100)
	t0 := advice.DefaultThresholds
	t0.FineGain = 0 // each is a small part of the session
	sum, err := summary.Build(b.open(true), summary.Options{Thresholds: &t0})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range sum.Findings {
		if f.Kind == advice.Advice {
			at := ""
			if strings.Contains(f.Text, "com.acme.Main.run:7") {
				at = " at its site"
			}
			got = append(got, f.Rule+" "+f.Class+at)
		}
	}
	slices.Sort(got)
	want := []string{"fine-grained com.acme.Main.run (line 7) at its site", "fine-grained java.util.stream.ReduceOps$ReduceTask"}
	if !slices.Equal(got, want) {
		t.Errorf("advice %q, want %q", got, want)
	}
}
