package hpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"stackagent/internal/proc"
	"stackagent/internal/testjvm"
	"stackagent/internal/units"
)

// fakeMachine is a source and a list of threads whose readings the test sets.
type fakeMachine struct {
	threads  []Thread
	ended    bool
	readings map[int]map[Event]Reading
	refuse   map[Event]error
	full     map[int]bool // threads whose counters cannot be opened
	open     int
	cpu      units.Ns
}

func (m *fakeMachine) CPU(pid, tid int) units.Ns { return m.cpu }

func (m *fakeMachine) List(pid int, _ bool) ([]Thread, error) {
	if m.ended {
		return nil, fmt.Errorf("process %d: %w", pid, proc.ErrEnded)
	}
	return m.threads, nil
}

func (m *fakeMachine) Open(tid int, e Event) (Counter, error) {
	if err := m.refuse[e]; err != nil {
		return nil, err
	}
	if m.full[tid] {
		return nil, &NotAvailableError{Event: e, Reason: "too many open files", Err: unix.EMFILE}
	}
	m.open++
	return &fakeCounter{m: m, tid: tid, e: e}, nil
}

func (m *fakeMachine) set(tid int, e Event, value uint64, enabled, running units.Ns) {
	if m.readings[tid] == nil {
		m.readings[tid] = map[Event]Reading{}
	}
	m.readings[tid][e] = Reading{Value: value, Enabled: enabled, Running: running}
}

type fakeCounter struct {
	m   *fakeMachine
	tid int
	e   Event
}

func (c *fakeCounter) Read() (Reading, error) { return c.m.readings[c.tid][c.e], nil }
func (c *fakeCounter) Close() error           { c.m.open--; return nil }

func newMachine(tids ...int) *fakeMachine {
	m := &fakeMachine{readings: map[int]map[Event]Reading{}, refuse: map[Event]error{}, full: map[int]bool{}}
	for _, tid := range tids {
		m.threads = append(m.threads, Thread{ID: ThreadID{TID: tid, Start: 1}, Name: fmt.Sprint("t", tid)})
	}
	return m
}

