package wait

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"stackagent/hpc/sched"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// singlesIn reads the single waits of a session with the parts p.
func singlesIn(t *testing.T, p *store.Part, prepare func(dir string)) []*Single {
	t.Helper()
	a, err := AnalyseSingles(openIn(t, p, prepare))
	if err != nil {
		t.Fatal(err)
	}
	return allSingles(t, a)
}

func (d Doing) String() string {
	if d == (Doing{}) {
		return "-"
	}
	return strings.TrimSpace(fmt.Sprintf("%d/%d.%d %s %s", d.Thread, d.TaskID, d.Execution, d.Name, d.Own))
}

func linesOf(list []*Single) (out []string) {
	for _, s := range list {
		out = append(out, fmt.Sprintf("%d %s %d: %s, by %s, held by %s", (s.StartNs-t0)/ms, s.Class, s.WaitedNs/ms, s.By, s.Waker, s.Holder))
	}
	return out
}

// Of the waits of known the agent says who ended two: the one for the semaphore in task 11, that for the lock in task 10. It was in no
// execution of thread 3 when the request of 50..80 on the virtual thread, here for a latch, went on.
func TestSingles(t *testing.T) {
	p := known()
	p.Waits[0].WakerTask, p.Waits[0].WakerClass, p.Waits[0].Object = 11, 1, 7
	p.Waits[2].WakerTask, p.Waits[2].WakerClass = 10, 1
	p.Waits[5].Kind, p.Waits[5].Blocker, p.Waits[5].Waker = "park", 1, 3
	list := singlesIn(t, p, nil)
	want := []string{
		"55 Semaphore 15: 4/12.1 a.Request, by 3/0.0, held by -",
		"12 Semaphore 10: 2/10.1 a.Request, by 3/11.1 a.Request, held by -",
		"20 ReentrantLock 10: 3/11.1 a.Request, by 2/10.1 a.Request, held by 2/10.1 a.Request",
		"25 a.Db 6: 2/10.1 a.Request, by -, held by -",
		"32 Thread.sleep 5: 3/11.1 a.Request, by -, held by -",
		"45 java.util.concurrent.ThreadPoolExecutor$Worker 50: 2/0.0, by -, held by -",
	}
	for i, line := range linesOf(list) {
		if i >= len(want) || line != want[i] {
			t.Errorf("row %d: %s, want %q", i, line, want[min(i, len(want)-1)])
		}
	}
	if s := list[1]; s.Object != 7 || s.Site != "a.Request.run:9" || s.TimedOut || s.Timed {
		t.Errorf("%+v", s)
	}
	if s := list[0]; s.CarrierNs != 5*ms {
		t.Errorf("%+v", s)
	}
}

// wakers is a session in which thread 3 runs the tasks 1, 2, 3 of 10 ms each from 0 on, with task 20 inside 2 from 12 to 18, task 4 three times
// from 40 on, and task 5, a FutureTask around task 6, from 70 on. Thread 2 waits.
func wakers(w store.Wait) *store.Part {
	p := known()
	execution := func(id, outer uint64, class uint32, from, to units.MonoNs) store.Execution {
		wall := units.Ns(to-from) * ms
		return store.Execution{TaskID: id, OuterTaskID: outer, Class: class, Thread: 3, StartNs: at(from), EndNs: at(to), WallNs: wall, SelfWallNs: wall, CPUNs: 1, SelfCPUNs: 1}
	}
	p.Classes = append(p.Classes, store.Class{ID: 4, Name: "java.util.concurrent.FutureTask", Kinds: "runnable+jdk"}, store.Class{ID: 5, Name: "a.Call", Kinds: "callable"})
	p.Executions = []store.Execution{execution(1, 0, 1, 0, 10), execution(20, 2, 5, 12, 18), execution(2, 0, 1, 10, 20), execution(3, 0, 1, 20, 30),
		execution(4, 0, 1, 40, 44), execution(4, 0, 1, 45, 49), execution(4, 0, 1, 50, 54), execution(6, 5, 5, 71, 78), execution(5, 0, 4, 70, 79)}
	p.Waits, p.WaitSums = []store.Wait{w}, nil
	return p
}

