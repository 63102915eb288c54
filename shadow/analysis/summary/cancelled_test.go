package summary_test

import (
	"testing"

	"stackagent/internal/wire"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/store"
)

// A future that was cancelled before a worker took it is executed for nothing: no unit of work. One that was cancelled while
// its task ran is, and one without a recorded task that nobody cancelled.
func TestCancelledFutures(t *testing.T) {
	b := newSessionBuilder(t, []string{"", "java.util.concurrent.FutureTask", "com.acme.Job"})
	for i, cancelled := range []bool{true, false, true, true} {
		future, ran := uint64(10+i), i == 2
		if ran {
			b.exec(20, future, 2, 2, 5, 5, -1)
			b.now--
		}
		b.exec(future, 0, 1, 2, 8, 8, 3, 1)
		b.now += 8
		if cancelled {
			b.part.Submissions = append(b.part.Submissions, store.Submission{TaskID: future, Class: 1, Thread: 1, Flags: uint16(wire.Cancelled),
				AtNs: b.part.Executions[len(b.part.Executions)-1].StartNs - 1})
		}
	}
	sum, err := summary.Build(b.open(true), summary.Options{Units: true})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	for _, h := range sum.Rows {
		got[h.Class] = h.Executions
	}
	if len(got) != 2 || got["com.acme.Job"] != 1 || got["com.acme.Main.run (line 7)"] != 1 {
		t.Errorf("units %v, want one of the task that ran and one of the future that was not cancelled", got)
	}
}
