package proc

import (
	"golang.org/x/sys/unix"

	"stackagent/internal/units"
)

// Now reads CLOCK_MONOTONIC, the clock of sessions.
func Now() units.MonoNs {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return 0 // every Linux has this clock
	}
	return units.MonoNs(t.Nano())
}
