package advice

import (
	"strings"
	"testing"

	"stackagent/internal/units"
)

// TestLeftToOthers: tasks that pile up, stay in a queue or run no more, and finalizers, each at its floor and below.
func TestLeftToOthers(t *testing.T) {
	const s = units.Ns(1_000_000_000)
	t0 := DefaultThresholds
	for _, c := range []struct {
		name  string
		facts Facts
		rule  string // "": none
		says  string
	}{
		{"a backlog of a cleaner", Facts{Units: &UnitFacts{Backlogs: []Backlog{{Class: "app.Free", Thread: "Cleaner-0", Made: 5000, Run: 3000, Most: t0.BacklogTasks, Busy: 0.95}}}},
			"backlog", "Tasks of app.Free pile up: up to 1,000 waited at once, while Cleaner-0 alone runs them. 3,000 of 5,000 made were run"},
		{"a backlog of a thread", Facts{Units: &UnitFacts{Backlogs: []Backlog{{Class: "app.Job", Thread: "loop", Made: 5000, Run: 3000, Most: 2000, Busy: 0.95}}}},
			"backlog", "Let more threads run them"},
		{"a small backlog", Facts{Units: &UnitFacts{Backlogs: []Backlog{{Class: "app.Free", Thread: "Cleaner-0", Most: t0.BacklogTasks - 1}}}}, "", ""},
		{"kept", Facts{Kept: []Kept{{Class: "app.Timeout", Executor: "timers", Tasks: t0.KeptTasks}}}, "kept-cancelled", "timers keeps 1,000 cancelled tasks of app.Timeout."},
		{"kept by a subclass", Facts{Kept: []Kept{{Class: "app.Timeout", Executor: "timers", Tasks: 5000, Subclass: true}}}, "kept-cancelled", "call remove(this) in its cancel()"},
		{"few kept", Facts{Kept: []Kept{{Class: "app.Timeout", Executor: "timers", Tasks: t0.KeptTasks - 1}}}, "", ""},
		{"a period that ended", Facts{Units: &UnitFacts{Ended: []EndedPeriodic{{Class: "app.Refresh", Runs: 15, After: s, Period: s / 20, Missing: 34}}}},
			"ended-periodic", "The periodic task app.Refresh ended after 15 runs: the last one threw an exception. It began 1.00 s after the start of the session."},
		{"a period that ended its Timer", Facts{Units: &UnitFacts{Ended: []EndedPeriodic{{Class: "app.Scan", Runs: 12, After: s, Period: s / 10, Missing: 18, Timer: true, With: []string{"app.Beat"}}}}},
			"ended-periodic", "The periodic task app.Scan ended after 12 runs: the last one threw an exception. It began 1.00 s after the start of the session. That ended the thread of its Timer, and with it the other tasks of this Timer: app.Beat. At its period of 100 ms, about 18 runs are missing to the end."},
		{"a period that the end of the program interrupted", Facts{Units: &UnitFacts{Ended: []EndedPeriodic{{Class: "app.Refresh", Runs: 15, Missing: 1}}}}, "", ""},
		{"a period that ended at the end", Facts{Units: &UnitFacts{Ended: []EndedPeriodic{{Class: "app.Refresh", Runs: 15, Missing: 0}}}}, "", ""},
		{"a buffer for each virtual thread", Facts{Units: &UnitFacts{}, Allocated: locals(90, 100, true)}, "thread-locals",
			"Each app.Encode makes its own values of thread locals: ~1.76 GiB, 90 % of all that was allocated. A thread local has a value for each thread, and each of these threads runs one task: nothing is used a second time. That is ~18.4 KiB a task, made at app.Encode.buffer:12."},
		{"a buffer for each of few threads", Facts{Units: &UnitFacts{}, Allocated: locals(90, 100, false)}, "", ""},
		{"small values of thread locals", Facts{Units: &UnitFacts{}, Allocated: locals(20, 100, true)}, "", ""},
		{"too few samples", Facts{Units: &UnitFacts{}, Allocated: locals(20, 20, true)}, "", ""},
		{"finalizers", Facts{Duration: 10 * s, Units: &UnitFacts{Finalizer: s}}, "finalizers", "the one Finalizer thread computed for 1.00 s, 10 % of the time."},
		{"few finalizers", Facts{Duration: 10 * s, Units: &UnitFacts{Finalizer: s - 1}}, "", ""},
	} {
		var got []Finding
		for _, x := range Find(&c.facts) {
			if x.Kind == Advice {
				got = append(got, x)
			}
		}
		switch {
		case c.rule == "":
			if len(got) != 0 {
				t.Errorf("%s: %s", c.name, got[0].Text)
			}
		case len(got) != 1 || got[0].Rule != c.rule || !strings.Contains(got[0].Text, c.says):
			t.Errorf("%s: %d findings, want %s: %v", c.name, len(got), c.rule, got)
		}
	}
}

