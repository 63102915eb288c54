package summary_test

import (
	"testing"

	"stackagent/internal/units"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/store"
)

// TestWaitingWithoutRecord: two workers with eight units of 50 ms each, of which 1 ms
// computes. Without a scheduling record they wait for something else than a
// processor only where the kernel's account of both threads says so.
func TestWaitingWithoutRecord(t *testing.T) {
	account := func(b *sessionBuilder, id int32, cpu, run int64) {
		b.part.OSThreads = append(b.part.OSThreads, store.OSThread{OSID: id, Name: "t", CPUNs: new(cpu * ms), RunNs: new(run * ms)})
	}
	ended := func(b *sessionBuilder, cpu int64) {
		for i := range b.part.Threads[1:3] {
			b.part.Threads[1+i].EndNs, b.part.Threads[1+i].CPUNs = new(int64(600*ms)), new(cpu*ms)
		}
	}
	for name, c := range map[string]struct {
		change func(*sessionBuilder)
		found  bool
	}{
		"no account":             {func(*sessionBuilder) {}, false},
		"waited":                 {func(b *sessionBuilder) { account(b, 202, 10, 5); account(b, 203, 10, 5) }, true},
		"wanted a processor":     {func(b *sessionBuilder) { account(b, 202, 10, 200); account(b, 203, 10, 200) }, false},
		"of one of them":         {func(b *sessionBuilder) { account(b, 202, 10, 5) }, false},
		"ended, and seen":        {func(b *sessionBuilder) { account(b, 202, 10, 5); account(b, 203, 10, 5); ended(b, 10) }, true},
		"ended, and seen before": {func(b *sessionBuilder) { account(b, 202, 9, 5); account(b, 203, 9, 5); ended(b, 10) }, false},
		"ran before": {func(b *sessionBuilder) {
			account(b, 202, 10, 5)
			account(b, 203, 10, 5)
			b.part.Threads[1].StartNs = nil
		}, false},
		"broke off": {func(b *sessionBuilder) {
			account(b, 202, 10, 5)
			account(b, 203, 10, 5)
			b.ended = store.EndedLostContact
		}, false},
		"thread used again": {func(b *sessionBuilder) { account(b, 202, 10, 5); account(b, 203, 10, 5); b.part.Threads[3].OSID = 202 }, false},
	} {
		b := newSessionBuilder(t, []string{"", "com.acme.Job"})
		b.part.Threads[1].OSID, b.part.Threads[2].OSID = 202, 203
		b.part.Threads[1].StartNs, b.part.Threads[2].StartNs = new(int64(50*ms)), new(int64(50*ms))
		for i := range int64(16) {
			start, task := (100+50*(i/2))*ms, uint64(100+i)
			b.part.Executions = append(b.part.Executions, store.Execution{
				TaskID: task, Class: 1, Thread: uint32(2 + i%2), SubmittedNs: 100 * ms, StartNs: units.MonoNs(start), EndNs: units.MonoNs(start + 50*ms),
				WallNs: 50 * ms, SelfWallNs: 50 * ms, CPUNs: ms, SelfCPUNs: ms,
			})
			b.part.Submissions = append(b.part.Submissions, store.Submission{TaskID: task, Class: 1, Thread: 1, Executor: 1, AtNs: 100 * ms})
		}
		c.change(b)
		sum, err := summary.Build(b.open(true), summary.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, f := range sum.Findings {
			if f.Kind == advice.Advice {
				found = append(found, f.Rule)
			}
		}
		if c.found && (len(found) != 1 || found[0] != "waiting-tasks") || !c.found && len(found) != 0 {
			t.Errorf("%s: %v", name, found)
		}
	}
}
