package e2e_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// delayed is what examples/delays prints: how late each execution of a class was, in ns. The
// program reads it right after the task began, so a queue time is hardly larger; a task that
// loses its CPU between the two is later by its own account.
func delayed(t *testing.T, p testjvm.Profile) map[string][]int64 {
	t.Helper()
	late := map[string][]int64{}
	for line := range strings.Lines(p.Stdout) {
		f := strings.Fields(line)
		if len(f) < 3 || f[0] != "late" {
			continue
		}
		for _, x := range f[2:] {
			n, err := strconv.ParseInt(x, 10, 64)
			if err != nil {
				t.Fatalf("line %q", line)
			}
			late["Main$"+f[1]] = append(late["Main$"+f[1]], n)
		}
	}
	if len(late) < 7 {
		t.Fatalf("the program printed %v", late)
	}
	return late
}

const (
	askedNs  = 40_000_000 // the delay of examples/delays
	dueNs    = 1_100_000  // a Timer's due times and its tasks' own readings are whole milliseconds
	nearNs   = 3_000_000
	periodNs = 25_000_000 // between two executions of its periodic tasks
)

// TestDelays: queue time begins when a scheduled task is due; the delay is not part of it.
func TestDelays(t *testing.T) {
	testjvm.Shared(t)
	for _, v := range variants(t, 0, "all", "auto", "summary") {
		t.Run(v.String(), func(t *testing.T) {
			cmd := testjvm.Example(t, "delays").Command(t, v.jdk)
			cmd.Agent = []string{"--detail", v.detail}
			p := cmd.Session(t)
			checkLateness(t, p, delayed(t, p))
			checkAskedDelays(t, v.detail, p.Hotspots(t), delayed(t, p))
			checkAskedDelays(t, v.detail+" in units", p.Units(t), delayed(t, p))
			if v.detail != "summary" {
				checkDelays(t, p, delayed(t, p))
			}
		})
	}
}

// checkLateness compares the distributions of queue times with what the program says.
func checkLateness(t *testing.T, p testjvm.Profile, late map[string][]int64) {
	t.Helper()
	seen := 0
	for _, r := range p.Hotspots(t) {
		own, queue := late[r.Class], r.Metrics["queue_ns"]
		if own == nil {
			continue
		}
		seen++
		// A periodic task may run once more before it is cancelled.
		if n := int64(len(own)); queue.Count != r.Executions || queue.Count < n || queue.Count > n+1 {
			t.Errorf("%s: %d queue times of %d executions, the program counts %d", r.Class, queue.Count, r.Executions, n)
		}
		slices.Sort(own)
		if median := own[(len(own)-1)/2]; queue.P50 > 1.016*float64(own[len(own)/2])+dueNs {
			t.Errorf("%s: median queue time %.0f ns, the program's %d", r.Class, queue.P50, median)
		}
	}
	if seen != len(late) {
		t.Errorf("%d classes of %d", seen, len(late))
	}
}

// checkAskedDelays compares the distributions of delays with what the program asks for, however its tasks are recorded: first
// executions are asked for DELAY ahead, those after a gap PERIOD after the one before, those at a rate PERIOD apart.
func checkAskedDelays(t *testing.T, how string, rows []testjvm.Row, late map[string][]int64) {
	t.Helper()
	seen := 0
	for _, r := range rows {
		if late[r.Class] == nil {
			continue
		}
		seen++
		d := r.Metrics["delay_ns"]
		if d.Count != r.Executions {
			t.Errorf("%s: %d delays of %d executions of %s", how, d.Count, r.Executions, r.Class)
		}
		if d.Max < askedNs-dueNs || d.Max > 2*askedNs {
			t.Errorf("%s: the longest delay of %s is %v ns, asked for %d", how, r.Class, d.Max, askedNs)
		}
		least, most := 0.0, 1.01*periodNs+dueNs
		switch {
		case len(late[r.Class]) == 1 || strings.HasSuffix(r.Class, "Crowd"):
			least, most = 0.99*askedNs-dueNs, 2*askedNs
		case strings.HasSuffix(r.Class, "Gap"):
			least = 0.99*periodNs - dueNs
		}
		if d.P50 < least || d.P50 > most {
			t.Errorf("%s: the median delay of %s is %.0f ns, want %.0f to %.0f", how, r.Class, d.P50, least, most)
		}
	}
	if seen != len(late) {
		t.Errorf("%s: delays of %d classes of %d", how, seen, len(late))
	}
}

// checkDelays compares each execution.
func checkDelays(t *testing.T, p testjvm.Profile, late map[string][]int64) {
	t.Helper()
	ran := map[string]int{}
	all, near := 0, 0
	for _, row := range p.Tasks(t) {
		own, i := late[row["class"]], ran[row["class"]]
		if ran[row["class"]]++; i >= len(own) {
			continue
		}
		at := func(column string) int64 {
			n, err := strconv.ParseInt(row[column], 10, 64)
			if err != nil {
				t.Fatalf("%s of %v: %v", column, row, err)
			}
			return n
		}
		queue, delay := at("queue_ns"), at("delay_ns")
		if queue > own[i]+dueNs {
			t.Errorf("execution %d of %s waited %d ns, by its own account %d", i, row["class"], queue, own[i])
		}
		if at("submitted_ns")+delay+queue != at("start_ns") {
			t.Errorf("start %d is not submission %d + delay %d + queue time %d", at("start_ns"), at("submitted_ns"), delay, queue)
		}
		if row["execution"] == "1" && (delay < askedNs-dueNs || delay > 2*askedNs) {
			t.Errorf("first execution of %s: delay %d ns, asked for %d", row["class"], delay, askedNs)
		}
		if row["executor_class"] == "" || row["submitted_at"] == "" {
			t.Errorf("execution %d of %s has no submission: %v", i, row["class"], row)
		}
		if all++; own[i]-queue < nearNs {
			near++
		}
	}
	if all < 30 || 4*near < 3*all {
		t.Errorf("%d of %d queue times are near what the program says", near, all)
	}
}
