package live

import (
	"bytes"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/store"
)

// program sends what an agent would: its clock is in nanoseconds and begins at start.
type program struct {
	t    testing.TB
	live *Live
	now  time.Time // the shadow's clock
	seq  uint64
	b    *wire.Batch
	task uint64
	off  units.MonoNs // what the clock pairs are off
}

const start = 1_000_000 * second

// Classes, threads and executors of the programs.
const (
	jobClass, futureClass, loopClass, workerClass, stageClass, otherClass = 1, 2, 3, 4, 5, 6
	mainThread, worker1, worker2                                          = 1, 11, 12
	pool                                                                  = 5
	jobSite, stageSite                                                    = 3, 4
)

func newProgram(t testing.TB) *program {
	t.Helper()
	p := &program{t: t, now: time.Unix(1_800_000_000, 0), task: 1000}
	p.live = New(Options{Now: func() time.Time { return p.now }})
	p.live.Begin("s", &store.Manifest{Session: "s"}, nil)
	p.batch()
	p.b.Hello = &wire.Hello{PID: 7, StartClock: wire.ClockPair{Ticks: start, Mono: start}, WallUnixNs: p.now.UnixNano()}
	p.b.Classes = []wire.Class{
		{ID: jobClass, Name: "com.acme.Job", Kinds: units.KindRunnable},
		{ID: futureClass, Name: "java.util.concurrent.FutureTask", Kinds: units.KindRunnable | units.KindJDK},
		{ID: loopClass, Name: "java.lang.Thread", Kinds: units.KindThread | units.KindJDK},
		{ID: workerClass, Name: "java.util.concurrent.ThreadPoolExecutor$Worker", Kinds: units.KindRunnable | units.KindJDK},
		{ID: stageClass, Name: "java.util.concurrent.CompletableFuture$AsyncSupply", Kinds: units.KindRunnable | units.KindForkJoin | units.KindJDK},
		{ID: otherClass, Name: "com.acme.Part", Kinds: units.KindRunnable},
	}
	p.b.Executors = []wire.Executor{{ID: pool, Class: "java.util.concurrent.ThreadPoolExecutor", MadeIn: "com.acme.Main.main", File: "Main.java", Line: 6}}
	p.b.Sites = []wire.Site{{ID: jobSite, Class: "com.acme.Main", Method: "main", File: "Main.java", Line: 9},
		{ID: stageSite, Class: "com.acme.Main", Method: "main", File: "Main.java", Line: 12, Calls: "supplyAsync", Function: "com.acme.Main.lambda$main$0"}}
	p.b.Threads = []wire.Thread{{ID: mainThread, JavaID: 1, OSID: 70, Name: "main", Group: "main"},
		{ID: worker1, JavaID: 21, OSID: 71, Name: "tax", Group: "main", Executor: pool}, {ID: worker2, JavaID: 22, OSID: 72, Name: "tax", Group: "main", Executor: pool}}
	p.b.Creations = []wire.Creation{{TaskID: 1, Class: workerClass}, {TaskID: 2, Class: workerClass}}
	p.send(0.001)
	p.live.Progress(ingest.Progress{Session: "s", Folder: "s", Ended: store.EndedRunning, JVM: store.JVM{MainClass: "com.acme.Main", PID: 7, CPUs: 4}})
	return p
}

func (p *program) batch() *wire.Batch {
	if p.b == nil {
		p.b = &wire.Batch{Version: wire.Version, Session: "s"}
	}
	return p.b
}

func tick(seconds float64) units.Ticks { return start + units.Ticks(math.Round(seconds*second)) }

// send sends what was put together, as of a moment of the program.
func (p *program) send(at float64) {
	b := p.batch()
	p.seq++
	b.Seq, b.Clock = p.seq, wire.ClockPair{Ticks: tick(at), Mono: units.MonoNs(tick(at)) + p.off}
	p.now = time.Unix(1_800_000_000, int64(at*second))
	p.live.Batch("s", b, false)
	p.b = nil
}

func (p *program) next() uint64 { p.task++; return p.task }

