package scaling

import (
	"math"
	"testing"

	"stackagent/granularity/lbo"
	"stackagent/hpc"
	"stackagent/hpc/sched"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// collected writes a session of 600 ms: main and a worker run but for the pauses, 150 to 170 and 400 to 410; the collector's
// thread runs in the pauses, and beside the program from 200 to 250. The worker calls the kernel until 3 ms into the first pause.
func collected(t *testing.T) *session.Session {
	t.Helper()
	w, err := store.OpenWriter(t.TempDir(), "s", "s")
	if err != nil {
		t.Fatal(err)
	}
	w.Manifest = store.Manifest{Session: "s", StartNs: zero, EndNs: zero + 600*ms, JVM: store.JVM{PID: 7, CPUs: 2}, Metrics: []string{"wall"}, Ended: store.EndedExit}
	begin := int64(zero)
	p := &store.Part{Range: store.Range{From: 1, To: 1},
		Threads: []store.Thread{{ID: 1, JavaID: 1, OSID: 70, Name: "main", Group: "main"}, {ID: 2, JavaID: 20, OSID: 71, Name: "pool-1-thread-1", Group: "main", StartNs: &begin}},
		Pauses:  []store.Pause{{StartNs: int64(zero + 150*ms), EndNs: int64(zero + 170*ms)}, {StartNs: int64(zero + 400*ms), EndNs: int64(zero + 410*ms)}},
	}
	if err := w.Commit(p); err != nil {
		t.Fatal(err)
	}
	rec := &sched.Record{Source: "ebpf", PID: 7, From: zero, To: zero + 600*ms}
	for tid, name := range map[int32]string{70: "java", 71: "pool-1-thread-1", 73: "GC Thread#0"} {
		rec.Threads = append(rec.Threads, sched.Thread{TID: tid, Name: name, First: zero, Last: zero + 600*ms, BeginSeen: true, EndSeen: true, CPU: units.NotMeasured})
	}
	at := map[int32]uint32{}
	for i, th := range rec.Threads {
		at[th.TID] = uint32(i)
	}
	var all []sched.Slice
	add := func(tid int32, s sched.State, a, b units.MonoNs) {
		all = append(all, sched.Slice{Thread: at[tid], State: s, From: zero + a*ms, To: zero + b*ms})
	}
	add(70, sched.Running, 0, 150)
	add(71, sched.Running, 0, 153)
	add(73, sched.Futex, 0, 150)
	add(70, sched.Futex, 150, 170)
	add(73, sched.Running, 150, 170)
	add(71, sched.Futex, 153, 170)
	add(70, sched.Running, 170, 400)
	add(71, sched.Running, 170, 400)
	add(73, sched.Futex, 170, 200)
	add(73, sched.Running, 200, 250)
	add(73, sched.Futex, 250, 400)
	add(70, sched.Futex, 400, 410)
	add(71, sched.Futex, 400, 410)
	add(73, sched.Running, 400, 410)
	add(70, sched.Running, 410, 600)
	add(71, sched.Running, 410, 600)
	add(73, sched.Futex, 410, 600)
	if err := sched.Write(w.Dir(), rec, all); err != nil {
		t.Fatal(err)
	}
	s, err := session.Open(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestCosts: what a run costs on both clocks, and the collector's part of it.
func TestCosts(t *testing.T) {
	s := collected(t)
	for text, want := range map[string][lbo.NClocks]lbo.Cost{
		// Main runs for 570 ms, the worker for 573, the collector for 80.
		"whole": {lbo.Wall: {Total: 600, Collector: [lbo.NBounds]float64{30, 30}}, lbo.CPU: {Total: 570 + 573 + 80, Collector: [lbo.NBounds]float64{33, 83}}},
		// Half of the first pause, and of what runs beside it.
		"160ms..225ms": {lbo.Wall: {Total: 65, Collector: [lbo.NBounds]float64{10, 10}}, lbo.CPU: {Total: 55 + 55 + 10 + 25, Collector: [lbo.NBounds]float64{10, 35}}},
		"300ms..350ms": {lbo.Wall: {Total: 50}, lbo.CPU: {Total: 100}},
	} {
		region, err := ParseRegion(text)
		if err != nil {
			t.Fatal(err)
		}
		c, err := CostsOf(s, region)
		if err != nil {
			t.Fatal(err)
		}
		for clock, w := range want {
			got := c.Run[clock]
			if got.Total != w.Total*1e6 || got.Collector[lbo.Plain] != w.Collector[lbo.Plain]*1e6 {
				t.Errorf("%s, %s: %+v, want %+v ms", text, lbo.Clock(clock), got, w)
			}
		}
		if got := c.Run[lbo.CPU].Collector[lbo.Tighter]; got != want[lbo.CPU].Collector[lbo.Tighter]*1e6 {
			t.Errorf("%s: the collector's CPU time is %v ms, want %v", text, got/1e6, want[lbo.CPU].Collector[lbo.Tighter])
		}
	}
	// With the kernel's account of the process, the total is that of the process.
	if err := (hpc.Usage{Version: hpc.UsageFileVersion, Wall: 700e6, User: 1200e6, System: 100e6}).Write(s.Dir); err != nil {
		t.Fatal(err)
	}
	c, err := CostsOf(s, Region{})
	if err != nil || c.Run[lbo.Wall].Total != 700e6 || c.Run[lbo.CPU].Total != 1300e6 {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestCostsWithoutScheduling: without a scheduling record the wall is known, the CPU time in pauses is not, and a region has none.
func TestCostsWithoutScheduling(t *testing.T) {
	w, err := store.OpenWriter(t.TempDir(), "s", "s")
	if err != nil {
		t.Fatal(err)
	}
	w.Manifest = store.Manifest{Session: "s", StartNs: zero, EndNs: zero + 600*ms, Metrics: []string{"wall"}, Ended: store.EndedExit}
	if err := w.Commit(&store.Part{Range: store.Range{From: 1, To: 1}, Pauses: []store.Pause{{StartNs: int64(zero + 150*ms), EndNs: int64(zero + 170*ms)}}}); err != nil {
		t.Fatal(err)
	}
	s, err := session.Open(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	c, err := CostsOf(s, Region{})
	if err != nil || c.Run[lbo.Wall].Total != 600e6 || c.Run[lbo.Wall].Collector[lbo.Plain] != 20e6 || !math.IsNaN(c.Run[lbo.CPU].Collector[lbo.Plain]) || len(c.NotAvailable) == 0 {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := CostsOf(s, Region{Tail: 1e6}); err == nil {
		t.Error("a region's CPU time is known without a scheduling record")
	}
}
