package replay

import (
	"container/heap"
	"math"

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

// timers are a heap, the earliest first; of one time, the unit with the least number.
type timers []timer

func (t *timers) add(x timer) { heap.Push((*timerHeap)(t), x) }
func (t *timers) next() timer { return heap.Pop((*timerHeap)(t)).(timer) }

type timerHeap []timer

func (h timerHeap) Len() int { return len(h) }
func (h timerHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].unit < h[j].unit
}
func (h timerHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *timerHeap) Push(x any)   { *h = append(*h, x.(timer)) }
func (h *timerHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// sharedCPU are CPUs that the runnable units share evenly: each one's progress is that of a
// virtual clock, which goes at the rate of CPUs by units, at most 1.
type sharedCPU struct {
	cpus  int // 0: no limit
	clock float64
	users cpuHeap
}

// user is a unit on a CPU, and when it has computed by the virtual clock.
type user struct {
	until float64
	unit  int32
}

type cpuHeap []user

func (h cpuHeap) Len() int { return len(h) }
func (h cpuHeap) Less(i, j int) bool {
	return h[i].until < h[j].until || h[i].until == h[j].until && h[i].unit < h[j].unit
}
func (h cpuHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *cpuHeap) Push(x any)   { *h = append(*h, x.(user)) }
func (h *cpuHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

func (c *sharedCPU) add(unit int32, n units.Ns) {
	heap.Push(&c.users, user{c.clock + float64(n), unit})
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
	return heap.Pop(&c.users).(user).unit, true
}