// TestWakersTask: what ended a wait is the execution that the agent names, though the thread has begun others since; where it names none,
// the innermost one at the moment that is known otherwise, else only a class.
func TestWakersTask(t *testing.T) {
	wait := func(from, to units.MonoNs, task uint64, class uint32) store.Wait {
		return store.Wait{Kind: "park", Thread: 2, Blocker: 1, StartNs: int64(at(from)), EndNs: int64(at(to)), Waker: 3, WakerTask: task, WakerClass: class}
	}
	ready := func(w store.Wait, d units.Ns) store.Wait {
		d *= ms
		w.ReadyNs = &d
		return w
	}
	timedOut := wait(12, 22, 0, 0)
	timedOut.Waker, timedOut.Flags = 0, uint32(wire.WaitTimed)
	for _, c := range []struct {
		name string
		wait store.Wait
		want string
	}{
		{"an earlier task of the thread", wait(2, 25, 1, 1), "3/1.1 a.Request"},
		{"a nested one", wait(2, 25, 20, 5), "3/20.1 a.Request a.Call"},
		{"the second of three executions", wait(46, 49, 4, 1), "3/4.2 a.Request"},
		{"the last one that began before it was ready", ready(wait(41, 53, 4, 1), 5), "3/4.2 a.Request"},
		{"of a future its task", wait(60, 80, 5, 4), "3/6.1 a.Call"},
		{"one without a record of its own", wait(2, 25, 77, 3), "3/0.0 a.Fast"},
		{"the loop of a worker", wait(2, 25, 88, 2), "3/0.0"},
		{"not known, and no moment: the class of the unit", wait(2, 15, 0, 0), "3/0.0 a.Request"},
		{"not known, and the moment", ready(wait(2, 25, 0, 0), 11), "3/20.1 a.Request a.Call"},
		{"nobody", timedOut, "-"},
	} {
		list := singlesIn(t, wakers(c.wait), nil)
		if got := list[0].Waker.String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if list[0].TimedOut != (c.name == "nobody") {
			t.Errorf("%s: timed out: %v", c.name, list[0].TimedOut)
		}
	}
}

// TestWakersMoment: the scheduling record has the moment at which a thread woke another one that waited for a monitor, 14, before that had it again at
// 25. Object.wait whose time was over is ended by nobody, whoever had the CPU then.
func TestWakersMoment(t *testing.T) {
	for kind, c := range map[string]struct {
		flags wire.WaitFlags
		want  string
	}{
		"monitor": {0, "3/20.1 a.Request a.Call, held by 3/20.1 a.Request a.Call"},
		"notify":  {wire.WaitTimed | wire.WaitTimedOut, "-, held by -"},
		"park":    {wire.WaitTimed, "-, held by -"},
	} {
		w := store.Wait{Kind: kind, Thread: 2, Blocker: 2, StartNs: int64(at(5)), EndNs: int64(at(25)), Flags: uint32(c.flags)}
		list := singlesIn(t, wakers(w), recorded(t, sched.Slice{State: sched.Futex, From: 5, To: 14, Waker: sched.WakerThread(1)},
			sched.Slice{State: sched.Runnable, From: 14, To: 25}))
		if got := fmt.Sprintf("%s, held by %s", list[0].Waker, list[0].Holder); got != c.want {
			t.Errorf("%s: %s, want %s", kind, got, c.want)
		}
	}
}

// TestWakersMoments: the record has the moment up to 100 µs late. At 40.02 thread 3 has begun task 4 just now, after a pause: it was in that one, or between tasks. At 44.05 that
// has ended. At 10.05 one has ended and another one begun: only their class is known.
func TestWakersMoments(t *testing.T) {
	for us, want := range map[units.MonoNs]string{40_020: "3/4.1 a.Request", 44_050: "3/4.1 a.Request", 44_500: "3/0.0", 10_050: "3/0.0 a.Request", 10_150: "3/2.1 a.Request"} {
		w := store.Wait{Kind: "monitor", Thread: 2, Blocker: 2, StartNs: int64(at(5)), EndNs: int64(at(60))}
		to := units.MonoNs(us) * 1000
		list := singlesIn(t, wakers(w), func(dir string) {
			r := &sched.Record{Source: "ebpf", PID: 1, From: t0, To: at(100), Threads: []sched.Thread{
				{TID: 102, Name: "pool-1-thread-1", First: t0, Last: at(100)}, {TID: 103, Name: "pool-1-thread-2", First: t0, Last: at(100)}}}
			if err := sched.Write(dir, r, []sched.Slice{{State: sched.Futex, From: at(5), To: t0 + to, Waker: sched.WakerThread(1)}}); err != nil {
				t.Fatal(err)
			}
		})
		if got := list[0].Waker.String(); got != want {
			t.Errorf("at %d us: %s, want %s", us, got, want)
		}
	}
}

