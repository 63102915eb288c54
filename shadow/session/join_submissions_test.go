package session

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// submitted is a session of one class in which tasks are submitted in all ways.
func submitted(t *testing.T, summaries ...store.Summary) *Session {
	t.Helper()
	p := &store.Part{
		Range:     store.Range{From: 1, To: 1},
		Classes:   []store.Class{{ID: 1, Name: "a.Job", Kinds: "runnable"}, {ID: 2, Name: "a.Fine", Kinds: "runnable"}},
		Threads:   []store.Thread{{ID: 1, JavaID: 1, OSID: 50, Name: "main", Group: "main"}},
		Executors: []store.Executor{{ID: 4, Class: "x.Pool", Name: "old"}, {ID: 4, Class: "x.Pool", Name: "p"}},
		Sites:     []store.Site{{ID: 9, Class: "a.Main", Method: "go", Line: 3}},
		Summaries: summaries,
	}
	made := func(ids ...uint64) {
		for _, id := range ids {
			p.Creations = append(p.Creations, store.Creation{TaskID: id, Class: 1 + uint32(id/100), Thread: 1, AtNs: units.MonoNs(id)})
		}
	}
	ran := func(id uint64, start, submitted units.MonoNs) {
		p.Executions = append(p.Executions, store.Execution{TaskID: id, Class: 1, Thread: 1, StartNs: start, EndNs: start + 5, WallNs: 5, SelfWallNs: 5,
			CPUNs: units.NotMeasured, SelfCPUNs: units.NotMeasured, SubmittedNs: submitted})
	}
	submitted := func(id uint64, at units.MonoNs, flags wire.SubmissionFlags) {
		p.Submissions = append(p.Submissions, store.Submission{TaskID: id, Class: 1, Thread: 1, Executor: 4, Site: 9, Flags: uint16(flags), AtNs: at})
	}
	made(1, 2, 3, 4, 5, 6, 7, 8, 9, 100, 101)
	p.Creations[0].Site = 9
	// 1: submitted and executed three times; the records come in no order.
	ran(1, 1000, 0)
	ran(1, 3000, 0)
	ran(1, 2000, 0)
	submitted(1, 2900, 0)
	submitted(1, 900, 0)
	submitted(1, 1900, wire.Scheduled)
	submitted(1, 9000, 0) // and once more, but it was not executed again
	// 2: refused by one executor, taken by another.
	submitted(2, 100, 0)
	submitted(2, 110, wire.Rejected)
	submitted(2, 120, wire.Forked)
	ran(2, 130, 0)
	// 3: refused; 4: cancelled; 5: refused twice, then cancelled; 6: not submitted at all.
	submitted(3, 200, 0)
	submitted(3, 200, wire.Rejected)
	submitted(4, 300, 0)
	submitted(4, 310, wire.Cancelled)
	submitted(5, 400, 0)
	submitted(5, 410, wire.Rejected)
	submitted(5, 420, 0)
	submitted(5, 430, wire.Rejected)
	submitted(5, 440, wire.Cancelled)
	// 7: the agent measured from the first of two; 8: from one that was lost.
	submitted(7, 500, 0)
	submitted(7, 600, 0)
	ran(7, 700, 500)
	submitted(8, 500, 0)
	ran(8, 700, 600)
	// 9: runs to the end, not for the first time.
	submitted(9, 700, 0)
	ran(9, 800, 0)
	last := &p.Executions[len(p.Executions)-1]
	last.Flags, last.EndNs, last.WallNs, last.SelfWallNs = uint16(wire.Running), 0, units.NotMeasured, units.NotMeasured
	p.Constructions = []store.Construction{{TaskID: 1, WallNs: 77, CPUNs: 1}, {TaskID: 55, WallNs: 5, CPUNs: 1}}
	s, err := Open(write(t, t.TempDir(), "s", store.Counts{}, p))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A periodic task keeps the submission of its first period: each later one begins where
// the task was queued again, and has a delay and a queue time of its own.
func TestPeriods(t *testing.T) {
	p := &store.Part{Range: store.Range{From: 1, To: 1}, Classes: []store.Class{{ID: 1, Name: "a.Task", Kinds: units.KindRunnable.String()}}}
	p.Creations = []store.Creation{{TaskID: 1, Class: 1, AtNs: 50}}
	p.Submissions = []store.Submission{{TaskID: 1, Class: 1, AtNs: 100, Flags: uint16(wire.Scheduled)}}
	for _, x := range [][3]units.MonoNs{{100, 400, 410}, {500, 800, 830}} { // submitted, due, start
		p.Executions = append(p.Executions, store.Execution{TaskID: 1, Class: 1, SubmittedNs: x[0], DueNs: x[1], StartNs: x[2], EndNs: x[2] + 5,
			WallNs: 5, CPUNs: units.NotMeasured, SelfWallNs: 5, SelfCPUNs: units.NotMeasured})
	}
	s, err := Open(write(t, t.TempDir(), "s", store.Counts{}, p))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := s.Tasks(func(x *Task) error {
		got = append(got, fmt.Sprintf("at %d delay %d queue %d flags %d by %d", x.SubmittedNs, x.DelayNs, x.QueueNs, x.Submission.Flags, x.Submission.AtNs))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"at 100 delay 300 queue 10 flags 4 by 100", "at 500 delay 300 queue 30 flags 4 by 100"}; !slices.Equal(got, want) {
		t.Errorf("periods %q, want %q", got, want)
	}
}

func TestLatestSubmission(t *testing.T) {
	s := submitted(t)
	var got []string
	err := s.Tasks(func(x *Task) error {
		line := fmt.Sprintf("%d/%d %s", x.TaskID, x.Execution, x.State)
		if x.SubmittedNs != 0 {
			line += fmt.Sprintf(" at %d", x.SubmittedNs)
		}
		if x.QueueNs.Measured() {
			line += fmt.Sprintf(" queue %d", x.QueueNs)
		}
		if h := x.Submission; h != nil {
			line += fmt.Sprintf(" to %s by %s from %s flags %d", h.Executor.Name, h.Thread.Name, h.Site.Label(), h.Flags)
		}
		if x.CreatedAt != nil {
			line += " made " + x.CreatedAt.Label()
		}
		if x.InitNs.Measured() {
			line += fmt.Sprintf(" in %d", x.InitNs)
		}
		got = append(got, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	const by = " to p by main from a.Main.go:3 flags "
	want := []string{
		"1/1 executed at 900" + by + "0 made a.Main.go:3 in 77",
		"1/3 executed at 2900" + by + "0 made a.Main.go:3 in 77",
		"1/2 executed at 1900" + by + "4 made a.Main.go:3 in 77", // to run later: when it was due is not known
		"2/1 executed at 120" + by + "16",
		"7/1 executed at 500 queue 200" + by + "0",
		"8/1 executed at 600 queue 100",
		"9/1 running at 700" + by + "0",
		"3/0 rejected", "4/0 cancelled at 300" + by + "0", "5/0 cancelled", "6/0 never submitted", "100/0 never submitted", "101/0 never submitted",
	}
	if !slices.Equal(got, want) {
		t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Created tasks whose first execution may be in a summary are not reported as never
// executed; where the summaries hold no first execution, it is known.
func TestUndecidedTasks(t *testing.T) {
	for _, x := range []struct {
		first     uint64
		never     int
		undecided map[uint32]uint64
	}{{1, 4, map[uint32]uint64{2: 2}}, {0, 6, map[uint32]uint64{}}} {
		s := submitted(t, store.Summary{ID: store.SummaryID(1, 0), Class: 2, Thread: 1, Executions: 5, First: x.first})
		never := 0
		undecided, err := s.EachTask(func(x *Task) error {
			if x.Execution == 0 {
				never++
			}
			return nil
		})
		if err != nil || never != x.never || !maps.Equal(undecided, x.undecided) {
			t.Errorf("%d first executions in summaries: %d never executed, undecided %v, %v; want %d and %v", x.first, never, undecided, err, x.never, x.undecided)
		}
	}
}

// TestFates: what became of tasks that were never executed, where libraries put
// tasks of their own around them. Thread 1 submits one after the other.
func TestFates(t *testing.T) {
	const job, future, adapter = 1, 2, 3
	type row struct {
		id       uint64
		class    uint32
		thread   uint32
		flags    wire.SubmissionFlags
		executed bool
	}
	rows := []row{
		// submit(), cancelled by its future, of which the worker finds nothing left to do; thread 2 is in between.
		{id: 1, class: job, thread: 1}, {id: 50, class: job, thread: 2}, {id: 2, class: future, thread: 1, flags: wire.Inner, executed: true}, {id: 2, class: future, thread: 3, flags: wire.Cancelled},
		// The same, in the queue at the end; and the thread that the pool starts, cancelled by nobody.
		{id: 3, class: job, thread: 1}, {id: 4, class: future, thread: 1, flags: wire.Inner}, {id: 40, class: job, thread: 1, flags: wire.Inner | wire.Started},
		// The future is the program's own, and so is the cancelling.
		{id: 5, class: future, thread: 1, flags: wire.Cancelled},
	}
	classes := []store.Class{{ID: job, Name: "a.Job", Kinds: "runnable"}, {ID: future, Name: "java.util.concurrent.FutureTask", Kinds: "runnable+jdk"},
		{ID: adapter, Name: "java.util.concurrent.Executors$RunnableAdapter", Kinds: "callable+jdk"}}
	open := func(more []row, lost uint64) string {
		p := &store.Part{Range: store.Range{From: 1, To: 1}, Classes: classes, Sites: []store.Site{{ID: 9, Class: "a.Main", Method: "go", Line: 3}}}
		made := map[uint64]bool{}
		add := func(id uint64, class uint32) {
			if !made[id] {
				p.Creations = append(p.Creations, store.Creation{TaskID: id, Class: class, Thread: 1, AtNs: 1})
			}
			made[id] = true
		}
		for i, r := range append(slices.Clone(rows), more...) {
			add(r.id, r.class)
			p.Submissions = append(p.Submissions, store.Submission{TaskID: r.id, Class: r.class, Thread: r.thread, Flags: uint16(r.flags), Site: 9, AtNs: units.MonoNs(i + 2)})
			if r.executed {
				p.Executions = append(p.Executions, store.Execution{TaskID: r.id, Class: r.class, Thread: 3, StartNs: 90, EndNs: 91, WallNs: 1, SelfWallNs: 1, CPUNs: units.NotMeasured, SelfCPUNs: units.NotMeasured})
			}
		}
		add(6, job) // thrown away
		add(7, adapter)
		w, err := store.OpenWriter(t.TempDir(), "s", "s")
		if err != nil {
			t.Fatal(err)
		}
		w.Manifest.Submissions = &store.RecordAccount{Lost: lost}
		if err := w.Commit(p); err != nil {
			t.Fatal(err)
		}
		s, err := Open(w.Dir())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		if err := s.Tasks(func(x *Task) error {
			if x.State != Executed && x.TaskID < 40 {
				got = append(got, fmt.Sprintf("%d %s", x.TaskID, x.State))
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		counts, err := s.Fates()
		if err != nil {
			t.Fatal(err)
		}
		if n := counts[job][Cancelled]; n != 1 {
			t.Errorf("%d tasks of the program cancelled, want 1: %v", n, counts)
		}
		return strings.Join(got, ", ")
	}
	const known = "1 cancelled, 3 never run, 4 never run, 5 cancelled, "
	if got, want := open(nil, 0), known+"6 never submitted, 7 never executed"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	// invokeAll submitted a future that never ran: it may be that task 6 is in it.
	if got, want := open([]row{{id: 8, class: future, thread: 1}}, 0), known+"8 never run, 6 never executed, 7 never executed"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := open(nil, 1), known+"6 never executed, 7 never executed"; got != want {
		t.Errorf("with records lost %s, want %s", got, want)
	}
}
