package proc

import "golang.org/x/sys/unix"

// bootClock also counts while the machine sleeps.
const bootClock = unix.CLOCK_BOOTTIME