// submit submits a task of a class, in a FutureTask if wrapped, and returns both.
func (p *program) submit(class uint32, at float64, wrapped bool) (task, future uint64) {
	b := p.batch()
	task = p.next()
	b.Submissions = append(b.Submissions, wire.Submission{TaskID: task, Class: class, Thread: mainThread, Executor: pool, Site: jobSite, At: tick(at)})
	if wrapped {
		future = p.next()
		b.Submissions = append(b.Submissions, wire.Submission{TaskID: future, Class: futureClass, Thread: mainThread, Executor: pool, Flags: wire.Inner, At: tick(at)})
	}
	return task, future
}

// run executes a task of a worker, submitted at some moment, inside the worker's loop.
func (p *program) run(task, future uint64, class uint32, thread uint32, submitted, from, to float64) {
	b := p.batch()
	loop := uint64(thread - worker1 + 1)
	x := wire.Execution{TaskID: task, OuterTaskID: loop, Class: class, Thread: thread, Depth: 1, Start: tick(from), End: tick(to), Submitted: tick(submitted), CPU: units.Ns((to - from) * second)}
	if future != 0 {
		x.OuterTaskID, x.Depth = future, 2
	}
	b.Executions = append(b.Executions, x)
	if future != 0 {
		b.Executions = append(b.Executions, wire.Execution{TaskID: future, OuterTaskID: loop, Class: futureClass, Thread: thread, Depth: 1, Start: tick(from), End: tick(to), Submitted: tick(submitted)})
	}
}

func (p *program) view() *JVM {
	p.t.Helper()
	v := p.live.JVM("s")
	if v == nil {
		p.t.Fatal("no such JVM")
	}
	return v
}

func (v *JVM) class(name string) *Class {
	for i := range v.Classes {
		if v.Classes[i].Name == name {
			return &v.Classes[i]
		}
	}
	return nil
}

func near(got, want float64) bool { return math.Abs(got-want) <= 0.035*math.Abs(want) }

// A callable in a FutureTask in the loop of a worker is one task, named after the callable.
func TestTaskInWrapper(t *testing.T) {
	p := newProgram(t)
	for i := range 100 {
		at := 1 + float64(i)/50
		task, future := p.submit(jobClass, at, true)
		p.run(task, future, jobClass, worker1, at, at+0.005, at+0.015)
	}
	p.send(3.5)
	v := p.view()
	c := v.class("com.acme.Job")
	if c == nil || len(v.Classes) != 1 {
		t.Fatalf("classes: %+v", v.Classes)
	}
	if c.Flow.Submitted != 100 || c.Flow.Started != 100 || c.Flow.Finished != 100 || v.Totals.Executions != 200 {
		t.Errorf("counts: %+v, %v executions", c.Flow, v.Totals.Executions)
	}
	if q := c.Flow.Queue; q == nil || q.Count != 100 || !near(q.P50Ns, 5e6) || !near(q.MaxNs, 5e6) {
		t.Errorf("queue times: %+v", q)
	}
	if s := c.Flow.Service; s == nil || !near(s.P99Ns, 10e6) || math.Abs(s.SumNs-1e9) > 1e3 {
		t.Errorf("service times: %+v", s)
	}
	if len(v.Executors) != 1 || v.Executors[0].Name != "tax (ThreadPoolExecutor, Main.java:6)" || v.Executors[0].Workers != 2 || v.Executors[0].Flow.Finished != 100 {
		t.Errorf("executors: %+v", v.Executors)
	}
	if *v.Totals.Queued != 0 || len(v.Queued) != 0 {
		t.Errorf("%v wait: %+v", *v.Totals.Queued, v.Queued)
	}
	for _, s := range v.Series {
		last := s.Values[len(s.Values)-1] // the second from 2 to 3
		want := map[string]float32{"submitted": 50, "finished": 50, "running": 0.5, "queued": 0.25}
		if w, ok := want[s.Key]; ok && math.Abs(float64(last-w)) > 0.01 {
			t.Errorf("%s in the last second: %v, want %v", s.Key, last, w)
		}
	}
	if r := v.Row; *r.FinishedRate != 100.0/3 || r.State != "running" {
		t.Errorf("row: %+v, rate %v", r, *r.FinishedRate)
	}
}

