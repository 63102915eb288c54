package advice

import (
	"strings"
	"testing"

	"stackagent/granularity/predict"
	"stackagent/internal/units"
)

// served is a pool of 16 workers that are inside requests for half of a second, 8 s together, 100 ms of CPU time.
func served(locks ...Lock) Pool {
	p := busyPool(16, 1000*milli, 800)
	p.Wall, p.CPU, p.Self, p.Heaviest, p.Runnable = 8000*milli, 100*milli, 100*milli, milli, 0
	for i := range p.Workers {
		p.Workers[i].Wall, p.Workers[i].CPU = 500*milli, 6*milli
	}
	p.Response, p.Locks, p.Foreign = p.Wall, locks, true
	return p
}

func waitedFor(kind LockKind, name string, waited units.Ns) Lock {
	return Lock{Kind: kind, Name: name, Unit: "sun.net.httpserver.ServerImpl$Exchange", Site: "Server.handle(Server.java:36)", Waits: 800, Waited: waited, Most: 20 * milli, Any: 900 * milli}
}

// TestContendedLock: what requests wait for a lock counts, not how busy the pool is, or whose tasks they are.
func TestContendedLock(t *testing.T) {
	semaphore := waitedFor(Permits, "Semaphore", 6000*milli)
	held := waitedFor(Monitor, "Server$State", 6000*milli)
	held.Holder = Holder{Unit: "app.Audit", Known: 5000 * milli, Waited: 4000 * milli, For: "sleep", Site: "Audit.write(Audit.java:7)"}
	queued := served(waitedFor(Exclusive, "ReentrantLock", 2000*milli))
	queued.Response = 20_000 * milli // most of it in the queue
	waiting := served(waitedFor(Exclusive, "ReentrantLock", 2000*milli))
	ready := served(semaphore)
	ready.Runnable = 1600 * milli
	for _, c := range []struct {
		name string
		pool Pool
		want string
		gain units.Ns
		says []string
	}{
		// 8 s in requests less the waits are 2 s, 125 ms a worker.
		{"semaphore", served(semaphore), "contended-lock", 875 * milli, []string{"Units of sun.net.httpserver.ServerImpl$Exchange on com.acme.Pool#1 wait for a permit of a Semaphore at Server.handle(Server.java:36) for 75 % of their response time",
			"800 waits, 6.00 s in total, the longest 20.0 ms", "more permits"}},
		// They also waited for processors 100 ms each, which leaves less than the CPU time on two processors.
		{"beside others", ready, "contended-lock", (1000 - 100 - 50) * milli, nil},
		{"monitor", served(waitedFor(Monitor, "Server$State", 6000*milli)), "contended-lock", 875 * milli, []string{"the monitor of a Server$State", "Hold it for less of the work"}},
		{"its holder sleeps", served(held), "contended-lock", 875 * milli, []string{"Units of app.Audit hold it for 83 % of that time, and sleep for 80 % of it (at Audit.write(Audit.java:7))", "Do not sleep"}},
		{"the longest of two", served(waitedFor(Monitor, "A", 2000*milli), waitedFor(ReadWrite, "ReentrantReadWriteLock", 3000*milli)), "contended-lock", 1000*milli - 5000*milli/16, []string{"a ReentrantReadWriteLock"}},
		{"a fourth of the time in requests", waiting, "contended-lock", 1000*milli - 6000*milli/16, []string{"25 % of their response time"}},
		{"a tenth of the response time", queued, "", 0, nil},
		{"little", served(waitedFor(Monitor, "A", 1500*milli)), "", 0, nil},
		{"no lock", served(), "", 0, nil},
	} {
		found := advise(&UnitFacts{Read: true, Duration: 1000 * milli, CPUs: 2, Pools: []Pool{c.pool}})
		if names(found) != c.want {
			t.Errorf("%s: found %q, want %q", c.name, names(found), c.want)
			continue
		}
		if c.want != "" && found[0].Worth != c.gain {
			t.Errorf("%s: worth %v, want %v; %s", c.name, found[0].Worth, c.gain, found[0].Text())
		}
		for _, says := range c.says {
			if !strings.Contains(found[0].Text(), says) {
				t.Errorf("%s: %s\nwant %q in it", c.name, found[0].Text(), says)
			}
		}
	}
}

// TestHolderOfMost: who has a lock is said if it is known for most of what was waited. Of 9.6 ms of 2,793 it is not.
func TestHolderOfMost(t *testing.T) {
	for known, says := range map[units.Ns]bool{9_600_000: false, 1396 * milli: false, 1397 * milli: true} {
		l := waitedFor(Monitor, "Main$Frame", 2793*milli)
		l.Holder = Holder{Unit: "Main$Frame", Known: known, Waited: known, For: "sleep"}
		if says != strings.Contains(l.held(), "Units of Main$Frame hold it for 50 % of that time, and sleep for 100 % of it.") || says != strings.Contains(l.try(), "Do not sleep") || !says && l.held() != "" {
			t.Errorf("known for %v: %q %q", known, l.held(), l.try())
		}
	}
}

// TestContendedOnce: a lock that makes all tasks of a pool take turns is one problem, by the name that it has.
func TestContendedOnce(t *testing.T) {
	const span = 1000 * milli
	for _, c := range []struct {
		name   string
		waited units.Ns
		says   bool
	}{{"most of the waits", 2700 * milli, true}, {"few of the waits", 300 * milli, false}} {
		p := inTurns(950*milli, 0)
		p.Response = p.Wall
		p.Locks = []Lock{waitedFor(Monitor, "Main$Locked", c.waited)}
		found := advise(&UnitFacts{Read: true, Duration: span, CPUs: 4, Pools: []Pool{p}})
		if names(found) != "one-at-a-time" {
			t.Errorf("%s: found %q", c.name, names(found))
		} else if text := found[0].Text(); strings.Contains(text, "for the monitor of a Main$Locked at Server.handle(Server.java:36)") != c.says {
			t.Errorf("%s: %s", c.name, text)
		}
	}
}

