package advice

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"stackagent/granularity/predict"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/account"
)

// recordedPool has units that one worker computed one after the other, each for 10 ms, on two processors.
func recordedPool() Pool {
	const each = 10 * milli
	p := busyPool(1, 1000*milli, 100)
	setQueue(&p, 500*milli)
	p.Recorded = &predict.Pool{Workers: 1, CPUs: 2, By: units.NotMeasured}
	for i := range units.MonoNs(100) {
		p.Recorded.Units = append(p.Recorded.Units, predict.Unit{Start: i * units.MonoNs(each), End: (i + 1) * units.MonoNs(each), CPU: each})
	}
	return p
}

// TestPredicted: what a replay says is the gain: 1 s of work takes two workers half of it.
func TestPredicted(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(p *Pool)
		want   Predicted
		gain   units.Ns
		says   string
	}{
		{"two workers", func(*Pool) {}, Predicted{1500 * milli, 500 * milli, 1000 * milli, 1000 * milli, ""}, 500 * milli,
			"Give it as many threads as processors. This one ran them one at a time and in order: only if they do not rely on that. Predicted: 500 ms instead of 1.00 s (50 % less), if nothing else needs the processors and the tasks do not wait for one another and a task takes no more CPU time when others run beside it."},
		// The formula takes the other thread's time in sequence: 1 s - (1 s + 0.4 s) / 2.
		{"more than the formula", func(p *Pool) { p.Elsewhere = 400 * milli }, Predicted{1500 * milli, 500 * milli, 1000 * milli, 1000 * milli, ""}, 500 * milli, "500 ms instead of 1.00 s"},
		{"tasks left", func(p *Pool) { p.Left = 10 }, Predicted{0, 0, 1000 * milli, 1000 * milli, "tasks were left when the run ended, so it may get more done instead of ending earlier"}, 0,
			"Give it as many threads as processors. This one ran them one at a time and in order: only if they do not rely on that. Cannot tell what it saves: tasks were left"},
		{"something else takes the time", func(p *Pool) {
			for i := range p.Recorded.Units {
				p.Recorded.Units[i].Ready, p.Recorded.Units[i].CPU = 8*milli, 2*milli
			}
		}, Predicted{0, 0, 1000 * milli, 200 * milli, "a replay of the pool as it was does not take as long as it took"}, 0,
			"Cannot tell what it saves: a replay of the pool as it was does not take as long as it took. It saves less if a task takes more CPU time when others run beside it."},
		{"a lock that does not matter", func(p *Pool) {
			p.Recorded.Units[0].CPU, p.Recorded.Units[0].Locked = 9*milli, milli
			p.Locks = []Lock{{Name: "A", Waited: milli, Any: milli}}
		}, Predicted{1500 * milli, 500 * milli, 1000 * milli, 1000 * milli, ""}, 500 * milli, "500 ms instead of 1.00 s"},
		{"two locks", func(p *Pool) {
			p.Locks = []Lock{{Name: "A", Waited: 60 * milli, Any: 60 * milli}, {Name: "B", Waited: 50 * milli, Any: 50 * milli}}
		}, Predicted{0, 0, 1000 * milli, 1000 * milli, "the units also wait for B, and how long each of them has it is not recorded: it may hold them up instead"}, 0, "Cannot tell what it saves: the units also wait for B"},
		{"summarised", func(p *Pool) { p.Recorded.Missing = true }, Predicted{0, 0, 0, 0, "not all of its units were recorded one by one"}, 0, "Cannot tell what it saves: not all"},
		{"no units", func(p *Pool) { p.Recorded = nil }, Predicted{0, 0, 0, 0, "not all of its units were recorded one by one"}, 0, "Cannot tell what it saves: not all"},
	} {
		p := recordedPool()
		c.change(&p)
		found := advise(&UnitFacts{Read: true, Duration: 2000 * milli, CPUs: 2, Pools: []Pool{p}})
		if names(found) != "pool-too-small" || found[0].Predicted == nil || *found[0].Predicted != c.want || !strings.Contains(found[0].Text, c.says) {
			t.Errorf("%s: %s %+v, want %+v", c.name, names(found), found, c.want)
			continue
		}
		checkGain(t, c.name, &found[0], c.gain, 2000*milli)
	}
}

// checkGain checks what a finding says in JSON that it saves of a session; 0: nothing is said.
func checkGain(t *testing.T, name string, x *Finding, gain, session units.Ns) {
	t.Helper()
	var got struct {
		Predicted Predicted
		Gain      *Gain
	}
	if b, err := json.Marshal(x); err != nil || json.Unmarshal(b, &got) != nil || got.Predicted != *x.Predicted ||
		(got.Gain != nil) != (gain != 0) || gain != 0 && (got.Gain.Ns != gain || got.Gain.Share != float64(gain)/float64(session)) {
		t.Errorf("%s: %s, %v; want the gain %v", name, b, err, gain)
	}
}

