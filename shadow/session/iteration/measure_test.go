package iteration

import (
	"errors"
	"reflect"
	"testing"

	"stackagent/granularity/warmup"
	"stackagent/hpc/sched"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/session/logs/deopt"
	"stackagent/shadow/session/logs/marker"
	"stackagent/shadow/store"
)

// observed writes a session of 600 ms with markers at 200 and 500. A compiler's thread runs from 0 to 50 and from 190 to 240, main all
// the time, a thread of the agent, too, and a collector's from 300 to 310, in a pause from 295 to 310; another pause crosses the marker at 200 by 5 ms on either side.
func observed(t *testing.T, record bool) *session.Session {
	t.Helper()
	w, err := store.OpenWriter(t.TempDir(), "s", "s")
	if err != nil {
		t.Fatal(err)
	}
	w.Manifest = store.Manifest{Session: "s", StartNs: zero, EndNs: zero + 600*ms, JVM: store.JVM{PID: 7, CPUs: 2}, Metrics: []string{"wall", "cpu"}, Ended: store.EndedExit}
	job := func(thread, class uint32, from, to units.MonoNs, cpu units.Ns) store.Execution {
		x := executed(thread, class, from, to)
		x.CPUNs, x.SelfCPUNs = cpu*units.Ns(ms), cpu*units.Ns(ms)
		return x
	}
	p := &store.Part{Range: store.Range{From: 1, To: 1},
		Classes: []store.Class{{ID: 1, Name: "com.acme.Job", Kinds: "runnable"}, {ID: 2, Name: "com.acme.Loop", Kinds: "runnable"}, {ID: 3, Name: "com.acme.Job", Kinds: "runnable"}},
		Threads: []store.Thread{{ID: 1, JavaID: 1, OSID: 70, Name: "main", Group: "main"}, {ID: 2, JavaID: 2, OSID: 71, Name: "worker", Group: "main"}},
		Pauses:  []store.Pause{{StartNs: int64(zero + 195*ms), EndNs: int64(zero + 205*ms)}, {StartNs: int64(zero + 295*ms), EndNs: int64(zero + 310*ms)}},
		Executions: []store.Execution{job(2, 2, 0, 450, 100), job(2, 1, 10, 60, 40), job(2, 3, 70, 120, 30), job(2, 1, 210, 230, 20),
			job(2, 1, 240, 250, 10), job(2, 1, 510, 520, 5)}, // the last one in no iteration
		Summaries: []store.Summary{{Class: 2, Thread: 2, FromNs: zero, ToNs: zero + 600*ms, Executions: 7}},
	}
	if err := w.Commit(p); err != nil {
		t.Fatal(err)
	}
	if record {
		slice := func(th uint32, s sched.State, a, b units.MonoNs) sched.Slice {
			return sched.Slice{Thread: th, State: s, From: zero + a*ms, To: zero + b*ms}
		}
		rec := &sched.Record{Source: "ebpf", PID: 7, From: zero, To: zero + 600*ms, Threads: []sched.Thread{
			{TID: 70, Name: "java", First: zero, Last: zero + 600*ms, CPU: units.NotMeasured}, {TID: 80, Name: "C2 CompilerThre", First: zero, Last: zero + 600*ms, CPU: units.NotMeasured},
			{TID: 81, Name: "GC Thread#0", First: zero, Last: zero + 600*ms, CPU: units.NotMeasured},
			{TID: 82, Name: "stackagent", First: zero, Last: zero + 600*ms, CPU: units.NotMeasured},
		}}
		if err := sched.Write(w.Dir(), rec, []sched.Slice{
			slice(0, sched.Running, 0, 600), slice(3, sched.Running, 0, 600), slice(1, sched.Running, 0, 50), slice(2, sched.Futex, 0, 300), slice(1, sched.Futex, 50, 190), slice(1, sched.Running, 190, 240),
			slice(1, sched.Futex, 240, 600), slice(2, sched.Running, 300, 310), slice(2, sched.Futex, 310, 600),
		}); err != nil {
			t.Fatal(err)
		}
	}
	s, err := session.Open(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestMeasure(t *testing.T) {
	s := observed(t, true)
	list := byMarkers(&marker.File{End: "x", Markers: []marker.Marker{{At: zero + 200*ms}, {At: zero + 500*ms, Line: "two"}}}, Iteration{From: zero, To: zero + 600*ms}.Span()).All
	m, err := Measure(s, list)
	if err != nil {
		t.Fatal(err)
	}
	n := func(v units.Ns) units.Ns { return v * units.Ns(ms) }
	want := []warmup.Iteration{
		{From: zero, To: zero + 200*ms, CPU: n(260), Compiler: n(60), Stopped: n(5), Tasks: 2, Deopts: -1},
		{From: zero + 200*ms, To: zero + 500*ms, Label: "two", CPU: n(350), Compiler: n(40), GC: n(10), Stopped: n(20), Tasks: 3, Deopts: -1},
	}
	if !reflect.DeepEqual(m.Run, want) {
		t.Errorf("%+v\nwant %+v", m.Run, want)
	}
	// The loop began before its end's iteration, and one job lies in none. Two loaders define Job: it is one class.
	if w := []warmup.Work{{Class: "com.acme.Job", Count: []int64{2, 2}, Sum: []float64{70e6, 30e6}}}; !reflect.DeepEqual(m.Work, w) || m.Across != 2 {
		t.Errorf("%+v across %d, want %+v across 2", m.Work, m.Across, w)
	}
	if m.Summarised != 7 || m.WorkIs != "Self CPU time" || len(m.NotAvailable) != 1 || m.NotAvailable["deoptimisations"] == "" {
		t.Errorf("%d summarised, %s, not available: %v", m.Summarised, m.WorkIs, m.NotAvailable)
	}
}

// TestMeasureWithout: what was not recorded is not zero.
func TestMeasureWithout(t *testing.T) {
	s := observed(t, false)
	m, err := Measure(s, Windows(s, units.Ns(250*ms), 99))
	if err != nil || len(m.Run) != 2 {
		t.Fatalf("%+v, %v: want 2 windows of 250 ms in 600", m, err)
	}
	for _, i := range m.Run {
		if i.CPU != units.NotMeasured || i.Compiler != units.NotMeasured || i.GC != units.NotMeasured {
			t.Errorf("without a record: %+v", i)
		}
	}
	if m.NotAvailable["CPU time, JIT and GC"] == "" {
		t.Error("it does not say why")
	}
	if n := len(Windows(s, units.Ns(ms), 99)); n != 99 {
		t.Errorf("%d windows, want at most 99", n)
	}
}

// TestDeopts: those of an iteration of which some may have been lost are not known.
func TestDeopts(t *testing.T) {
	s := observed(t, false)
	list := []Iteration{{From: zero, To: zero + 100*ms}, {From: zero + 100*ms, To: zero + 200*ms}, {From: zero + 200*ms, To: zero + 300*ms}, {From: zero + 300*ms, To: zero + 400*ms}}
	at := func(n units.MonoNs) deopt.Event { return deopt.Event{At: zero + n*ms, Method: "A.b()V", Reason: "why"} }
	for name, c := range map[string]struct {
		file deopt.File
		want [4]int64
		of   int
	}{
		"all":               {deopt.File{Events: []deopt.Event{at(-5), at(100), at(101), at(150), at(400), at(401)}}, [4]int64{1, 2, 0, 1}, 4},
		"the begin is lost": {deopt.File{From: zero + 101*ms, Events: []deopt.Event{at(101), at(250)}}, [4]int64{-1, -1, 1, 0}, 1},
		"the end is lost":   {deopt.File{Dropped: 1, Events: []deopt.Event{at(50), at(250)}}, [4]int64{1, 0, -1, -1}, 1},
	} {
		c.file.Version = deopt.FileVersion
		if err := errors.Join(c.file.Write(s.Dir), store.SealBeside(s.Dir, store.BesideFiles()...)); err != nil {
			t.Fatal(err)
		}
		m, err := Measure(s, list)
		if err != nil {
			t.Fatal(err)
		}
		lost := false
		for i, want := range c.want {
			if m.Run[i].Deopts != want {
				t.Errorf("%s: %d in iteration %d, want %d", name, m.Run[i].Deopts, i+1, want)
			}
			lost = lost || want < 0
		}
		if why := m.NotAvailable["deoptimisations of some iterations"]; (why != "") != lost || len(m.Deopts) != c.of {
			t.Errorf("%s: %q, %d named", name, why, len(m.Deopts))
		}
	}
}
