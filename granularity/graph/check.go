package graph

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"stackagent/internal/units"
)

// MaxSteps bounds the size of a graph: 32 bytes a step, and 16 a step for a schedule.
const MaxSteps = 50_000_000

// maxLen bounds a length and the sum of lengths, so that times do not overflow: 31 years.
const maxLen = units.Ns(1e18)

// ErrTooLarge is a graph with too many steps.
var ErrTooLarge = errors.New("too many steps for a graph")

// Check reports what is wrong with a graph: an index without an entry, a negative length,
// steps that overlap, a unit submitted twice.
func (g *Graph) Check() error {
	switch {
	case len(g.Steps) > MaxSteps:
		return fmt.Errorf("%w: %d, at most %d", ErrTooLarge, len(g.Steps), MaxSteps)
	case len(g.Executors) == 0 || g.CPUs < 0:
		return errors.New("a graph without executor 0, or with less than no CPUs")
	}
	for i, e := range g.Executors {
		if e.Workers < 0 || i == 0 && e.Workers != 0 {
			return fmt.Errorf("executor %d has %d workers", i, e.Workers)
		}
	}
	next, total := uint64(0), units.Ns(0)
	for i := range g.Units {
		u := &g.Units[i]
		if uint64(u.First) != next || uint64(u.First)+uint64(u.N) > uint64(len(g.Steps)) {
			return fmt.Errorf("unit %d: its steps do not follow those of the unit before", i)
		}
		next += uint64(u.N)
		if int(u.Executor) >= len(g.Executors) || !(u.Class == 0 || int(u.Class) < len(g.Classes)) || badLen(u.Delay) || badLen(u.Due) || badLen(u.Latency) || badLen(u.Wake) {
			return fmt.Errorf("unit %d: no such executor or class, or a wrong time", i)
		}
		if total += u.Delay + u.Latency + u.Wake; total > maxLen {
			return fmt.Errorf("unit %d: the times overflow", i)
		}
	}
	if next != uint64(len(g.Steps)) {
		return errors.New("steps of no unit")
	}
	for i := range g.Sums {
		x := &g.Sums[i]
		if int(x.Class) >= len(g.Classes) || int(x.Thread) >= len(g.Threads) || int(x.Executor) >= len(g.Executors) || x.From < 0 || x.To <= x.From || x.Units < 1 ||
			slices.ContainsFunc([]units.Ns{x.To, x.Queued, x.Ran, x.CPU, x.Free, x.Self, x.Took, x.Ready}, badLen) {
			return fmt.Errorf("sum %d: no such class, thread or executor, no units, or a wrong time", i)
		}
		if slices.ContainsFunc(x.Waits, func(w SumWait) bool {
			return int(w.Wait) >= len(g.Waits) || int(w.By) >= len(g.Classes) || badLen(w.Ns)
		}) {
			return fmt.Errorf("sum %d: no such wait or class, or a wrong time", i)
		}
	}
	if slices.ContainsFunc(g.Unlisted, func(x Unlisted) bool { return int(x.Thread) >= len(g.Threads) }) {
		return errors.New("submissions of no thread")
	}
	return g.checkSteps()
}

func badLen(n units.Ns) bool { return n < 0 || n > maxLen }

func (g *Graph) checkSteps() error {
	submitted := make([]bool, len(g.Units))
	total := units.Ns(0)
	for i := range g.Steps {
		s := &g.Steps[i]
		if badLen(s.Len) || s.Kind >= NKinds || s.Cause >= NCauses || !(s.Class == 0 || int(s.Class) < len(g.Classes)) {
			return fmt.Errorf("step %d: no such kind, cause or class, or a wrong length", i)
		}
		if total += s.Len; total > maxLen {
			return fmt.Errorf("step %d: the lengths overflow", i)
		}
		switch s.Kind {
		case Compute:
		case Outside:
			if s.Cause == Collector && s.On != 0 && int(s.On) >= len(g.Pauses) {
				return fmt.Errorf("step %d: no reason %d of a collection", i, s.On)
			}
			if s.Cause == Poll && int(s.On) > len(g.Units) {
				return fmt.Errorf("step %d: no unit %d to poll for", i, s.On-1)
			}
		case Submit, Join:
			if int(s.On) >= len(g.Units) {
				return fmt.Errorf("step %d: no unit %d", i, s.On)
			}
			if s.Kind == Submit && submitted[s.On] {
				return fmt.Errorf("step %d: unit %d is submitted twice", i, s.On)
			}
			submitted[s.On] = submitted[s.On] || s.Kind == Submit
		default:
			if int(s.On) >= len(g.Resources) || g.Resources[s.On].Kind != resourceOf(s.Kind) || g.Resources[s.On].N < 0 {
				return fmt.Errorf("step %d: a %v needs another resource than %d", i, s.Kind, s.On)
			}
		}
	}
	return nil
}

func resourceOf(k Kind) ResourceKind {
	switch k {
	case Put, Take:
		return Queue
	case Signal, Await:
		return Event
	case Arrive:
		return Barrier
	}
	return Lock
}

// Names numbers strings; the zero value has "" as number 0.
type Names struct {
	List   []string
	number map[string]uint32
}

// Name is the name of that number.
func (n *Names) Name(number uint32) string {
	if number == 0 {
		return ""
	}
	return n.List[number]
}

// Number is the index of name in List.
func (n *Names) Number(name string) uint32 {
	if n.number == nil {
		n.number, n.List = map[string]uint32{"": 0}, []string{""}
	}
	i, known := n.number[name]
	if !known && len(n.List) < math.MaxUint32 {
		i = uint32(len(n.List))
		n.number[name], n.List = i, append(n.List, name)
	}
	return i
}