// What a task calls plainly is part of it; what it submits is not.
func TestParts(t *testing.T) {
	p := newProgram(t)
	b := p.batch()
	task, _ := p.submit(jobClass, 1, false)
	for range 5 {
		b.Executions = append(b.Executions, wire.Execution{TaskID: p.next(), OuterTaskID: task, Class: otherClass, Thread: worker1, Depth: 2, Start: tick(1.1), End: tick(1.11)})
	}
	p.run(task, 0, jobClass, worker1, 1, 1.1, 1.2)
	p.send(2)
	v := p.view()
	if v.Totals.Finished != 1 || v.class("com.acme.Job").Flow.Finished != 1 {
		t.Errorf("finished: %+v of %+v", v.Totals, v.Classes)
	}
	// A wrapper around a task that was not submitted by itself has its queue time.
	future := p.next()
	p.batch().Submissions = []wire.Submission{{TaskID: future, Class: futureClass, Thread: mainThread, Executor: pool, At: tick(2.1)}}
	p.run(p.next(), future, otherClass, worker1, 0, 2.3, 2.4)
	p.b.Executions[0].Submitted = 0
	p.b.Executions[1].Submitted = tick(2.1)
	p.send(3)
	c := p.view().class("com.acme.Part")
	if c == nil || c.Flow.Finished != 1 || c.Flow.Queue == nil || !near(c.Flow.Queue.MaxNs, 200e6) {
		t.Errorf("task of a wrapper: %+v", c)
	}
	if q := *p.view().Totals.Queued; q != 0 {
		t.Errorf("%v wait", q)
	}
}

// Tasks of the JDK that run the program's functions are named after these.
func TestStages(t *testing.T) {
	p := newProgram(t)
	p.batch().Creations = []wire.Creation{{TaskID: 500, Class: stageClass, Thread: mainThread, Site: stageSite}}
	p.b.Submissions = []wire.Submission{{TaskID: 500, Class: stageClass, Thread: mainThread, Executor: pool, Site: stageSite, At: tick(1)}}
	p.run(500, 0, stageClass, worker1, 1, 1.1, 1.2)
	p.send(2)
	if c := p.view().class("com.acme.Main.lambda$main$0 (supplyAsync, Main.java:12)"); c == nil || c.Flow.Finished != 1 || c.Platform {
		t.Errorf("classes: %+v", p.view().Classes)
	}
}

func TestQueue(t *testing.T) {
	p := newProgram(t)
	var tasks, futures []uint64
	for i := range 50 {
		task, future := p.submit(jobClass, 1+float64(i)/100, true)
		tasks, futures = append(tasks, task), append(futures, future)
	}
	p.send(2)
	v := p.view()
	if *v.Totals.Queued != 50 || *v.Executors[0].Flow.Queued != 50 || len(v.Queued) != shownOpen {
		t.Fatalf("%v wait, %+v", *v.Totals.Queued, v.Queued)
	}
	if q := v.Queued[0]; q.Class != "com.acme.Job" || q.Thread != "main#1" || q.Site != "com.acme.Main.main (Main.java:9)" || q.SinceNs != 1e9 || q.AgeNs != 1e9 || q.Executor != "tax (ThreadPoolExecutor, Main.java:6)" {
		t.Errorf("waits longest: %+v", q)
	}
	// One is cancelled through its future, one rejected, one begins.
	p.batch().Submissions = []wire.Submission{{TaskID: futures[3], Class: futureClass, Thread: mainThread, Executor: pool, Flags: wire.Cancelled, At: tick(2.1)},
		{TaskID: tasks[49], Class: jobClass, Thread: mainThread, Executor: pool, Flags: wire.Rejected, At: tick(2.2)}}
	p.run(tasks[0], futures[0], jobClass, worker1, 1, 2.3, 2.4)
	p.send(3)
	v = p.view()
	if *v.Totals.Queued != 47 || v.Totals.Rejected != 1 || v.Totals.Cancelled != 1 || v.Queued[0].SinceNs != 1.01e9 {
		t.Errorf("%v wait, %v rejected, %v cancelled, first since %v", *v.Totals.Queued, v.Totals.Rejected, v.Totals.Cancelled, v.Queued[0].SinceNs)
	}
}

