package wait

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"stackagent/granularity/waiting"
	"stackagent/hpc/sched"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

const (
	ms = 1_000_000
	t0 = 1_000 * ms // the begin of the session, which lasts 100 ms
)

// at is a moment, in milliseconds since the begin.
func at(n units.MonoNs) units.MonoNs { return t0 + n*ms }

// known is a session of three requests and a class of fast tasks. On pool-1-thread-1 (thread 2) a request of 10..40 waits for a
// semaphore, 12..22, and a monitor, 25..31, with a pause of the collector inside, 28..30; then the worker has nothing to do. On
// pool-1-thread-2 (thread 3) one of 5..45 waits for a lock that thread 2 owns, 20..30, and sleeps, 32..37. On a virtual thread one of
// 50..80 waits for a socket, 55..75, the last 5 for a carrier. 7 short waits for the semaphore are summed up.
func known() *store.Part {
	sem, sync, condition := "java.util.concurrent.Semaphore$NonfairSync", "java.util.concurrent.locks.ReentrantLock$NonfairSync", "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject"
	request := func(id uint64, thread uint32, from, to units.MonoNs, cpu units.Ns, flags wire.ExecutionFlags) store.Execution {
		wall := units.Ns(to-from) * ms
		return store.Execution{TaskID: id, Class: 1, Thread: thread, Flags: uint16(flags), StartNs: at(from), EndNs: at(to), SubmittedNs: at(from - 5),
			WallNs: wall, SelfWallNs: wall, CPUNs: cpu * ms, SelfCPUNs: cpu * ms}
	}
	waited := func(kind string, thread, blocker uint32, from, to units.MonoNs) store.Wait {
		return store.Wait{Kind: kind, Thread: thread, Blocker: blocker, StartNs: int64(at(from)), EndNs: int64(at(to)), Within: 1}
	}
	semaphore, monitor, lock, nap := waited("park", 2, 1, 12, 22), waited("monitor", 2, 2, 25, 31), waited("park", 3, 3, 20, 30), waited("sleep", 3, 0, 32, 37)
	semaphore.Waker, semaphore.Site, lock.Holder, lock.Waker, nap.Flags = 3, 1, 2, 2, uint32(wire.WaitTimed)
	idle, socket, ready := waited("park", 2, 4, 45, 95), waited("io", 4, 0, 55, 75), units.Ns(5*ms)
	idle.Within, idle.Flags, socket.ReadyNs = 2, uint32(wire.WaitOpen), &ready
	collector := waited("park", 5, 1, 0, 99) // of a thread of the JVM
	thread := func(id uint32, os int32, name string, virtual bool) store.Thread {
		start := int64(t0)
		return store.Thread{ID: id, JavaID: int64(id), OSID: os, Name: name, Group: "main", StartNs: &start, Virtual: virtual}
	}
	vm := thread(5, 105, "Reference Handler", false)
	vm.Group = "system"
	end := int64(at(90))
	virtual := thread(4, 0, "", true)
	virtual.EndNs = &end
	return &store.Part{
		Range: store.Range{From: 1, To: 1},
		Classes: []store.Class{{ID: 1, Name: "a.Request", Kinds: "runnable"}, {ID: 2, Name: "java.util.concurrent.ThreadPoolExecutor$Worker", Kinds: "runnable+jdk"},
			{ID: 3, Name: "a.Fast", Kinds: "runnable"}},
		Threads:    []store.Thread{thread(2, 102, "pool-1-thread-1", false), thread(3, 103, "pool-1-thread-2", false), virtual, vm},
		Sites:      []store.Site{{ID: 1, Class: "a.Request", Method: "run", File: "Request.java", Line: 9}},
		Executions: []store.Execution{request(10, 2, 10, 40, 8, 0), request(11, 3, 5, 45, 20, 0), request(12, 4, 50, 80, 5, wire.Virtual)},
		Pauses:     []store.Pause{{StartNs: int64(at(28)), EndNs: int64(at(30))}},
		Waits:      []store.Wait{semaphore, monitor, lock, nap, idle, socket, collector},
		WaitSums: []store.WaitSum{{Thread: 3, Kind: "park", Blocker: 1, Within: 1, Waits: 7, WaitedNs: 2 * ms, MaxNs: ms},
			{Kind: "sleep", Waits: 3, WaitedNs: 4 * ms, MaxNs: 2 * ms}, {Thread: 2, Kind: "monitor", Blocker: 2, Within: 3, Waits: 50, WaitedNs: 3 * ms, MaxNs: ms}},
		Blockers:  []store.Blocker{{ID: 1, Class: sem}, {ID: 2, Class: "a.Db"}, {ID: 3, Class: sync}, {ID: 4, Class: condition, Lock: sync}},
		Summaries: []store.Summary{{ID: 16384, Class: 3, Thread: 2, FromNs: at(40), ToNs: at(60), Executions: 100}},
		Measures: []store.Measure{{Summary: 16384, Metric: "wall", Count: 100, SumNs: 10 * ms, MinNs: 1, MaxNs: ms},
			{Summary: 16384, Metric: "cpu", Count: 100, SumNs: 4 * ms, MinNs: 1, MaxNs: ms}},
	}
}

