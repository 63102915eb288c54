package advice

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"stackagent/granularity"
	"stackagent/internal/units"
)

const (
	milli = units.Ns(1_000_000)
	micro = units.Ns(1_000)
)

// busyPool is a pool of n workers that all compute from 0 to span, count units
// of equal length, none of which waited.
func busyPool(n int, span units.Ns, count int64) Pool {
	p := Pool{PoolName: PoolName{Label: "com.acme.Pool#1"}, To: units.MonoNs(span), Units: count, LongestClass: "com.acme.Job", HeaviestClass: "com.acme.Job"}
	for range n {
		p.Workers = append(p.Workers, Worker{To: units.MonoNs(span), Units: count / int64(n), Wall: span, CPU: span})
	}
	p.One, p.Several = units.NotMeasured, units.NotMeasured
	p.Active, p.Wall, p.CPU, p.Self = span, span*units.Ns(n), span*units.Ns(n), span*units.Ns(n)
	each := p.Wall / units.Ns(count)
	p.Longest, p.Heaviest = each, each
	for range count {
		p.Wait.Add(each)
		p.Queue.Add(0)
	}
	return p
}

// worked is a worker with a unit from the begin.
func worked(wall, cpu, runnable units.Ns) Worker {
	return Worker{To: units.MonoNs(wall), Units: 1, Wall: wall, CPU: cpu, Runnable: runnable}
}

func setQueue(p *Pool, n units.Ns) {
	p.Queue = granularity.Values{}
	for range p.Units {
		p.Queue.Add(n)
	}
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
		{"not waiting but starved", func() Pool {
			p := busyPool(4, span, 100)
			setQueue(&p, 500*milli)
			p.CPU, p.Runnable = p.Wall/10, p.Wall*9/10
			return p
		}, 4, "", 0},
		{"waiting, perhaps for a processor", func() Pool {
			p := busyPool(4, span, 100)
			setQueue(&p, 500*milli)
			p.CPU, p.Runnable = p.Wall/10, units.NotMeasured
			return p
		}, 4, "", 0},
		{"waiting with room", func() Pool { p := busyPool(4, span, 100); p.CPU = p.Wall / 10; return p }, 4, "", 0},
		{"waiting, on virtual threads", func() Pool {
			p := busyPool(4, span, 100)
			setQueue(&p, 500*milli)
			p.CPU, p.Virtual = p.Wall/10, true
			return p
		}, 4, "", 0},
		{"many virtual threads that keep the processors busy", func() Pool {
			p := busyPool(16, span, 100)
			p.CPU, p.Runnable, p.Virtual = 3600*milli, units.NotMeasured, true
			return p
		}, 4, "", 0},
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
		}, 4, "coarse-grained", 900*milli - 900*milli/4}, // one processor instead of four
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
		}, 4, "coarse-grained", 500*milli - 500*milli/4}, // what it waited for others' processors is no gain
		{"a loop that takes what comes", func() Pool {
			p := busyPool(3, 70*span, 3)
			p.Longest, p.Heaviest = 70*span, 590*milli
			p.CPU, p.Runnable = 720*milli, 12*span
			return p
		}, 2, "", 0},
		{"a loop that takes what comes, by no record", func() Pool {
			p := busyPool(3, 70*span, 3)
			p.Longest, p.Heaviest = 70*span, 590*milli
			p.CPU, p.Runnable = 720*milli, units.NotMeasured
			return p
		}, 2, "", 0},
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
			p.Workers = []Worker{worked(span, span, 0), worked(200*milli, 200*milli, 0), worked(200*milli, 200*milli, 0), worked(200*milli, 200*milli, 0)}
			p.CPU, p.Wall, p.Longest, p.Heaviest = 1600*milli, 1600*milli, span, span
			return p
		}, 4, "load-imbalance", span - 400*milli},
		{"uneven, by waiting for processors", func() Pool {
			p := busyPool(4, span, 4)
			p.Threads = true
			p.Workers = []Worker{worked(span, 100*milli, 900*milli), worked(200*milli, 90*milli, 100*milli), worked(200*milli, 90*milli, 100*milli), worked(200*milli, 90*milli, 100*milli)}
			p.CPU, p.Wall, p.Runnable, p.Heaviest = 370*milli, 1600*milli, 1200*milli, 100*milli
			return p
		}, 4, "", 0},
		{"uneven, of next to nothing", func() Pool {
			p := busyPool(2, span, 2)
			p.Threads = true
			p.Workers = []Worker{worked(span, 30*milli, 900*milli), worked(400*milli, 10*milli, 300*milli)}
			p.CPU, p.Wall, p.Runnable, p.Heaviest = 40*milli, 1400*milli, 1200*milli, 30*milli
			return p
		}, 4, "", 0},
		{"long, of a pool that the program keeps from its work", func() Pool { // most of a stream is computed by who called it
			p := busyPool(4, span, 100)
			p.Longest, p.Heaviest = 100*milli, 90*milli
			p.CPU, p.Wall = 120*milli, 140*milli
			return p
		}, 4, "", 0},
		{"small, and the program has the processors", func() Pool {
			p := busyPool(1, span, 100)
			setQueue(&p, 500*milli)
			p.Elsewhere = 2200 * milli
			return p
		}, 4, "", 0},
		{"small, and the program has some of the processors", func() Pool {
			p := busyPool(1, span, 100)
			setQueue(&p, 500*milli)
			p.Elsewhere = span
			return p
		}, 4, "pool-too-small", span / 2},
		{"many threads one after the other", func() Pool {
			p := busyPool(4, span, 40)
			p.Threads, p.Workers = true, nil
			for i := range units.MonoNs(40) {
				w := worked(100*milli, 100*milli, 0)
				w.From, w.To = i/4*100_000_000, (i/4+1)*100_000_000
				p.Workers = append(p.Workers, w)
			}
			return p
		}, 4, "", 0},
		{"mostly summarised", func() Pool {
			p := busyPool(1, span, 100)
			setQueue(&p, 500*milli)
			p.Summarised, p.SummarisedSelf = 1000, span/2
			return p
		}, 4, "", 0},
		{"threads for little", func() Pool { return churning(200, milli, 200*micro) }, 4, "thread-churn", 400*milli - 150*milli/2},
		{"threads for enough", func() Pool { return churning(200, milli, 190*micro) }, 4, "", 0},
		{"few threads for little", func() Pool { return churning(99, milli, 200*micro) }, 4, "", 0},
		{"virtual threads for little", func() Pool { p := churning(200, milli, 200*micro); p.Virtual = true; return p }, 4, "", 0},
		{"one thread alone", func() Pool { p := busyPool(1, span, 1); p.Threads = true; return p }, 4, "", 0},
		{"too short to judge", func() Pool { p := busyPool(1, 40*milli, 100); setQueue(&p, 500*milli); return p }, 4, "", 0},
	} {
		f := &UnitFacts{Duration: 2 * span, CPUs: c.cpus, Pools: []Pool{c.make()}}
		got := advise(f)
		if names(got) != c.want {
			t.Errorf("%s: found %q, want %q", c.name, names(got), c.want)
			continue
		}
		if c.want != "" && got[0].Worth != c.gain {
			t.Errorf("%s: worth %v, want %v", c.name, got[0].Worth, c.gain)
		}
	}
}

