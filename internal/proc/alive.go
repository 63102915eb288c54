package proc

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"stackagent/internal/units"
)

// Alive reports whether a process runs; one that only waits to be reaped does
// not. A process whose first thread has ended lives on in its others.
func Alive(pid int) bool {
	if pid <= 0 {
		return false
	}
	d := Process(pid)
	stat, err := d.Stat()
	if err != nil {
		return false
	}
	if !stat.Ended() {
		return true
	}
	threads, err := d.Threads()
	return err == nil && len(threads) > 1
}

// userHz is how many clock ticks /proc counts in a second, on every Linux.
const userHz = 100

// Started is when a process began, by CLOCK_MONOTONIC, to 10 ms.
func Started(pid int) (units.MonoNs, error) {
	stat, err := Process(pid).Stat()
	if err != nil {
		return 0, fmt.Errorf("when process %d began: %w", pid, err)
	}
	var boot, mono unix.Timespec
	if err := errors.Join(unix.ClockGettime(bootClock, &boot), unix.ClockGettime(unix.CLOCK_MONOTONIC, &mono)); err != nil {
		return 0, fmt.Errorf("the kernel's clocks: %w", err)
	}
	const tick = int64(time.Second / userHz)
	return units.MonoNs(int64(stat.Start)*tick - (boot.Nano() - mono.Nano())), nil // bootClock counts while the machine sleeps
}
