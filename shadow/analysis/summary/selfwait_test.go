package summary_test

import (
	"slices"
	"strings"
	"testing"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/store"
)

// selfWaiting is a session of two workers. In each of five rounds one hands a task
// over to its own pool, by the executor given, and waits for it until 80 ms after
// it began; the other one comes to it after 60 ms.
func selfWaiting(t *testing.T, change func(*store.Submission, *store.Execution)) *sessionBuilder {
	b := newSessionBuilder(t, []string{"", "com.acme.Outer", "com.acme.Busy", "com.acme.Inner"})
	for round := range uint64(5) {
		t0, outer, inner := int64(10+100*round), 100+round, 200+round
		b.now = t0 - 1
		b.exec(outer, 0, 1, 2, 80, 80, 1)
		b.part.Executions[len(b.part.Executions)-1].CPUNs = 0
		b.now = t0 - 1
		b.exec(300+round, 0, 2, 3, 60, 60, 1)
		b.now = t0 + 59
		b.exec(inner, 0, 3, 3, 10, 10, 59) // submitted 1 ms after outer began
		s := &b.part.Submissions[len(b.part.Submissions)-1]
		s.OuterTaskID, s.Thread = outer, 2
		change(s, &b.part.Executions[len(b.part.Executions)-1])
	}
	return b
}

func selfWaitText(t *testing.T, b *sessionBuilder) string {
	t.Helper()
	sum, err := summary.Build(b.open(true), summary.Options{})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(sum.Findings, func(f advice.Finding) bool { return f.Rule == "self-wait" })
	if i < 0 {
		return ""
	}
	return sum.Findings[i].Text()
}

// TestSelfWait: what a task waits for in its own pool's queue, worked out by hand.
func TestSelfWait(t *testing.T) {
	got := selfWaitText(t, selfWaiting(t, func(*store.Submission, *store.Execution) {}))
	const want = "Workers of t (Pool) wait for tasks in its own queue: 5 units, mostly of com.acme.Outer, submitted 5 tasks to it and waited for 295 ms in total while these were queued for one of its 2 workers."
	if !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for name, change := range map[string]func(*store.Submission, *store.Execution){
		"submitted by another thread":      func(s *store.Submission, _ *store.Execution) { s.Thread = 1 },
		"submitted outside of tasks":       func(s *store.Submission, _ *store.Execution) { s.OuterTaskID = 0 },
		"by a library's submission":        func(s *store.Submission, _ *store.Execution) { s.Flags = uint16(wire.Inner) },
		"for later":                        func(s *store.Submission, _ *store.Execution) { s.Flags = uint16(wire.Scheduled) },
		"ends later, so nobody waited":     func(_ *store.Submission, e *store.Execution) { e.EndNs += 15 * ms; e.WallNs += 15 * ms },
		"run by the one that waits":        func(_ *store.Submission, e *store.Execution) { e.Thread = 2 },
		"another pool, with other threads": func(s *store.Submission, e *store.Execution) { s.Executor, e.Thread = 2, 4 },
	} {
		if got := selfWaitText(t, selfWaiting(t, change)); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestSelfWaitDeadlock: both workers wait for what nobody can begin.
func TestSelfWaitDeadlock(t *testing.T) {
	b := newSessionBuilder(t, []string{"", "com.acme.Outer", "com.acme.Inner"})
	for i := range uint32(2) {
		outer, inner := uint64(100+i), uint64(200+i)
		b.now = 99
		b.exec(outer, 0, 1, 2+i, 0, 0, 1)
		e := &b.part.Executions[len(b.part.Executions)-1]
		e.EndNs, e.Flags = 0, uint16(wire.Running)
		e.WallNs, e.CPUNs, e.SelfWallNs, e.SelfCPUNs = units.NotMeasured, units.NotMeasured, units.NotMeasured, units.NotMeasured
		b.part.Submissions = append(b.part.Submissions, store.Submission{TaskID: inner, OuterTaskID: outer, Class: 2, Thread: 2 + i, Executor: 1, AtNs: 200 * ms})
	}
	got := selfWaitText(t, b)
	for _, want := range []string{"2 units, mostly of com.acme.Outer, submitted 2 tasks to it and waited for 1.60 s in total", "2 tasks had not begun at the end"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q, want %q in it", got, want)
		}
	}
}
