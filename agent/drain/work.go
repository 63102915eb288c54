package drain

import "stackagent/internal/wire"

// newWork makes the columns of n extra metrics; none for none.
func newWork(n int) wire.Work {
	if n == 0 {
		return wire.Work{}
	}
	return wire.Work{Total: make([][]int64, n), Nested: make([][]int64, n)}
}

// firstWork is the first part of each column.
func firstWork(w wire.Work, n int) wire.Work {
	part := newWork(len(w.Total))
	for k := range w.Total {
		part.Total[k], part.Nested[k] = first(w.Total[k], n), first(w.Nested[k], n)
	}
	return part
}

// restWork removes the first n entries of each column.
func restWork(w wire.Work, n int) wire.Work {
	for k := range w.Total {
		w.Total[k], w.Nested[k] = rest(w.Total[k], n), rest(w.Nested[k], n)
	}
	return w
}
