package advice

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/account"
)

const (
	milli = units.Ns(1_000_000)
	micro = units.Ns(1_000)
)

// busyPool is a pool of n workers that all compute from 0 to span, in units of equal length.
func busyPool(n int, span units.Ns, count int64) Pool {
	all := span * units.Ns(n)
	return Pool{PoolName: PoolName{Label: "com.acme.Pool#1"}, To: units.MonoNs(span), Units: count, Workers: n, Active: span, Wall: all, Self: all}
}

// advise finds advice and cautions about units.
func advise(f *UnitFacts) []Finding {
	return slices.DeleteFunc(Find(&Facts{Units: f}), func(x Finding) bool { return x.Kind == Fact })
}

func names(found []Finding) string {
	var out []string
	for _, f := range found {
		out = append(out, f.Rule)
	}
	return strings.Join(out, " ")
}

// pinning are virtual threads that keep two carriers nine tenths of a second, 100 ms at a
// time, while others wait for one.
func pinning() *VirtualFacts {
	return &VirtualFacts{JDK: 21, Carriers: 2, Pins: 18, Pinned: 1800 * milli, Class: "com.acme.Job", ClassPins: 17, ClassPinned: 1700 * milli,
		Active: 1000 * milli, Waited: 900 * milli, Waiting: 950 * milli, Mounted: 100 * milli, CPU: 80 * milli}
}

// TestPinned: what the figures bound, and that nothing is said where one of them does
// not bear it out.
func TestPinned(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*UnitFacts, *VirtualFacts)
		gain   units.Ns // 0: not found
	}{
		{"pinned", func(*UnitFacts, *VirtualFacts) {}, 950 * milli},
		{"pinned for less than others waited", func(_ *UnitFacts, v *VirtualFacts) { v.Pinned = 400 * milli }, 400 * milli},
		{"pinned for too little", func(_ *UnitFacts, v *VirtualFacts) { v.Pinned = 399 * milli }, 0},
		{"others wait as long as carriers are kept", func(_ *UnitFacts, v *VirtualFacts) { v.Waited, v.Waiting = 250*milli, 300*milli }, 300 * milli},
		{"nobody waits that long", func(_ *UnitFacts, v *VirtualFacts) { v.Waited = 249 * milli }, 0},
		{"they wait for those that compute", func(_ *UnitFacts, v *VirtualFacts) { v.Mounted = 1401 * milli }, 0},
		{"the processors have enough to do", func(_ *UnitFacts, v *VirtualFacts) { v.CPU = 1601 * milli }, 0},
		{"the processors are the bound", func(_ *UnitFacts, v *VirtualFacts) { v.CPU = 1600 * milli }, 200 * milli},
		{"CPU time is not known", func(_ *UnitFacts, v *VirtualFacts) { v.CPU = units.NotMeasured }, 950 * milli},
		{"more carriers than processors", func(_ *UnitFacts, v *VirtualFacts) { v.Carriers = 8 }, 950 * milli},
		{"a single carrier", func(_ *UnitFacts, v *VirtualFacts) { v.Carriers = 1 }, 950 * milli},
		{"no carrier is known", func(_ *UnitFacts, v *VirtualFacts) { v.Carriers = 0 }, 0},
		{"three times", func(_ *UnitFacts, v *VirtualFacts) { v.Pins = 3 }, 0},
		{"for too short", func(_ *UnitFacts, v *VirtualFacts) { v.Active = 49 * milli }, 0},
		{"in part unknown", func(_ *UnitFacts, v *VirtualFacts) { v.Partly = true }, 0},
		{"events lost", func(f *UnitFacts, _ *VirtualFacts) { f.Lost = true }, 0},
	} {
		f := &UnitFacts{Duration: 2000 * milli, CPUs: 2, Virtual: pinning()}
		c.change(f, f.Virtual)
		got := advise(f)
		switch {
		case c.gain == 0 && len(got) == 0:
		case len(got) != 1 || got[0].Rule != "pinned-threads" || got[0].Worth != c.gain:
			t.Errorf("%s: %+v, want a gain of %v", c.name, got, c.gain)
		}
	}
}

