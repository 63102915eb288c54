package experiment

import (
	"context"
	"fmt"
)

const mib = 1 << 20

// Search says how the smallest heap is looked for.
type Search struct {
	Tries int   // runs at a heap before it counts as large enough
	From  int64 // the first heap, bytes
	Most  int64 // no larger heap is tried, bytes
}

// SmallestHeap is what the search found.
type SmallestHeap struct {
	// Bytes is the least -Xmx at which all tries completed; 0: there is none, for the reason Why.
	Bytes int64
	// Below is the next smaller heap that was tried often enough; there, Passed of Tries completed. A
	// Passed above 0 means that the edge is not sharp.
	Below  int64
	Passed int
	Tries  int
	Runs   int    // in all
	Why    string // the command completes at no heap
}

// unheeded is a heap that no JVM starts with; 2 MiB is the least. A command that completes with it does not take the
// size that it is given.
const unheeded = mib

// heapStep is how exactly the smallest heap is looked for: 1 MiB or 2 %.
func heapStep(bytes int64) int64 { return max(mib, bytes/50/mib*mib) }

// Smallest looks for the smallest heap at which the command completes at a point, by bisection to 1 MiB or
// 2 %. Near the edge a run may complete once and fail the next time: the heap that is found has completed in
// each of several tries, and the next smaller one has failed in at least one.
func (x *Experiment) Smallest(ctx context.Context, p Point, s Search) (SmallestHeap, error) {
	h := &hunt{x: x, ctx: ctx, p: p, s: s, runs: map[*Result]bool{}}
	found, err := h.find()
	found.Runs, found.Tries = len(h.runs), s.Tries
	return found, err
}

type hunt struct {
	x    *Experiment
	ctx  context.Context
	p    Point
	s    Search
	runs map[*Result]bool // some are asked for twice
	last *Result
}

// completes makes the try-th run with a heap.
func (h *hunt) completes(bytes int64, try int) (bool, error) {
	r, err := h.x.Do(h.ctx, h.p.With(Heap, HeapOption(bytes)), try)
	if err != nil {
		return false, err
	}
	h.runs[r], h.last = true, r
	return !r.Failed(), nil
}

// passed is how many of all tries completed with a heap. It stops at the first that does not if few is set.
func (h *hunt) passed(bytes int64, few bool) (int, error) {
	n := 0
	for try := 1; try <= h.s.Tries; try++ {
		ok, err := h.completes(bytes, try)
		if err != nil {
			return n, err
		}
		if ok {
			n++
		} else if few {
			return n, nil
		}
	}
	return n, nil
}

func (h *hunt) find() (SmallestHeap, error) {
	low, high, err := h.bracket()
	if err != nil {
		return SmallestHeap{}, err
	}
	if high == 0 && low == unheeded {
		return SmallestHeap{Why: fmt.Sprintf("it completes even with %s, with which no JVM starts: the size does not reach its JVM, which may have one of its own", HeapText(unheeded))}, nil
	}
	if high == 0 {
		return SmallestHeap{Why: fmt.Sprintf("with a heap of %s: %s: %s", HeapText(low), h.last.Failure, h.last.Why)}, nil
	}
	for high-low > heapStep(high) {
		middle := (low + (high-low)/2) / mib * mib
		ok, err := h.completes(middle, 1)
		if err != nil {
			return SmallestHeap{}, err
		}
		if ok {
			high = middle
		} else {
			low = middle
		}
	}
	return h.edge(low, high)
}

// bracket finds two heaps of which the command completes with the larger only. high 0: it completes with none.
func (h *hunt) bracket() (low, high int64, err error) {
	at := max(h.s.From/mib*mib, 2*mib)
	ok, err := h.completes(at, 1)
	if err != nil {
		return 0, 0, err
	}
	if ok {
		for high = at; high > 2*mib; high = at {
			at = max(2*mib, high/2/mib*mib)
			if ok, err := h.completes(at, 1); err != nil || !ok {
				return at, high, err
			}
		}
		if ok, err := h.completes(unheeded, 1); err != nil || ok {
			return unheeded, 0, err
		}
		return unheeded, high, nil
	}
	for {
		if h.last.Failure == NoJVM || at >= h.s.Most {
			return at, 0, nil
		}
		low, at = at, min(2*at, h.s.Most)
		if ok, err := h.completes(at, 1); err != nil || ok {
			return low, at, err
		}
	}
}

// edge makes sure of both sides of the edge.
func (h *hunt) edge(low, high int64) (SmallestHeap, error) {
	for {
		if n, err := h.passed(high, true); err != nil || n == h.s.Tries {
			if err != nil {
				return SmallestHeap{}, err
			}
			break
		}
		low, high = high, high+heapStep(high)
		if high > h.s.Most {
			return SmallestHeap{Why: fmt.Sprintf("up to %s some runs fail: %s (%s)", HeapText(low), h.last.Failure, h.last.Why)}, nil
		}
	}
	if low < 2*mib {
		return SmallestHeap{Bytes: high}, nil
	}
	passed, err := h.passed(low, false)
	return SmallestHeap{Bytes: high, Below: low, Passed: passed}, err
}
