package sched

import (
	"golang.org/x/sys/unix"

	"stackagent/internal/units"
)

// now reads CLOCK_MONOTONIC.
func now() units.MonoNs {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return 0 // every Linux has this clock
	}
	return units.MonoNs(t.Nano())
}
