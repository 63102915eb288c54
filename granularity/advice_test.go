package granularity

import (
	"reflect"
	"strings"
	"testing"

	"stackagent/internal/units"
)

const (
	milli = units.Ns(1_000_000)
	micro = units.Ns(1_000)
)

// busyPool is a pool of n workers that all compute from 0 to span, count units
// of equal length, none of which waited.
func busyPool(n int, span units.Ns, count int64) Pool {
	p := Pool{Label: "com.acme.Pool#1", To: units.MonoNs(span), Units: count, LongestClass: "com.acme.Job", HeaviestClass: "com.acme.Job"}
	for range n {
		p.Workers = append(p.Workers, Worker{Units: count / int64(n), Wall: span, CPU: span})
	}
	p.Wall, p.CPU, p.Self = span*units.Ns(n), span*units.Ns(n), span*units.Ns(n)
	each := p.Wall / units.Ns(count)
	p.Longest, p.Heaviest = each, each
	for range count {
		p.Wait.Add(each)
		p.Queue.Add(0)
	}
	return p
}

func setQueue(p *Pool, n units.Ns) {
	p.Queue = Values{}
	for range p.Units {
		p.Queue.Add(n)
	}
}

func names(found []Finding) string {
	var out []string
	for _, f := range found {
		out = append(out, f.Name)
	}
	return strings.Join(out, " ")
}

