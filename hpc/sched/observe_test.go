package sched

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"stackagent/internal/testjvm"
	"stackagent/internal/units"
)

// program is testdata/threads.c, compiled once.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "threads")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "threads")
	out, err := exec.Command("cc", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", path, "testdata/threads.c").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("cc: %w: %s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := program(); err == nil {
		os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// observed is a program that ran under observation.
type observed struct {
	*Reader
	slices   [][]Slice    // by thread
	cpu      units.Ns     // of the process by getrusage, at the end of its work
	switches uint64       // 0: none
	early    uint64       // those before its work, most of them before the exec, where perf does not look yet
	from, to units.MonoNs // of its work
	stolen   units.Ns     // what the machine's hypervisor and interrupts took from it, at most
}

// start begins to observe with one source. If the machine lacks the source, the test is
// skipped after a check that the refusal has a reason and a remedy.
func start(t *testing.T, source Choice) *Observer {
	t.Helper()
	before, alone := observers.begin(t)
	o, err := Start(source)
	var u *UnavailableError
	if err != nil {
		observers.open.Add(-1)
	}
	if errors.As(err, &u) {
		if u.Reason == "" || u.Remedy == "" {
			t.Errorf("not available without a reason and a remedy: %+v", u)
		}
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
		// The files of other observers come and go, as these listen and look.
		if observers.open.Add(-1) == 0 && alone {
			if after := openFiles(t); after > before {
				t.Errorf("%d files were open before, %d are now", before, after)
			}
		}
	})
	return o
}

// observers counts those that are open in this test program.
var observers openObservers

type openObservers struct {
	open   atomic.Int64
	poller sync.Once
}

// begin adds one, and counts the open files before it; alone: there is no other observer.
func (o *openObservers) begin(t *testing.T) (files int, alone bool) {
	t.Helper()
	o.poller.Do(func() { // Go opens the files of its poller with the first file that it polls
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		w.Close()
	})
	return openFiles(t), o.open.Add(1) == 1
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// command is testdata/threads.c with these arguments, compiled.
func command(t *testing.T, out *bytes.Buffer, args ...string) *exec.Cmd {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	return cmd
}

// observe runs testdata/threads.c to its end.
func observe(t *testing.T, a testjvm.Checker, source Choice, args ...string) *observed {
	t.Helper()
	o := start(t, source)
	var out bytes.Buffer
	cmd := command(t, &out, args...)
	before := testjvm.Stolen(t)
	x := launch(t, a, o, cmd)
	x.stolen = units.Ns(testjvm.Stolen(t) - before)
	if _, err := fmt.Sscan(out.String(), &x.from, &x.to, &x.cpu, &x.switches, &x.early); err != nil {
		t.Fatalf("%q: %v", out.String(), err)
	}
	return x
}

// launch runs a command under o to its end.
func launch(t *testing.T, a testjvm.Checker, o *Observer, cmd *exec.Cmd) *observed {
	t.Helper()
	if err := o.Launch(cmd.Start); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := o.Keep(cmd.Process.Pid, filepath.Join(dir, Folder)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return finish(t, a, o, cmd.Process.Pid, dir)
}

// finish ends the record of a process and reads it.
func finish(t *testing.T, a testjvm.Checker, o *Observer, pid int, dir string) *observed {
	t.Helper()
	if err := o.Finish(pid); err != nil {
		t.Fatal(err)
	}
	r := open(t, dir)
	if len(r.Damage()) > 0 || !r.Complete() || r.Record().PID != pid {
		t.Errorf("complete %v, damage %v, %+v", r.Complete(), r.Damage(), r.Record())
	}
	x := &observed{Reader: r, slices: make([][]Slice, len(r.Record().Threads))}
	err := r.All(func(run []Slice) error {
		for _, s := range run {
			x.slices[s.Thread] = append(x.slices[s.Thread], s)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	x.check(t)
	x.accounted(a)
	return x
}

// accounted: running times are the kernel's CPU time of the process within 1 %, on any
// machine, beside what the process's clock may be behind when it is read while threads
// run. A thread that has ended ran a little longer after the kernel added its time to
// the process's. (For each thread's own time see account.)
func (x *observed) accounted(c testjvm.Checker) {
	c.Helper()
	const reading, afterEnd = 300e3, 20e3
	a := x.Record().Account
	if a == nil {
		return // the process ended before its clock was read twice
	}
	slack := a.CPU/100 + a.Behind + reading + units.Ns(len(x.slices))*afterEnd
	if off := a.Running - a.CPU; off < -slack || off > slack {
		c.Errorf("running times add up to %v, the kernel's account is %v: %+v", a.Running.Duration(), a.CPU.Duration(), *a)
	}
}

// check: every moment of a thread is in exactly one slice.
func (x *observed) check(t *testing.T) {
	t.Helper()
	for i, th := range x.Record().Threads {
		at := th.First
		for _, s := range x.slices[i] {
			if s.From != at {
				t.Fatalf("thread %d (%s): a slice begins at %d, the one before ended at %d", th.TID, th.Name, s.From, at)
			}
			at = s.To
		}
		if at != th.Last {
			t.Fatalf("thread %d (%s): its slices end at %d, it at %d", th.TID, th.Name, at, th.Last)
		}
	}
}

// sums are a thread's times by state.
func (x *observed) sums(thread int) (sums [NStates]units.Ns) {
	for _, s := range x.slices[thread] {
		sums[s.State] += units.Ns(s.To - s.From)
	}
	return sums
}

// named finds the one thread of that name.
func (x *observed) named(t *testing.T, name string) int {
	t.Helper()
	found := -1
	for i, th := range x.Record().Threads {
		if th.Name == name {
			if found >= 0 {
				t.Fatalf("two threads are named %s", name)
			}
			found = i
		}
	}
	if found < 0 {
		t.Fatalf("no thread %s in %+v", name, x.Record().Threads)
	}
	return found
}

// near checks that got is within 2 % of want, beside what the machine took.
func (x *observed) near(a *testjvm.Attempt, what string, got, want units.Ns) {
	a.Helper()
	slack := want/50 + 1e6
	if got < want-slack || got > want+slack+x.stolen {
		a.Errorf("%s: %v, want %v (the machine took %v)", what, got.Duration(), want.Duration(), x.stolen.Duration())
	}
}

// least checks that got is at most 2 % below want.
func least(c testjvm.Checker, what string, got, want units.Ns) {
	c.Helper()
	if got < want-want/50-1e6 {
		c.Errorf("%s: %v, want at least %v", what, got.Duration(), want.Duration())
	}
}

// both is the time that two threads ran at once.
func (x *observed) both(a, b int) (sum units.Ns) {
	for _, s := range x.slices[a] {
		for _, r := range x.slices[b] {
			if s.State == Running && r.State == Running {
				sum += units.Ns(max(0, min(s.To, r.To)-max(s.From, r.From)))
			}
		}
	}
	return sum
}

// sources calls test with each source, until an attempt is good.
func sources(t *testing.T, test func(t *testing.T, a *testjvm.Attempt, source Choice)) {
	for _, source := range []Choice{EBPF, Perf} {
		t.Run(string(source), func(t *testing.T) {
			testjvm.OneGood(t, func(a *testjvm.Attempt) { test(t, a, source) })
		})
	}
}