// A full batch has executions before the submissions of their tasks.
func TestExecutionBeforeSubmission(t *testing.T) {
	p := newProgram(t)
	task, _ := p.submit(jobClass, 1, false)
	submission := p.b.Submissions
	p.b.Submissions = nil
	p.run(task, 0, jobClass, worker1, 1, 1.2, 1.3)
	p.send(2)
	p.batch().Submissions = submission
	p.send(3)
	if v := p.view(); *v.Totals.Queued != 0 || v.Totals.Submitted != 1 || v.Totals.Finished != 1 {
		t.Errorf("%v wait, %+v", *v.Totals.Queued, v.Totals)
	}
}

// One object may wait several times, as a lambda without state does.
func TestSameTaskAgain(t *testing.T) {
	p := newProgram(t)
	for i := range 3 {
		p.batch().Submissions = append(p.batch().Submissions, wire.Submission{TaskID: 77, Class: jobClass, Thread: mainThread, Executor: pool, At: tick(1 + float64(i)/10)})
	}
	p.run(77, 0, jobClass, worker1, 1.1, 1.3, 1.4) // the second, out of turn
	p.send(2)
	if v := p.view(); *v.Totals.Queued != 2 || v.Queued[0].SinceNs != 1e9 || v.Queued[1].SinceNs != 1.2e9 {
		t.Errorf("%v wait: %+v", *v.Totals.Queued, v.Queued)
	}
	p.run(77, 0, jobClass, worker1, 0.5, 2.3, 2.4) // which one is not known: the oldest
	p.send(3)
	if v := p.view(); *v.Totals.Queued != 1 || v.Queued[0].SinceNs != 1.2e9 {
		t.Errorf("%v wait: %+v", *v.Totals.Queued, v.Queued)
	}
}

// Of more tasks than there is room for the oldest are followed and all are counted.
func TestManyWait(t *testing.T) {
	p := newProgram(t)
	const n = 3 * maxPending
	var tasks []uint64
	for i := range n {
		task, _ := p.submit(jobClass, 1+float64(i)/n, false)
		tasks = append(tasks, task)
	}
	p.send(3)
	if v := p.view(); *v.Totals.Queued != n || v.Queued[0].SinceNs != 1e9 {
		t.Errorf("%v wait, the first since %v", *v.Totals.Queued, v.Queued[0].SinceNs)
	}
	for i, task := range tasks {
		p.run(task, 0, jobClass, worker1, 1+float64(i)/n, 3+float64(i)/n, 3+float64(i+1)/n)
	}
	p.send(5)
	if v := p.view(); *v.Totals.Queued != 0 || v.Totals.Finished != n {
		t.Errorf("%v wait of %v that ended", *v.Totals.Queued, v.Totals.Finished)
	}
}

