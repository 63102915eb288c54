package sched

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"stackagent/internal/testjvm"
	"stackagent/internal/units"
)

// The programs' answers are known by how they are made; on a machine that is
// busy a thread also waits for a CPU, and is recorded as waiting.

// work of each thread, also as an argument. What the machine takes from a thread is
// known to a tick of 10 ms, so the work must be much longer.
const (
	work   = units.Ns(600e6)
	workMs = "600"
)

// waited is the time in a state; perf records short stays as blocked.
func waited(source Choice, sums [NStates]units.Ns, s State) units.Ns {
	if source == Perf {
		return sums[s] + sums[Blocked]
	}
	return sums[s]
}

func TestAlone(t *testing.T) {
	sources(t, func(t *testing.T, a *testjvm.Attempt, source Choice) {
		x := observe(t, a, source, "alone", "1000")
		i := x.named(t, "burner")
		sums, th := x.sums(i), x.Record().Threads[i]
		x.near(a, "running", sums[Running], x.cpu)
		if !th.BeginSeen || !th.EndSeen || x.Record().Lost > 0 {
			a.Errorf("%+v, lost %d", th, x.Record().Lost)
		}
		if n := th.Voluntary + th.Involuntary; n < x.switches-x.early || n > x.switches+20 {
			a.Errorf("%d switches, the kernel counted %d, %d of them before its work", n, x.switches, x.early)
		}
		if source == EBPF {
			x.account(t, a, i)
		}
	})
}

// account compares the area of a thread's running with the kernel's CPU time of it:
// equal within 1 %, beside the error of one switch before the clocks of its CPU are
// known (accountClocks).
func (x *observed) account(t *testing.T, a *testjvm.Attempt, thread int) {
	t.Helper()
	const aSwitch = 100e3
	th, sums := x.Record().Threads[thread], x.sums(thread)
	if !th.CPU.Measured() || sums[Unknown] > 0 {
		t.Errorf("%s: the kernel's account is missing, or something unknown: %v", th.Name, sums)
	}
	if off := sums[Running] - th.CPU; off < -th.CPU/100-aSwitch || off > th.CPU/100+aSwitch {
		a.Errorf("%s: running %v, the kernel's account is %v (%d + %d switches)",
			th.Name, sums[Running].Duration(), th.CPU.Duration(), th.Voluntary, th.Involuntary)
	}
}

func TestTogether(t *testing.T) {
	for _, mode := range []string{"together", "pinned"} {
		t.Run(mode, func(t *testing.T) {
			sources(t, func(t *testing.T, a *testjvm.Attempt, source Choice) {
				x := observe(t, a, source, mode, workMs)
				one, two := x.named(t, "burner0"), x.named(t, "burner1")
				for _, i := range []int{one, two} {
					sums, th := x.sums(i), x.Record().Threads[i]
					x.near(a, "running", sums[Running], work)
					x.near(a, "running or waiting for a CPU", sums[Running]+sums[Runnable], units.Ns(th.Last-th.First))
				}
				if n := x.both(one, two); mode == "pinned" && n > 0 {
					a.Errorf("on one CPU they ran at once for %v", n.Duration())
				}
			})
		})
	}
}

// Two threads take turns: while one works the other waits for it in a futex.
func TestTurns(t *testing.T) {
	sources(t, func(t *testing.T, a *testjvm.Attempt, source Choice) {
		x := observe(t, a, source, "turns", workMs)
		one, two := x.named(t, "taker0"), x.named(t, "taker1")
		if n := x.both(one, two); n > work/50 {
			a.Errorf("they ran at once for %v", n.Duration())
		}
		for _, i := range []int{one, two} {
			sums := x.sums(i)
			x.near(a, "running", sums[Running], work)
			least(a, "waiting for the other", waited(source, sums, Futex), work*9/10) // no thread waits for the first turn
			if other := sums[IO] + sums[Sleeping] + sums[Unknown]; other > 1e6 {
				a.Errorf("%v of something else: %v", other.Duration(), sums)
			}
		}
	})
}

