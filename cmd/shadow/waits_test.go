package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"stackagent/internal/units"
	"stackagent/shadow/store"
)

// makeWaits adds waits to the session of makeSession: in com.acme.Job on the pool's thread, 2..12 ms, one of 4 ms for a monitor that
// main ends; 3 ms of the worker for work; short ones, 5 of 100 us in all, for a semaphore.
func makeWaits(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	dir := makeSession(t, root)
	w, err := store.OpenWriter(root, "s1", "s1")
	if err != nil {
		t.Fatal(err)
	}
	const from = 1_000 * ms
	w.Manifest.Waits = &store.WaitRecording{LimitNs: 50 * us, Sources: []string{"park", "monitor"}}
	err = w.Commit(&store.Part{Range: store.Range{From: 2, To: 2},
		Blockers: []store.Blocker{{ID: 1, Class: "com.acme.Db"}, {ID: 2, Class: "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject"}, {ID: 3, Class: "java.util.concurrent.Semaphore$FairSync"}},
		Sites:    []store.Site{{ID: 900, Class: "com.acme.Job", Method: "run", File: "Job.java", Line: 7}},
		Waits: []store.Wait{{Kind: "monitor", Thread: 2, Blocker: 1, StartNs: from + 4*ms, EndNs: from + 8*ms, Within: 1, Site: 900, Waker: 1},
			{Kind: "park", Thread: 2, Blocker: 2, StartNs: from + 37*ms, EndNs: from + 40*ms, Within: 2}},
		WaitSums: []store.WaitSum{{Kind: "park", Thread: 2, Blocker: 3, Within: 1, Waits: 5, WaitedNs: 100 * us, MaxNs: 30 * us}}})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestWaitsJSON: the promised names, with the figures of makeWaits; the worker without work comes last.
func TestWaitsJSON(t *testing.T) {
	type row struct {
		For, Class, Site, Blocker string
		Waits                     int64
		WaitedNs                  units.Ns `json:"waited_ns"`
		MaxNs                     units.Ns `json:"max_ns"`
	}
	for by, site := range map[string]string{"class": "", "site": "com.acme.Job.run:7"} {
		code, out, errs := shadow(t, nil, "waits", makeWaits(t), "--by", by, "--format", "json")
		var got []row
		if err := json.Unmarshal([]byte(out), &got); code != 0 || err != nil {
			t.Fatalf("exit code %d, %v: %s\n%s", code, err, errs, out)
		}
		want := []row{
			{"monitor", "com.acme.Db", site, "com.acme.Db", 1, 4 * ms, 4 * ms},
			{"gc", "pause", "", "", 1, 2 * ms, 2 * ms},
			{"synchronizer", "Semaphore (fair)", "", "java.util.concurrent.Semaphore$FairSync", 5, 100 * us, 30 * us},
			{"queue", "java.util.concurrent.ThreadPoolExecutor$Worker", "", "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject", 1, 3 * ms, 3 * ms},
		}
		if len(got) != len(want) {
			t.Fatalf("by %s: %s", by, out)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("by %s: %+v, want %+v", by, got[i], want[i])
			}
		}
	}
}

// TestWaitsByUnit: the executions of com.acme.Job take 31 ms, 30 of them on a CPU; the columns add up to the response time.
func TestWaitsByUnit(t *testing.T) {
	code, out, errs := shadow(t, nil, "waits", makeWaits(t), "--by", "unit", "--format", "json")
	var rows []map[string]any
	if err := json.Unmarshal([]byte(out), &rows); code != 0 || err != nil {
		t.Fatalf("exit code %d, %v: %s", code, err, errs)
	}
	seen := false
	for _, r := range rows {
		sum := r["queue_ns"].(float64)
		for _, part := range []string{"cpu", "runnable", "lock", "io", "sleep", "carrier", "gc", "other", "idle", "not_known"} {
			sum += r[part+"_ns"].(float64)
		}
		if sum != r["response_ns"].(float64) {
			t.Errorf("%v: the parts are %v", r, sum)
		}
		if r["class"] == "com.acme.Job" {
			seen = true
			if r["lock_ns"].(float64) < 4*ms || r["wall_ns"].(float64) != 31*ms || r["units"].(float64) != 5 {
				t.Errorf("%v", r)
			}
			if of := r["waited_for"].([]any)[0].(map[string]any); of["class"] != "com.acme.Db" || of["waited_ns"].(float64) != 4*ms {
				t.Errorf("%v", of)
			}
		}
	}
	if !seen {
		t.Errorf("no row of com.acme.Job: %s", out)
	}
}