func TestRunningNow(t *testing.T) {
	p := newProgram(t)
	task, future := p.submit(jobClass, 1, true)
	report := func(at float64) *wire.RunningReport {
		return &wire.RunningReport{At: tick(at), Threads: []wire.RunningThread{{Thread: worker1, Executions: []wire.RunningExecution{
			{TaskID: 90, Class: loopClass, Start: tick(0.1)}, {TaskID: 1, Class: workerClass, Start: tick(0.1)},
			{TaskID: future, Class: futureClass, Start: tick(1.4)}, {TaskID: task, Class: jobClass, Start: tick(1.5)}}}}}
	}
	p.batch().Running = report(2)
	p.send(2)
	p.batch().Running = report(3)
	p.send(3)
	v := p.view()
	if *v.Totals.Running != 1 || *v.Totals.Queued != 0 || v.Totals.Started != 1 || v.Totals.Finished != 0 || *v.Executors[0].Flow.Running != 1 {
		t.Fatalf("totals: %+v, running %v, queued %v", v.Totals, *v.Totals.Running, *v.Totals.Queued)
	}
	if o := v.Running[0]; o.Class != "com.acme.Job" || o.Thread != "tax#21" || o.AgeNs != 1.5e9 || o.Site != "com.acme.Main.main (Main.java:9)" || o.Executor != "tax (ThreadPoolExecutor, Main.java:6)" {
		t.Errorf("runs longest: %+v", o)
	}
	p.run(task, future, jobClass, worker1, 1, 1.5, 3.5)
	p.batch().Running = &wire.RunningReport{At: tick(4)}
	p.send(4)
	v = p.view()
	if *v.Totals.Running != 0 || v.Totals.Started != 1 || v.Totals.Finished != 1 || len(v.Running) != 0 {
		t.Errorf("after its end: %+v, %v run", v.Totals, *v.Totals.Running)
	}
	for _, s := range v.Series {
		if s.Key == "running" && (s.Values[1] != 0.5 || s.Values[2] != 1 || s.Values[3] != 0.5) {
			t.Errorf("running by second: %v", s.Values)
		}
	}
}

// An older agent does not say what runs: nothing is shown as zero.
func TestNotAvailable(t *testing.T) {
	p := newProgram(t)
	p.send(2)
	v := p.view()
	if v.Totals.Running != nil || v.Totals.Queued != nil || v.Missing["running_now"] == "" || v.Missing["queued_now"] == "" || v.Missing["cpu"] == "" || v.Row.CPUs != nil || v.Row.QueueP99Ns != nil {
		t.Errorf("missing: %v, %+v", v.Missing, v.Totals)
	}
}

func TestSummaries(t *testing.T) {
	p := newProgram(t)
	p.submit(jobClass, 0.5, false) // waits; its end will be in a summary
	p.send(1)
	p.batch().Summaries = []wire.Summary{
		{Class: jobClass, Thread: mainThread, From: tick(1), To: tick(3), Submissions: 1010, Rejected: 5},
		{Class: jobClass, Thread: worker1, From: tick(1), To: tick(3), Executions: 1001, Threw: 3, Timed: 0, Measures: []wire.Measure{
			{Metric: wire.MetricWall, Count: 1001, Sum: 1001e6, Min: 1e6, Max: 1e6, Buckets: bucketsOf(1e6, 1001)},
			{Metric: wire.MetricQueue, Count: 1001, Sum: 2002e6, Min: 2e6, Max: 2e6, Buckets: bucketsOf(2e6, 1001)}}},
		{Class: otherClass, Thread: worker1, Flags: wire.SummaryPart, From: tick(1), To: tick(3), Executions: 7000},
		{Class: futureClass, Thread: worker1, From: tick(1), To: tick(3), Executions: 1001},
	}
	p.send(3)
	v := p.view()
	c := v.class("com.acme.Job")
	if c.Flow.Finished != 1001 || c.Summarised != 1001 || c.Flow.Threw != 3 || c.Flow.Rejected != 5 || c.Flow.Submitted != 1016 || v.Totals.Executions != 9002 || len(v.Classes) != 1 {
		t.Errorf("class: %+v, totals %+v", c, v.Totals)
	}
	if q := *c.Flow.Queued; q != 10 {
		t.Errorf("%v wait, want 1 + 1010 - 1001", q)
	}
	if !near(c.Flow.Service.P50Ns, 1e6) || !near(c.Flow.Queue.P99Ns, 2e6) || c.Estimated || len(v.Notes) != 1 {
		t.Errorf("times: %+v %+v, notes %q", c.Flow.Service, c.Flow.Queue, v.Notes)
	}
	if e := v.Executors[0]; e.Flow.Finished != 1001 {
		t.Errorf("executors: %+v", v.Executors)
	}
}

