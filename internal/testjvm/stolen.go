package testjvm

import (
	"testing"
	"time"

	"stackagent/internal/proc"
)

// Machine is the processor time of this machine so far, by the kernel's account.
type Machine struct{ proc.Processors }

// Processors reads it.
func Processors(t testing.TB) Machine {
	t.Helper()
	p, err := proc.ReadProcessors()
	if err != nil {
		t.Fatal(err)
	}
	return Machine{p}
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
	return Processors(t).Processors.Stolen
}