func TestSleepAndPipe(t *testing.T) {
	sources(t, func(t *testing.T, a *testjvm.Attempt, source Choice) {
		x := observe(t, a, source, "sleep", workMs)
		sums := x.sums(x.named(t, "sleeper"))
		x.slept(a, source, sums)
		x = observe(t, a, source, "pipe", workMs)
		least(a, "reading", waited(source, x.sums(x.named(t, "reader")), IO), work)
		x.slept(a, source, x.sums(x.named(t, "writer")))
	})
}

// slept: perf does not report when a thread was woken, so it counts the wait for a
// CPU with the sleep.
func (x *observed) slept(a *testjvm.Attempt, source Choice, sums [NStates]units.Ns) {
	a.Helper()
	if source == EBPF {
		x.near(a, "sleeping", sums[Sleeping], work)
	}
	least(a, "sleeping", waited(source, sums, Sleeping), work)
}

func TestLock(t *testing.T) {
	sources(t, func(t *testing.T, a *testjvm.Attempt, source Choice) {
		x := observe(t, a, source, "lock", workMs)
		w := x.sums(x.named(t, "waiter"))
		// It may be late for the lock: then it was asleep or waited for a CPU.
		least(a, "waiting for the lock", waited(source, w, Futex), work-w[Sleeping]-w[Runnable]-w[Running])
		if source == EBPF {
			x.account(t, a, x.named(t, "holder"))
		}
	})
}

// A thousand switches to and fro: each is recorded.
func TestPing(t *testing.T) {
	sources(t, func(t *testing.T, a *testjvm.Attempt, source Choice) {
		x := observe(t, a, source, "ping", "5000")
		n := uint64(0)
		for _, th := range x.Record().Threads {
			n += th.Voluntary + th.Involuntary
		}
		unseen := uint64(0)
		if source == Perf { // the events of a thread end before its last switch, out of it for ever
			unseen = uint64(len(x.Record().Threads))
		}
		if n+unseen < x.switches-x.early || n > x.switches+20 || x.Record().Lost > 0 {
			a.Errorf("%d switches, the kernel counted %d; lost %d", n, x.switches, x.Record().Lost)
		}
		if source == EBPF {
			x.account(t, a, x.named(t, "taker0"))
		}
	})
}

// threadsOf waits until a process has threads of these names.
func threadsOf(t *testing.T, pid int, want ...string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		var names []string
		found, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/comm", pid))
		for _, path := range found {
			name, _ := os.ReadFile(path) // a thread may have ended
			names = append(names, strings.TrimSpace(string(name)))
		}
		if len(names) == len(want) && !slices.ContainsFunc(want, func(name string) bool { return !slices.Contains(names, name) }) {
			return
		}
	}
	t.Fatalf("process %d does not get the threads %v", pid, want)
}

// full reports whether the large tests are wanted.
func full() bool { return os.Getenv("STACKAGENT_E2E") == "full" }

// Threads that live for microseconds, and many at once: each is recorded with its
// begin and end, and nothing is left open.
func TestManyThreads(t *testing.T) {
	short, many := 2000, 300
	if full() {
		short, many = 50_000, 2000
	}
	sources(t, func(t *testing.T, a *testjvm.Attempt, source Choice) {
		for mode, n := range map[string]int{"short": short, "many": many} {
			x := observe(t, a, source, mode, strconv.Itoa(n))
			r := x.Record()
			seen, freeing := 0, 0 // freeing the memory of that many stacks can take long enough for a row of its own
			for i, th := range r.Threads {
				if th.Name == EndOfProcess && th.TID == 0 {
					freeing++
				}
				if th.BeginSeen && th.EndSeen && x.sums(i)[Unknown] == 0 {
					seen++
				}
			}
			if len(r.Threads) != n+1+freeing || freeing > 1 || r.Lost > 0 {
				a.Errorf("%s: %d rows, %d of them for the end of the process, want %d threads and at most one such row; lost %d", mode, len(r.Threads), freeing, n+1, r.Lost)
			}
			if seen != len(r.Threads) {
				a.Errorf("%s: of %d threads, %d were seen from begin to end", mode, len(r.Threads), seen)
			}
		}
	})
}