// churning is a pool of n threads, two at a time, each for a unit of work, that took
// start to begin.
func churning(n int, work, start units.Ns) Pool {
	p := busyPool(2, 400*milli, int64(n))
	p.Wait, p.Workers = granularity.Values{}, nil
	for i := range units.MonoNs(n) {
		w := worked(work, work, 0)
		w.From, w.To = i/2*1_000_000, (i/2+1)*1_000_000
		p.Workers = append(p.Workers, w)
		p.Wait.Add(work)
	}
	setQueue(&p, start)
	p.Active, p.CPU, p.Wall, p.Heaviest, p.Longest = 400*milli, 150*milli, 150*milli, work, work
	return p
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

// TestPinnedTexts: what pins depends on the JDK; and what else is said of pools of
// virtual threads would follow from it.
func TestPinnedTexts(t *testing.T) {
	const says = "Virtual threads parked 18 times while pinned to their carriers, for 1.80 s in total (17 times and 1.70 s in threads of com.acme.Job, submitted at com.acme.Main.run:7). " +
		"They kept 2 carriers from others that waited for one, for 85 % of the time. "
	pool := busyPool(1, 1000*milli, 100)
	setQueue(&pool, 500*milli)
	f := &UnitFacts{Duration: 1000 * milli, CPUs: 2, Virtual: pinning(), Pools: []Pool{pool}, Classes: []UnitClass{{Name: "com.acme.Job", Site: "com.acme.Main.run:7"}}}
	for jdk, tries := range map[int]string{21: "Use a lock of java.util.concurrent instead of synchronized", 24: "Do not block in static initialisers"} {
		f.Virtual.JDK = jdk
		got := advise(f)
		if names(got) != "pinned-threads pool-too-small" || !strings.HasPrefix(got[0].Text, says+tries) || !strings.Contains(got[0].Text, ". JFR's event jdk.VirtualThreadPinned shows where they pinned. Cannot tell what it saves: the session was not replayed.") {
			t.Errorf("%+v, want %q", got, says+tries)
		}
	}
	f.Pools[0].Virtual = true
	if got := advise(f); names(got) != "pinned-threads" {
		t.Errorf("%+v", got)
	}
}

// TestDearerAtOnce: one worker for tasks that need more CPU time when two of them run at once, as another pool shows, is not too few.
func TestDearerAtOnce(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(other *Pool)
		want   string
	}{
		{"dearer", func(*Pool) {}, ""},
		{"as dear", func(o *Pool) { o.CPU = 1100 * milli }, "pool-too-small"},
		{"of another class", func(o *Pool) { o.HeaviestClass = "app.Other" }, "pool-too-small"},
		{"never at once", func(o *Pool) { o.Several = 0 }, "pool-too-small"},
		{"not known", func(o *Pool) { o.CPU, o.Several = units.NotMeasured, units.NotMeasured }, "pool-too-small"},
	} {
		small, other := busyPool(1, 1000*milli, 100), busyPool(2, 1000*milli, 100)
		setQueue(&small, 500*milli)
		small.HeaviestClass, other.HeaviestClass = "app.Draw", "app.Draw"
		other.From, other.To, other.Several = 1_000_000_000, 2_000_000_000, 900*milli
		small.Elsewhere, other.Elsewhere = 0, 0
		c.change(&other)
		got := advise(&UnitFacts{Duration: 2000 * milli, CPUs: 2, Pools: []Pool{small, other}})
		if names(got) != c.want {
			t.Errorf("%s: %q, want %q", c.name, names(got), c.want)
		}
	}
}