// TestWaitsTable: who ended a wait is named, what is missing is said, and workers without work are a note, not a row.
func TestWaitsTable(t *testing.T) {
	dir := makeWaits(t)
	code, out, errs := shadow(t, nil, "waits", dir)
	for _, want := range []string{"com.acme.Db", "main", "Semaphore (fair)", "4.00 ms"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("exit code %d: no %q in\n%s", code, want, out)
		}
	}
	if strings.Contains(out, "ThreadPoolExecutor") || !strings.Contains(errs, "workers waited for work 1 time, 3.00 ms") || !strings.Contains(errs, "scheduling record not available") {
		t.Errorf("%s\n%s", out, errs)
	}
	if code, out, errs = shadow(t, nil, "waits", dir, "--format", "collapsed"); code != 0 || out != "com.acme.Job.run;com.acme.Db 4000\n" {
		t.Errorf("collapsed: exit code %d\n%s%s", code, out, errs)
	}
	if code, out, errs = shadow(t, nil, "waits", dir, "--by", "thread"); code != 0 || !strings.Contains(out, "pool-1-thread-1#31") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	if code, _, errs = shadow(t, nil, "waits", dir, "--by", "lock"); code != 2 || !strings.Contains(errs, "class, site, unit, thread or wait") {
		t.Errorf("--by lock: exit code %d, %s", code, errs)
	}
	if code, _, errs = shadow(t, nil, "waits", makeSession(t, t.TempDir())); code != 0 || !strings.Contains(errs, "waits not available: ") {
		t.Errorf("a session without waits: exit code %d, %s", code, errs)
	}
}

// TestSingleWaits: the longest wait first, with the tasks of both sides; json and csv have the worker without work, too. What was summed up is said.
func TestSingleWaits(t *testing.T) {
	dir := makeWaits(t)
	code, out, errs := shadow(t, nil, "waits", dir, "--by", "wait", "--format", "json")
	var rows []struct {
		For, Class, Site, Thread string
		TaskID                   *uint64 `json:"task_id"`
		Execution                *int
		WaitedNs                 units.Ns `json:"waited_ns"`
		EndedBy                  *string  `json:"ended_by_thread"`
		EndedByTask              *uint64  `json:"ended_by_task_id"`
		HeldBy                   *string  `json:"held_by_thread"`
		Object                   *uint32
	}
	if err := json.Unmarshal([]byte(out), &rows); code != 0 || err != nil || len(rows) != 2 {
		t.Fatalf("exit code %d, %v: %s\n%s", code, err, errs, out)
	}
	first, last := rows[0], rows[1]
	if first.For != "monitor" || first.Class != "com.acme.Db" || first.Site != "com.acme.Job.run:7" || first.WaitedNs != 4*ms || first.Thread != "pool-1-thread-1#31" || first.TaskID == nil ||
		first.Execution == nil || first.EndedBy == nil || *first.EndedBy != "main#1" || first.EndedByTask != nil || first.HeldBy == nil || *first.HeldBy != "main#1" {
		t.Errorf("%s", out)
	}
	if last.For != "queue" || last.TaskID != nil || last.EndedBy != nil || last.Object != nil {
		t.Errorf("%s", out)
	}
	if !strings.Contains(errs, "5 waits, 100 µs in all, have no row") {
		t.Errorf("%s", errs)
	}
	code, out, errs = shadow(t, nil, "waits", dir, "--by", "wait")
	if code != 0 || strings.Contains(out, "ThreadPoolExecutor") || !strings.Contains(out, fmt.Sprintf("com.acme.Job, task %d", *first.TaskID)) || !strings.Contains(errs, "workers waited for work 1 time, 3.00 ms") {
		t.Errorf("exit code %d\n%s\n%s", code, out, errs)
	}
	if code, out, _ = shadow(t, nil, "waits", dir, "--by", "wait", "--format", "csv", "--top", "1"); code != 0 || strings.Count(out, "\n") != 2 || !strings.HasPrefix(out, "start_ns,waited_ns,") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// TestStatsWaits: a line if threads waited for a tenth of the session or more.
func TestStatsWaits(t *testing.T) {
	dir := makeWaits(t)
	_, out, _ := shadow(t, nil, "stats", dir)
	if strings.Contains(out, "threads waited") {
		t.Errorf("4.1 of 100 ms are not worth a line:\n%s", out)
	}
	_, out, _ = shadow(t, nil, "stats", dir, "--format", "json")
	var s struct {
		Waits struct {
			Waits    int64
			WaitedNs units.Ns `json:"waited_ns"`
		}
	}
	if err := json.Unmarshal([]byte(out), &s); err != nil || s.Waits.Waits != 6 || s.Waits.WaitedNs != 4*ms+100*us {
		t.Errorf("%v: %+v", err, s)
	}
}
