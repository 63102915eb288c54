package evidence

import (
	"fmt"
	"slices"
	"testing"

	"stackagent/granularity/predict"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

func TestLockKind(t *testing.T) {
	const juc = "java.util.concurrent."
	for _, c := range []struct {
		kind, class, lock string
		held              bool
		want              advice.LockKind
		name              string
	}{
		{"monitor", "app.State", "", false, advice.Monitor, "app.State"},
		{"notify", "app.State", "", false, "", ""},
		{"sleep", "", "", false, "", ""},
		{"park", juc + "locks.ReentrantLock$NonfairSync", "", false, advice.Exclusive, "ReentrantLock"},
		{"park", juc + "locks.ReentrantReadWriteLock$FairSync", "", true, advice.ReadWrite, "ReentrantReadWriteLock"},
		{"park", juc + "locks.StampedLock", "", false, advice.ReadWrite, "StampedLock"},
		{"park", juc + "Semaphore$FairSync", "", false, advice.Permits, "Semaphore"},
		{"park", "app.Mutex$Sync", "", true, advice.Exclusive, "app.Mutex$Sync"},
		{"park", juc + "CountDownLatch$Sync", "", false, "", ""},
		{"park", juc + "FutureTask", "", false, "", ""},
		{"park", juc + "locks.AbstractQueuedSynchronizer$ConditionObject", "", true, "", ""},
		{"park", juc + "locks.AbstractQueuedSynchronizer$ConditionObject", juc + "locks.ReentrantLock$NonfairSync", false, "", ""},
		{"park", juc + "SynchronousQueue$TransferStack", "", false, "", ""},
		{"park", "", "", false, "", ""},
	} {
		got := lockKind(c.kind, store.Blocker{Class: c.class, Lock: c.lock}, c.held)
		if got != c.want || got != "" && lockName(c.class) != c.name {
			t.Errorf("%s on %q: %q %q, want %q %q", c.kind, c.class, got, lockName(c.class), c.want, c.name)
		}
	}
}

// TestLockWaits: thread 2 waits from 10 to 40 for a permit that thread 1 has; thread 1 got it at 20, after a wait of
// its own, and sleeps from 25 to 35: it is known who had it from 20 to 35, when the unit of thread 2 ends, of which that thread slept 10. Thread 3,
// which runs no units, waits as well, and thread 1 waits for a signal of thread 9, which never waits for it.
func TestLockWaits(t *testing.T) {
	p := &poolSum{recorded: recorded{list: []predict.Unit{{Start: 0, End: 100, Thread: 1}, {Start: 5, End: 35, Thread: 2}}, classes: []uint32{7, 8}}}
	wait := func(thread uint32, from, to int64, by, object uint32) blocked {
		return blocked{thread: thread, from: units.MonoNs(from), to: units.MonoNs(to), by: by, object: object, class: 1, kind: advice.Permits}
	}
	sleep := blocked{thread: 1, from: 25, to: 35, class: sleeps}
	a := &advisor{s: &session.Session{}, pools: map[string]*poolSum{"p": p}, names: map[uint32]string{7: "A", 8: "B"}}
	v := &lockWaits{a: a, blockers: map[uint32]store.Blocker{1: {Class: "java.util.concurrent.Semaphore$NonfairSync"}}, units: map[uint32][]placed{},
		users:  map[uint32]map[uint32]bool{50: {1: true, 2: true, 3: true}, 60: {1: true}},
		groups: map[*poolSum]map[lockKey]*lockSum{},
		waits:  map[uint32][]blocked{1: {wait(1, 8, 20, 2, 50), sleep, wait(1, 60, 70, 9, 60)}, 2: {wait(2, 10, 40, 1, 50)}, 3: {wait(3, 0, 90, 1, 50)}}}
	v.sum()
	// Thread 2's unit ended at 35, so that the last 5 of its wait are not the unit's; thread 1 waited 12 before, and who had it then
	// is not known: thread 2 waited itself when that wait ended.
	want := advice.Lock{Kind: advice.Permits, Name: "Semaphore", Unit: "B", Locks: 1, Waits: 2, Waited: 37, Most: 25, Any: 27,
		Holder: advice.Holder{Unit: "A", Known: 15, Waited: 10, For: "sleep"}}
	if len(p.Locks) != 1 || p.Locks[0] != want {
		t.Errorf("%+v, want %+v", p.Locks, want)
	}
	if p.recorded.list[0].Locked != 12 || p.recorded.list[1].Locked != 25 {
		t.Errorf("%+v", p.recorded.list)
	}
}

// TestHolderLater: a thread may begin to hold a lock while another one waits for it, without waiting itself. Thread 2 waits from 10 to 40,
// and thread 1, which ends that, runs a unit from 15 to 38 and a short one until 39: the first had the lock from 15 at the earliest. Nothing is known if it
// ran no unit meanwhile, or if it had the lock when the wait began: outside of its units then.
func TestHolderLater(t *testing.T) {
	of := func(thread uint32, from, to units.MonoNs) predict.Unit {
		return predict.Unit{Start: from, End: to, Thread: thread}
	}
	for _, c := range []struct {
		name     string
		of1, too predict.Unit // units of thread 1, of the classes A and B
		later    bool         // it need not have had the lock when the wait began
		want     advice.Holder
	}{
		{"began later", of(1, 15, 38), of(1, 38, 39), true, advice.Holder{Unit: "A", Known: 23}},
		{"had it", of(1, 5, 41), of(1, 41, 42), false, advice.Holder{Unit: "A", Known: 30}},
		{"had it outside of units", of(1, 15, 38), of(1, 38, 39), false, advice.Holder{}},
		{"no unit", of(1, 0, 9), of(1, 41, 42), true, advice.Holder{}},
	} {
		p := &poolSum{recorded: recorded{list: []predict.Unit{c.of1, c.too, of(2, 0, 45)}, classes: []uint32{7, 8, 8}}}
		v := &lockWaits{a: &advisor{s: &session.Session{}, pools: map[string]*poolSum{"p": p}, names: map[uint32]string{7: "A", 8: "B"}},
			blockers: map[uint32]store.Blocker{1: {Class: "app.State"}}, units: map[uint32][]placed{}, groups: map[*poolSum]map[lockKey]*lockSum{},
			waits: map[uint32][]blocked{2: {{thread: 2, from: 10, to: 40, by: 1, later: c.later, object: 50, class: 1, kind: advice.Monitor}}}}
		v.sum()
		if len(p.Locks) != 1 || p.Locks[0].Holder != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, p.Locks, c.want)
		}
	}
}