// TestJoined: a thread that has ended woke those that joined it by its end: its last unit did, not what ran on it then for the JDK. A carrier
// wakes those that join the virtual thread that it carried.
func TestJoined(t *testing.T) {
	p := wakers(store.Wait{Kind: "notify", Thread: 2, Blocker: 2, StartNs: int64(at(5)), EndNs: int64(at(90))})
	end := int64(at(85))
	p.Threads[1].EndNs = &end
	p.Classes = append(p.Classes, store.Class{ID: 6, Name: "java.nio.DirectByteBuffer$Deallocator", Kinds: "runnable+jdk"})
	p.Submissions = []store.Submission{{TaskID: 1, Class: 1, Thread: 2, AtNs: at(0)}}
	p.Executions = append(p.Executions, store.Execution{TaskID: 9, Class: 6, Thread: 3, StartNs: at(84), EndNs: at(84) + 1, WallNs: 1, SelfWallNs: 1})
	list := singlesIn(t, p, recorded(t, sched.Slice{State: sched.Futex, From: 5, To: 89, Waker: sched.WakerThread(1)}))
	if got := list[0].Waker.String(); got != "3/6.1 a.Call" {
		t.Errorf("joined: %s", got)
	}

	p = wakers(store.Wait{Kind: "park", Thread: 4, Blocker: 1, StartNs: int64(at(60)), EndNs: int64(at(90)), Waker: 3, ReadyNs: new(units.Ns(5 * ms))})
	p.Waits = append(p.Waits, store.Wait{Kind: "park", Thread: 4, Blocker: 1, StartNs: int64(at(95)), EndNs: int64(at(96)), Waker: 2, WakerTask: 99, WakerClass: 1})
	p.Threads[1].Group, p.Threads[1].Class = "CarrierThreads", "jdk.internal.misc.CarrierThread"
	for i, to := range []units.MonoNs{65, 84, 86} {
		id := uint32(10 + i)
		p.Threads = append(p.Threads, store.Thread{ID: id, JavaID: int64(id), Virtual: true})
		p.Executions = append(p.Executions, store.Execution{TaskID: uint64(30 + i), Class: 1, Thread: id, Flags: uint16(wire.Virtual), StartNs: at(62), EndNs: at(to), WallNs: units.Ns(to-62) * ms, SelfWallNs: 1})
		p.VirtualThreads = append(p.VirtualThreads, store.VirtualThread{Thread: id, AtNs: int64(at(to)), Threads: 1, Last: 3})
	}
	if got := singlesIn(t, p, nil)[0].Waker.String(); got != "11/31.1 a.Request" {
		t.Errorf("joined a virtual thread: %s", got)
	}
}

// TestSinglesAddUp: single waits and sums are what the rows by class have, and no more.
func TestSinglesAddUp(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		p := known()
		for range 200 {
			from, length := units.MonoNs(random.IntN(90)), random.Int64N(8*ms)
			w := store.Wait{Kind: []string{"park", "monitor", "notify", "sleep", "io"}[random.IntN(5)], Thread: uint32(2 + random.IntN(4)), Blocker: uint32(random.IntN(5)), Within: uint32(random.IntN(4)),
				Waker: uint32(random.IntN(6)), Holder: uint32(random.IntN(6)), Object: random.Uint32N(4), WakerTask: uint64(random.IntN(14)), WakerClass: uint32(random.IntN(4)),
				StartNs: int64(at(from)), EndNs: int64(at(from)) + length, Flags: random.Uint32N(16)}
			if random.IntN(3) == 0 {
				w.ReadyNs = new(units.Ns(random.Int64N(length + 1)))
			}
			p.Waits = append(p.Waits, w)
		}
		for range 20 {
			p.WaitSums = append(p.WaitSums, store.WaitSum{Thread: uint32(random.IntN(5)), Kind: "park", Blocker: uint32(random.IntN(5)), Within: uint32(random.IntN(4)), Waits: uint64(random.IntN(9)), WaitedNs: units.Ns(random.IntN(ms))})
		}
		checkSums(t, openIn(t, p, nil))
	}
}

type total struct {
	waits  int64
	waited units.Ns
}

func checkSums(t *testing.T, s *session.Session) {
	t.Helper()
	a, err := AnalyseSingles(s)
	if err != nil {
		t.Fatal(err)
	}
	got, want := map[What]total{}, map[What]total{}
	add := func(to map[What]total, w What, waits int64, waited units.Ns) {
		x := to[w]
		to[w] = total{x.waits + waits, x.waited + waited}
	}
	var before *Single
	carrier := What{For: ForCarrier, Class: "carrier of virtual threads"}
	all, err := a.Singles(0, true, func(w *Single) error {
		add(got, w.What, 1, w.WaitedNs)
		if w.CarrierNs > 0 {
			add(got, carrier, 1, w.CarrierNs)
		}
		if before != nil && (before.For == ForQueue) == (w.For == ForQueue) && before.WaitedNs < w.WaitedNs || before != nil && before.For == ForQueue && w.For != ForQueue {
			t.Errorf("%+v comes after %+v", w, before)
		}
		before = w
		return nil
	})
	if err != nil || all != len(a.waits) {
		t.Errorf("%d waits, %v; want %d", all, err, len(a.waits))
	}
	for k, x := range a.sums {
		add(got, a.whats[k.what], x.waits, x.waited)
	}
	for _, r := range a.Rows(false) {
		if r.For != ForGC {
			add(want, r.What, r.Waits, r.WaitedNs)
		}
	}
	for _, m := range []map[What]total{got, want} {
		for w := range m {
			if got[w] != want[w] {
				t.Errorf("%+v: single waits and sums %v, by class %v", w, got[w], want[w])
			}
		}
	}
	if n, _ := Summed(a.Rows(false)); n+int64(all) != sumOf(want)-got[carrier].waits {
		t.Errorf("%d single waits, %d summed up, %d in all", all, n, sumOf(want)-got[carrier].waits)
	}
	some := 0
	if _, err := a.Singles(7, false, func(w *Single) error {
		if some++; w.For == ForQueue {
			t.Errorf("%+v", w)
		}
		return nil
	}); err != nil || some != 7 {
		t.Errorf("%d of 7 waits: %v", some, err)
	}
}

func sumOf(m map[What]total) (n int64) {
	for _, x := range m {
		n += x.waits
	}
	return n
}