func attach(t *testing.T, m *fakeMachine, events ...Event) *Counters {
	t.Helper()
	c, err := Attach(1, events, Options{Source: m, Lister: m})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func scan(t *testing.T, c *Counters) {
	t.Helper()
	if err := c.Scan(); err != nil {
		t.Fatal(err)
	}
}

// A counter that ran the whole time, then half of it, then not at all: the
// exact count, the estimate by deltas and what no estimate covers stay apart.
func TestMultiplexedDeltas(t *testing.T) {
	m := newMachine(1)
	c := attach(t, m, Instructions)
	m.set(1, Instructions, 1000, 100, 100)
	scan(t, c)
	if got := *c.Totals()[0].Counts[Instructions]; got != (Total{Counted: 1000, Estimate: 1000, Enabled: 100, Running: 100}) {
		t.Fatalf("exact count: %+v", got)
	}
	m.set(1, Instructions, 1300, 300, 200) // 300 counted in half of 200 ns
	scan(t, c)
	m.set(1, Instructions, 1300, 350, 200) // 50 ns without a counter
	scan(t, c)
	want := Total{Counted: 1300, Estimate: 1600, Enabled: 350, Running: 200, Unobserved: 50, Multiplexed: true}
	if got := *c.Totals()[0].Counts[Instructions]; got != want {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	m.set(1, Instructions, 10, 400, 400) // runs backwards: not believed
	scan(t, c)
	if got := *c.Totals()[0].Counts[Instructions]; got != want {
		t.Errorf("after a reading that runs backwards: %+v", got)
	}
}

func TestThreadsComeAndGo(t *testing.T) {
	m := newMachine(1, 2)
	c := attach(t, m, TaskClock)
	m.set(2, TaskClock, 70, 70, 70)
	m.threads = m.threads[:1] // thread 2 has ended: its last count must be taken
	scan(t, c)
	m.set(2, TaskClock, 5, 5, 5)
	m.threads = append(m.threads, Thread{ID: ThreadID{TID: 2, Start: 9}, Name: "again"}) // the id is used again
	scan(t, c)
	totals := c.Totals()
	if len(totals) != 3 {
		t.Fatalf("%d threads, want 3: %+v", len(totals), totals)
	}
	if old := totals[1]; !old.Ended || old.Counts[TaskClock].Counted != 70 {
		t.Errorf("ended thread: %+v, counted %d, want 70", old, old.Counts[TaskClock].Counted)
	}
	if again := totals[2]; again.Ended || again.Counts[TaskClock].Counted != 5 || again.Name != "again" {
		t.Errorf("second thread with the same id: %+v", again)
	}
	m.ended = true
	scan(t, c)
	for _, th := range c.Totals() {
		if !th.Ended {
			t.Errorf("thread %d not ended though the process has", th.TID)
		}
	}
	c.Close()
	if m.open != 0 {
		t.Errorf("%d counters left open", m.open)
	}
	if c.Scan() == nil {
		t.Error("a scan after Close succeeds")
	}
}

func TestMissingEvents(t *testing.T) {
	m := newMachine(1, 2)
	m.full[2] = true
	m.refuse[Cycles] = &NotAvailableError{Event: Cycles, Reason: "no hardware counters", Remedy: "buy some"}
	c := attach(t, m, TaskClock, Cycles)
	if missing := c.Missing(); len(missing) != 1 || missing[0].Event != Cycles {
		t.Errorf("missing = %v, want cycles", missing)
	}
	scan(t, c)
	if n, why := c.Unopened(); n != 1 || why != descriptorLimit {
		t.Errorf("unopened = %d (%s), want 1", n, why)
	}
	if _, has := c.Totals()[0].Counts[Cycles]; has {
		t.Error("an event that is not available has a count")
	}
	_, err := Attach(1, []Event{Cycles}, Options{Source: m, Lister: m})
	var na *NotAvailableError
	if !errors.As(err, &na) || na.Remedy != "buy some" {
		t.Errorf("attach with nothing to count: %v, want *NotAvailableError with its remedy", err)
	}
	m.refuse[TaskClock] = unix.ESRCH
	if _, err := Attach(1, []Event{TaskClock}, Options{Source: m, Lister: m}); !errors.Is(err, unix.ESRCH) {
		t.Errorf("attach to a process that has ended: %v", err)
	}
}

// TestBusyChild counts a real busy child from outside and compares the count with the
// kernel's CPU time of it.
func TestBusyChild(t *testing.T) {
	testjvm.OneGood(t, func(a *testjvm.Attempt) { busyChild(t, a) })
}

// skipRefused skips a test on a machine without counters, after a check that the refusal says why and what to do.
func skipRefused(t *testing.T, na *NotAvailableError) {
	t.Helper()
	if na.Reason == "" || na.Remedy == "" {
		t.Errorf("not available without a reason and a remedy: %+v", na)
	}
	t.Skip(na)
}

func busyChild(t *testing.T, a *testjvm.Attempt) {
	t.Helper()
	before := testjvm.Stolen(t)
	child := exec.Command("sh", "-c", "while :; do :; done")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	pid := child.Process.Pid
	defer func() { child.Process.Kill(); child.Wait() }()
	c, err := Attach(pid, AllEvents(), Options{})
	var na *NotAvailableError
	if errors.As(err, &na) {
		skipRefused(t, na)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, e := range c.events {
		if e.Hardware() {
			t.Logf("%s is available here", e)
		}
	}
	burnt := func() units.Ns { account, _ := proc.Process(pid).SchedStat(); return account.CPU }
	for from, end := burnt(), time.Now().Add(2*time.Minute); burnt() < from+50e6 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond) // as long as a busy machine needs
	}
	// Stopped, the child has the same times in both sources.
	child.Process.Signal(unix.SIGSTOP)
	var status unix.WaitStatus
	if _, err := unix.Wait4(pid, &status, unix.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("the child does not stop: %v", err)
	}
	scan(t, c)
	scheduler, err := proc.Process(pid).SchedStat()
	if err != nil {
		t.Fatal(err)
	}
	got, account := c.Totals()[0], scheduler.CPU
	clock := units.Ns(got.Counts[TaskClock].Counted)
	diff := got.Before + clock - account
	t.Logf("before %d + task clock %d ns, scheduler %d ns, difference %d", got.Before, clock, account, diff)
	if clock < 20e6 {
		t.Errorf("a busy child used only %d ns", clock)
	}
	// The counter includes the switches themselves, the scheduler's CPU time does not.
	stolen, switches := units.Ns(testjvm.Stolen(t)-before), units.Ns(0)
	if n := got.Counts[ContextSwitches]; n != nil {
		switches = units.Ns(n.Counted)
	}
	if limit := account/50 + 2e6 + switches*testjvm.SwitchNs; diff > limit+stolen || diff < -limit {
		a.Errorf("task clock and the scheduler's account differ by %d ns, more than %d, the machine took %d", diff, limit, stolen)
	}
	if n := got.Counts[ContextSwitches]; n == nil || n.Counted == 0 {
		t.Errorf("the child was stopped, yet no context switch: %+v", n)
	}
	if got.Counts[TaskClock].Multiplexed {
		t.Error("a software event is never multiplexed")
	}
	child.Process.Kill()
	child.Wait()
	scan(t, c)
	if last := c.Totals()[0]; !last.Ended || last.Counts[TaskClock].Counted < uint64(clock) {
		t.Errorf("after the end: %+v", last)
	}
}

// TestThreadsOfOneProcess counts the threads of the test's own process: the one that burns CPU must show it.
func TestThreadsOfOneProcess(t *testing.T) {
	testjvm.OneGood(t, func(a *testjvm.Attempt) { compareThreads(t, a) })
}

// compareThreads compares each thread's counter with the scheduler's CPU time, which
// lacks what the machine took while the thread had a CPU.
func compareThreads(t *testing.T, a *testjvm.Attempt) {
	t.Helper()
	before := testjvm.Stolen(t)
	c, err := Attach(os.Getpid(), []Event{TaskClock}, Options{})
	var na *NotAvailableError
	if errors.As(err, &na) {
		skipRefused(t, na)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	burn(40e6)
	scan(t, c)
	var sum units.Ns
	for _, th := range c.Totals() {
		clock := units.Ns(th.Counts[TaskClock].Counted)
		sum += clock
		if account, err := proc.Self.Thread(th.TID).SchedStat(); err == nil && th.Before.Measured() {
			stolen := units.Ns(testjvm.Stolen(t) - before)
			if diff := th.Before + clock - account.CPU; diff > 5e6+stolen || diff < -20e6 {
				a.Errorf("thread %d: %d ns before + %d counted, scheduler %d, the machine took %d", th.TID, th.Before, clock, account.CPU, stolen)
			}
		}
	}
	if sum < 35e6 {
		t.Errorf("all threads used %d ns while one burnt 40 ms", sum)
	}
}

// burn uses CPU time, as long as it takes on a busy machine.
func burn(cpu units.Ns) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	clock := func() units.Ns {
		var ts unix.Timespec
		unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts)
		return units.Ns(ts.Nano())
	}
	for end := clock() + cpu; clock() < end; {
	}
}

