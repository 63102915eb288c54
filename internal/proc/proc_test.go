package proc

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"stackagent/internal/units"
)

// TestSelf reads this very thread by every file.
func TestSelf(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ids, err := Self.Threads()
	if err != nil || !slices.Contains(ids, unix.Gettid()) {
		t.Fatalf("threads %v, %v: no %d", ids, err, unix.Gettid())
	}
	d := Process(os.Getpid()).Thread(unix.Gettid())
	stat, err := d.Stat()
	if err != nil || stat.State != 'R' || stat.Start == 0 || stat.Ended() {
		t.Errorf("stat %+v, %v", stat, err)
	}
	if name, err := d.Comm(); err != nil || name != stat.Name {
		t.Errorf("name %q, %v; stat says %q", name, err, stat.Name)
	}
	status, err := d.Status()
	if err != nil {
		t.Fatal(err)
	}
	if uid, gid, err := status.Owner(); uid != os.Geteuid() || gid != os.Getegid() || err != nil {
		t.Errorf("owner %d, %d, %v", uid, gid, err)
	}
	if s, err := d.SchedStat(); err == nil && s.CPU <= 0 {
		t.Errorf("account %+v", s)
	}
}

func TestEnded(t *testing.T) {
	const none = 1<<31 - 1
	_, err1 := Process(none).Stat()
	_, err2 := Process(none).Status()
	_, err3 := Process(none).Threads()
	for _, err := range []error{err1, err2, err3} {
		if !errors.Is(err, ErrEnded) {
			t.Errorf("no process: %v", err)
		}
	}
	if Alive(none) || Alive(0) || Alive(-1) || !Alive(os.Getpid()) {
		t.Error("wrong about who lives")
	}
}

// A short file is read without allocating anything but its path and what it says.
func TestAllocations(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { Self.SchedStat() }); n > 6 {
		t.Errorf("%v allocations", n)
	}
}

// TestStarted compares the kernel's start time of a process with two readings of
// the clock around it.
func TestStarted(t *testing.T) {
	clock := func() units.MonoNs {
		var now unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
			t.Fatal(err)
		}
		return units.MonoNs(now.Nano())
	}
	const tick = units.MonoNs(10e6)
	before := clock()
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	after := clock()
	if began, err := Started(cmd.Process.Pid); err != nil || began < before-tick || began > after {
		t.Errorf("began at %d, %v; want a time from %d to %d", began, err, before, after)
	}
	if _, err := Started(-1); err == nil {
		t.Error("a process that does not exist has begun")
	}
}