// TestPools: each defect gives its finding and no other, with a gain that the
// figures bound; just below its threshold it gives none.
func TestPools(t *testing.T) {
	const span = 1000 * milli
	for _, c := range []struct {
		name string
		make func() Pool
		cpus int
		want string
		gain units.Ns
	}{
		{"good", func() Pool { return busyPool(4, span, 100) }, 4, "", 0},
		{"good and queueing", func() Pool { p := busyPool(4, span, 100); setQueue(&p, 500*milli); return p }, 4, "", 0},
		{"too small", func() Pool { p := busyPool(1, span, 100); setQueue(&p, 500*milli); return p }, 4, "pool-too-small", span - span/4},
		{"small and nothing waits", func() Pool { return busyPool(1, span, 100) }, 4, "", 0},
		{"small, not busy", func() Pool {
			p := busyPool(1, span, 100)
			setQueue(&p, 500*milli)
			p.Wall = p.Wall * 7 / 10
			return p
		}, 4, "", 0},
		{"waiting", func() Pool {
			p := busyPool(4, span, 100)
			setQueue(&p, 500*milli)
			p.CPU = p.Wall / 10
			return p
		}, 4, "waiting-tasks", span - span/10},
		{"not waiting but starved", func() Pool {
			p := busyPool(4, span, 100)
			setQueue(&p, 500*milli)
			p.CPU, p.Runnable = p.Wall/10, p.Wall*9/10
			return p
		}, 4, "", 0},
		{"waiting with room", func() Pool { p := busyPool(4, span, 100); p.CPU = p.Wall / 10; return p }, 4, "", 0},
		{"too large", func() Pool {
			p := busyPool(16, span, 100)
			p.CPU, p.Runnable = 4*span, p.Wall-4*span
			p.Longest = 100 * milli
			return p
		}, 4, "pool-too-large", 0},
		{"large, and waits for other things", func() Pool {
			p := busyPool(16, span, 100)
			p.CPU, p.Runnable = 2*span, 0
			return p
		}, 4, "", 0},
		{"large, and half of the waiting is for others", func() Pool {
			p := busyPool(16, span, 100)
			p.CPU, p.Runnable = 2400*milli, p.Wall-2400*milli
			p.Taken, p.TakenWait = 1200*milli, 4*span
			return p
		}, 4, "pool-too-large", span - 900*milli},
		{"large, and the machine is others'", func() Pool {
			p := busyPool(16, span, 100)
			p.CPU, p.Runnable = 2*span, p.Wall-2*span
			p.Taken, p.TakenWait = 2*span, 5*span
			return p
		}, 4, "", 0},
		{"large, and waits for others' processors mostly", func() Pool {
			p := busyPool(16, span, 100)
			p.CPU, p.Runnable = 2400*milli, 12*span
			p.Taken, p.TakenWait = 1600*milli, 12*span-7900*milli
			return p
		}, 4, "", 0},
		{"large, by no record", func() Pool {
			p := busyPool(16, span, 100)
			p.CPU, p.Runnable = 3600*milli, units.NotMeasured
			return p
		}, 4, "pool-too-large", 100 * milli},
		{"large, by no record, and perhaps others took the processors", func() Pool {
			p := busyPool(16, span, 100)
			p.CPU, p.Runnable = 3500*milli, units.NotMeasured
			return p
		}, 4, "", 0},
		{"coarse", func() Pool {
			p := busyPool(4, span, 100)
			p.Longest, p.Heaviest = 900*milli, 900*milli
			p.CPU, p.Wall = 1200*milli, 1200*milli
			return p
		}, 4, "coarse-grained", 900*milli - 900*milli/4}, // one in place of four processors
		{"coarse, in a pool that waits to be fed", func() Pool {
			p := busyPool(4, span, 100)
			p.Longest, p.Heaviest = 60*milli, 60*milli
			p.CPU, p.Wall = 80*milli, 80*milli
			return p
		}, 4, "", 0},
		{"coarse, but the others are as busy", func() Pool {
			p := busyPool(4, span, 100)
			p.Longest, p.Heaviest = 900*milli, 900*milli
			return p
		}, 4, "", 0},
		// It computes for half of the time that the pool would take by itself, if it came last.
		{"coarse, on a machine of others", func() Pool {
			p := busyPool(4, 3*span, 100)
			p.Longest, p.Heaviest = 2000*milli, 500*milli
			p.CPU, p.Wall, p.Runnable = 900*milli, 3*span, 2000*milli
			return p
		}, 4, "coarse-grained", 2000*milli - 500*milli/4},
		{"long, by waiting for processors", func() Pool {
			p := busyPool(4, span, 100)
			p.Longest, p.Heaviest = 900*milli, 12*milli
			p.CPU, p.Runnable = 1200*milli, 2800*milli
			return p
		}, 4, "", 0},
		{"long, by waiting for something", func() Pool {
			p := busyPool(4, span, 100)
			p.Longest, p.Heaviest = 900*milli, 2*milli
			p.CPU, p.Wall = 80*milli, 1200*milli
			return p
		}, 4, "", 0},
		{"imbalance", func() Pool {
			p := busyPool(4, span, 4)
			p.Threads = true
			p.Workers = []Worker{{1, span, span, 0}, {1, 200 * milli, 200 * milli, 0}, {1, 200 * milli, 200 * milli, 0}, {1, 200 * milli, 200 * milli, 0}}
			p.CPU, p.Wall, p.Longest, p.Heaviest = 1600*milli, 1600*milli, span, span
			return p
		}, 4, "load-imbalance", span - 400*milli},
		{"uneven, by waiting for processors", func() Pool {
			p := busyPool(4, span, 4)
			p.Threads = true
			p.Workers = []Worker{{1, span, 100 * milli, 900 * milli}, {1, 200 * milli, 90 * milli, 100 * milli}, {1, 200 * milli, 90 * milli, 100 * milli}, {1, 200 * milli, 90 * milli, 100 * milli}}
			p.CPU, p.Wall, p.Runnable, p.Heaviest = 370*milli, 1600*milli, 1200*milli, 100*milli
			return p
		}, 4, "", 0},
		{"uneven, of next to nothing", func() Pool {
			p := busyPool(2, span, 2)
			p.Threads = true
			p.Workers = []Worker{{1, span, 30 * milli, 900 * milli}, {1, 400 * milli, 10 * milli, 300 * milli}}
			p.CPU, p.Wall, p.Runnable, p.Heaviest = 40*milli, 1400*milli, 1200*milli, 30*milli
			return p
		}, 4, "", 0},
		{"one thread alone", func() Pool { p := busyPool(1, span, 1); p.Threads = true; return p }, 4, "", 0},
		{"too short to judge", func() Pool { p := busyPool(1, 40*milli, 100); setQueue(&p, 500*milli); return p }, 4, "", 0},
	} {
		f := &UnitFacts{Duration: 2 * span, CPUs: c.cpus, Pools: []Pool{c.make()}}
		got := Advise(f, DefaultThresholds)
		if names(got) != c.want {
			t.Errorf("%s: found %q, want %q", c.name, names(got), c.want)
			continue
		}
		if c.want != "" && (got[0].Gain == nil || got[0].Gain.Ns != c.gain || got[0].Gain.Share != float64(c.gain)/float64(2*span)) {
			t.Errorf("%s: gain %+v, want %v", c.name, got[0].Gain, c.gain)
		}
	}
}