// TestHolderOfClass: what the holder does meanwhile is of the units that are named. Thread 1 has the lock for 30, and sleeps for 10
// of them; thread 3, in a unit of another class, has it for 20, all of which it sleeps.
func TestHolderOfClass(t *testing.T) {
	unit := func(thread uint32) predict.Unit { return predict.Unit{Start: 0, End: 100, Thread: thread} }
	p := &poolSum{recorded: recorded{list: []predict.Unit{unit(1), unit(2), unit(3)}, classes: []uint32{7, 8, 8}}}
	wait := func(from, to units.MonoNs, by uint32) blocked {
		return blocked{thread: 2, from: from, to: to, by: by, object: 50, class: 1, kind: advice.Monitor}
	}
	sleep := func(thread uint32, from, to units.MonoNs) blocked {
		return blocked{thread: thread, from: from, to: to, class: sleeps}
	}
	v := &lockWaits{a: &advisor{s: &session.Session{}, pools: map[string]*poolSum{"p": p}, names: map[uint32]string{7: "A", 8: "B"}},
		blockers: map[uint32]store.Blocker{1: {Class: "app.State"}}, units: map[uint32][]placed{}, groups: map[*poolSum]map[lockKey]*lockSum{},
		waits: map[uint32][]blocked{1: {sleep(1, 10, 20)}, 2: {wait(0, 30, 1), wait(40, 60, 3)}, 3: {sleep(3, 40, 60)}}}
	v.sum()
	if want := (advice.Holder{Unit: "A", Known: 30, Waited: 10, For: "sleep"}); len(p.Locks) != 1 || p.Locks[0].Holder != want {
		t.Errorf("%+v, want %+v", p.Locks, want)
	}
}

