package sched

import "stackagent/internal/units"

// accountClocks measure how long before the record of a switch the kernel's account
// of CPU time passed from one thread to the next. The account goes by a clock of
// each CPU that the scheduler reads when it begins to look for the next thread;
// or, where a wake-up made it look, already then. That clock runs like
// CLOCK_MONOTONIC but from another origin, and a little apart from it: the
// distance of the two is taken from those records, of the last moments, that came
// soonest after it.
type accountClocks struct{ cpus []accountClock }

type accountClock struct {
	least [2]units.MonoNs // shortest distance in this window and the one before
	until units.MonoNs    // end of this window
}

const (
	// clockWindow is short enough that clocks which differ by 12 ppm differ by a
	// microsecond at its end.
	clockWindow = units.MonoNs(64e6)
	maxCPUs     = 1 << 13
	// maxLag is more than the way from the account to the record takes: a clock
	// that is apart by more was set, or stood still.
	maxLag = units.MonoNs(10e6)
)

// lag is how long before at the account passed, when the CPU's clock then showed
// clock; 0 where it is not known.
func (c *accountClocks) lag(cpu uint32, at units.MonoNs, clock uint64) units.MonoNs {
	if clock == 0 || cpu >= maxCPUs {
		return 0
	}
	for int(cpu) >= len(c.cpus) {
		c.cpus = append(c.cpus, accountClock{})
	}
	x, apart := &c.cpus[cpu], at-units.MonoNs(clock)
	switch {
	case at >= x.until+clockWindow: // the first record, or the first for long
		x.least = [2]units.MonoNs{apart, apart}
		x.until = at + clockWindow
	case at >= x.until:
		x.least = [2]units.MonoNs{apart, x.least[0]}
		x.until = at + clockWindow
	}
	x.least[0] = min(x.least[0], apart)
	if lag := apart - min(x.least[0], x.least[1]); lag >= 0 && lag <= maxLag {
		return lag
	}
	return 0
}