// TestElsewhere: without a scheduling record what other pools computed meanwhile is
// taken as even.
func TestElsewhere(t *testing.T) {
	small, other := busyPool(1, 1000*milli, 100), busyPool(1, 1000*milli, 100)
	setQueue(&small, 500*milli)
	small.Elsewhere, other.Elsewhere = units.NotMeasured, units.NotMeasured
	other.From, other.To = 500_000_000, 1_500_000_000
	f := &UnitFacts{Duration: 2000 * milli, CPUs: 4, Pools: []Pool{small, other}}
	if got := advise(f); names(got) != "pool-too-small" || got[0].Worth != 1000*milli-1500*milli/4 {
		t.Errorf("%+v", got)
	}
	f.CPUs = 2
	if got := advise(f); names(got) != "pool-too-small" { // 1.5 of 2 processors
		t.Errorf("%+v", got)
	}
	f.Pools[1].From, f.Pools[1].To = 0, 1_000_000_000
	if got := advise(f); len(got) != 0 {
		t.Errorf("both processors in use: %+v", got)
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
		{large, false, "16 threads of com.acme.Pool#1 compete for 4 CPUs and keep them 100 % busy. More threads do not run more at once; they only cost context switches and memory. Give it as many threads as processors. Not if its tasks wait for one another: with fewer threads they can wait for ever. Cannot tell what it saves: not all of its units were recorded one by one."},
		{crowded, false, "16 threads of com.acme.Pool#1 compete for 4 CPUs and spend 62 % of their time waiting for one. More threads do not run more at once; they only cost context switches and memory. " +
			"Other programs used 400 ms of CPU time meanwhile. Give it as many threads as processors. Not if its tasks wait for one another: with fewer threads they can wait for ever. Cannot tell what it saves: not all of its units were recorded one by one."},
		{large, true, "16 threads of com.acme.Pool#1 compete for 4 CPUs and keep them 100 % busy. More threads do not run more at once; they only cost context switches and memory. Start as many as there are processors,"},
		{coarse, false, "One unit of com.acme.Job takes 900 ms of the 1.00 s in which com.acme.Pool#1 has work."},
		{coarse, true, "One unit of com.acme.Job takes 900 ms of the 1.00 s in which the threads of com.acme.Pool#1 have work."},
	} {
		c.pool.Threads = c.threads
		got := advise(&UnitFacts{Duration: span, CPUs: 4, Pools: []Pool{c.pool}})
		if len(got) != 1 || !strings.HasPrefix(got[0].Text, c.want) {
			t.Errorf("%+v, want %q", got, c.want)
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
	p.Workers[0].Units, p.Workers[1].Units = int64(n/2), int64(n/2)
	return &UnitFacts{Duration: 200 * milli, CPUs: 2, Classes: []UnitClass{c}, Pools: []Pool{p}}
}

// insideOthers is f with all units nested in those of other pools: nobody is busy with them.
func insideOthers(f *UnitFacts) *UnitFacts {
	f.Pools[0].Workers, f.Pools[0].Gaps = nil, granularity.Values{}
	return f
}

func TestFine(t *testing.T) {
	const probes = 10_000 * recordedProbes
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
