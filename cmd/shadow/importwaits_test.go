package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// TestWaitsOfRoundTrip: what waits were for survives an export and an import, also where the recording shows no more why: the
// thread of a pool without work (6 ms), a carrier without work (5 ms), a condition that its stack names (7 ms), 1 ms of a virtual
// thread's 3 ms for a carrier, and 5 short waits that are only summed up (100 us).
func TestWaitsOfRoundTrip(t *testing.T) {
	dir := makeWaits(t)
	w, err := store.OpenWriter(filepath.Dir(dir), "s1", "s1")
	if err != nil {
		t.Fatal(err)
	}
	const from = 1_000 * ms
	condition, sync := "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject", "java.util.concurrent.locks.ReentrantLock$NonfairSync"
	ready := units.Ns(ms)
	err = w.Commit(&store.Part{Range: store.Range{From: 3, To: 3},
		Executors: []store.Executor{{ID: 70, Class: "java.util.concurrent.ForkJoinPool"}},
		Threads: []store.Thread{{ID: 71, JavaID: 71, OSID: 171, Name: "ForkJoinPool-1-worker-1", Group: "main", Executor: 70}, {ID: 72, JavaID: 72, OSID: 172, Name: "ForkJoinPool-2-worker-1", Group: "CarrierThreads"},
			{ID: 73, JavaID: 73, OSID: 173, Name: "Thread-9", Group: "main"}, {ID: 74, JavaID: 74, Virtual: true}},
		Blockers: []store.Blocker{{ID: 71, Class: "java.util.concurrent.ForkJoinPool"}, {ID: 72, Class: condition, Lock: sync}},
		Frames: []store.Frame{{ID: 1, Class: "java.util.concurrent.locks.LockSupport", Method: "park"}, {ID: 2, Class: condition, Method: "await"},
			{ID: 3, Class: "java.util.concurrent.ArrayBlockingQueue", Method: "take"}, {ID: 4, Class: "com.acme.Feed", Method: "next"}},
		Contexts: []store.Context{{ID: 1, Kind: store.ContextWait, Frames: []uint32{1, 2, 3, 4}}},
		Waits: []store.Wait{{Kind: "park", Thread: 71, Blocker: 71, StartNs: from, EndNs: from + 6*ms}, {Kind: "park", Thread: 72, Blocker: 71, StartNs: from, EndNs: from + 5*ms},
			{Kind: "park", Thread: 73, Blocker: 72, StartNs: from, EndNs: from + 7*ms, Context: 1, Flags: uint32(wire.WaitTimed)},
			{Kind: "io", Thread: 74, StartNs: from, EndNs: from + 3*ms, ReadyNs: &ready, Flags: uint32(wire.WaitOpen)}}})
	if err != nil {
		t.Fatal(err)
	}
	file, imported := filepath.Join(t.TempDir(), "s.jfr"), filepath.Join(t.TempDir(), "s")
	run := func(args ...string) string {
		t.Helper()
		code, out, errs := shadow(t, nil, args...)
		if code != 0 {
			t.Fatalf("%v: exit %d: %s", args, code, errs)
		}
		return out
	}
	run("export", dir, "--format", "jfr", "-o", file)
	run("import", file, "-o", imported)
	want := []string{
		"synchronizer ArrayBlockingQueue.take: 1 7ms, timed 1, open 0, summed 0",
		"monitor com.acme.Db: 1 4ms, timed 0, open 0, summed 0",
		"io socket, pipe or file: 1 2ms, timed 0, open 1, summed 0",
		"gc pause: 1 2ms, timed 0, open 0, summed 0",
		"carrier carrier of virtual threads: 1 1ms, timed 0, open 0, summed 0",
		"synchronizer Semaphore (fair): 5 0ms, timed 0, open 0, summed 5",
		"queue java.util.concurrent.ForkJoinPool: 1 6ms, timed 0, open 0, summed 0",
		"queue carrier of virtual threads: 1 5ms, timed 0, open 0, summed 0",
		"queue java.util.concurrent.ThreadPoolExecutor$Worker: 1 3ms, timed 0, open 0, summed 0",
	}
	slices.Sort(want)
	for _, of := range []string{dir, imported} {
		var rows []struct {
			For, Class           string
			Waits, Timed, Summed int64
			Open                 int64    `json:"open"`
			WaitedNs             units.Ns `json:"waited_ns"`
		}
		if err := json.Unmarshal([]byte(run("waits", of, "--format", "json")), &rows); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range rows {
			got = append(got, fmt.Sprintf("%s %s: %d %dms, timed %d, open %d, summed %d", r.For, r.Class, r.Waits, r.WaitedNs/ms, r.Timed, r.Open, r.Summed))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", of, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		var stats struct {
			Waits struct {
				Waits    int64
				WaitedNs units.Ns `json:"waited_ns"`
			}
			NotAvailable map[string]string `json:"not_available"`
		}
		out := run("stats", of, "--format", "json")
		if err := json.Unmarshal([]byte(out), &stats); err != nil || stats.Waits.Waits != 9 || stats.Waits.WaitedNs != 14*ms+100*us {
			t.Errorf("%s: %v, %+v", of, err, stats)
		}
		if of == imported && (stats.NotAvailable["waits: sleep"] != "the session that was exported has none" || stats.NotAvailable["waits: park"] != "" || stats.NotAvailable["waits: short ones"] != "") {
			t.Errorf("%v", stats.NotAvailable)
		}
	}
}