// TestPinnedTexts: what pins depends on the JDK.
func TestPinnedTexts(t *testing.T) {
	const says = "Virtual threads parked 18 times while pinned to their carriers, for 1.80 s in total (17 times and 1.70 s in threads of com.acme.Job, submitted at com.acme.Main.run:7). " +
		"They kept 2 carriers from others that waited for one, for 85 % of the time. "
	f := &UnitFacts{Duration: 1000 * milli, CPUs: 2, Virtual: pinning(), Classes: []UnitClass{{Name: "com.acme.Job", Site: "com.acme.Main.run:7"}}}
	for jdk, tries := range map[int]string{21: "Use a lock of java.util.concurrent instead of synchronized", 24: "Do not block in static initialisers"} {
		f.Virtual.JDK = jdk
		got := advise(f)
		if names(got) != "pinned-threads" || !strings.HasPrefix(got[0].Text, says+tries) || !strings.Contains(got[0].Text, ". JFR's event jdk.VirtualThreadPinned shows where they pinned. Cannot tell what it saves: the session was not replayed.") {
			t.Errorf("%+v, want %q", got, says+tries)
		}
	}
}

// fineFacts are n units of work each; each submission costs gap.
func fineFacts(n int, work, gap units.Ns) *UnitFacts {
	p := busyPool(2, 100*milli, int64(n))
	c := UnitClass{Name: "com.acme.Tiny", Units: int64(n), SelfIsCPU: true, Site: "com.acme.Main.run:7"}
	for range n {
		c.Self.Add(work)
		p.Gaps.Add(gap)
	}
	p.Self, c.Wall = work*units.Ns(n), p.Wall
	return &UnitFacts{Duration: 200 * milli, CPUs: 2, Classes: []UnitClass{c}, Pools: []Pool{p}}
}

// insideOthers is f with all units nested in those of other pools: nobody is busy with them.
func insideOthers(f *UnitFacts) *UnitFacts {
	f.Pools[0].Workers, f.Pools[0].Gaps = 0, granularity.Values{}
	return f
}

