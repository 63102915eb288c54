package summary

import (
	"testing"

	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// manyVirtual stores a session of n virtual threads, each with one execution of
// i+1 microseconds, and a platform thread with one of 7 ms.
func manyVirtual(t testing.TB, n int) *session.Session {
	t.Helper()
	p := &store.Part{Range: store.Range{From: 1, To: 1}, Classes: []store.Class{{ID: 1, Name: "a.Job", Kinds: "runnable"}}}
	add := func(thread uint32, wall units.Ns, flags wire.ExecutionFlags) {
		p.Executions = append(p.Executions, store.Execution{TaskID: uint64(thread), Class: 1, Thread: thread, Flags: uint16(flags | wire.First),
			StartNs: 1000, EndNs: 1000 + units.MonoNs(wall), WallNs: wall, SelfWallNs: wall, CPUNs: units.NotMeasured, SelfCPUNs: units.NotMeasured})
	}
	p.Threads = append(p.Threads, store.Thread{ID: 1, JavaID: 1, OSID: 9, Name: "main", Group: "main"})
	add(1, 7_000_000, 0)
	for i := range n {
		id := uint32(i + 2)
		p.Threads = append(p.Threads, store.Thread{ID: id, JavaID: int64(id) + 20, Name: "v", Group: "VirtualThreads", Virtual: true})
		add(id, units.Ns(i+1)*1000, wire.Virtual)
	}
	w, err := store.OpenWriter(t.TempDir(), "s", "s")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(p); err != nil {
		t.Fatal(err)
	}
	s, err := session.Open(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Of more virtual threads than are listed, all figures are exact but that they
// have one row together.
func TestUnlistedThreads(t *testing.T) {
	const n = 33_000
	s := manyVirtual(t, n)
	if len(s.Threads) != 1 || s.Unlisted() != n || s.ThreadByID(5).Label() != "v#25" {
		t.Fatalf("%d threads listed, %d not, 5 is %v", len(s.Threads), s.Unlisted(), s.ThreadByID(5))
	}
	sum, err := Build(s, Options{PerThread: true})
	if err != nil {
		t.Fatal(err)
	}
	if sum.Tasks.Threads != n+1 || sum.Tasks.Executions != n+1 || sum.Tasks.Virtual != n {
		t.Errorf("tasks %+v", sum.Tasks)
	}
	if len(sum.Threads) != 2 || len(sum.ThreadRows) != 2 {
		t.Fatalf("%d threads, %d with executions: %+v", len(sum.Threads), len(sum.ThreadRows), sum.Threads)
	}
	all, main := sum.ThreadRows[0], sum.ThreadRows[1]
	if all.Executions != n || main.Executions != 1 || main.Work != 7_000_000 || all.Work != n*(n+1)/2*1000 {
		t.Errorf("rows %+v and %+v", all, main)
	}
	// The nearest rank of the median of 1, 2, ... n microseconds.
	if m := all.Metrics[granularity.Wall]; m.Count != n || m.P50 != n/2*1000 || m.RelativeError != 0 {
		t.Errorf("wall times of the virtual threads: %+v", m)
	}
}
