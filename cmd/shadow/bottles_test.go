package main

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/hpc/sched"
	"stackagent/internal/units"
)

// twoRecorded are sessions of which the second does the same in twice the time.
func twoRecorded(t *testing.T) (string, string) {
	one, two := makeSession(t, filepath.Join(t.TempDir(), "one")), makeSession(t, filepath.Join(t.TempDir(), "two"))
	addRecord(t, one, ms)
	addRecord(t, two, 2*ms)
	return one, two
}

// TestBottles: of several sessions each has its own graph, with its name; heights normalise to the first.
func TestBottles(t *testing.T) {
	one, two := twoRecorded(t)
	code, out, errs := shadow(t, nil, "bottle", one, two, "--normalise", "--format", "json")
	var got []struct {
		Session string
		Counts  string
		BusyNs  int64 `json:"busy_ns"`
		Threads []struct {
			Name    string
			OfFirst float64 `json:"height_of_first"`
		}
	}
	if err := json.Unmarshal([]byte(out), &got); code != 0 || err != nil || len(got) != 2 {
		t.Fatalf("exit %d, %v: %s%s", code, err, out, errs)
	}
	for i, g := range got {
		sum := 0.0
		for _, b := range g.Threads {
			sum += b.OfFirst
		}
		if want := float64(i + 1); math.Abs(sum-want) > 1e-9 || g.BusyNs != int64(45*ms)*int64(i+1) || g.Counts != "running" {
			t.Errorf("graph %d is %g high, busy for %d, %s", i, sum, g.BusyNs, g.Counts)
		}
	}
	if got[0].Session == got[1].Session || !strings.Contains(one, got[0].Session) || !strings.Contains(two, got[1].Session) {
		t.Errorf("named %q and %q", got[0].Session, got[1].Session)
	}
	code, out, _ = shadow(t, nil, "bottle", one, two, "--format", "csv")
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if code != 0 || err != nil || len(rows) != 7 || rows[0][0] != "session" || rows[1][0] != got[0].Session || rows[6][0] != got[1].Session {
		t.Errorf("exit %d, %v: %q", code, err, rows)
	}
	figure := filepath.Join(t.TempDir(), "b.svg")
	if code, _, errs := shadow(t, nil, "bottle", one, two, "--normalise", "-o", figure); code != 0 {
		t.Fatal(errs)
	}
	if svg, err := os.ReadFile(figure); err != nil || !strings.Contains(string(svg), "time, of the first") {
		t.Errorf("%v: the figure does not say what its heights are", err)
	}
	for _, args := range [][]string{{one, two, "--every", "10ms"}, {one, "--normalise"}} {
		if code, out, errs := shadow(t, nil, append([]string{"bottle"}, args...)...); code != console.ExitUsage || out != "" {
			t.Errorf("%v: exit %d: %s", args, code, errs)
		}
	}
}

// TestBottleRunnable: a thread that waits for a CPU counts, where the source sees that it does.
func TestBottleRunnable(t *testing.T) {
	of := func(missing map[string]string) (int, string, string) {
		dir := makeSession(t, t.TempDir())
		const from = units.MonoNs(1_000 * ms)
		r := &sched.Record{Source: "x", PID: 42, From: from, To: from + 30*ms, NotAvailable: missing, Threads: []sched.Thread{
			{TID: 100, Name: "java", First: from, Last: from + 30*ms}, {TID: 101, Name: "pool-1-thread-1", First: from, Last: from + 30*ms},
		}}
		err := sched.Write(dir, r, []sched.Slice{
			{Thread: 0, State: sched.Running, From: from, To: from + 20*ms}, {Thread: 1, State: sched.Runnable, From: from, To: from + 20*ms},
			{Thread: 0, State: sched.Futex, From: from + 20*ms, To: from + 30*ms}, {Thread: 1, State: sched.Running, From: from + 20*ms, To: from + 30*ms},
		})
		if err != nil {
			t.Fatal(err)
		}
		return shadow(t, nil, "bottle", dir, "--runnable", "--format", "json")
	}
	code, out, errs := of(nil)
	var got struct {
		Counts  string
		Threads []struct {
			RunningNs int64 `json:"running_ns"`
			Width     float64
		}
	}
	// Both for 20 ms, the second alone for 10: 20/10 and 30/20 threads at once.
	if err := json.Unmarshal([]byte(out), &got); code != 0 || err != nil || len(got.Threads) != 2 || got.Counts != "running or runnable" ||
		got.Threads[0].Width != 2 || got.Threads[0].RunningNs != int64(20*ms) || got.Threads[1].Width != 1.5 || got.Threads[1].RunningNs != int64(30*ms) {
		t.Errorf("exit %d, %v: %s%s", code, err, out, errs)
	}
	code, out, errs = of(map[string]string{sched.NoRunnable: "no wake-ups here"})
	if code != console.ExitFailure || out != "" || !strings.Contains(errs, "--runnable is not available: no wake-ups here") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}
