package advice

import (
	"slices"
	"strings"
	"testing"

	"stackagent/granularity"
	"stackagent/granularity/gc"
	"stackagent/internal/units"
)

// TestStandstillText: what safepoints stopped is said where it is more than the pauses, and with a remedy where it is
// much; also of a program without any collection.
// Of the profiler's own stops it says how long they were, and names no remedy for them.
func TestStandstillText(t *testing.T) {
	for _, c := range []struct {
		pauses            int64
		paused, stop, own units.Ns
		want, not         string
	}{
		{0, 0, 500e6, 0, "stood still for 500 ms in all", "these pauses"},
		{0, 0, 500e6, 0, "-Xlog:safepoint", "these pauses"},
		{0, 0, 1e6, 0, "No garbage collection stopped the program.", "stood still"},
		{2, 10e6, 500e6, 0, "-Xlog:safepoint", "other reasons"},
		{2, 10e6, 30e6, 0, "stood still for 30.0 ms", "-Xlog"},
		{2, 10e6, 10e6, 0, "2 times", "stood still"},
		{2, 10e6, 500e6, 485e6, "At most 485 ms of it was the profiler's own: it changed classes.", "-Xlog"},
		{2, 10e6, 500e6, 20e6, "was the profiler's own: it changed classes. -Xlog:safepoint", "other reasons"},
		{0, 0, 500e6, 490e6, "No garbage collection stopped the program.", "stood still"},
	} {
		f := &Facts{Duration: 1e9, Executions: 4, GC: granularity.PauseStats{Count: c.pauses, Total: c.paused, Max: c.paused},
			Standstill: &gc.Standstill{Safepoints: 9, TotalNs: c.stop, AtNs: c.stop}, ProfilerNs: c.own}
		text := ""
		for _, x := range Find(f) {
			if x.Rule == "gc" {
				text = x.Text
			}
		}
		if !strings.Contains(text, c.want) || strings.Contains(text, c.not) {
			t.Errorf("%d pauses of %v, %v stopped: %q, want %q and not %q", c.pauses, c.paused, c.stop, text, c.want, c.not)
		}
	}
}

// TestCollections: what collections cost is the standstill for them. A larger heap is the remedy for those that ran because
// of the heap, no call of System.gc() for those that the program asked for.
func TestCollections(t *testing.T) {
	const second = 1000 * milli
	for _, c := range []struct {
		name string
		of   Collections
		want string
		gain []units.Ns
		says string
	}{
		{"because of the heap", Collections{Stopped: 200 * milli, Around: true, Other: 9, OtherTime: 200 * milli}, "garbage-collection", []units.Ns{200 * milli}, "20 % of the time with reaching its safepoints. Try"},
		{"short pauses, long to reach", Collections{Stopped: 60 * milli, Around: true, Other: 9, OtherTime: 10 * milli}, "garbage-collection", []units.Ns{60 * milli}, ""},
		{"safepoints reached late", Collections{Stopped: 200 * milli, Around: true, Reached: 150 * milli, Other: 9, OtherTime: 200 * milli}, "garbage-collection", []units.Ns{200 * milli}, "for 150 ms a thread had not stopped yet, and the others waited for it. Which thread is not known: no sample of a busy one shows it. Look for what runs long without a safepoint poll"},
		{"asked for by the program", Collections{Stopped: 200 * milli, Explicit: 9, ExplicitTime: 190 * milli}, "explicit-collections", []units.Ns{200 * milli}, "9 collections ran because of System.gc(). A larger heap does not"},
		{"asked for, and others not seen", Collections{Stopped: 200 * milli, Explicit: 3, ExplicitTime: 60 * milli, Unseen: 6}, "explicit-collections", []units.Ns{200 * milli}, "(why 6 others ran is not known)"},
		{"asked for by an operator", Collections{Stopped: 200 * milli, Asked: 9, AskedTime: 190 * milli}, "", nil, ""},
		{"some asked for", Collections{Stopped: 200 * milli, Explicit: 2, ExplicitTime: 20 * milli, Other: 9, OtherTime: 180 * milli}, "garbage-collection", []units.Ns{180 * milli}, "20.0 ms of it were collections that someone asked for"},
		{"both", Collections{Stopped: 200 * milli, Explicit: 2, ExplicitTime: 80 * milli, Other: 9, OtherTime: 120 * milli}, "garbage-collection explicit-collections", []units.Ns{120 * milli, 80 * milli}, ""},
		{"causes not known", Collections{Stopped: 200 * milli, Unseen: 9}, "garbage-collection", []units.Ns{200 * milli}, "causes of most collections are not known"},
		{"too little", Collections{Stopped: 40 * milli, Explicit: 9, ExplicitTime: 40 * milli}, "", nil, ""},
	} {
		f := &Facts{Duration: second, GC: granularity.PauseStats{Count: 9, Total: 10 * milli}, Units: &UnitFacts{Duration: second, Collections: &c.of}}
		found := slices.DeleteFunc(Find(f), func(x Finding) bool { return x.Kind != Advice })
		if names(found) != c.want {
			t.Errorf("%s: %q, want %q", c.name, names(found), c.want)
			continue
		}
		for i, x := range found {
			if x.Worth != c.gain[i] || i == 0 && !strings.Contains(x.Text, c.says) {
				t.Errorf("%s: worth %v, want %v: %s", c.name, x.Worth, c.gain[i], x.Text)
			}
		}
	}
}

// TestCollectionsAmongOthers: beside many other programs a few collections are no finding, as their share of the little time that is
// left could be chance.
func TestCollectionsAmongOthers(t *testing.T) {
	f := &Facts{Duration: 3200 * milli, Units: &UnitFacts{Collections: &Collections{Stopped: 109 * milli, Other: 2, OtherTime: 109 * milli}, Waits: &Waits{Lost: 2700 * milli, Stopped: 57 * milli}}}
	for _, x := range Find(f) {
		if x.Rule == "garbage-collection" {
			t.Error(x.Text)
		}
	}
}
