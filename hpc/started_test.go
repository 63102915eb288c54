package hpc

import (
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"stackagent/internal/units"
)

// TestStarted holds the kernel's word on a process's begin between two looks at
// the clock.
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
		t.Error("a process that there is not has begun")
	}
}
