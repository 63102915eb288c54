package e2e_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// known is what the program granularity measured itself, a class.
type known struct{ count, cpu, wall int64 }

func parseKnown(t *testing.T, stdout string) map[string]known {
	t.Helper()
	sums := map[string]known{}
	for line := range strings.Lines(stdout) {
		var name string
		var k known
		if _, err := fmt.Sscan(line, &name, &k.count, &k.cpu, &k.wall); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		sums[name] = k
	}
	if len(sums) != 4 {
		t.Fatalf("%d classes in %q, want 4", len(sums), stdout)
	}
	return sums
}

// CPU and wall time of tasks that know their own: never less than what the task
// saw itself between its first and last act, and the CPU time hardly more. The
// wall time may be more by what others had of the CPU between two readings; see
// TestTimesPerTask.
func TestWork(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			testjvm.OneGood(t, func(a *testjvm.Attempt) {
				p := testjvm.Example(t, "granularity").Command(t, jdk).Session(t)
				rows := map[string]testjvm.Row{}
				for _, r := range p.Hotspots(t) {
					rows[r.Class] = r
				}
				for class, k := range parseKnown(t, p.Stdout) {
					m := rows[class].Metrics
					near(a, class+" cpu", int64(m["cpu_ns"].Sum), k.cpu, k.count)
					if wall := int64(m["wall_ns"].Sum); wall < atLeast(k.wall) {
						a.Errorf("%s wall: %d ns, the program measured %d ns", class, wall, k.wall)
					}
				}
			})
		})
	}
}

// near compares got with want, the sum over count tasks. The clock that is read
// without a system call drifts by parts in 100,000, hence the thousandth. The rest of
// a task (calls of the probe and the clock; class loading in the first) takes a few µs.
func near(c testjvm.Checker, what string, got, want, count int64) {
	c.Helper()
	low := atLeast(want)
	high := want + want/50 + count*20_000 + 5_000_000
	if got < low || got > high {
		c.Errorf("%s: %d ns, the program measured %d ns (allowed %d to %d)", what, got, want, low, high)
	}
}

// atLeast is what must be measured of tasks that used want between their first
// and last act.
func atLeast(want int64) int64 { return want - want/1000 }

// The nesting in the trace is the program's: an Inner lies in a Middle, that in
// an Outer; self work adds up to the inclusive work of the outermost.
func TestNesting(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			tasks := testjvm.Example(t, "nested").Command(t, jdk).Session(t).Tasks(t)
			checkNesting(t, tasks)
		})
	}
}

func checkNesting(t *testing.T, tasks []map[string]string) {
	t.Helper()
	byID := map[string]map[string]string{}
	for _, row := range tasks {
		byID[row["task_id"]] = row
	}
	outer := map[string]string{"Main$Inner": "Main$Middle", "Main$Middle": "Main$Outer"}
	seen := map[string]int{}
	var self, inclusive int64
	for _, row := range tasks {
		if row["end_ns"] == "" || !strings.HasPrefix(row["class"], "Main$") || strings.HasPrefix(row["class"], "Main$Chain") {
			continue
		}
		if want := outer[row["class"]]; want != "" {
			seen[row["class"]]++
			around := byID[row["outer_task_id"]]
			if around == nil || around["class"] != want {
				t.Fatalf("%s lies in %q, want %s", row["class"], around["class"], want)
			}
			if number(t, row, "start_ns") < number(t, around, "start_ns") || number(t, row, "end_ns") > number(t, around, "end_ns") {
				t.Errorf("task %s is not inside its outer %s", row["task_id"], row["outer_task_id"])
			}
		} else if row["class"] == "Main$Outer" {
			inclusive += number(t, row, "wall_ns")
		}
		self += number(t, row, "self_wall_ns")
	}
	if seen["Main$Inner"] != 66 || seen["Main$Middle"] != 33 {
		t.Errorf("nested rows seen: %v", seen)
	}
	// Ticks are converted one by one: a nanosecond of rounding a row.
	if diff := self - inclusive; diff > 200 || diff < -200 {
		t.Errorf("self wall time adds up to %d, the outermost took %d", self, inclusive)
	}
}

func number(t *testing.T, row map[string]string, column string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(row[column], 10, 64)
	if err != nil {
		t.Fatalf("column %s of %v: %v", column, row, err)
	}
	return n
}

// Self CPU time over all tasks of a thread is no more than the thread's whole.
func TestThreadTotals(t *testing.T) {
	testjvm.Shared(t)
	testjvm.OneGood(t, func(a *testjvm.Attempt) {
		checkTotals(t, a, testjvm.Example(t, "granularity").Command(t, testjvm.JDKs(t)[0]).Session(t))
	})
}

// checkTotals: a reading of the agent's clock may be early by what the machine
// took in the last millisecond, no more.
func checkTotals(t *testing.T, a *testjvm.Attempt, p testjvm.Profile) {
	t.Helper()
	sums := map[string]int64{}
	for _, row := range p.Tasks(t) {
		if row["self_cpu_ns"] != "" {
			sums[row["thread"]] += number(t, row, "self_cpu_ns")
		}
	}
	checked := 0
	for _, th := range p.Threads(t) {
		sum := sums[th.Label]
		if th.CPUNs == nil || sum == 0 {
			continue
		}
		checked++
		if sum > *th.CPUNs+1_000_000 {
			a.Errorf("%s: its tasks used %d ns, the thread only %d", th.Label, sum, *th.CPUNs)
		}
	}
	if checked < 3 {
		t.Errorf("only %d threads with tasks and CPU time, want the 3 of the pool; sums %v", checked, sums)
	}
}