// The end of the session, and what follows.
func TestEnd(t *testing.T) {
	p := newProgram(t)
	p.batch().Running = &wire.RunningReport{At: tick(1), Threads: []wire.RunningThread{{Thread: worker1, Executions: []wire.RunningExecution{{TaskID: 50, Class: jobClass, Start: tick(0.5)}}}}}
	p.send(1)
	if v := p.view(); *v.Totals.Running != 1 {
		t.Errorf("%v run", *v.Totals.Running)
	}
	p.batch().Last = true
	p.send(2)
	if v := p.view(); *v.Totals.Running != 0 || len(v.Running) != 0 {
		t.Errorf("%v run after the end", *v.Totals.Running)
	}
	p.now = p.now.Add(silentAfter + time.Second)
	if s := p.view().Row.State; s != "silent" {
		t.Errorf("state: %s", s)
	}
	p.live.Progress(ingest.Progress{Session: "s", Folder: "s", Ended: store.EndedExit})
	if r := p.view().Row; r.State != "ended" || r.Ended != store.EndedExit {
		t.Errorf("row: %+v", r)
	}
	p.now = p.now.Add(keepEnded + time.Second)
	if f := p.live.Fleet(); len(f.JVMs) != 0 || p.live.JVM("s") != nil {
		t.Errorf("it is still there: %+v", f)
	}
	if n := p.live.flows.left.Load(); n != maxFlows {
		t.Errorf("%d flows are free, want %d", n, maxFlows)
	}
	if n := p.live.slots.left.Load(); n != maxSlots {
		t.Errorf("%d slots are free, want %d", n, maxSlots)
	}
}

// A gap in the batches, or one for which there was no time: what waits is not known any more.
func TestGap(t *testing.T) {
	p := newProgram(t)
	for range 10 {
		p.submit(jobClass, 1, false)
	}
	p.send(2)
	p.seq++
	p.send(3)
	if q := *p.view().Totals.Queued; q != 0 {
		t.Errorf("%v wait after a gap", q)
	}
	p.submit(jobClass, 3.5, false)
	p.seq--
	p.send(4) // one that was given up as lost
	if v := p.view(); v.Row.NotShown != 1 {
		t.Errorf("%v events are not shown, want 1", v.Row.NotShown)
	}
}

// A shadow that was started anew takes the names from what is stored, and says from when on its figures are.
func TestTakenOver(t *testing.T) {
	l := New(Options{Now: func() time.Time { return time.Unix(0, 0) }})
	l.Begin("s", &store.Manifest{Session: "s", StartNs: start, EndNs: start + 100*second, Stored: store.Counts{Executions: 5}}, nil)
	for i, at := range []float64{101, 102.5} {
		l.Batch("s", &wire.Batch{Seq: uint64(40 + i), Clock: wire.ClockPair{Ticks: tick(at), Mono: units.MonoNs(tick(at))},
			Executions: []wire.Execution{{TaskID: 1, Class: 9, Thread: 4, Start: tick(at - 0.5), End: tick(at - 0.4)}}}, false)
	}
	v := l.JVM("s")
	if v.Totals.SinceNs != 100e9 || v.NowNs != 102.5e9 || v.Totals.Finished != 1 || v.Row.NotShown != 1 {
		t.Errorf("since %v, now %v, %v ended, %v not shown", v.Totals.SinceNs, v.NowNs, v.Totals.Finished, v.Row.NotShown)
	}
	if len(v.Classes) != 1 || v.Classes[0].Name == "" {
		t.Errorf("classes: %+v", v.Classes)
	}
}

func TestHistogram(t *testing.T) {
	var h durations
	for i := 1; i <= 1000; i++ {
		h.add(int64(i) * 1000)
	}
	for q, want := range map[float64]float64{0.5: 500e3, 0.9: 900e3, 0.99: 990e3} {
		if got := h.quantile(q); !near(got, want) {
			t.Errorf("quantile %v: %v, want %v", q, got, want)
		}
	}
	var sum durations
	sum.add(5)
	sum.merge(&h)
	sum.add(1 << 62)
	if sum.count != 1002 || sum.max != 1<<62 || sum.quantile(0) != 5 || sum.quantile(1) != 1<<62 {
		t.Errorf("merged: %d values, %v to %v", sum.count, sum.quantile(0), sum.quantile(1))
	}
	if len(sum.counts) > int(bucketOf(math.MaxInt64))+growBy {
		t.Errorf("%d buckets", len(sum.counts))
	}
}