// locals has samples of 20 MiB each, of which the first are of thread locals, in 100,000 tasks.
func locals(of, samples int64, oneTaskEach bool) *Allocated {
	const sample = 20 << 20
	a := &Allocated{}
	a.Add("app.Encode", "app.Encode.buffer:12", of, of*sample, true)
	a.Add("app.Encode", "app.Encode.run:30", samples-of, (samples-of)*sample, false)
	a.Sort()
	a.Classes[0].Tasks, a.Classes[0].OneTaskEach = 100_000, oneTaskEach
	return a
}

// TestAllocated: classes with enough samples are named, most first.
func TestAllocated(t *testing.T) {
	a := &Allocated{}
	a.Add("", "app.Main.main:3", 40, 100<<20, false)
	a.Add("app.Parse", "app.Parse.read:9", 60, 200<<20, false)
	a.Add("app.Parse", "app.Parse.text:12", 40, 90<<20, false)
	a.Add("app.Rare", "", leastSamples-1, 10<<20, false)
	a.Sort()
	a.Classes[0].Tasks = 1000
	want := "~400 MiB were allocated: 72 % in app.Parse (~297 KiB each, 69 % of it at app.Parse.read:9) and 25 % outside of tasks (100 % of it at app.Main.main:3)."
	if got := a.sentence(nil); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	rare := &Allocated{}
	rare.Add("app.Rare", "", leastSamples-1, 10<<20, false)
	rare.Add("app.Seldom", "", leastSamples-1, 10<<20, false)
	if got, want := rare.sentence(nil), "~20.0 MiB were allocated. No class has enough samples to say how much of it is its own."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	a.OneTaskAThread(&UnitFacts{Classes: []UnitClass{{Name: "app.Rare", Pool: -1}, {Name: "app.Parse"}, {Name: "app.Other"}}, Pools: []Pool{{Virtual: true}}})
	if !a.Classes[0].OneTaskEach || a.Classes[1].OneTaskEach || a.Classes[2].OneTaskEach {
		t.Errorf("%+v", a.Classes)
	}
}

// TestWhoAsksForCollections: who calls System.gc() is named where it is known, direct buffers apart.
func TestWhoAsksForCollections(t *testing.T) {
	for _, c := range []struct {
		e    Explicit
		says string
	}{
		{Explicit{Count: 3, Paused: true}, "The program, or the JDK for it, asks for collections: 3 pauses were because of System.gc(). A larger heap"},
		{Explicit{Count: 3, Paused: true, Askers: []Asker{{"app.Report.flush:12", 2}, {"app.Main.main:3", 1}}}, "The program asks for collections: 3 pauses were because of System.gc(), called by app.Report.flush:12 (2) and app.Main.main:3 (1)."},
		{Explicit{Count: 3, Paused: true, Buffers: 2, Askers: []Asker{{"app.Main.read:3", 3}}}, "Direct buffers run out of memory, for which the JDK asks for collections: 3 pauses"},
	} {
		if got := c.e.sentence(&Finding{}); !strings.HasPrefix(got, c.says) {
			t.Errorf("%q, want %q", got, c.says)
		}
	}
}