// TestPoolTexts: of an executor and of threads of their own.
func TestPoolTexts(t *testing.T) {
	const span = 1000 * milli
	large := busyPool(16, span, 100)
	large.CPU, large.Runnable = 4*span, units.NotMeasured
	crowded := large
	crowded.CPU, crowded.Runnable, crowded.Taken, crowded.TakenWait = 3*span, 13*span, 400*milli, 3*span
	coarse := busyPool(4, span, 100)
	coarse.Longest, coarse.Heaviest, coarse.CPU, coarse.Wall = 900*milli, 900*milli, 1200*milli, 1200*milli
	for _, c := range []struct {
		pool    Pool
		threads bool
		want    string
	}{
		{large, false, "com.acme.Pool#1 has 16 workers on 4 processors that it keeps 100 % busy: more threads only take turns. Give it as many threads as processors: that saves switches and memory, and can shorten the run by at most 0 ns (0 % of the session), unless other programs took the CPUs."},
		{crowded, false, "com.acme.Pool#1 has 16 workers on 4 processors, for which they wait 62 % of their time while threads of this JVM have them: more threads only take turns. " +
			"Give it as many threads as processors: that saves switches and memory, and can shorten the run by at most 150 ms (15 % of the session); the 400 ms of CPU time that other programs took meanwhile are not counted."},
		{large, true, "16 threads were started for com.acme.Pool#1 on 4 processors that they keep 100 % busy: more threads only take turns. Start as many as there are processors,"},
		{coarse, false, "One unit of com.acme.Job takes 900 ms of the 1.00 s in which com.acme.Pool#1 has work:"},
		{coarse, true, "One unit of com.acme.Job takes 900 ms of the 1.00 s in which the threads of com.acme.Pool#1 have work:"},
	} {
		c.pool.Threads = c.threads
		got := Advise(&UnitFacts{Duration: span, CPUs: 4, Pools: []Pool{c.pool}}, DefaultThresholds)
		if len(got) != 1 || !strings.HasPrefix(got[0].Text, c.want) {
			t.Errorf("%+v, want %q", got, c.want)
		}
	}
}

// fineFacts are n units of work each, handed over at a cost of gap each.
func fineFacts(n int, work, gap units.Ns) *UnitFacts {
	p := busyPool(2, 100*milli, int64(n))
	c := UnitClass{Name: "com.acme.Tiny", Units: int64(n), SelfIsCPU: true, Site: "com.acme.Main.run:7"}
	for range n {
		c.Self.Add(work)
		p.Gaps.Add(gap)
	}
	p.Self = work * units.Ns(n)
	p.Workers[0].Units, p.Workers[1].Units = int64(n/2), int64(n/2)
	return &UnitFacts{Duration: 200 * milli, CPUs: 2, Classes: []UnitClass{c}, Pools: []Pool{p}}
}