func TestFine(t *testing.T) {
	probes := account.Probes(10_000, 0)
	got := advise(fineFacts(10_000, micro, micro))
	if names(got) != "fine-grained" || got[0].Class != "com.acme.Tiny" || got[0].Worth != 100*milli-5*milli-probes {
		t.Fatalf("%+v", got)
	}
	for _, part := range []string{"com.acme.Main.run:7", "10,000 units", "1.00 µs", "In 100 ms, com.acme.Pool#1 did 10.0 ms of work. Give each task more work"} {
		if !strings.Contains(got[0].Text, part) {
			t.Errorf("%q is not in %q", part, got[0].Text)
		}
	}
	for name, f := range map[string]*UnitFacts{
		"cheap to submit": fineFacts(10_000, 9*micro, micro),
		"not fine":        fineFacts(10_000, 10*micro, 10*micro),
		"too few":         fineFacts(999, micro, micro),
		"inside others":   insideOthers(fineFacts(10_000, micro, micro)),
	} {
		if got := advise(f); len(got) != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for name, c := range map[string]struct {
		class UnitClass
		text  string // "": no finding
	}{
		"the JDK's housekeeping":            {UnitClass{JDK: true}, ""},
		"the JDK's, submitted by a program": {UnitClass{JDK: true, Site: "com.acme.Main.run:7"}, "The tasks that the program submits as com.acme.Tiny are all fine-grained, submitted at com.acme.Main.run:7"},
		"a parallel stream":                 {UnitClass{JDK: true, Bulk: true}, "The parts of a bulk operation (a parallel stream), which the JDK splits into com.acme.Tiny, are all fine-grained: 10,000 units"},
	} {
		f := fineFacts(10_000, micro, micro)
		x := &f.Classes[0]
		x.JDK, x.Bulk, x.Site = c.class.JDK, c.class.Bulk, c.class.Site
		got := advise(f)
		if c.text == "" && len(got) != 0 || c.text != "" && (len(got) != 1 || !strings.HasPrefix(got[0].Text, c.text)) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	mixed := fineFacts(10_000, micro, micro)
	for range 200 { // two in a hundred are not
		mixed.Classes[0].Self.Add(milli)
	}
	if got := advise(mixed); len(got) != 0 {
		t.Errorf("a class with coarse tasks too: %+v", got)
	}
	// Where no unit waited, the workers' idle time is the cost of submitting.
	starved := fineFacts(10_000, micro, micro)
	starved.Pools[0].Gaps = granularity.Values{}
	if got := advise(starved); len(got) != 0 {
		t.Errorf("busy workers and no gap: %+v", got)
	}
	starved.Pools[0].Wall /= 4
	if got := advise(starved); names(got) != "fine-grained" {
		t.Errorf("idle workers: %+v", got)
	}
	// Idle time while nothing waits or runs costs nothing.
	starved.Pools[0].Active /= 4
	if got := advise(starved); len(got) != 0 {
		t.Errorf("idle pool: %+v", got)
	}
	waits := fineFacts(10_000, micro, micro)
	waits.Classes[0].OwnWall = DefaultThresholds.FineWork
	if got := advise(waits); len(got) != 0 {
		t.Errorf("units that wait: %+v", got)
	}
	little := fineFacts(10_000, micro, micro)
	little.Pools[0].Active = 24*milli + 999*micro // 5 of it are work
	if got := advise(little); len(got) != 0 {
		t.Errorf("little to gain: %+v", got)
	}
	for share, want := range map[units.Ns]units.Ns{2: 100 * milli, 3: 100 * milli / 3} { // half of the time, or a third
		part := fineFacts(10_000, micro, micro)
		part.Pools[0].Active /= share
		if got := advise(part); names(got) != "fine-grained" || got[0].Worth != want-5*milli-probes {
			t.Errorf("active for 1 / %d: %+v", share, got)
		}
	}
	// What is left without the profiler's own cost is not enough: 1,000,000 probes are 120 ms of 200.
	probed := fineFacts(10_000, micro, micro)
	p := &probed.Pools[0]
	p.Gaps, p.Units, p.Summarised = granularity.Values{}, 1_000_000, 1_000_000
	p.Active, p.Self, p.Wall, probed.Duration = 200*milli, 100*milli, 100*milli, 200*milli
	if got := advise(probed); len(got) != 0 {
		t.Errorf("mostly the profiler's: %+v", got[0].Text)
	}
	p.Active, p.To, probed.Duration = 400*milli, p.From+units.MonoNs(400*milli), 400*milli
	if got := advise(probed); names(got) != "fine-grained" || !strings.Contains(got[0].Text, "spend 57 % of their time on overhead, not on your code; an estimated 120 ms for") {
		t.Errorf("partly the profiler's: %s", got[0].Text)
	}
	// Plain calls: nobody submits anything, and there are no workers.
	called := fineFacts(10_000, micro, micro)
	called.Classes[0].Direct = 5001
	if got := advise(called); len(got) != 0 {
		t.Errorf("plain calls: %+v", got)
	}
	called.Classes[0].Direct = 5000
	if got := advise(called); names(got) != "fine-grained" {
		t.Errorf("half of them were submitted: %+v", got)
	}
	nested := fineFacts(10_000, micro, 100)
	nested.Pools[0].Gaps, nested.Pools[0].Inner = granularity.Values{}, nested.Pools[0].Gaps
	if got := advise(nested); len(got) != 0 {
		t.Errorf("cheap parts: %+v", got)
	}
	nested = fineFacts(10_000, micro, 200)
	nested.Pools[0].Gaps, nested.Pools[0].Inner = granularity.Values{}, nested.Pools[0].Gaps
	if got := advise(nested); names(got) != "fine-grained" || got[0].Worth != 0 || !strings.Contains(got[0].Text, "Cannot tell what it saves: what submitting and joining them costs is inside their own work.") || !strings.Contains(got[0].Text, "takes 200 ns or more between two of them in three of four cases") {
		t.Errorf("dear parts: %+v", got)
	}
	nested.Duration = 1001 * milli // all that goes on inside its units takes less than a tenth of the session
	if got := advise(nested); len(got) != 0 {
		t.Errorf("dear parts of a pool that hardly does anything: %+v", got)
	}
	tiny := fineFacts(1_000_000, 400, micro) // forks and joins: 400 ms of the second; nothing is known of single ones
	tiny.Pools[0].Gaps, tiny.Pools[0].Active = granularity.Values{}, tiny.Pools[0].Wall/4
	tiny.Classes[0].Joins, tiny.Classes[0].Summarised = true, 900_000
	if got := advise(tiny); names(got) != "fine-grained" || !strings.Contains(got[0].Text, "make, fork and join their parts") {
		t.Errorf("tiny parts: %+v", got)
	}
	tiny = fineFacts(1_000_000, 600, micro) // large enough that forking may be a small part
	tiny.Pools[0].Gaps, tiny.Pools[0].Active = granularity.Values{}, tiny.Pools[0].Wall/4
	tiny.Classes[0].Joins, tiny.Classes[0].Summarised = true, 900_000
	if got := advise(tiny); len(got) != 0 {
		t.Errorf("parts that are not tiny: %+v", got)
	}
	counted := fineFacts(10_000, micro, micro)
	counted.Classes[0].Summarised, counted.Pools[0].Summarised, counted.Pools[0].Gaps = 9000, 9000, granularity.Values{}
	if got := advise(counted); names(got) != "fine-grained" ||
		!strings.Contains(got[0].Text, "10,000 units (90 % of them summarised) with a median of 1.00 µs of work. The workers spend 93 % of their time on overhead, not on your code; an estimated 1.86 ms for the profiler's probes is left out.") {
		t.Errorf("summarised: %+v", got)
	}
}

func TestOtherAdvice(t *testing.T) {
	f := &UnitFacts{Duration: milli, CPUs: 2, MaxDepth: 256, Deepest: "com.acme.Nested",
		Classes: []UnitClass{{Name: "com.acme.Broken", Units: 3, Swallowed: 2, Pool: -1}, {Name: "com.acme.Fine", Units: 3, Threw: 3, Pool: -1}}}
	got := advise(f)
	if names(got) != "deep-nesting swallowed-exceptions" || got[1].Class != "com.acme.Broken" || got[0].Gain != nil {
		t.Errorf("%+v", got)
	}
	f.MaxDepth, f.Classes = 255, nil
	if got := advise(f); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestSwallowedTexts: what is said of exceptions that futures kept, as far as it is known.
func TestSwallowedTexts(t *testing.T) {
	for _, c := range []struct {
		swallowed, kept int64
		unended         bool
		want            string
	}{
		{2, 0, false, "2 units of com.acme.Broken ended with an exception that its future kept; nobody asked for it. Ask"},
		{2, 0, true, "2 units of com.acme.Broken ended with an exception that its future kept; nobody asked for it, as far as recorded. Ask"},
		{0, 1, false, "1 unit of com.acme.Broken ended with an exception that its future kept; whether anybody asked the future for it is not known. Ask"},
		{2, 1, false, "2 units of com.acme.Broken ended with an exception that its future kept; nobody asked for it. For 1 more, whether anybody asked the future for it is not known. Ask"},
	} {
		f := &UnitFacts{CPUs: 2, Unended: c.unended, Classes: []UnitClass{{Name: "com.acme.Broken", Units: 3, Swallowed: c.swallowed, Kept: c.kept, Pool: -1}}}
		if got := advise(f); names(got) != "swallowed-exceptions" || !strings.HasPrefix(got[0].Text, c.want) {
			t.Errorf("%+v, want %q", got, c.want)
		}
	}
}

// TestThresholds: every field has a name, and setting it changes that one only.
func TestThresholds(t *testing.T) {
	if n := reflect.TypeFor[Thresholds]().NumField(); n != len(ThresholdNames()) {
		t.Fatalf("%d fields, %d names", n, len(ThresholdNames()))
	}
	changed := map[int]string{}
	for _, name := range ThresholdNames() {
		x := DefaultThresholds
		if err := x.Set(name + "=77"); err != nil {
			t.Fatal(err)
		}
		for i := range reflect.TypeFor[Thresholds]().NumField() {
			if a, b := reflect.ValueOf(x).Field(i), reflect.ValueOf(DefaultThresholds).Field(i); !a.Equal(b) {
				if changed[i] != "" {
					t.Errorf("%s and %s set the same", name, changed[i])
				}
				changed[i] = name
			}
		}
	}
	if len(changed) != len(ThresholdNames()) {
		t.Errorf("set %v", changed)
	}
	for _, bad := range []string{"", "fine-work", "moon=1", "fine-work=x", "fine-work=-1", "busy=NaN", "depth=1.5"} {
		x := DefaultThresholds
		if err := x.Set(bad); err == nil || x != DefaultThresholds {
			t.Errorf("%q was taken", bad)
		}
	}
}
