package scaling

import (
	"errors"
	"strings"
	"testing"

	"stackagent/granularity/activity"
	"stackagent/hpc/sched"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/session/iteration"
	"stackagent/shadow/store"
)

const (
	ms   = units.MonoNs(1e6)
	zero = 1000 * ms
)

// made writes a session: main prepares for 100 ms, a pool of two works for 400
// (one of them is done after 200, and waits in its loop for more), main ends after 100
// more. A pause of 20 ms. Two executions of a named task mark 100-300 and 300-500.
func made(t *testing.T, main ...store.Execution) *session.Session {
	t.Helper()
	return madeWith(t, func(p *store.Part) { p.Executions = append(p.Executions, main...) })
}

// madeWith is made, with a part that change has changed.
func madeWith(t *testing.T, change func(p *store.Part)) *session.Session {
	t.Helper()
	w, err := store.OpenWriter(t.TempDir(), "s", "s")
	if err != nil {
		t.Fatal(err)
	}
	w.Manifest = store.Manifest{Session: "s", StartNs: zero, EndNs: zero + 600*ms, JVM: store.JVM{PID: 7, CPUs: 2}, Metrics: []string{"wall"}, Ended: store.EndedExit}
	begin1, begin2 := int64(zero+100*ms), int64(zero+100*ms)
	p := &store.Part{Range: store.Range{From: 1, To: 1},
		Classes: []store.Class{{ID: 1, Name: "java.util.concurrent.ThreadPoolExecutor$Worker", Kinds: "runnable+jdk"}, {ID: 2, Name: "com.acme.Job", Kinds: "runnable"},
			{ID: 3, Name: "com.acme.Main#round", Kinds: "custom"}, {ID: 4, Name: "sun.nio.fs.NativeBuffer$Deallocator", Kinds: "runnable+jdk"}},
		Threads: []store.Thread{{ID: 1, JavaID: 1, OSID: 70, Name: "main", Group: "main"},
			{ID: 2, JavaID: 20, OSID: 71, Name: "pool-1-thread-1", Group: "main", StartNs: &begin1}, {ID: 3, JavaID: 21, OSID: 72, Name: "pool-1-thread-2", Group: "main", StartNs: &begin2}},
		Pauses: []store.Pause{{StartNs: int64(zero + 150*ms), EndNs: int64(zero + 170*ms)}},
		Executions: []store.Execution{
			executed(2, 1, 0, 100, 500), executed(3, 1, 0, 100, 500), executed(2, 2, 1, 100, 500), executed(3, 2, 1, 100, 290), executed(3, 2, 1, 290, 300),
			executed(3, 4, 0, 500, 501), executed(1, 3, 0, 100, 300), executed(1, 3, 0, 300, 500),
		},
	}
	change(p)
	if err := w.Commit(p); err != nil {
		t.Fatal(err)
	}
	slice := func(th uint32, s sched.State, a, b units.MonoNs) sched.Slice {
		return sched.Slice{Thread: th, State: s, From: zero + a*ms, To: zero + b*ms}
	}
	rec := &sched.Record{Source: "ebpf", PID: 7, From: zero, To: zero + 600*ms, Threads: []sched.Thread{
		{TID: 70, Name: "java", First: zero, Last: zero + 600*ms, BeginSeen: true, EndSeen: true, Voluntary: 3, Involuntary: 1, CPU: units.NotMeasured},
		{TID: 71, Name: "pool-1-thread-1", First: zero + 100*ms, Last: zero + 501*ms, BeginSeen: true, EndSeen: true, Voluntary: 5, Involuntary: 1, CPU: units.NotMeasured},
		{TID: 72, Name: "pool-1-thread-2", First: zero + 100*ms, Last: zero + 501*ms, BeginSeen: true, EndSeen: true, Voluntary: 7, Involuntary: 1, CPU: units.NotMeasured},
		{TID: 73, Name: "GC Thread#0", First: zero, Last: zero + 600*ms, Voluntary: 11, Involuntary: 1, CPU: units.NotMeasured},
	}}
	all := []sched.Slice{
		slice(0, sched.Running, 0, 100), slice(3, sched.Futex, 0, 150), slice(0, sched.Futex, 100, 501), slice(1, sched.Running, 100, 150), slice(2, sched.Running, 100, 150),
		slice(1, sched.Futex, 150, 170), slice(2, sched.Futex, 150, 170), slice(3, sched.Running, 150, 170), slice(1, sched.Running, 170, 501), slice(2, sched.Running, 170, 300),
		slice(3, sched.Futex, 170, 600), slice(2, sched.Futex, 300, 501), slice(0, sched.Running, 501, 600),
	}
	if err := sched.Write(w.Dir(), rec, all); err != nil {
		t.Fatal(err)
	}
	s, err := session.Open(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func executed(thread, class uint32, depth uint16, from, to units.MonoNs) store.Execution {
	d := units.Ns((to - from) * ms)
	return store.Execution{TaskID: uint64(from)*100 + uint64(class)*10 + uint64(thread), Class: class, Thread: thread, Depth: depth, StartNs: zero + from*ms, EndNs: zero + to*ms,
		WallNs: d, SelfWallNs: d, CPUNs: units.NotMeasured, SelfCPUNs: units.NotMeasured}
}

func reckon(t *testing.T, s *session.Session, o Options) *Run {
	t.Helper()
	r, err := Reckon(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func wantMS(t *testing.T, what string, got units.Ns, want units.MonoNs) {
	t.Helper()
	if got != units.Ns(want*ms) {
		t.Errorf("%s is %v ms, want %d", what, float64(got)/1e6, want)
	}
}

func TestWhole(t *testing.T) {
	r := reckon(t, made(t), Options{})
	if r.N != 2 || !r.Counted || r.Workers != 2 || r.MainOnly || r.Work.Collections != 1 {
		t.Errorf("%+v", r)
	}
	wantMS(t, "the run", r.Duration, 600)
	wantMS(t, "gc", r.GC, 20)
	wantMS(t, "the collector's work", r.Work.GC.RunningNs, 20)
	wantMS(t, "running", r.InState[activity.Running], 50+50+330+130)
	// The main thread computes until 100 and from 501 on. The threads wait at 100, 150 (both) and 300.
	w := r.Work
	wantMS(t, "the application's work", w.Application.RunningNs, 100+99+2*50+331+130)
	wantMS(t, "the application's time", units.Ns(w.Application.HeightNs), 600-20)
	wantMS(t, "stopped", w.PauseNs, 20)
	if w.ApplicationWaits != 4 || w.GCWaits != 0 || w.NoGC != "" || w.NoWaits != "" || w.GC.HeightNs != float64(w.GC.RunningNs) {
		t.Errorf("%+v", w)
	}
	// The second thread is done with its last task at 300, not when the cleaners
	// of its buffers have run; the first at 500.
	wantMS(t, "exited", r.Exited, 200)
	wantMS(t, "futex", r.InState[activity.Futex], 0)
	wantMS(t, "sequential", r.Sequential, 199)
	wantMS(t, "idle", r.Idle, 1)
}

func TestRegions(t *testing.T) {
	s := made(t)
	for text, want := range map[string]units.MonoNs{"whole": 600, "markers": 400, "last:1": 200, "last:50ms": 50, "100ms..250ms": 150, "..200ms": 200, "500ms..": 100} {
		region, err := ParseRegion(text)
		if err != nil {
			t.Fatal(err)
		}
		wantMS(t, text, reckon(t, s, Options{Region: region}).Duration, want)
	}
	// In the second round the second thread has nothing to do, from the begin.
	last := reckon(t, s, Options{Threads: 2, Region: Region{Iterations: &iteration.Choice{Last: 1}}})
	wantMS(t, "running in the last round", last.InState[activity.Running], 200)
	wantMS(t, "waiting in the last round", last.InState[activity.Futex], 200)
	for _, text := range []string{"x", "last:", "last:0", "last:-1s", "5s..2s", "a..b", "-1s..2s"} {
		if _, err := ParseRegion(text); !errors.Is(err, ErrRegion) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := Reckon(s, Options{Region: Region{Iterations: &iteration.Choice{}, IterationsOf: "nothing.*"}}); !errors.Is(err, iteration.ErrNone) {
		t.Errorf("no markers: %v", err)
	}
	if _, err := Reckon(s, Options{Region: Region{From: 9e9}}); err == nil {
		t.Error("a region after the end is accepted")
	}
}

// TestNoTime: no choice of a region helps where nothing was recorded.
func TestNoTime(t *testing.T) {
	if _, err := (Region{}).spans(made(t), activity.Span{From: zero, To: zero}); !errors.Is(err, ErrNoTime) {
		t.Errorf("%v, want ErrNoTime", err)
	}
}

// TestMainWorks: main is a worker when it runs the workers' tasks, not because
// of tasks of its own.
func TestMainWorks(t *testing.T) {
	if r := reckon(t, made(t, executed(1, 2, 0, 501, 560)), Options{}); r.Workers != 3 {
		t.Errorf("main runs jobs, and %d threads are application threads", r.Workers)
	}
	if r := reckon(t, made(t, executed(1, 4, 0, 501, 560)), Options{Workers: "pool-1-thread-1*"}); r.Workers != 1 {
		t.Errorf("%d threads are named", r.Workers)
	}
}

func TestNotes(t *testing.T) {
	if got := were(1) + ", " + were(2); got != "1 was, 2 were" {
		t.Error(got)
	}
	s := made(t)
	for n, want := range map[int]string{1: "lived at once where 1 was asked for", 4: "of 4 threads asked for at most 2"} {
		r := reckon(t, s, Options{Threads: n})
		if !strings.Contains(strings.Join(r.Notes, "\n"), want) {
			t.Errorf("%d threads: %q", n, r.Notes)
		}
	}
	if _, ok := reckon(t, s, Options{}).Counters.NotAvailable["instructions"]; !ok {
		t.Error("no instructions, and no reason")
	}
}