// insideOthers is f with all units nested in those of other pools: nobody is busy with them.
func insideOthers(f *UnitFacts) *UnitFacts {
	f.Pools[0].Workers, f.Pools[0].Gaps = nil, Values{}
	return f
}

func TestFine(t *testing.T) {
	got := Advise(fineFacts(10_000, micro, micro), DefaultThresholds)
	if names(got) != "fine-grained" || got[0].Class != "com.acme.Tiny" || got[0].Gain.Ns != 100*milli-5*milli {
		t.Fatalf("%+v", got)
	}
	for _, part := range []string{"com.acme.Main.run:7", "10,000 units", "1.00 µs", "at most 95.0 ms (48 % of the session)"} {
		if !strings.Contains(got[0].Text, part) {
			t.Errorf("%q is not in %q", part, got[0].Text)
		}
	}
	for name, f := range map[string]*UnitFacts{
		"cheap to hand over": fineFacts(10_000, 9*micro, micro),
		"not fine":           fineFacts(10_000, 10*micro, 10*micro),
		"too few":            fineFacts(999, micro, micro),
		"inside others":      insideOthers(fineFacts(10_000, micro, micro)),
	} {
		if got := Advise(f, DefaultThresholds); len(got) != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for name, c := range map[string]struct {
		class UnitClass
		text  string // "": no finding
	}{
		"the JDK's housekeeping":         {UnitClass{JDK: true}, ""},
		"the JDK's, handed by a program": {UnitClass{JDK: true, Site: "com.acme.Main.run:7"}, "The tasks that the program hands over as com.acme.Tiny are all fine-grained, handed over at com.acme.Main.run:7"},
		"a parallel stream":              {UnitClass{JDK: true, Bulk: true}, "The parts of a bulk operation of the program (a parallel stream), which the JDK cuts into com.acme.Tiny, are all fine-grained: 10,000 units"},
	} {
		f := fineFacts(10_000, micro, micro)
		x := &f.Classes[0]
		x.JDK, x.Bulk, x.Site = c.class.JDK, c.class.Bulk, c.class.Site
		got := Advise(f, DefaultThresholds)
		if c.text == "" && len(got) != 0 || c.text != "" && (len(got) != 1 || !strings.HasPrefix(got[0].Text, c.text)) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	mixed := fineFacts(10_000, micro, micro)
	for range 200 { // two in a hundred are not
		mixed.Classes[0].Self.Add(milli)
	}
	if got := Advise(mixed, DefaultThresholds); len(got) != 0 {
		t.Errorf("a class with coarse tasks too: %+v", got)
	}
	// Where no unit waited, the workers' idling tells what handing over costs.
	starved := fineFacts(10_000, micro, micro)
	starved.Pools[0].Gaps = Values{}
	if got := Advise(starved, DefaultThresholds); len(got) != 0 {
		t.Errorf("busy workers and no gap: %+v", got)
	}
	starved.Pools[0].Wall /= 4
	if got := Advise(starved, DefaultThresholds); names(got) != "fine-grained" {
		t.Errorf("idle workers: %+v", got)
	}
}

func TestOtherAdvice(t *testing.T) {
	f := &UnitFacts{Duration: milli, CPUs: 2, MaxDepth: 256, Deepest: "com.acme.Nested",
		Classes: []UnitClass{{Name: "com.acme.Broken", Units: 3, Swallowed: 2, Pool: -1}, {Name: "com.acme.Fine", Units: 3, Threw: 3, Pool: -1}}}
	got := Advise(f, DefaultThresholds)
	if names(got) != "deep-nesting swallowed-exceptions" || got[1].Class != "com.acme.Broken" || got[0].Gain != nil {
		t.Errorf("%+v", got)
	}
	f.MaxDepth, f.Classes = 255, nil
	if got := Advise(f, DefaultThresholds); len(got) != 0 {
		t.Errorf("%+v", got)
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
