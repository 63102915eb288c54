// Package heap is container/heap for items of one type, without conversions to any.
package heap

// Heap begins with an item before which no other comes. nil is empty and ready.
type Heap[T interface{ Before(T) bool }] []T

// Init orders items that were appended.
func (h Heap[T]) Init() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
}

// Push adds an item.
func (h *Heap[T]) Push(x T) {
	*h = append(*h, x)
	a := *h
	for i := len(a) - 1; i > 0; {
		parent := (i - 1) / 2
		if !a[i].Before(a[parent]) {
			return
		}
		a[i], a[parent] = a[parent], a[i]
		i = parent
	}
}

// Pop removes the first item.
func (h *Heap[T]) Pop() T {
	a, last := *h, len(*h)-1
	a[0], a[last] = a[last], a[0]
	*h = a[:last]
	h.down(0)
	return a[last]
}

// Fix moves the first item, which has changed, to its place.
func (h Heap[T]) Fix() { h.down(0) }

func (h Heap[T]) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if right := child + 1; right < len(h) && h[right].Before(h[child]) {
			child = right
		}
		if !h[child].Before(h[i]) {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}
