package testjvm

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// Stolen is the time so far that the hypervisor and interrupts took from this
// machine. The kernel does not charge it to the thread that had the CPU, while
// the record of the scheduler tells that the thread was running.
func Stolen(t testing.TB) time.Duration {
	t.Helper()
	const tick = 10 * time.Millisecond // it is told no finer
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		t.Fatal(err)
	}
	var ticks [8]int64 // user, nice, system, idle, iowait, irq, softirq, steal
	if _, err := fmt.Sscanf(string(text), "cpu %d %d %d %d %d %d %d %d", &ticks[0], &ticks[1], &ticks[2], &ticks[3], &ticks[4], &ticks[5], &ticks[6], &ticks[7]); err != nil {
		t.Fatal(err)
	}
	return time.Duration(ticks[5]+ticks[6]+ticks[7]) * tick
}