// A process that is killed ends all its threads.
func TestKilled(t *testing.T) {
	sources(t, func(t *testing.T, a *testjvm.Attempt, source Choice) {
		o := start(t, source)
		var out bytes.Buffer
		cmd := command(t, &out, "together", "60000")
		if err := o.Launch(cmd.Start); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := o.Keep(cmd.Process.Pid, filepath.Join(dir, Folder)); err != nil {
			t.Fatal(err)
		}
		threadsOf(t, cmd.Process.Pid, "threads", "burner0", "burner1")
		cmd.Process.Kill()
		cmd.Wait()
		x := finish(t, a, o, cmd.Process.Pid, dir)
		if n := len(x.Record().Threads); n < 3 {
			a.Errorf("%d threads in the record, want 3", n)
		}
		for _, th := range x.Record().Threads {
			if !th.EndSeen {
				a.Errorf("the end of %s was not seen: %+v", th.Name, th)
			}
		}
	})
}

// A second session of a process that was not launched: the first one's record
// ends in order, and the second's begins.
func TestKeepAgain(t *testing.T) {
	sources(t, func(t *testing.T, a *testjvm.Attempt, source Choice) {
		o := start(t, source)
		var out bytes.Buffer
		cmd := command(t, &out, "lock", "600000")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill() })
		dirs := []string{t.TempDir(), t.TempDir()}
		for _, dir := range append(dirs, dirs[1]) {
			if err := o.Keep(cmd.Process.Pid, filepath.Join(dir, Folder)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Millisecond) // so that the record has a length; which one does not matter
		}
		cmd.Process.Kill()
		cmd.Wait()
		second := finish(t, a, o, cmd.Process.Pid, dirs[1])
		first := open(t, dirs[0])
		if !first.Complete() || len(first.Damage()) > 0 || first.Record().To > second.Record().From {
			t.Errorf("the first ends at %d (complete %v, damage %v), the second begins at %d",
				first.Record().To, first.Complete(), first.Damage(), second.Record().From)
		}
	})
}

// A process that already runs: /proc says what its threads do when the observation
// begins, and their first switch confirms or corrects it.
func TestAttach(t *testing.T) {
	sources(t, func(t *testing.T, a *testjvm.Attempt, source Choice) {
		o := start(t, source)
		var out bytes.Buffer
		cmd := command(t, &out, "lock", "600")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		threadsOf(t, cmd.Process.Pid, "threads", "holder", "waiter")
		dir := t.TempDir()
		if err := o.Keep(cmd.Process.Pid, filepath.Join(dir, Folder)); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		x := finish(t, a, o, cmd.Process.Pid, dir)
		for _, name := range []string{"threads", "holder", "waiter"} {
			i := x.named(t, name)
			th, sums := x.Record().Threads[i], x.sums(i)
			if th.BeginSeen || !th.EndSeen || sums[Unknown] > 0 {
				a.Errorf("%+v %v", th, sums)
			}
			if name == "threads" { // the first thread waits for the others
				x.near(a, "joining", sums[Futex], units.Ns(th.Last-th.First)-sums[Running]-sums[Runnable]-sums[Blocked])
			}
			if source == EBPF && name == "holder" {
				x.account(t, a, i)
			}
		}
	})
}

// The record of a process that was watched before Keep begins at Watch.
func TestWatch(t *testing.T) {
	sources(t, func(t *testing.T, a *testjvm.Attempt, source Choice) {
		o := start(t, source)
		var out bytes.Buffer
		cmd := command(t, &out, "lock", "600000")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill() })
		pid := cmd.Process.Pid
		threadsOf(t, pid, "threads", "holder", "waiter")
		if err := o.Watch(pid); err != nil {
			t.Fatal(err)
		}
		watched := now()
		time.Sleep(50 * time.Millisecond) // so that Watch and Keep differ; how long does not matter
		dir := t.TempDir()
		if err := o.Keep(pid, filepath.Join(dir, Folder)); err != nil {
			t.Fatal(err)
		}
		cmd.Process.Kill()
		cmd.Wait()
		if x := finish(t, a, o, pid, dir); x.Record().From > watched {
			t.Errorf("the record begins at %d, it was watched by %d", x.Record().From, watched)
		}
	})
}
