package scaling

import (
	"slices"
	"strings"
	"testing"

	"stackagent/internal/units"
	"stackagent/shadow/store"
)

// summarise replaces the recorded tasks (class 2) of thread 3 by a summary; to: end of its interval.
func summarise(p *store.Part, lastEnd *int64, to units.MonoNs) {
	p.Executions = slices.DeleteFunc(p.Executions, func(e store.Execution) bool { return e.Thread == 3 && e.Class == 2 })
	p.Summaries = append(p.Summaries, store.Summary{ID: store.SummaryID(1, 0), Class: 2, Thread: 3, FromNs: zero + 50*ms, ToNs: zero + to*ms, Executions: 2000, LastEndNs: lastEnd})
	for _, m := range []string{"wall", "self_wall"} {
		p.Measures = append(p.Measures, store.Measure{Summary: store.SummaryID(1, 0), Metric: m, Count: 2000, SumNs: int64(190 * ms), MinNs: 1, MaxNs: 200_000})
	}
}

// TestSummarised: summarised tasks give the account that the recorded ones give.
func TestSummarised(t *testing.T) {
	recorded := reckon(t, made(t), Options{})
	end := int64(zero + 300*ms)
	summed := reckon(t, madeWith(t, func(p *store.Part) { summarise(p, &end, 550) }), Options{})
	if recorded.Account != summed.Account || len(summed.Notes) != len(recorded.Notes) {
		t.Errorf("recorded %+v\nsummarised %+v, %q", recorded.Account, summed.Account, summed.Notes)
	}
	wantMS(t, "exited", summed.Exited, 200)

	// Half of them recorded by themselves: the later end counts, whichever it is.
	mixed := reckon(t, madeWith(t, func(p *store.Part) {
		summarise(p, &end, 550)
		p.Executions = append(p.Executions, executed(3, 2, 1, 390, 400))
	}), Options{})
	wantMS(t, "exited when the last task is a recorded one", mixed.Exited, 100)
}

// TestEndsNotKnown: without the ends of summarised tasks neither imbalance nor synchronization is a figure.
func TestEndsNotKnown(t *testing.T) {
	old := reckon(t, madeWith(t, func(p *store.Part) { summarise(p, nil, 550) }), Options{})
	if !old.Unseparated || !strings.Contains(strings.Join(old.Notes, "\n"), "imbalance are not available") {
		t.Errorf("%+v %q", old.Account, old.Notes)
	}
	// The region ends between two of the summary's tasks.
	end := int64(zero + 300*ms)
	region := Region{To: 250e6}
	cut := reckon(t, madeWith(t, func(p *store.Part) { summarise(p, &end, 550) }), Options{Region: region})
	if cut.Unseparated || cut.Exited != 0 || !strings.Contains(strings.Join(cut.Notes, "\n"), "imbalance is a lower bound") {
		t.Errorf("%+v %q", cut.Account, cut.Notes)
	}
}

// TestShiftsOfSummaries: main's summarised tasks are a shift as long as they took together, up to the last end.
func TestShiftsOfSummaries(t *testing.T) {
	end := int64(zero + 580*ms)
	r := reckon(t, madeWith(t, func(p *store.Part) {
		p.Summaries = append(p.Summaries, store.Summary{ID: store.SummaryID(1, 0), Class: 2, Thread: 1, FromNs: zero, ToNs: zero + 600*ms, Executions: 700, LastEndNs: &end})
		p.Measures = append(p.Measures, store.Measure{Summary: store.SummaryID(1, 0), Metric: "self_wall", Count: 700, SumNs: int64(70 * ms), MinNs: 1, MaxNs: 200_000})
	}), Options{})
	wantMS(t, "sequential", r.Sequential, 100+(510-501)+(600-580))
	if r.Workers != 3 {
		t.Errorf("%d application threads, want 3: main has a share of the work", r.Workers)
	}
}

// TestDriverThread: a thread that only submits to the pool is no application thread, and is
// sequential while it runs alone.
func TestDriverThread(t *testing.T) {
	boss := func(p *store.Part) {
		p.Threads[1].Name = "boss"
		p.Executions = slices.DeleteFunc(p.Executions, func(e store.Execution) bool { return e.Thread == 2 })
		p.Submissions = []store.Submission{{TaskID: 7, Class: 2, Thread: 2, AtNs: zero + 100*ms}}
	}
	r := reckon(t, madeWith(t, boss), Options{})
	// boss runs from 100 to 501; pool-1-thread-2 until 300, with a pause from 150 to 170; main before and after.
	wantMS(t, "sequential", r.Sequential, 100+201+99)
	if r.Workers != 1 || r.N != 1 {
		t.Errorf("%d application threads", r.Workers)
	}
	// If the user names the pool, its driver is the same; if the user names the driver, too, it is a worker.
	wantMS(t, "sequential beside the named pool", reckon(t, madeWith(t, boss), Options{Workers: "pool-*"}).Sequential, 100+201+99)
	if all := reckon(t, madeWith(t, boss), Options{Workers: "[pb]o*"}); all.Workers != 2 || all.Sequential != units.Ns(199*ms) {
		t.Errorf("%d application threads are named, sequential %d", all.Workers, all.Sequential)
	}
}

// TestDriverBody: what a driver was started for is none of the workers' tasks, even if it is of their class, as with a
// wrapper around every Runnable. It is the same where only a summary says that the thread submitted.
func TestDriverBody(t *testing.T) {
	submits := map[string]func(p *store.Part){
		"recorded": func(p *store.Part) {
			p.Submissions = []store.Submission{{TaskID: 7, Class: 2, Thread: 2, AtNs: zero + 100*ms}}
		},
		"summarised": func(p *store.Part) {
			p.Summaries = append(p.Summaries, store.Summary{ID: store.SummaryID(1, 0), Class: 2, Thread: 2, FromNs: zero + 100*ms, ToNs: zero + 500*ms, Submissions: 1})
		},
	}
	for name, submit := range submits {
		r := reckon(t, madeWith(t, func(p *store.Part) {
			p.Threads[1].Name = "boss"
			p.Classes = append(p.Classes, store.Class{ID: 5, Name: "java.lang.Thread", Kinds: "thread+runnable+jdk"})
			p.Executions = slices.DeleteFunc(p.Executions, func(e store.Execution) bool { return e.Thread == 2 })
			// Within its body, it does one of the tasks from 450 to 460.
			p.Executions = append(p.Executions, executed(2, 2, 2, 450, 460), executed(2, 2, 1, 100, 500), executed(2, 5, 0, 100, 501))
			submit(p)
		}), Options{})
		wantMS(t, "sequential, submissions "+name, r.Sequential, 100+201-10+99)
		if r.Workers != 1 || r.N != 1 {
			t.Errorf("submissions %s: %d application threads, N %d", name, r.Workers, r.N)
		}
	}
}