func TestDelegate(t *testing.T) {
	p := newProgram(t)
	b := p.batch()
	b.Executors = []wire.Executor{{ID: 8, Class: "java.util.concurrent.Executors$FinalizableDelegatedExecutorService"}}
	for i := range 3 {
		at := 1 + float64(i)/10
		task, future := p.next(), p.next()
		b.Submissions = append(b.Submissions, wire.Submission{TaskID: task, Class: jobClass, Thread: mainThread, Executor: 8, At: tick(at)},
			wire.Submission{TaskID: future, Class: futureClass, Thread: mainThread, Executor: pool, Flags: wire.Inner, At: tick(at)})
		if i == 0 {
			p.run(task, future, jobClass, worker1, at, at+0.01, at+0.02)
		}
	}
	p.send(2)
	v := p.view()
	if len(v.Executors) != 1 || v.Executors[0].ID != pool || v.Executors[0].Flow.Submitted != 3 || *v.Executors[0].Flow.Queued != 2 {
		t.Errorf("executors: %s", fmt.Sprintf("%+v", v.Executors))
	}
}

// Batches come while others look.
func TestConcurrently(t *testing.T) {
	p := newProgram(t)
	l := p.live
	l.o.Root, l.look = "root", func(string, uint64) (*look, error) {
		return &look{to: 1, findings: []advice.Finding{finding("held", "a")}}, nil
	}
	var b []*wire.Batch
	for s := 1; s <= 30; s++ {
		busy(p, float64(s), 50, 0.3)
		x := p.batch()
		x.Seq, x.Clock = uint64(1+s), wire.ClockPair{Ticks: tick(float64(s)), Mono: units.MonoNs(tick(float64(s)))}
		b, p.b = append(b, x), nil
	}
	var wg sync.WaitGroup
	done := make(chan struct{})
	for _, look := range []func(){func() { l.Fleet() }, func() { l.JVM("s") }, func() { l.WriteMetrics(&bytes.Buffer{}, nil) }, func() { l.Look() },
		func() { l.Progress(ingest.Progress{Session: "s", Folder: "s", Ended: store.EndedRunning}) },
		func() { l.Begin("other", &store.Manifest{}, nil) }} {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					look()
				}
			}
		})
	}
	for _, x := range b {
		l.Batch("s", x, true)
		time.Sleep(time.Millisecond)
	}
	close(done)
	wg.Wait()
	if v := l.JVM("s"); v.Totals.Finished+v.Row.NotShown < 30*50 {
		t.Errorf("%v ended, %v not shown", v.Totals.Finished, v.Row.NotShown)
	}
}

// While others wait for the goroutine that stores, the live view takes no more than its share of it: it skips events and counts them.
func TestPressed(t *testing.T) {
	p := newProgram(t)
	j := p.live.jvm("s")
	j.spent, j.spentFrom = time.Hour, time.Now() // it has taken too much
	busy(p, 2, 50, 0.3)
	b := p.batch()
	b.Threads = []wire.Thread{{ID: 99, JavaID: 99, Name: "late"}}
	b.Seq, b.Clock = 2, wire.ClockPair{Ticks: tick(2), Mono: units.MonoNs(tick(2))}
	p.live.Batch("s", b, true)
	p.b, p.seq = nil, 2
	v := p.view()
	if v.Totals.Finished != 0 || v.Row.NotShown != 200 || j.threads[99] == nil {
		t.Errorf("%v ended, %v not shown", v.Totals.Finished, v.Row.NotShown)
	}
	busy(p, 3, 50, 0.3)
	p.send(3)
	if v := p.view(); v.Totals.Finished != 50 {
		t.Errorf("afterwards %v ended", v.Totals.Finished)
	}
}