// TestSecondLock: how long units have a lock is not recorded, so nothing says what a second one makes of the first
// one's gain.
func TestSecondLock(t *testing.T) {
	for _, c := range []struct {
		second string
		any    units.Ns // during which units waited for it, of 1 s
		tells  bool
	}{{"Server$State", 60 * milli, false}, {"Server$State", 40 * milli, true}, {"Semaphore", 900 * milli, true}} {
		second := waitedFor(Monitor, c.second, 1000*milli)
		second.Any = c.any
		p := served(waitedFor(Permits, "Semaphore", 6000*milli), second)
		p.Recorded = &predict.Pool{Workers: 16, CPUs: 2, By: units.NotMeasured}
		for i := range units.MonoNs(800) {
			start := i % 50 * units.MonoNs(20*milli)
			p.Recorded.Units = append(p.Recorded.Units, predict.Unit{Start: start, End: start + units.MonoNs(20*milli), CPU: milli / 8})
		}
		found := advise(&UnitFacts{Read: true, Duration: 1000 * milli, CPUs: 2, Pools: []Pool{p}})
		if names(found) != "contended-lock" || found[0].Predicted == nil {
			t.Fatalf("%+v: found %q", c, names(found))
		}
		if refused := strings.Contains(found[0].Predicted.Why, "the units also wait for "+c.second); refused == c.tells {
			t.Errorf("%+v: %+v", c, *found[0].Predicted)
		}
	}
}

// TestInTurnSays: units of which four have a permit at a time wait for one another, and do not run one at a time.
func TestInTurnSays(t *testing.T) {
	e := &InTurn{PoolName: PoolName{Label: "pool"}, Units: 160, Workers: 32, Wall: 20 * milli, Mutual: 10 * milli}
	for _, c := range []struct {
		lock *Lock
		says string
	}{
		{nil, "until another of them went on, as for a lock, or a connection of which there are few, that another unit has while it waits itself. "},
		{&Lock{Kind: Permits, Name: "Semaphore", Site: "Pool.get:4"}, "until another of them went on, for a permit of a Semaphore at Pool.get:4. "},
		{&Lock{Kind: Monitor, Name: "java.lang.Class", Site: "Log.info:2"}, "until another of them went on, for the monitor of a class (static synchronized) at Log.info:2. "},
	} {
		e.Lock = c.lock
		if got := (&Finding{Evidence: e}).Text(); !strings.HasPrefix(got, "The 160 units of pool wait for one another: ") || !strings.Contains(got, c.says) {
			t.Errorf("%q, want %q in it", got, c.says)
		}
	}
}

// TestHanded: units that mostly wait for what others of them give back get no advice about more threads, and the time is that of the
// waits, however many ended by their time limit. If none of them gives it back, or it is the smaller part, nothing shows that.
func TestHanded(t *testing.T) {
	const span = 1000 * milli
	for _, c := range []struct {
		name   string
		waited units.Ns // of 4 s
		given  int64
		mutual units.Ns // by the scheduling record
		want   string
	}{
		{"most", 3900 * milli, 3, 0, "one-at-a-time"},
		{"half", 2000 * milli, 1, 0, "one-at-a-time"},
		{"nobody gives it back", 3900 * milli, 0, 0, ""},
		{"less than half", 1900 * milli, 3, 0, ""},
		{"hardly any", 700 * milli, 3, 0, "waiting-tasks"},
	} {
		p := busyPool(4, span, 100)
		setQueue(&p, 500*milli)
		p.CPU, p.Runnable, p.Beside = 100*milli, 0, &Beside{Mutual: c.mutual}
		p.Handed = []Lock{{Kind: Handed, Name: "SynchronousQueue", Site: "Bag.borrow:151", Unit: "Main$Order", Waits: 20, Waited: c.waited, Given: c.given, Limited: 13}}
		found := advise(&UnitFacts{Read: true, Duration: span, CPUs: 2, Pools: []Pool{p}})
		if names(found) != c.want {
			t.Errorf("%s: found %q, want %q", c.name, names(found), c.want)
			continue
		}
		if c.want == "one-at-a-time" && (!strings.Contains(found[0].Text(), "waited "+units.FormatNs(c.waited)+" for what a SynchronousQueue hands over at Bag.borrow:151: 20 waits, of which another of them ended "+units.FormatCount(c.given)+", and the time limit 13.") ||
			strings.Contains(found[0].Text(), "More threads would wait as well")) {
			t.Errorf("%s: %s", c.name, found[0].Text())
		}
	}
}

// TestMoreThreads: that more threads would wait as well is said of a lock, and of nothing less.
func TestMoreThreads(t *testing.T) {
	e := &InTurn{PoolName: PoolName{Label: "pool"}, Units: 16, Workers: 2, Wall: 20 * milli, Mutual: 10 * milli}
	if text := (&Finding{Evidence: e}).Text(); strings.Contains(text, "More threads") || !strings.Contains(text, "waited at least 10.0 ms") {
		t.Error(text)
	}
	e.Lock = &Lock{Kind: Monitor, Name: "Main$Locked", Waited: 18 * milli}
	if text := (&Finding{Evidence: e}).Text(); !strings.Contains(text, "More threads would wait as well") || !strings.Contains(text, "waited 18.0 ms until") {
		t.Error(text)
	}
}
