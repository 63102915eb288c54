package replay

import (
	"math"

	"stackagent/internal/heap"
	"stackagent/internal/units"
)

// what happens at a time.
type what uint8

const (
	due    what = iota // a delayed unit can start
	begin              // a unit starts
	resume             // a unit's step ends
)

type timer struct {
	at   units.Ns
	unit int32
	what what
}

// Before is by time; of one time, the unit with the least number is first.
func (t timer) Before(o timer) bool { return t.at < o.at || t.at == o.at && t.unit < o.unit }

// sharedCPU are CPUs that the runnable units share evenly: each one's progress is that of a
// virtual clock, which goes at the rate of CPUs by units, at most 1.
type sharedCPU struct {
	cpus  int // 0: no limit
	clock float64
	users heap.Heap[user]
}

// user is a unit on a CPU, and when it has computed by the virtual clock.
type user struct {
	until float64
	unit  int32
}

// Before is by when they have computed; of one time, the unit with the least number is first.
func (u user) Before(o user) bool { return u.until < o.until || u.until == o.until && u.unit < o.unit }

func (c *sharedCPU) add(unit int32, n units.Ns) {
	c.users.Push(user{c.clock + float64(n), unit})
}

// slowness is how long the virtual clock takes for a nanosecond.
func (c *sharedCPU) slowness() float64 {
	if n := len(c.users); c.cpus > 0 && n > c.cpus {
		return float64(n) / float64(c.cpus)
	}
	return 1
}

// first is when the first unit has computed.
func (c *sharedCPU) first(now units.Ns) (units.Ns, bool) {
	if len(c.users) == 0 {
		return 0, false
	}
	rest := max(0, c.users[0].until-c.clock)
	return now + units.Ns(math.Ceil(rest*c.slowness()-rounding)), true
}

// rounding is what the virtual clock may be off: it counts in fractions of a nanosecond.
const rounding = 1e-3

func (c *sharedCPU) pass(n units.Ns) { c.clock += float64(n) / c.slowness() }

// ended removes a unit that has computed.
func (c *sharedCPU) ended() (int32, bool) {
	if len(c.users) == 0 || c.users[0].until > c.clock+rounding {
		return none, false
	}
	return c.users.Pop().unit, true
}