func TestFile(t *testing.T) {
	m := newMachine(1, 2)
	m.cpu = 5
	m.refuse[Cycles] = &NotAvailableError{Event: Cycles, Reason: "none here"}
	c := attach(t, m, TaskClock, Cycles)
	m.cpu = units.NotMeasured
	m.threads = append(m.threads, Thread{ID: ThreadID{TID: 3, Start: 2}, Name: "late"})
	m.set(1, TaskClock, 3, 3, 3)
	scan(t, c)
	dir := t.TempDir()
	want := c.Snapshot()
	if err := want.Write(dir); err != nil {
		t.Fatal(err)
	}
	got, err := ReadFile(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(*got, want) {
		t.Errorf("read %+v\nwrote %+v", *got, want)
	}
	if none, err := ReadFile(t.TempDir()); none != nil || err != nil {
		t.Errorf("folder without counters: %v, %v; want nil, nil", none, err)
	}
}

func FuzzFile(f *testing.F) {
	f.Add([]byte(`{"version":1,"pid":2,"threads":[{"tid":2,"counts":{"cycles":{"counted":1}}}]}`))
	f.Add([]byte(`{"version":1,"threads":[{"counts":{"cycles":null}}]}`))
	f.Add([]byte(`{"version":2}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := parseFile("f", b)
		if err != nil {
			return
		}
		for _, th := range file.Threads {
			for e, n := range th.Counts {
				if n == nil {
					t.Fatalf("thread %d: no total for %s", th.TID, e)
				}
			}
		}
		if _, err := json.Marshal(file); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
	})
}

// TestRunEndsWithTheProcess: Run stops at the end of the process: the kernel may reuse its id.
func TestRunEndsWithTheProcess(t *testing.T) {
	m := newMachine(1, 2)
	c := attach(t, m, Cycles)
	m.set(2, Cycles, 5, 10, 10)
	m.ended = true
	if err := c.Run(t.Context(), time.Hour); err != nil {
		t.Fatal(err)
	}
	if m.open != 0 {
		t.Errorf("%d counters are open", m.open)
	}
	if all := c.Totals(); len(all) != 2 || all[1].Counts[Cycles].Counted != 5 {
		t.Errorf("totals %+v", all)
	}
}

// Between the scans of a second, Run reads nothing of threads that live: counters that are not multiplexed are read at
// their end, the others each second.
func TestRunReadsSeldom(t *testing.T) {
	m := newMachine(1, 2)
	c := attach(t, m, PageFaults, Cycles)
	check := func(what string, faults, cycles uint64) {
		t.Helper()
		if _, err := c.scan(false, c.due()); err != nil {
			t.Fatal(err)
		}
		for _, x := range c.Totals() {
			if f, y := x.Counts[PageFaults].Counted, x.Counts[Cycles].Counted; f != faults || y != cycles {
				t.Errorf("%s: thread %d has %d faults, %d cycles, want %d and %d", what, x.TID, f, y, faults, cycles)
			}
		}
	}
	set := func(n uint64) {
		for _, x := range m.threads {
			m.set(x.ID.TID, PageFaults, n, units.Ns(n), units.Ns(n))
			m.set(x.ID.TID, Cycles, n, units.Ns(n), units.Ns(n))
		}
	}
	set(5)
	check("first scan", 0, 5)
	set(7)
	check("at once after it", 0, 5)
	c.readAt = time.Now().Add(-readEvery)
	check("a second later", 0, 7)
	set(9)
	m.threads = nil
	check("ended", 9, 9)
}

// Run looks seldom for threads of a process that begins none.
func TestRunIsCalm(t *testing.T) {
	m := newMachine(1)
	c := attach(t, m, PageFaults)
	if got := c.pace(time.Second); got != time.Second {
		t.Errorf("after a new thread it waits %v, want a second", got)
	}
	c.grewAt = time.Now().Add(-2 * calmAfter)
	if got := c.pace(time.Second); got != calmFactor*time.Second {
		t.Errorf("without new threads it waits %v, want %d s", got, calmFactor)
	}
	m.threads = newMachine(1, 2).threads
	scan(t, c)
	if got := c.pace(time.Second); got != time.Second {
		t.Errorf("after another new thread it waits %v, want a second", got)
	}
}

// A thread without counters is counted once, even after several attempts or its end, and no longer once it has counters.
func TestUnopenedThreads(t *testing.T) {
	m := newMachine(1, 2, 3, 4)
	for tid := 2; tid <= 4; tid++ {
		m.full[tid] = true
	}
	c := attach(t, m, TaskClock, ContextSwitches)
	for range 5 {
		scan(t, c)
	}
	if f := c.Snapshot(); f.Unopened != 3 || f.Partial() != "counters for 1 of 4 threads: "+descriptorLimit {
		t.Errorf("%d unopened, %q", f.Unopened, f.Partial())
	}
	m.threads = m.threads[:3] // the last one ends
	delete(m.full, 2)
	scan(t, c)
	if f := c.Snapshot(); f.Unopened != 2 || len(f.Threads) != 2 {
		t.Errorf("%d unopened, %d counted, want 2 and 2", f.Unopened, len(f.Threads))
	}
	c.Close()
	if m.open != 0 {
		t.Errorf("%d counters left open", m.open)
	}
}

// Events leave descriptors for files.
func TestReserve(t *testing.T) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	last := int(limit.Cur - reserve(limit.Cur) - 1)
	if err := CheckReserve(last); err != nil {
		t.Errorf("descriptor %d of %d: %v", last, limit.Cur, err)
	}
	if err := CheckReserve(last + 1); !errors.Is(err, unix.EMFILE) {
		t.Errorf("descriptor %d of %d: %v, want EMFILE", last+1, limit.Cur, err)
	}
	for limit, want := range map[uint64]uint64{64: 16, 1024: 256, 20000: 1024} {
		if got := reserve(limit); got != want {
			t.Errorf("%d of %d descriptors are kept, want %d", got, limit, want)
		}
	}
}