// An executor with a thread for each task has no queue.
func TestThreadPerTask(t *testing.T) {
	p := newProgram(t)
	b := p.batch()
	b.Executors = []wire.Executor{{ID: 9, Class: "java.util.concurrent.ThreadPerTaskExecutor"}}
	var tasks []uint64
	for i := range 20 {
		task := p.next()
		tasks = append(tasks, task)
		b.Submissions = append(b.Submissions, wire.Submission{TaskID: task, Class: jobClass, Thread: mainThread, Executor: 9, Site: jobSite, At: tick(1 + float64(i)/100)},
			wire.Submission{TaskID: p.next(), Class: loopClass, Thread: mainThread, Executor: 9, Flags: wire.Inner | wire.Started, At: tick(1 + float64(i)/100)})
	}
	b.Running = &wire.RunningReport{At: tick(3)}
	p.send(3)
	v := p.view()
	if *v.Totals.Running != 20 || *v.Totals.Queued != 0 || len(v.Queued) != 0 || len(v.Running) != shownOpen || v.Running[0].AgeNs != 2e9 || *v.Executors[0].Flow.Running != 20 {
		t.Errorf("running %v, queued %v: %+v", *v.Totals.Running, *v.Totals.Queued, v.Running)
	}
	for i, task := range tasks[:19] { // on a virtual thread of its own, which nobody describes
		p.batch().Executions = append(p.batch().Executions, wire.Execution{TaskID: task, Class: jobClass, Thread: uint32(1000 + i), Flags: wire.Virtual, Submitted: tick(1 + float64(i)/100), Start: tick(1.2), End: tick(3.5)})
	}
	p.send(4)
	if v = p.view(); *v.Totals.Running != 1 || v.Totals.Finished != 19 || v.Executors[0].ID != 9 || v.Executors[0].Flow.Finished != 19 {
		t.Errorf("running %v, %+v, %+v", *v.Totals.Running, v.Totals, v.Executors)
	}
}

// A reading of the clock is off by some nanoseconds: what ran at a report still began once.
func TestRunningNowWithAnotherClock(t *testing.T) {
	p := newProgram(t)
	for i := range 10 {
		p.off = units.MonoNs(i * i * 37)
		at := 1 + float64(i)
		p.batch().Running = &wire.RunningReport{At: tick(at), Threads: []wire.RunningThread{
			{Thread: worker1, Executions: []wire.RunningExecution{{TaskID: 1, Class: workerClass, Start: tick(0.1)}, {TaskID: uint64(100 + i), Class: jobClass, Start: tick(at - 0.5)}}},
			{Thread: worker2, Executions: []wire.RunningExecution{{TaskID: 2, Class: workerClass, Start: tick(0.1)}, {TaskID: uint64(200 + i), Class: futureClass, Start: tick(at - 0.5)},
				{TaskID: uint64(300 + i), Class: otherClass, Start: tick(at - 0.4)}}}}}
		p.send(at)
		p.off += 11
		p.run(uint64(100+i), 0, jobClass, worker1, at-0.6, at-0.5, at+0.1)
		p.run(uint64(300+i), uint64(200+i), otherClass, worker2, at-0.6, at-0.4, at+0.1)
		p.b.Executions[1].Submitted = 0
		p.send(at + 0.2)
	}
	if v := p.view(); v.Totals.Started != 20 || v.Totals.Finished != 20 {
		t.Errorf("%v began and %v ended, want 20", v.Totals.Started, v.Totals.Finished)
	}
}

// Workers that were there before the shadow: their loops are not known, and found.
func TestUnknownLoops(t *testing.T) {
	p := newProgram(t)
	p.live.jvm("s").loops = map[uint64]struct{}{}
	const n = 50
	for i := range n {
		at := 1 + float64(i)/100
		task, future := p.submit(jobClass, at, i%2 == 0)
		p.run(task, future, jobClass, worker1, at, at+0.001, at+0.002)
		if i > 5 && i%2 == 1 { // the agent does not know which submission it took
			p.b.Executions[len(p.b.Executions)-1].Submitted = 0
		}
	}
	p.send(3)
	if v := p.view(); v.Totals.Finished != n || *v.Totals.Queued != 0 {
		t.Errorf("%v ended, %v wait", v.Totals.Finished, *v.Totals.Queued)
	}
}
