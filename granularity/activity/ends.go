package activity

import (
	"math"

	"stackagent/internal/heap"
	"stackagent/internal/units"
)

// End is when a thread's current slice ends.
type End struct {
	At     units.MonoNs
	Thread uint32
}

// Ends are the ends of the slices that are open at a point of a sweep; Ends[0] is
// the earliest. The zero value is ready.
type Ends = heap.Heap[End]

// Before reports whether e is earlier than o.
func (e End) Before(o End) bool { return e.At < o.At }

// Sweep goes through the stays of a stream that use takes: count is called as each begins, by 1, and as it ends, by -1, and advance
// with the moment before each. Threads are below n; slices of others are left out.
func Sweep(stream Stream, n int, use func(*Slice) bool, advance func(to units.MonoNs), count func(s *Slice, by int)) error {
	var ends Ends
	open := make([]Slice, n)
	until := func(to units.MonoNs) {
		for len(ends) > 0 && ends[0].At <= to {
			e := ends.Pop()
			advance(e.At)
			count(&open[e.Thread], -1)
		}
	}
	var next Slice // outside, so that it is not made for each
	err := stream(func(s Slice) error {
		if next = s; int(s.Thread) >= n || !use(&next) {
			return nil
		}
		until(s.From)
		advance(s.From)
		open[s.Thread] = s
		count(&next, 1)
		ends.Push(End{At: s.To, Thread: s.Thread})
		return nil
	})
	until(math.MaxInt64)
	return err
}
