package e2e_test

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stackagent/hpc/sched"
	"stackagent/internal/testjvm"
	"stackagent/shadow/session"
)

// byRecord are the kinds of waits that only the scheduling record knows who ended. A virtual thread has none; it is joined through a latch.
var byRecord = map[string]bool{"Join": true, "Monitor": true, "Notify": true}

// TestWakers: shadow waits --by wait names the task that waited, the one that ended the wait, and the one that held the lock. Their
// threads run other tasks at once.
func TestWakers(t *testing.T) {
	testjvm.Shared(t)
	eachKindOfThread(t, func(t *testing.T, jdk testjvm.JDK, kind string) {
		c := waitsCommand(t, jdk, "Wakers", "2", kind)
		c.Agent = []string{"--switches", "auto"}
		testjvm.OneGood(t, func(a *testjvm.Attempt) {
			p := c.Session(t)
			if p.Exit != 0 {
				t.Fatalf("exit code %d\n%s", p.Exit, p.Stderr)
			}
			checkWakers(t, a, p, kind == "virtual")
		})
	})
}

func checkWakers(t *testing.T, a *testjvm.Attempt, p testjvm.Profile, virtual bool) {
	t.Helper()
	tasks, waits := p.Tasks(t), p.CSV(t, "waits", p.Dir, "--by", "wait")
	waiters, enders, forked := idsOf(t, tasks, "Wakers$Waiter"), idsOf(t, tasks, "Wakers$Ender"), idsOf(t, tasks, "Wakers$Forked")
	kinds := strings.Fields(p.Stdout)
	if len(kinds) != 2*12 || len(waiters) != len(kinds) || len(enders) != len(kinds) || len(forked) != 2 {
		t.Fatalf("%d kinds of waits, %d waiters, %d enders, %d forked", len(kinds), len(waiters), len(enders), len(forked))
	}
	recorded := hasWakers(t, p.Dir)
	for i, kind := range kinds {
		ended := enders[i]
		switch {
		case kind == "Fork":
			ended, forked = forked[0], forked[1:]
		case byRecord[kind] && (virtual && kind != "Join" || !virtual && !recorded):
			ended = ""
		}
		held := ""
		if kind == "Lock" || kind == "Monitor" {
			held = ended
		}
		found := slices.DeleteFunc(slices.Clone(waits), func(w map[string]string) bool { return w["task_id"] != waiters[i] || !isAwaited(w, kind) })
		if len(found) == 0 {
			t.Errorf("%s, task %s: no wait", kind, waiters[i])
			continue
		}
		w := lastOf(t, found)
		for _, before := range found { // unparked for something else at the moment in which it parked: it parks again
			if before["start_ns"] != w["start_ns"] && (before["ended_by_task_id"] != "" || before["kind"] != "park") {
				t.Errorf("%s, task %s: an earlier wait: %v", kind, waiters[i], before)
			}
		}
		if (kind == "Monitor" || kind == "Notify") && ended != "" && w["ended_by_task_id"] != ended {
			// The record may have the moment too late, and an older JVM looks at a monitor from time to time and may find it free.
			a.Errorf("%s, task %s: ended by task %q on %q, want %q", kind, waiters[i], w["ended_by_task_id"], w["ended_by_thread"], ended)
			continue
		}
		if w["ended_by_task_id"] != ended || w["held_by_task_id"] != held || (w["ended_by_thread"] == "") != (ended == "") {
			t.Errorf("%s, task %s: ended by task %q on %q, want %q; held by %q, want %q", kind, waiters[i], w["ended_by_task_id"], w["ended_by_thread"], ended, w["held_by_task_id"], held)
		}
		if w["execution"] != "1" || w["task"] != "Wakers$Waiter" || ended != "" && (w["ended_by_execution"] != "1" || w["ended_by_task"] != nameOfEnder(kind)) {
			t.Errorf("%s: %v", kind, w)
		}
		if w["timed_out"] != "false" || w["open"] != "false" {
			t.Errorf("%s: %v", kind, w)
		}
	}
}

func nameOfEnder(kind string) string {
	if kind == "Fork" {
		return "Wakers$Forked"
	}
	return "Wakers$Ender"
}

// isAwaited: the wait is the one of the case, not one for a class to be loaded.
func isAwaited(w map[string]string, kind string) bool {
	if kind == "Fork" {
		kind = "Result" // whose method it inherits
	}
	return strings.HasPrefix(w["site"], fmt.Sprintf("Wakers$%s.await:", kind)) && w["kind"] != "sleep" && w["class"] != "int[], or a class being initialized"
}

// lastOf is the wait that began last.
func lastOf(t *testing.T, waits []map[string]string) map[string]string {
	t.Helper()
	return slices.MaxFunc(waits, func(x, y map[string]string) int {
		return cmp.Compare(numberIn(t, x, "start_ns"), numberIn(t, y, "start_ns"))
	})
}

func numberIn(t *testing.T, row map[string]string, column string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(row[column], 10, 64)
	if err != nil {
		t.Fatalf("%v: %v", row, err)
	}
	return n
}

// idsOf are the ids of the tasks of a class in the order in which they were created.
func idsOf(t *testing.T, tasks []map[string]string, class string) []string {
	t.Helper()
	var found []map[string]string
	for _, row := range tasks {
		if row["class"] == class {
			found = append(found, row)
		}
	}
	slices.SortFunc(found, func(x, y map[string]string) int {
		return cmp.Compare(numberIn(t, x, "created_ns"), numberIn(t, y, "created_ns"))
	})
	var ids []string
	for _, row := range found {
		ids = append(ids, row["task_id"])
	}
	return ids
}

// hasWakers reports whether the scheduling record says who ended waits.
func hasWakers(t *testing.T, dir string) bool {
	t.Helper()
	s, err := session.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	record, err := s.Activity()
	return err == nil && record.NotAvailable[sched.NoWakers] == ""
}