func analyseIn(t *testing.T, p *store.Part, prepare func(dir string)) *Analysis {
	t.Helper()
	return analyseEnded(t, p, store.EndedExit, prepare)
}

func analyseEnded(t *testing.T, p *store.Part, ended string, prepare func(dir string)) *Analysis {
	t.Helper()
	a, err := Analyse(openEnded(t, p, ended, prepare))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func openIn(t *testing.T, p *store.Part, prepare func(dir string)) *session.Session {
	t.Helper()
	return openEnded(t, p, store.EndedExit, prepare)
}

func openEnded(t *testing.T, p *store.Part, ended string, prepare func(dir string)) *session.Session {
	t.Helper()
	w, err := store.OpenWriter(t.TempDir(), "s", "s")
	if err != nil {
		t.Fatal(err)
	}
	w.Manifest.StartNs, w.Manifest.EndNs, w.Manifest.Ended = t0, at(100), ended
	if err := w.Commit(p); err != nil {
		t.Fatal(err)
	}
	if prepare != nil {
		prepare(w.Dir())
	}
	s, err := session.Open(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func rowsOf(rows []*Row) (out []string) {
	first := func(s Shares) string {
		if l := s.List(); len(l) > 0 {
			return l[0].Name
		}
		return "-"
	}
	for _, r := range rows {
		out = append(out, fmt.Sprintf("%s %s %q: %d %d %d, by %s, held by %s", r.For, r.Class, r.Site, r.Waits, r.WaitedNs/ms, r.MaxNs/ms, first(r.Wakers), first(r.Holders)))
	}
	return out
}

func same(t *testing.T, got, want []string) {
	t.Helper()
	want = slices.Sorted(slices.Values(want))
	if got = slices.Sorted(slices.Values(got)); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestRows(t *testing.T) {
	a := analyseIn(t, known(), nil)
	want := []string{
		`synchronizer Semaphore "": 8 12 10, by a.Request, held by -`,
		`synchronizer ReentrantLock "": 1 10 10, by a.Request, held by a.Request`,
		`monitor a.Db "": 51 9 6, by -, held by -`,
		`sleep Thread.sleep "": 4 9 5, by -, held by -`,
		`io socket, pipe or file "": 1 15 15, by -, held by -`,
		`carrier carrier of virtual threads "": 1 5 5, by -, held by -`,
		`gc pause "": 1 2 2, by -, held by -`,
		`queue java.util.concurrent.ThreadPoolExecutor$Worker "": 1 50 50, by -, held by -`,
	}
	rows := a.Rows(false)
	if last := rows[len(rows)-1]; last.For != ForQueue || last.Open != 1 || IdleOf(rows) != (Idle{1, 50 * ms}) {
		t.Errorf("the last row: %+v", last)
	}
	same(t, rowsOf(rows), want)
	want[0] = `synchronizer Semaphore "": 7 2 1, by -, held by -`
	same(t, rowsOf(a.Rows(true)), append(want, `synchronizer Semaphore "a.Request.run:9": 1 10 10, by a.Request, held by -`))
}

// Request: on thread 2 the CPU 8, lock 10 + 6 - 2, GC 2, the rest of 30 not known, 6; on thread 3 CPU 20, lock 8, sleep 5, GC 2, 5 not
// known; virtual I/O 15, carrier 5, CPU 5, 5 not known. Of what is not known 2 are the short waits.
func TestUnits(t *testing.T) {
	a := analyseIn(t, known(), nil)
	list := a.ByUnit()
	if len(list) != 2 {
		t.Fatalf("%d classes", len(list))
	}
	want := waiting.Times{waiting.CPU: 33 * ms, waiting.Lock: 24 * ms, waiting.GC: 4 * ms, waiting.Sleep: 5 * ms, waiting.IO: 15 * ms, waiting.Carrier: 5 * ms, waiting.Unknown: 14 * ms}
	if u := list[0]; u.Name != "a.Request" || u.Units != 3 || u.Times != want || u.WallNs() != 100*ms || u.Queued != 3 || u.QueueNs != 15*ms {
		t.Errorf("%+v, want %v", u, want)
	}
	var of []string
	for _, f := range list[0].For {
		of = append(of, fmt.Sprint(f.Class, " ", f.WaitedNs/ms))
	}
	if want := []string{"socket, pipe or file 20", "Semaphore 12", "ReentrantLock 10", "a.Db 6", "Thread.sleep 5"}; !slices.Equal(of, want) {
		t.Errorf("waited for %q, want %q", of, want)
	}
	want = waiting.Times{waiting.CPU: 4 * ms, waiting.Lock: 3 * ms, waiting.Unknown: 3 * ms}
	if u := list[1]; u.Name != "a.Fast" || u.Units != 100 || u.Summarised != 100 || u.Times != want {
		t.Errorf("%+v, want %v", u, want)
	}
}

func TestThreads(t *testing.T) {
	got := map[string]waiting.Times{}
	for _, th := range analyseIn(t, known(), nil).ByThread() {
		got[th.Name] = th.Times
	}
	want := map[string]waiting.Times{ // GC 2, locks as above and 3 short waits, idle 50
		"pool-1-thread-1#2": {waiting.Lock: 17 * ms, waiting.GC: 2 * ms, waiting.Idle: 50 * ms, waiting.Unknown: 31 * ms},
		"pool-1-thread-2#3": {waiting.Lock: 10 * ms, waiting.Sleep: 5 * ms, waiting.GC: 2 * ms, waiting.Unknown: 83 * ms},
		"virtual threads":   {waiting.CPU: 5 * ms, waiting.IO: 15 * ms, waiting.Carrier: 5 * ms, waiting.Sleep: 4 * ms, waiting.GC: 2 * ms, waiting.Unknown: 59 * ms}, // CPU of its unit
	}
	for name, w := range want {
		if got[name] != w {
			t.Errorf("%s: %v, want %v", name, got[name], w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d threads: %v", len(got), got)
	}
}

// The record has the request of thread 2 on a CPU in 10..12, 22..25 and 31..40, ready in 21..22, else in a futex, from which thread 3 wakes
// it: 14 on a CPU, 1 ready, 9 for the semaphore, 4 for the monitor, 2 in the pause. Its wait from 95 on is not the agent's.
func TestRecord(t *testing.T) {
	a := analyseIn(t, known(), func(dir string) {
		r := &sched.Record{Source: "ebpf", PID: 1, From: t0, To: at(100), Threads: []sched.Thread{
			{TID: 102, Name: "pool-1-thread-1", First: t0, Last: at(100)}, {TID: 103, Name: "pool-1-thread-2", First: t0, Last: at(100)}}}
		slice := func(s sched.State, from, to units.MonoNs) sched.Slice {
			x := sched.Slice{Thread: 0, State: s, From: at(from), To: at(to)}
			if s == sched.Futex {
				x.Waker = sched.WakerThread(1)
			}
			return x
		}
		err := sched.Write(dir, r, []sched.Slice{slice(sched.Running, 10, 12), slice(sched.Futex, 12, 21), slice(sched.Runnable, 21, 22), slice(sched.Running, 22, 25),
			slice(sched.Futex, 25, 31), slice(sched.Running, 31, 40), slice(sched.IO, 40, 45), slice(sched.Futex, 45, 100)})
		if err != nil {
			t.Fatal(err)
		}
	})
	u := a.ByUnit()[0]
	want := waiting.Times{waiting.CPU: 39 * ms, waiting.Runnable: 1 * ms, waiting.Lock: 23 * ms, waiting.GC: 4 * ms, waiting.Sleep: 5 * ms, waiting.IO: 15 * ms,
		waiting.Carrier: 5 * ms, waiting.Unknown: 8 * ms}
	if u.Times != want {
		t.Errorf("%v, want %v", u.Times, want)
	}
	for _, r := range a.Rows(false) {
		if l := r.Wakers.List(); r.Class == "a.Db" && (len(l) != 1 || l[0].Name != "a.Request") {
			t.Errorf("the monitor: %v", l)
		}
		if l := r.Holders.List(); r.Class == "a.Db" && (len(l) != 1 || l[0].Name != "a.Request") {
			t.Errorf("the monitor is held by %v", l)
		}
		if r.Class == "system call" && (r.For != ForIO || r.Waits != 1 || r.WaitedNs != 5*ms) {
			t.Errorf("%+v", r)
		}
	}
}

// recorded adds a scheduling record of thread 102 to a session, and another thread that ends its waits.
func recorded(t *testing.T, list ...sched.Slice) func(dir string) {
	return func(dir string) {
		r := &sched.Record{Source: "ebpf", PID: 1, From: t0, To: at(100), Threads: []sched.Thread{
			{TID: 102, Name: "pool-1-thread-1", First: t0, Last: at(100)}, {TID: 103, Name: "pool-1-thread-2", First: t0, Last: at(100)}}}
		for i := range list {
			list[i].From, list[i].To = at(list[i].From), at(list[i].To)
		}
		if err := sched.Write(dir, r, list); err != nil {
			t.Fatal(err)
		}
	}
}

// A time limit ends five waits in futexes. What the agent has of them names them: 12..22 is a timed park for a semaphore, 25..31 a timed Object.wait,
// 40..50 a Thread.sleep. Of the one of 60..70 it has nothing: what for is not known. A sleep in a system call, 80..85, is one without the agent, too.
func TestTimed(t *testing.T) {
	p := known()
	p.Pauses, p.WaitSums, p.Executions = nil, nil, nil
	p.Waits = p.Waits[:2]
	p.Waits[0].Waker, p.Waits[1].Kind = 0, "notify"
	p.Waits = append(p.Waits, store.Wait{Kind: "sleep", Thread: 2, StartNs: int64(at(40)), EndNs: int64(at(50)), Flags: uint32(wire.WaitTimed)})
	limit := func(from, to units.MonoNs) sched.Slice {
		return sched.Slice{State: sched.Futex, From: from, To: to, Waker: sched.Outside}
	}
	slept := sched.Slice{State: sched.Sleeping, From: 80, To: 85, Waker: sched.Outside}
	for _, c := range []struct {
		name  string
		waits []store.Wait
		want  waiting.Times
	}{
		{"with the agent's waits", p.Waits, waiting.Times{waiting.Lock: 10 * ms, waiting.Other: 6 * ms, waiting.Sleep: 15 * ms, waiting.Unnamed: 10 * ms, waiting.Unknown: 59 * ms}},
		{"without", nil, waiting.Times{waiting.Sleep: 5 * ms, waiting.Unnamed: 36 * ms, waiting.Unknown: 59 * ms}},
	} {
		p.Waits = c.waits
		a := analyseIn(t, p, recorded(t, limit(12, 22), limit(25, 31), limit(40, 50), limit(60, 70), slept))
		for _, th := range a.ByThread() {
			if th.Name == "pool-1-thread-1#2" && th.Times != c.want {
				t.Errorf("%s: %v, want %v", c.name, th.Times, c.want)
			}
		}
		for _, r := range a.Rows(false) {
			if r.For == ForSleep && r.Class == "system call" && r.WaitedNs != 5*ms {
				t.Errorf("%s: %+v", c.name, r)
			}
		}
	}
}

// A carrier in a futex is idle, whoever ended that: a time limit, the thread that ends sleeps, another one. During a wait of a virtual thread that
// kept its carrier, 60..65, it may be that one which waits.
func TestCarrierIsIdle(t *testing.T) {
	p := known()
	p.Pauses, p.WaitSums, p.Executions = nil, nil, nil
	p.Threads[0].Name, p.Threads[0].Group, p.Threads[0].Class = "ForkJoinPool-1-worker-1", "CarrierThreads", "jdk.internal.misc.CarrierThread"
	p.Threads[1].Name, p.Threads[1].Group, p.Threads[1].Class = "VirtualThread-unparker", "InnocuousThreadGroup", "jdk.internal.misc.InnocuousThread"
	p.Waits = []store.Wait{{Kind: "monitor", Thread: 4, Blocker: 2, StartNs: int64(at(60)), EndNs: int64(at(65)), Flags: uint32(wire.WaitPinned)}}
	futex := func(from, to units.MonoNs, by sched.Waker) sched.Slice {
		return sched.Slice{State: sched.Futex, From: from, To: to, Waker: by}
	}
	a := analyseIn(t, p, recorded(t, futex(10, 20, sched.Outside), futex(20, 35, sched.WakerThread(1)), futex(40, 50, sched.NoWaker), futex(58, 66, sched.NoWaker),
		sched.Slice{State: sched.IO, From: 70, To: 75}))
	want := waiting.Times{waiting.Idle: 35 * ms, waiting.Unnamed: 8 * ms, waiting.IO: 5 * ms, waiting.Unknown: 52 * ms}
	for _, th := range a.ByThread() {
		if th.Name == "ForkJoinPool-1-worker-1#2" && th.Times != want {
			t.Errorf("%v, want %v", th.Times, want)
		}
	}
}

// A thread that was in a system call when a sleep was over, or a byte came, need not have ended the wait. Whoever interrupted a sleep did.
func TestEndedByNobody(t *testing.T) {
	p := known()
	p.Waits, p.WaitSums = nil, nil
	for i, kind := range []string{"sleep", "io", "monitor", "sleep"} {
		w := store.Wait{Kind: kind, Thread: 2, Blocker: 2, StartNs: int64(at(units.MonoNs(10 * i))), EndNs: int64(at(units.MonoNs(10*i + 8)))}
		if i == 3 {
			w.Waker = 4
		}
		p.Waits = append(p.Waits, w)
	}
	slice := func(s sched.State, i units.MonoNs) sched.Slice {
		return sched.Slice{State: s, From: 10 * i, To: 10*i + 7, Waker: sched.WakerThread(1)}
	}
	a := analyseIn(t, p, recorded(t, slice(sched.Futex, 0), slice(sched.IO, 1), slice(sched.Futex, 2), slice(sched.Futex, 3)))
	var got []string
	for _, r := range a.Rows(false) {
		for _, s := range r.Wakers.List() {
			got = append(got, fmt.Sprint(r.For, " by ", s.Name, " ", s.Waits))
		}
	}
	same(t, got, []string{"sleep by virtual thread 1", "monitor by a.Request 1"})
}

// The stack of a long wait is whole; of another one the nearest frame is known, or none. Workers without work have none.
func TestStacks(t *testing.T) {
	p := known()
	p.Frames = []store.Frame{{ID: 1, Class: "a.Request", Method: "run"}, {ID: 2, Class: "a.Db", Method: "get"}}
	p.Contexts = []store.Context{{ID: 5, Kind: store.ContextWait, Frames: []uint32{2, 1}}}
	p.Waits[1].Context = 5
	var got []string
	for _, s := range analyseIn(t, p, nil).Stacks() {
		line := fmt.Sprint(s.Class, " ", s.WaitedNs/ms)
		for _, f := range s.Frames {
			line += " " + f.Class + "." + f.Method
		}
		got = append(got, line)
	}
	same(t, got, []string{"Semaphore 10 a.Request.run", "a.Db 6 a.Db.get a.Request.run", "ReentrantLock 10", "Thread.sleep 5", "socket, pipe or file 20"})
}

// Of most waits at a place only the frames to the program's nearest one are known. The latest whole stack of the same thread at that place
// stands for them, the next one if there is none yet, and none of another place or for another class. Virtual threads are as one thread.
func TestStacksOfManyWaits(t *testing.T) {
	p := known()
	p.Frames = []store.Frame{{ID: 1, Class: "L", Method: "lock"}, {ID: 2, Class: "a.Db", Method: "get"}, {ID: 3, Class: "a.A", Method: "run"}, {ID: 4, Class: "a.B", Method: "run"},
		{ID: 5, Class: "a.Db", Method: "put"}}
	p.Contexts = nil
	for i, frames := range [][]uint32{{1, 2}, {1, 2, 3}, {1, 2, 4}, {1, 5}} {
		p.Contexts = append(p.Contexts, store.Context{ID: uint32(i + 1), Kind: store.ContextWait, Frames: frames, Cut: len(frames) == 2})
	}
	const near, viaA, viaB, put = 1, 2, 3, 4
	p.Waits, p.WaitSums = nil, nil
	for i, w := range []struct{ thread, context, blocker uint32 }{
		{2, near, 1}, {2, viaA, 1}, {2, near, 1}, {2, viaB, 1}, {2, near, 1}, {2, near, 1}, {2, put, 1}, {2, near, 3},
		{3, near, 1}, {4, viaA, 1}, {6, near, 1},
	} {
		from := units.MonoNs(8 * i)
		p.Waits = append(p.Waits, store.Wait{Kind: "park", Thread: w.thread, Blocker: w.blocker, Context: w.context, Site: 1, StartNs: int64(at(from)), EndNs: int64(at(from) + 1<<i*1000), Within: 1})
	}
	p.Threads = append(p.Threads, store.Thread{ID: 6, JavaID: 6, Virtual: true, Group: "main"})
	var got []string
	for _, s := range analyseIn(t, p, nil).Stacks() {
		line := fmt.Sprint(s.Class, " ", s.WaitedNs/1000)
		for _, f := range s.Frames {
			line += " " + f.Class + "." + f.Method
		}
		got = append(got, line)
	}
	same(t, got, []string{"Semaphore 1543 L.lock a.Db.get a.A.run", "Semaphore 256 L.lock a.Db.get", "ReentrantLock 128 L.lock a.Db.get", "Semaphore 64 L.lock a.Db.put",
		"Semaphore 56 L.lock a.Db.get a.B.run"})
}

// Objects whose class says little are named after the code that waits, if a stack shows it: the condition of a deque for 10 ms with a stack
// and for 1 ms without one, that of the program's a.Batch, one without a stack, and one of which a frame is not known; a lock of class Object
// that a.Db has, with a stack and without. A thread that accepts connections waits for work, not for I/O. Parks without a blocker have the
// name of the JDK's method that the program called: not those of the program itself, with no stack beyond, or of which a frame is not known.
func TestObjects(t *testing.T) {
	p := known()
	const locks, await = "java.util.concurrent.locks.", "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject"
	for i, f := range []string{locks + "LockSupport park", locks + "AbstractQueuedSynchronizer$ConditionNode block", "java.util.concurrent.ForkJoinPool managedBlock",
		await + " await", "java.util.concurrent.LinkedBlockingDeque takeFirst", "java.util.concurrent.LinkedBlockingDeque take", "a.Batch add", "sun.nio.ch.Net accept",
		"sun.nio.ch.ServerSocketChannelImpl accept", "a.Db write", "jdk.internal.misc.ThreadFlock awaitAll", "java.util.concurrent.StructuredTaskScopeImpl join",
		"java.lang.Thread run"} {
		class, method, _ := strings.Cut(f, " ")
		p.Frames = append(p.Frames, store.Frame{ID: uint32(i + 1), Class: class, Method: method})
	}
	for i, frames := range [][]uint32{{1, 2, 3, 4, 5, 6, 7}, {1, 4, 7}, {1, 4, 99, 6}, {10, 7}, {8, 9, 7},
		{1, 11, 12, 7}, {1, 7}, {1, 11, 13}, {1}, {1, 99, 7}} {
		p.Contexts = append(p.Contexts, store.Context{ID: uint32(i + 1), Kind: store.ContextWait, Frames: frames})
	}
	p.Blockers = append(p.Blockers, store.Blocker{ID: 5, Class: "java.lang.Object"}, store.Blocker{ID: 6, Class: "int[]"})
	p.Waits, p.WaitSums = nil, nil
	for i, w := range []struct {
		kind                     string
		blocker, object, context uint32
		length                   units.MonoNs
	}{{"park", 4, 9, 1, 10}, {"park", 4, 9, 0, 1}, {"park", 4, 8, 2, 3}, {"park", 4, 7, 0, 2}, {"park", 4, 6, 3, 4}, {"monitor", 5, 5, 4, 5}, {"monitor", 5, 5, 0, 1},
		{"monitor", 5, 4, 0, 1}, {"monitor", 5, 0, 4, 1}, {"io", 0, 0, 5, 8}, {"monitor", 6, 0, 0, 2},
		{"park", 0, 0, 6, 15}, {"park", 0, 0, 7, 16}, {"park", 0, 0, 8, 17}, {"park", 0, 0, 9, 1}, {"park", 0, 0, 10, 2}} {
		from := units.MonoNs(i)
		p.Waits = append(p.Waits, store.Wait{Kind: w.kind, Thread: 3, Blocker: w.blocker, Object: w.object, Context: w.context, StartNs: int64(at(from)), EndNs: int64(at(from + w.length)), Within: 1})
	}
	var got []string
	for _, r := range analyseIn(t, p, nil).Rows(false) {
		got = append(got, fmt.Sprint(r.For, " ", r.Class, " ", r.Waits, " ", r.WaitedNs/ms))
	}
	same(t, got, []string{"synchronizer LinkedBlockingDeque.take 2 11", "synchronizer condition in a.Batch 1 3", "synchronizer condition of ReentrantLock 2 6",
		"monitor java.lang.Object in a.Db 3 7", "monitor java.lang.Object 1 1", "monitor int[], or a class being initialized 1 2", "queue connection to accept 1 8",
		"synchronizer StructuredTaskScopeImpl.join 1 15", "synchronizer jdk.internal.misc.ThreadFlock.awaitAll 1 17", "other LockSupport.park without a blocker 3 19", "gc pause 1 2"})
}

// The JVM may say that compiled code waits for a monitor on the line after the one of the synchronized block: one place. Waits of
// other kinds are where they say.
func TestLines(t *testing.T) {
	p := known()
	p.Sites = []store.Site{{ID: 1, Class: "a.Db", Method: "put", Line: 42}, {ID: 2, Class: "a.Db", Method: "put", Line: 41}, {ID: 3, Class: "a.Db", Method: "get", Line: 60}, {ID: 4, Class: "a.Db", Method: "put", Line: 30}}
	p.Waits, p.WaitSums = nil, nil
	for i, w := range []struct {
		kind    string
		blocker uint32
		site    uint32
	}{{"monitor", 2, 1}, {"monitor", 2, 2}, {"monitor", 2, 3}, {"park", 1, 4}, {"park", 1, 1}} {
		p.Waits = append(p.Waits, store.Wait{Kind: w.kind, Thread: 3, Blocker: w.blocker, Site: w.site, StartNs: int64(at(units.MonoNs(10 * i))), EndNs: int64(at(units.MonoNs(10*i + 5))), Within: 1})
	}
	same(t, rowsOf(analyseIn(t, p, nil).Rows(true)), []string{`monitor a.Db "a.Db.put:41": 2 10 5, by -, held by -`, `monitor a.Db "a.Db.get:60": 1 5 5, by -, held by -`,
		`synchronizer Semaphore "a.Db.put:30": 1 5 5, by -, held by -`, `synchronizer Semaphore "a.Db.put:42": 1 5 5, by -, held by -`, `gc pause "": 1 2 2, by -, held by -`})
}

// What a session says is not believed: waits that end before they begin, of threads, classes and kinds that nobody described.
func TestDamaged(t *testing.T) {
	p := known()
	long := units.Ns(1 << 62)
	for i, kind := range []string{"", "park", "monitor", "\x1b[2J"} {
		p.Waits = append(p.Waits, store.Wait{Kind: kind, Thread: 99, Blocker: 77, StartNs: int64(at(50)), EndNs: int64(at(40)), ReadyNs: &long, Waker: 98, Holder: 97, Within: 96, Site: 95, Flags: 0xffffffff},
			store.Wait{Kind: kind, Thread: uint32(i), StartNs: int64(at(units.MonoNs(-i))), EndNs: int64(at(20)), Within: 96})
	}
	p.WaitSums = append(p.WaitSums, store.WaitSum{Thread: 99, Kind: "?", Waits: 1 << 63, WaitedNs: -5, Within: 96})
	a := analyseIn(t, p, nil)
	for _, u := range a.ByUnit() {
		if slices.Min(u.Times[:]) < 0 {
			t.Errorf("%s: %v", u.Name, u.Times)
		}
	}
	if n := len(a.Rows(true)); n < 8 {
		t.Errorf("%d rows", n)
	}
	a.ByThread()
}

func TestNames(t *testing.T) {
	for _, c := range [][4]string{
		{"monitor", "a.Db", "", "monitor: a.Db"},
		{"notify", "java.lang.Thread", "", "monitor: Object.wait on java.lang.Thread"},
		{"park", "java.util.concurrent.locks.ReentrantLock$FairSync", "", "synchronizer: ReentrantLock (fair)"},
		{"park", "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject", "java.util.concurrent.locks.ReentrantLock$NonfairSync", "synchronizer: condition of ReentrantLock"},
		{"park", "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject", "", "synchronizer: condition"},
		{"park", "java.util.concurrent.CompletableFuture$Signaller", "", "synchronizer: CompletableFuture"},
		{"park", "", "", "other: LockSupport.park without a blocker"},
		{"sleep", "", "", "sleep: Thread.sleep"},
		{"monitor", "java.lang.Class", "a.Dates", "monitor: class a.Dates"},
		{"monitor", "java.lang.Class", "", "monitor: java.lang.Class"},
		{"later", "", "", "other: (class not known)"},
	} {
		w := whatOf(c[0], c[1], c[2], 0, true)
		if got := w.For + ": " + w.Class; got != c[3] {
			t.Errorf("%q: %s, want %s", c[:3], got, c[3])
		}
	}
	for flags, want := range map[wire.WaitFlags]string{0: "socket, pipe or file", wire.WaitSocket | wire.WaitTimed: "socket or pipe", wire.WaitFile: "file or pipe", wire.WaitForce: Forced} {
		if w := whatOf("io", "", "", flags, true); w.Class != want {
			t.Errorf("flags %d: %q, want %q", flags, w.Class, want)
		}
	}
	for class, want := range map[string]waiting.Part{
		"java.util.concurrent.locks.ReentrantReadWriteLock$NonfairSync": waiting.Lock, "java.util.concurrent.Semaphore$FairSync": waiting.Lock,
		"java.util.concurrent.locks.ReentrantLock$NonfairSync": waiting.Lock, "java.util.concurrent.locks.StampedLock": waiting.Lock,
		"app.Mutex$Sync": waiting.Other, "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject": waiting.Other, "java.util.concurrent.SynchronousQueue$TransferStack": waiting.Other,
		"java.util.concurrent.CountDownLatch$Sync": waiting.Other, "java.util.concurrent.FutureTask": waiting.Other,
	} {
		w := whatOf("park", class, "", 0, true)
		if got := w.partOf(false); got != want || w.partOf(true) != waiting.Lock {
			t.Errorf("%s: %v, want %v", class, got, want)
		}
	}
}

// The agent looks at the object when a recorded wait ends: of a wait that is open, or only summed up, it may not know it.
func TestNotLookedAt(t *testing.T) {
	p := known()
	waited := func(thread uint32, flags uint32) store.Wait {
		return store.Wait{Kind: "park", Thread: thread, StartNs: int64(at(90)), EndNs: int64(at(95)), Flags: flags}
	}
	p.Waits = []store.Wait{waited(2, 0), waited(3, uint32(wire.WaitOpen))}
	p.WaitSums = []store.WaitSum{{Thread: 3, Kind: "park", Waits: 7, WaitedNs: 2 * ms, MaxNs: ms}}
	same(t, rowsOf(analyseIn(t, p, nil).Rows(false)), []string{
		`other LockSupport.park without a blocker "": 1 5 5, by -, held by -`,
		`other LockSupport.park, blocker not known "": 8 7 5, by -, held by -`,
		`gc pause "": 1 2 2, by -, held by -`,
	})
}

// Virtual threads of the JDK poll for those that wait for I/O. Until there is some, they are idle, and their loop is no work of
// the program.
func TestPollers(t *testing.T) {
	for _, class := range []string{"sun.nio.ch.Poller$Pollers$$Lambda -> sun.nio.ch.Poller$Pollers.lambda$start$2", "sun.nio.ch.Poller$$Lambda -> sun.nio.ch.Poller.lambda$startSubPoller$1"} {
		p := known()
		p.Classes = append(p.Classes, store.Class{ID: 4, Name: class, Kinds: "runnable+jdk"})
		poller := store.Execution{TaskID: 13, Class: 4, Thread: 6, Flags: uint16(wire.Virtual), StartNs: at(10), EndNs: at(90), SubmittedNs: at(9),
			WallNs: 80 * ms, SelfWallNs: 80 * ms, CPUNs: 1 * ms, SelfCPUNs: 1 * ms}
		start := int64(at(10))
		p.Threads = append(p.Threads, store.Thread{ID: 6, JavaID: 6, Name: "SubPoller-0", Group: "main", StartNs: &start, Virtual: true})
		p.Executions = append(p.Executions, poller)
		p.Waits = []store.Wait{{Kind: "io", Thread: 6, StartNs: int64(at(20)), EndNs: int64(at(80)), Within: 4},
			{Kind: "io", Thread: 2, StartNs: int64(at(50)), EndNs: int64(at(51)), Within: 2}} // of a worker of the program: it waits for I/O
		p.WaitSums = nil
		a := analyseIn(t, p, nil)
		same(t, rowsOf(a.Rows(false)), []string{
			"queue " + class + ` "": 1 60 60, by -, held by -`,
			`io socket, pipe or file "": 1 1 1, by -, held by -`,
			`gc pause "": 1 2 2, by -, held by -`,
		})
		for _, u := range a.ByUnit() {
			if u.Name == class {
				t.Errorf("%s is a unit", class)
			}
		}
	}
}

// Nothing but a sum is known of most virtual threads, if they are many: their row has it all the same.
func TestSummedVirtual(t *testing.T) {
	for _, recorded := range []bool{true, false} {
		p := known()
		p.WaitSums = []store.WaitSum{{Kind: "park", Blocker: 1, Waits: 9, WaitedNs: 500 * ms, MaxNs: 80 * ms}}
		if !recorded {
			p.Threads, p.Executions = slices.Delete(p.Threads, 2, 3), p.Executions[:2]
			p.Waits = slices.DeleteFunc(p.Waits, func(w store.Wait) bool { return w.Thread == 4 })
		}
		// Of the recorded one, 90 ms, 15 + 5 are another wait's, 5 the CPU's, 2 a pause's; 63 may be of the 500.
		want := waiting.Times{waiting.Lock: 500 * ms}
		if recorded {
			want = waiting.Times{waiting.CPU: 5 * ms, waiting.IO: 15 * ms, waiting.Carrier: 5 * ms, waiting.GC: 2 * ms, waiting.Lock: 500 * ms}
		}
		rows := analyseIn(t, p, nil).ByThread()
		i := slices.IndexFunc(rows, func(b *Breakdown) bool { return b.Name == "virtual threads" })
		if i < 0 {
			t.Fatalf("recorded %v: no row", recorded)
		}
		if got := rows[i].Times; got != want {
			t.Errorf("recorded %v: %v, want %v", recorded, got, want)
		}
	}
}

// A million waits of 100 threads in a million requests.
func BenchmarkAnalyse(b *testing.B) {
	const threads, each = 100, 10_000
	p := known()
	p.Waits, p.Executions, p.Threads = nil, nil, nil
	for id := uint32(1); id <= threads; id++ {
		p.Threads = append(p.Threads, store.Thread{ID: id, JavaID: int64(id), OSID: int32(id), Name: fmt.Sprint("worker-", id), Group: "main"})
		for i := range units.MonoNs(each) {
			from := t0 + i*10_000
			p.Executions = append(p.Executions, store.Execution{TaskID: uint64(id)<<32 | uint64(i), Class: 1, Thread: id, StartNs: from, EndNs: from + 9_000, WallNs: 9_000, SelfWallNs: 9_000, CPUNs: 3_000, SelfCPUNs: 3_000})
			p.Waits = append(p.Waits, store.Wait{Kind: "park", Thread: id, Blocker: 1 + uint32(i)%4, StartNs: int64(from + 1_000), EndNs: int64(from + 5_000), Within: 1, Waker: 1 + id%threads, Site: 1})
		}
	}
	w, err := store.OpenWriter(b.TempDir(), "s", "s")
	if err != nil {
		b.Fatal(err)
	}
	w.Manifest.StartNs, w.Manifest.EndNs = t0, at(100)
	if err := w.Commit(p); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s, err := session.Open(w.Dir())
		if err != nil {
			b.Fatal(err)
		}
		a, err := Analyse(s)
		if err != nil {
			b.Fatal(err)
		}
		if rows := a.Rows(true); len(rows) == 0 || len(a.ByUnit()) == 0 {
			b.Fatal("no rows")
		}
	}
}

// TestNoEnd: the agent records open waits when a session ends. Without an end they are missing.
func TestNoEnd(t *testing.T) {
	for ended, missing := range map[string]bool{store.EndedExit: false, store.EndedLostContact: true, store.EndedRunning: true} {
		a := analyseEnded(t, known(), ended, nil)
		if why := a.NotAvailable[NoOpen]; (why != "") != missing {
			t.Errorf("%q: %q", ended, why)
		}
	}
}
