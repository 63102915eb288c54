package activity

import (
	"container/heap"

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
