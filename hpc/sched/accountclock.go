package sched

import "stackagent/internal/units"

// accountClocks measure the lag of a switch's record: the kernel charges the next thread
// a little earlier. For the charge the scheduler uses a clock per CPU, which it reads
// when it starts to look for the next thread, or at the wake-up that made it look. That
// clock runs almost like CLOCK_MONOTONIC, from another origin. The distance of the two
// clocks is taken from the recent records with the smallest lag.
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
	// maxLag is more than any lag: a clock with a greater distance was set, or stood
	// still.
	maxLag = units.MonoNs(10e6)
)

// lag is how long before at the kernel charged the next thread, if the CPU's clock then
// showed clock; 0 if unknown.
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
