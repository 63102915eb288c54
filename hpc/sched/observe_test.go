package sched

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

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
	slices   [][]Slice // by thread
	cpu      units.Ns  // of the process by getrusage, at the end of its work
	switches uint64
	from, to units.MonoNs // of its work
	stolen   units.Ns     // what the machine's hypervisor and interrupts took from it, at most
}

// observe runs testdata/threads.c.
func observe(t *testing.T, source Choice, args ...string) *observed {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	o, err := Start(source)
	var u *UnavailableError
	if errors.As(err, &u) {
		if u.Reason == "" || u.Remedy == "" {
			t.Errorf("not available without a reason and a remedy: %+v", u)
		}
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	var out bytes.Buffer
	before := stolen(t)
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
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
	if err := o.Finish(cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	r := open(t, dir)
	if len(r.Damage()) > 0 || !r.Complete() || r.Record().PID != cmd.Process.Pid {
		t.Errorf("complete %v, damage %v, %+v", r.Complete(), r.Damage(), r.Record())
	}
	x := &observed{stolen: stolen(t) - before, Reader: r, slices: make([][]Slice, len(r.Record().Threads))}
	if err := r.All(func(run []Slice) error {
		for _, s := range run {
			x.slices[s.Thread] = append(x.slices[s.Thread], s)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(out.String(), &x.from, &x.to, &x.cpu, &x.switches); err != nil {
		t.Fatalf("%q: %v", out.String(), err)
	}
	x.check(t)
	return x
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

// near tells whether got is within share of want, or within a slack that a busy
// machine takes.
func near(t *testing.T, what string, got, want units.Ns, share float64) {
	t.Helper()
	if diff := math.Abs(float64(got - want)); diff > share*float64(want) && diff > 1e6 {
		t.Errorf("%s: %v, want %v", what, got.Duration(), want.Duration())
	}
}

// stolen is the time that the hypervisor and interrupts took from this machine,
// which the kernel does not charge to the thread that had the CPU.
func stolen(t *testing.T) units.Ns {
	t.Helper()
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		t.Fatal(err)
	}
	var ticks [8]int64 // user, nice, system, idle, iowait, irq, softirq, steal
	if _, err := fmt.Sscanf(string(text), "cpu %d %d %d %d %d %d %d %d", &ticks[0], &ticks[1], &ticks[2], &ticks[3], &ticks[4], &ticks[5], &ticks[6], &ticks[7]); err != nil {
		t.Fatal(err)
	}
	return units.Ns(ticks[5]+ticks[6]+ticks[7]) * 10e6
}

func sources(t *testing.T, test func(t *testing.T, source Choice)) {
	for _, source := range []Choice{EBPF, Perf} {
		t.Run(string(source), func(t *testing.T) { test(t, source) })
	}
}

func TestAlone(t *testing.T) {
	sources(t, func(t *testing.T, source Choice) {
		x := observe(t, source, "alone", "200")
		i := x.named(t, "burner")
		sums := x.sums(i)
		t.Logf("%v %+v", sums, x.Record())
		near(t, "running", sums[Running], x.cpu, 0.02)
		t.Log(x.stolen)
		th := x.Record().Threads[i]
		if !th.BeginSeen || !th.EndSeen {
			t.Errorf("%+v", th)
		}
		if source == EBPF {
			near(t, "the kernel's account", th.CPU, sums[Running], 0.01)
		}
	})
}
