package activity

import (
	"container/heap"
	"math"

	"stackagent/internal/units"
)

// End is when a thread's current slice ends.
type End struct {
	At     units.MonoNs
	Thread uint32
}

// Ends are the ends of the slices that are open at a point of a sweep; Ends[0] is
// the earliest. The zero value is ready.
type Ends []End

// Add adds an end.
func (e *Ends) Add(end End) { heap.Push((*endHeap)(e), end) }

// Next removes the earliest end.
func (e *Ends) Next() End { return heap.Pop((*endHeap)(e)).(End) }

// Sweep goes through the stays of a stream that use takes: count is called as each begins, by 1, and as it ends, by -1, and advance
// with the moment before each. Threads are below n; slices of others are left out.
func Sweep(stream Stream, n int, use func(*Slice) bool, advance func(to units.MonoNs), count func(s *Slice, by int)) error {
	var ends Ends
	open := make([]Slice, n)
	until := func(to units.MonoNs) {
		for len(ends) > 0 && ends[0].At <= to {
			e := ends.Next()
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
		ends.Add(End{At: s.To, Thread: s.Thread})
		return nil
	})
	until(math.MaxInt64)
	return err
}

type endHeap []End

func (h endHeap) Len() int           { return len(h) }
func (h endHeap) Less(i, j int) bool { return h[i].At < h[j].At }
func (h endHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *endHeap) Push(x any)        { *h = append(*h, x.(End)) }
func (h *endHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
