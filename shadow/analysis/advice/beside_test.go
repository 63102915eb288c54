package advice

import (
	"strings"
	"testing"

	"stackagent/internal/units"
)

// TestBeside: what other threads do meanwhile decides whether following an advice can gain anything.
func TestBeside(t *testing.T) {
	const span = 1000 * milli
	coarse := func(idle units.Ns) Pool {
		p := busyPool(2, span, 100)
		p.CPU, p.Longest, p.Heaviest = 1100*milli, 900*milli, 900*milli
		p.Beside = &Beside{Idle: idle}
		return p
	}
	uneven := func(idle units.Ns) Pool {
		p := busyPool(2, span, 4)
		p.Threads = true
		p.Workers[1].CPU, p.CPU, p.Longest, p.Heaviest = 400*milli, 1400*milli, 300*milli, 300*milli
		p.Beside = &Beside{Idle: idle}
		return p
	}
	late := func(p Pool, elsewhere, byOthers units.Ns) Pool { // other programs made its workers wait
		p.Elsewhere, p.TakenWait = elsewhere, byOthers
		return p
	}
	unseen := func(waited units.Ns) Pool { // no scheduling record
		p := uneven(0)
		p.Beside, p.Runnable = nil, waited
		return p
	}
	for _, c := range []struct {
		name string
		pool Pool
		want string
		gain units.Ns
		says string
	}{
		{"coarse, and a processor idles", coarse(900 * milli), "coarse-grained", 450 * milli, ""},
		{"coarse, and others have the processor", coarse(100 * milli), "", 0, ""},
		{"coarse beside a busy thread that was done first, as other programs made the unit wait", late(coarse(900*milli), 900*milli, 800*milli), "", 0, ""},
		{"coarse beside a busy thread, and a processor idles anyway", late(coarse(900*milli), 900*milli, 0), "coarse-grained", 450 * milli, ""},
		{"coarse beside other programs", late(coarse(900*milli), 50*milli, 800*milli), "coarse-grained", 425 * milli, ""},
		{"uneven beside a busy thread that was done first", late(uneven(600*milli), 600*milli, 600*milli), "", 0, ""},
		{"uneven as one worker waited for a processor", unseen(600 * milli), "", 0, ""},
		{"uneven, and nobody waited for a processor", unseen(0), "load-imbalance", 300 * milli, ""},
		{"uneven, and not known who waited for a processor", unseen(units.NotMeasured), "", 0, ""},
		{"uneven, and a processor idles", uneven(600 * milli), "load-imbalance", 300 * milli, ""},
		{"uneven, and others have the processor", uneven(100 * milli), "", 0, ""},
	} {
		found := advise(&UnitFacts{Read: true, Duration: span, CPUs: 2, Pools: []Pool{c.pool}})
		if names(found) != c.want {
			t.Errorf("%s: found %q, want %q", c.name, names(found), c.want)
			continue
		}
		if c.want != "" && (found[0].Worth != c.gain || !strings.Contains(found[0].Text, c.says)) {
			t.Errorf("%s: worth %v, want %v; %s", c.name, found[0].Worth, c.gain, found[0].Text)
		}
	}
}

// TestLeft: a run that ends before its work does not end earlier.
func TestLeft(t *testing.T) {
	const span = 1000 * milli
	p := recordedPool()
	for left, want := range map[int64]bool{0: false, 77: true} {
		p.Left = left
		found := advise(&UnitFacts{Read: true, Duration: span, CPUs: 4, Pools: []Pool{p}})
		if len(found) != 1 || (found[0].Gain == nil) != want || strings.Contains(found[0].Text, "Cannot tell what it saves: tasks were left when the run ended") != want {
			t.Errorf("%d left: %+v", left, found)
		}
	}
}

// TestStalled: waits for a concurrent collector cost like its pauses; if many threads go on meanwhile, they do not.
func TestStalled(t *testing.T) {
	for _, c := range []struct {
		stalled, held, gain units.Ns
	}{{0, 0, 0}, {700 * milli, 600 * milli, 701 * milli}, {700 * milli, 10 * milli, 0}} {
		f := &Facts{Duration: 1000 * milli, CPUs: 2, Units: &UnitFacts{Duration: 1000 * milli, Waits: &Waits{Stalled: c.stalled, Held: c.held}}}
		f.GC.Total = milli
		var got units.Ns
		for _, x := range Find(f) {
			if x.Rule == "garbage-collection" {
				got = x.Worth
				if !strings.Contains(x.Text, "waited for the collector for 700 ms") {
					t.Error(x.Text)
				}
			}
		}
		if got != c.gain {
			t.Errorf("stalled %v, held %v: gain %v, want %v", c.stalled, c.held, got, c.gain)
		}
	}
}

// TestSlowProducer: tiny tasks of a thread that computes before each are not too fine: it is why the workers wait.
func TestSlowProducer(t *testing.T) {
	const span = 1000 * milli
	for _, c := range []struct {
		name string
		by   *Submitter
		want string
		gain units.Ns
	}{
		{"computes", &Submitter{Thread: "main", Ran: 950 * milli}, "slow-producer", 520 * milli},
		{"computes, and other programs have the processor half of the time", &Submitter{Thread: "main", Ran: 480 * milli, Ready: 500 * milli}, "slow-producer", 255 * milli},
		{"sleeps", &Submitter{Thread: "main", Ran: 100 * milli, Apart: 850 * milli}, "", 0},
		{"only submits", &Submitter{Thread: "main", Ran: 200 * milli, Apart: 0}, "fine-grained", 0},
		{"waits for processors that the workers have", &Submitter{Thread: "main", Ran: 30 * milli, Ready: 900 * milli}, "fine-grained", 0},
		{"not known", nil, "fine-grained", 0},
	} {
		p := busyPool(2, span, 5000)
		p.Wall, p.CPU, p.Self = 10*milli, 10*milli, 10*milli
		p.Beside = &Beside{Submitter: c.by}
		for i := range p.Workers {
			p.Workers[i].Wall, p.Workers[i].CPU = 5*milli, 5*milli
		}
		if c.by != nil && c.by.Ready > 0 {
			p.Runnable = 0
		}
		class := UnitClass{Name: "A", Units: 5000, Wall: 10 * milli, OwnWall: micro}
		for range 5000 {
			class.Self.Add(micro)
			p.Gaps.Add(50 * micro)
		}
		found := advise(&UnitFacts{Read: true, Duration: span, CPUs: 2, Pools: []Pool{p}, Classes: []UnitClass{class}})
		if names(found) != c.want {
			t.Errorf("%s: found %q, want %q", c.name, names(found), c.want)
		} else if c.gain != 0 && (found[0].Worth != c.gain || !strings.Contains(found[0].Text, "thread main submits them one by one and computes for ")) {
			t.Errorf("%s: worth %v, want %v: %s", c.name, found[0].Worth, c.gain, found[0].Text)
		}
	}
}