// TestLockLines: the JVM may say that compiled code waits for a monitor on the line after the one of the synchronized block. It is one
// lock; calls of acquire on two lines are two.
func TestLockLines(t *testing.T) {
	w, err := store.OpenWriter(t.TempDir(), "s", "s")
	if err != nil {
		t.Fatal(err)
	}
	err = w.Commit(&store.Part{Range: store.Range{From: 1, To: 1}, Sites: []store.Site{{ID: 1, Class: "a.Db", Method: "put", Line: 42}, {ID: 2, Class: "a.Db", Method: "put", Line: 41}}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.Open(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	p := &poolSum{recorded: recorded{list: []predict.Unit{{Start: 0, End: 100, Thread: 1}}, classes: []uint32{7}}}
	wait := func(from, to int64, kind advice.LockKind, site uint32) blocked {
		return blocked{thread: 1, from: units.MonoNs(from), to: units.MonoNs(to), object: 50, class: 1, kind: kind, site: site}
	}
	v := &lockWaits{a: &advisor{s: s, pools: map[string]*poolSum{"p": p}, names: map[uint32]string{7: "A"}}, blockers: map[uint32]store.Blocker{1: {Class: "a.Log"}},
		units: map[uint32][]placed{}, groups: map[*poolSum]map[lockKey]*lockSum{},
		waits: map[uint32][]blocked{1: {wait(0, 10, advice.Monitor, 1), wait(20, 25, advice.Monitor, 2), wait(30, 33, advice.Exclusive, 1), wait(40, 42, advice.Exclusive, 2)}}}
	v.sum()
	var got []string
	for _, l := range p.Locks {
		got = append(got, fmt.Sprint(l.Kind, " ", l.Site, " ", l.Waits, " ", int64(l.Waited)))
	}
	if want := []string{"monitor a.Db.put:41 2 15", "exclusive-lock a.Db.put:42 1 3", "exclusive-lock a.Db.put:41 1 2"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestHandedWaits: threads 1 and 2 wait for what a queue hands over; the unit of thread 1 ends a wait of thread 2, a time limit ends
// another one, and thread 9, which has no unit of the pool, the third. They are no locks.
func TestHandedWaits(t *testing.T) {
	p := &poolSum{recorded: recorded{list: []predict.Unit{{Start: 0, End: 100, Thread: 1}, {Start: 0, End: 100, Thread: 2}}, classes: []uint32{7, 7}}}
	wait := func(thread uint32, from, to units.MonoNs, by uint32) blocked {
		return blocked{thread: thread, from: from, to: to, by: by, object: 50, class: 1, handed: true, limit: by == 0}
	}
	v := &lockWaits{a: &advisor{s: &session.Session{}, pools: map[string]*poolSum{"p": p}, names: map[uint32]string{7: "A"}},
		blockers: map[uint32]store.Blocker{1: {Class: "java.util.concurrent.SynchronousQueue$TransferStack"}}, units: map[uint32][]placed{}, groups: map[*poolSum]map[lockKey]*lockSum{},
		waits: map[uint32][]blocked{1: {wait(1, 0, 20, 0)}, 2: {wait(2, 0, 30, 1), wait(2, 40, 45, 9)}}}
	v.sum()
	want := advice.Lock{Kind: advice.Handed, Name: "SynchronousQueue", Unit: "A", Locks: 1, Waits: 3, Waited: 55, Most: 30, Any: 35, Given: 1, Limited: 1}
	if len(p.Locks) != 0 || len(p.Handed) != 1 || p.Handed[0] != want {
		t.Errorf("%+v, want %+v", p.Handed, want)
	}
	if p.recorded.list[0].Locked != 0 {
		t.Error("a replay takes it for a lock")
	}
}

// TestQueuedAtLimit: a unit submits four tasks to its pool at 10, and waits for futures up to a time limit, from 20 to 50. The first
// is never run, the unit runs the second itself at 60, another worker the third at 30 and the fourth at 15.
func TestQueuedAtLimit(t *testing.T) {
	at := func(start, end units.MonoNs, thread uint32) part {
		return part{at: 10, start: start, end: end, thread: thread, pool: "p", by: 1}
	}
	for _, c := range []struct {
		name                  string
		part                  part
		limits                []piece
		waited, gaveUp, parts int64
	}{
		{"never run", at(0, 0, 0), []piece{{20, 50}}, 30, 1, 1},
		{"run by the unit", at(60, 70, 1), []piece{{20, 50}}, 30, 1, 1},
		{"begun meanwhile, and not done", at(30, 200, 2), []piece{{20, 50}}, 10, 1, 1},
		{"begun before", at(15, 200, 2), []piece{{20, 50}}, 0, 0, 0},
		{"no time limit", at(0, 0, 0), nil, 0, 0, 0},
		{"the limit of an earlier unit", at(0, 0, 0), []piece{{-9, -5}}, 0, 0, 0},
		{"done by another worker", at(40, 45, 2), []piece{{20, 50}}, 30, 0, 1},
	} {
		v := &selfWaits{parts: []part{c.part}, waiting: []waitingUnit{{from: 0, to: 100, cpu: 5, pool: "p", thread: 1, parts: []int{0}}}, gaveUp: map[uint32][]piece{1: c.limits}}
		got := selfSum{}
		if s := v.byPool(map[string]string{"p": "p"})["p"]; s != nil {
			got = *s
		}
		if got.GaveUp > 0 && got.CPU != 0 {
			t.Errorf("%s: waiting for a processor, as far as %d of CPU time wait for one, is taken out of recorded waits", c.name, got.CPU)
		}
		if int64(got.Time) != c.waited || got.GaveUp != c.gaveUp || got.Parts != c.parts {
			t.Errorf("%s: waited %d, gave up %d of %d; want %d, %d of %d", c.name, got.Time, got.GaveUp, got.Parts, c.waited, c.gaveUp, c.parts)
		}
	}
}

// TestHolderSteps: very many threads wait for one that has the lock all the time and waits in as many of its units as there are
// waiting threads. It is still known of some waits who had it, and that takes steps in proportion to the waits.
func TestHolderSteps(t *testing.T) {
	const waiters, of = 20_000, 20_000
	p := &poolSum{}
	a := &advisor{s: &session.Session{}, pools: map[string]*poolSum{"p": p}, names: map[uint32]string{7: "A", 8: "B"}}
	v := &lockWaits{a: a, blockers: map[uint32]store.Blocker{1: {Class: "java.util.concurrent.locks.ReentrantLock$NonfairSync"}}, units: map[uint32][]placed{},
		users: map[uint32]map[uint32]bool{}, groups: map[*poolSum]map[lockKey]*lockSum{}, waits: map[uint32][]blocked{}}
	unit := func(thread, class uint32, from, to units.MonoNs) {
		p.recorded.list, p.recorded.classes = append(p.recorded.list, predict.Unit{Start: from, End: to, Thread: thread}), append(p.recorded.classes, class)
	}
	for i := range units.MonoNs(of) {
		unit(1, 7, 10*i+5, 10*i+14)
		v.waits[1] = append(v.waits[1], blocked{thread: 1, from: 10*i + 6, to: 10*i + 9, class: sleeps})
	}
	for thread := uint32(2); thread < 2+waiters; thread++ {
		unit(thread, 8, 0, 10*of)
		v.waits[thread] = []blocked{{thread: thread, from: 1, to: 10 * of, by: 1, later: true, object: 50, class: 1, kind: advice.Exclusive}}
	}
	v.sum()
	most := leastSteps + stepsEach*(waiters+of)
	if taken := most - v.steps; taken < of || taken > most+2*of {
		t.Errorf("%d steps for %d waits, want at most %d", taken, waiters, most+2*of)
	}
	l := p.Locks[0]
	if known := int64(l.Holder.Known); l.Waits != waiters || l.Holder.Unit != "A" || known <= 0 || known > int64(l.Waited) {
		t.Errorf("%+v", l)
	}
}
