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

// handedOver is a session of one class in which tasks are handed over in all ways.
func handedOver(t *testing.T, summaries ...store.Summary) *Session {
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
	handed := func(id uint64, at units.MonoNs, flags wire.SubmissionFlags) {
		p.Submissions = append(p.Submissions, store.Submission{TaskID: id, Class: 1, Thread: 1, Executor: 4, Site: 9, Flags: uint16(flags), AtNs: at})
	}
	made(1, 2, 3, 4, 5, 6, 7, 8, 100, 101)
	p.Creations[0].Site = 9
	// 1: handed over and executed three times; the records come in no order.
	ran(1, 1000, 0)
	ran(1, 3000, 0)
	ran(1, 2000, 0)
	handed(1, 2900, 0)
	handed(1, 900, 0)
	handed(1, 1900, wire.Scheduled)
	handed(1, 9000, 0) // and once more, but it was not executed again
	// 2: refused by one executor, taken by another.
	handed(2, 100, 0)
	handed(2, 110, wire.Rejected)
	handed(2, 120, wire.Forked)
	ran(2, 130, 0)
	// 3: refused; 4: cancelled; 5: refused twice, then cancelled; 6: not handed over at all.
	handed(3, 200, 0)
	handed(3, 200, wire.Rejected)
	handed(4, 300, 0)
	handed(4, 310, wire.Cancelled)
	handed(5, 400, 0)
	handed(5, 410, wire.Rejected)
	handed(5, 420, 0)
	handed(5, 430, wire.Rejected)
	handed(5, 440, wire.Cancelled)
	// 7: the agent measured from the first of two; 8: from one that was lost.
	handed(7, 500, 0)
	handed(7, 600, 0)
	ran(7, 700, 500)
	handed(8, 500, 0)
	ran(8, 700, 600)
	p.Constructions = []store.Construction{{TaskID: 1, WallNs: 77, CPUNs: 1}, {TaskID: 55, WallNs: 5, CPUNs: 1}}
	s, err := Open(write(t, t.TempDir(), "s", store.Counts{}, p))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLatestSubmission(t *testing.T) {
	s := handedOver(t)
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
		"1/1 executed at 900 queue 100" + by + "0 made a.Main.go:3 in 77",
		"1/3 executed at 2900 queue 100" + by + "0 made a.Main.go:3 in 77",
		"1/2 executed at 1900 queue 100" + by + "4 made a.Main.go:3 in 77",
		"2/1 executed at 120 queue 10" + by + "16",
		"7/1 executed at 500 queue 200" + by + "0",
		"8/1 executed at 600 queue 100",
		"3/0 rejected", "4/0 cancelled at 300" + by + "0", "5/0 cancelled", "6/0 never executed", "100/0 never executed", "101/0 never executed",
	}
	if !slices.Equal(got, want) {
		t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Created tasks whose first execution may be in a summary are not told as never
// executed; where the summaries hold no first execution, it is known.
func TestUndecidedTasks(t *testing.T) {
	for _, x := range []struct {
		first     uint64
		never     int
		undecided map[uint32]uint64
	}{{1, 4, map[uint32]uint64{2: 2}}, {0, 6, map[uint32]uint64{}}} {
		s := handedOver(t, store.Summary{ID: store.SummaryID(1, 0), Class: 2, Thread: 1, Executions: 5, First: x.first})
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
