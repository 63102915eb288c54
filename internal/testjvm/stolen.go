package testjvm

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// tick is the resolution of /proc/stat.
const tick = 10 * time.Millisecond

// Machine is the processor time of this machine so far, by the kernel's account.
type Machine struct {
	Busy time.Duration // what programs, interrupts and the hypervisor had
	Idle time.Duration
}

// Processors reads it.
func Processors(t testing.TB) Machine {
	t.Helper()
	x := ticks(t)
	return Machine{
		Busy: time.Duration(x[0]+x[1]+x[2]+x[5]+x[6]+x[7]) * tick,
		Idle: time.Duration(x[3]+x[4]) * tick,
	}
}

// Others is the share of the machine's processor time since before that was not
// idle and not own: 0 to 1.
func (m Machine) Others(before Machine, own time.Duration) float64 {
	busy, idle := m.Busy-before.Busy, m.Idle-before.Idle
	if busy+idle <= 0 {
		return 0
	}
	return max(0, float64(busy-own)/float64(busy+idle))
}

// Stolen is the time so far that the hypervisor and interrupts took from this
// machine. The kernel does not charge it to the thread that had the CPU, while
// the scheduling record shows the thread as running.
func Stolen(t testing.TB) time.Duration {
	t.Helper()
	x := ticks(t)
	return time.Duration(x[5]+x[6]+x[7]) * tick
}

// ticks are the first line of /proc/stat: user, nice, system, idle, iowait, irq,
// softirq, steal.
func ticks(t testing.TB) (x [8]int64) {
	t.Helper()
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(string(text), "cpu %d %d %d %d %d %d %d %d", &x[0], &x[1], &x[2], &x[3], &x[4], &x[5], &x[6], &x[7]); err != nil {
		t.Fatalf("the first line of /proc/stat: %v", err)
	}
	return x
}