// TestTooLittle: an advice that a replay shows to save little is not given, however much its figures leave. That a pool is
// too large is: it costs memory.
func TestTooLittle(t *testing.T) {
	p := recordedPool()
	for i := range p.Recorded.Units { // each is submitted when the one before has ended
		p.Recorded.Units[i].Due = p.Recorded.Units[i].Start
	}
	if found := advise(&UnitFacts{Read: true, Duration: 2000 * milli, CPUs: 2, Pools: []Pool{p}}); len(found) != 0 {
		t.Errorf("%s", found[0].Text)
	}
	large := busyPool(16, 1000*milli, 100)
	large.CPU, large.Runnable, large.Taken = 4000*milli, large.Wall-4000*milli, 0
	large.Recorded = &predict.Pool{Workers: 16, CPUs: 4, By: units.NotMeasured}
	for i := range units.MonoNs(16) { // sixteen at a time on four processors
		large.Recorded.Units = append(large.Recorded.Units, predict.Unit{End: units.MonoNs(1000 * milli), CPU: 250 * milli, Ready: 750 * milli, Thread: uint32(i)})
	}
	found := advise(&UnitFacts{Read: true, Duration: 2000 * milli, CPUs: 4, Pools: []Pool{large}})
	if names(found) != "pool-too-large" || found[0].Gain == nil || found[0].Gain.Ns != 0 || !strings.HasSuffix(found[0].Text, "Not if its tasks wait for one another: with fewer threads they can wait for ever. Predicted: 1.00 s, as before.") {
		t.Errorf("%+v", found)
	}
}

// TestReplayer: what advice about the whole session saves is what its replay says.
func TestReplayer(t *testing.T) {
	for _, c := range []struct {
		name string
		with Replayer
		gain units.Ns
		says string // "": there is no advice
	}{
		{"none", nil, 0, "Cannot tell what it saves: the session was not replayed."},
		{"cannot", replayer{err: errors.New("threads are missing")}, 0, "Cannot tell what it saves: threads are missing."},
		{"saves", replayer{takes: 800 * milli}, 200 * milli, "Predicted: 800 ms instead of 1.00 s (20 % less), if nothing needs these collections."},
		{"saves nothing", replayer{takes: 990 * milli}, 0, ""},
	} {
		f := &Facts{Duration: 1000 * milli, CPUs: 2, Replayer: c.with, Units: &UnitFacts{Duration: 1000 * milli, CPUs: 2,
			Collections: &Collections{Stopped: 300 * milli, Explicit: 20, ExplicitTime: 300 * milli}}}
		f.GC.Total = 300 * milli
		found := slices.DeleteFunc(Find(f), func(x Finding) bool { return x.Kind != Advice })
		if c.says == "" {
			if len(found) != 0 {
				t.Errorf("%s: %s", c.name, found[0].Text)
			}
			continue
		}
		if names(found) != "explicit-collections" || !strings.HasSuffix(found[0].Text, c.says) {
			t.Errorf("%s: %+v", c.name, found)
			continue
		}
		checkGain(t, c.name, &found[0], c.gain, 1000*milli)
	}
}

// TestPinsReplayed: pins that a replay shows to cost nothing are no advice, and do not explain what else is wrong with the pool.
func TestPinsReplayed(t *testing.T) {
	for _, c := range []struct {
		takes units.Ns
		want  string
	}{{500 * milli, "pinned-threads"}, {990 * milli, "load-imbalance"}} {
		p := busyPool(2, 1000*milli, 4)
		p.Threads, p.Virtual = true, true
		p.Workers[1].CPU, p.CPU, p.Longest, p.Heaviest = 200*milli, 1200*milli, 300*milli, 300*milli
		f := &Facts{Duration: 1000 * milli, CPUs: 2, Replayer: unpinned(c.takes), Units: &UnitFacts{Read: true, Duration: 1000 * milli, CPUs: 2, Virtual: pinning(), Pools: []Pool{p}}}
		if found := slices.DeleteFunc(Find(f), func(x Finding) bool { return x.Kind != Advice }); names(found) != c.want {
			t.Errorf("%v: %s, want %s", c.takes, names(found), c.want)
		}
	}
}

// unpinned is how long a session takes without pins.
type unpinned units.Ns

func (unpinned) WithoutCollections(reason string) (units.Ns, error) {
	return 0, errors.New("asked for " + reason)
}
func (n unpinned) Unpinned() (units.Ns, error)      { return units.Ns(n), nil }
func (unpinned) Account() (*account.Session, error) { return &account.Session{}, nil }

// replayer answers one question.
type replayer struct {
	takes units.Ns
	err   error
}

func (r replayer) WithoutCollections(reason string) (units.Ns, error) {
	if reason != "System.gc()" {
		return 0, errors.New("asked for " + reason)
	}
	return r.takes, r.err
}

func (replayer) Unpinned() (units.Ns, error) { return 0, errors.New("asked for pins") }

func (r replayer) Account() (*account.Session, error) { return &account.Session{}, r.err }
