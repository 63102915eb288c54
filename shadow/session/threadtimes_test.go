package session

import (
	"maps"
	"testing"

	"stackagent/hpc/sched"
	"stackagent/internal/units"
)

// The times of a hand-made record, joined with the session's threads: one that
// carried a Java thread, the JVM's first, a collector's, and one whose number
// was used before.
func TestThreadTimes(t *testing.T) {
	dir := t.TempDir()
	record := &sched.Record{Source: "ebpf", PID: 10, From: 100, To: 1100, NotAvailable: map[string]string{}, Threads: []sched.Thread{
		{TID: 10, Name: "java", First: 100, Last: 1100, CPU: units.NotMeasured},
		{TID: 11, Name: "worker-1", First: 200, Last: 400, BeginSeen: true, EndSeen: true, Voluntary: 1, CPU: 90},
		{TID: 11, Name: "G1 Refine#0", First: 500, Last: 1100, BeginSeen: true, CPU: units.NotMeasured},
	}}
	slices := []sched.Slice{
		{Thread: 0, State: sched.Futex, From: 100, To: 1100}, {Thread: 1, State: sched.Runnable, From: 200, To: 210},
		{Thread: 1, State: sched.Running, From: 210, To: 300}, {Thread: 1, State: sched.IO, From: 300, To: 400}, {Thread: 2, State: sched.Sleeping, From: 500, To: 1100},
	}
	if err := sched.Write(dir, record, slices); err != nil {
		t.Fatal(err)
	}
	s := &Session{Dir: dir, Threads: []Thread{
		{ID: 1, JavaID: 20, OSID: 11, Name: "worker-1", Kind: KindApplication, StartNs: 205, EndNs: 390, CPU: units.NotMeasured},
		{OSID: 10, Name: "java", Kind: KindOther, CPU: units.NotMeasured},
	}}
	times, err := s.ThreadTimes()
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		label, kind, role, pool string
		carried                 bool
		states                  [sched.NStates]units.Ns
	}{
		{"java@10", KindOther, "launcher", "java", true, [sched.NStates]units.Ns{sched.Futex: 1000}},
		{"worker-1#20", KindApplication, "", "worker-*", true, [sched.NStates]units.Ns{sched.Runnable: 10, sched.Running: 90, sched.IO: 100}},
		{"G1 Refine#0@11", KindGC, "refinement", "G1 Refine#*", false, [sched.NStates]units.Ns{sched.Sleeping: 600}},
	}
	for i, w := range want {
		got := &times.Threads[i]
		if got.Label() != w.label || got.Kind != w.kind || got.Role(10) != w.role || got.Pool() != w.pool || got.States != w.states || (got.Carried != nil) != w.carried {
			t.Errorf("thread %d: %s %s %q %s %v, want %+v", i, got.Label(), got.Kind, got.Role(10), got.Pool(), got.States, w)
		}
	}
	a, err := s.Activity()
	if again, _ := s.Activity(); err != nil || again != a || !maps.Equal(a.Index, map[uint32]int{1: 1}) {
		t.Errorf("%v, indexes %v; want one of the Java thread only, from a record that is opened once", err, a.Index)
	}
	if none, err := (&Session{Dir: t.TempDir()}).ThreadTimes(); none != nil || err != nil {
		t.Errorf("without a record: %v, %v", none, err)
	}
}

func TestRoles(t *testing.T) {
	for name, want := range map[string]string{
		"GC Thread#3": "parallel", "G1 Conc#0": "concurrent", "G1 Refine#1": "refinement", "G1 Service": "service", "ZWorker#0": "worker",
		"C1 CompilerThre": "C1", "C2 CompilerThre": "C2", "VM Thread": "VM thread", "stackagent": "agent", "java": "",
	} {
		if got := (&Thread{Name: name, Kind: ServiceKind(name)}).Role(); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for _, c := range []struct {
		thread Thread
		want   string
	}{
		{Thread{JavaID: 30, Name: "", Virtual: true, Kind: KindApplication}, "virtual"},
		{Thread{JavaID: 31, Name: "ForkJoinPool-1-worker-1", Group: carrierGroup, Kind: KindApplication}, "carrier"},
		{Thread{JavaID: 33, Name: "ForkJoinPool-1-worker-2", Class: "jdk.internal.misc.CarrierThread", Group: carrierGroup, Kind: KindApplication}, "carrier"},
		{Thread{JavaID: 34, Name: "ForkJoinPool-1-delayScheduler", Class: "java.util.concurrent.DelayScheduler", Group: carrierGroup, Kind: KindApplication}, ""},
		{Thread{JavaID: 32, Name: "C1 my own", Group: "main", Kind: KindApplication}, ""},
	} {
		if got := c.thread.Role(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.thread, got, c.want)
		}
	}
}
