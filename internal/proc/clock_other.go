//go:build !linux

package proc

import "golang.org/x/sys/unix"

// bootClock is not asked for: without /proc, Started fails before.
const bootClock = unix.CLOCK_MONOTONIC
