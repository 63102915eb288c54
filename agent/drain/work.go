package drain

import (
	"encoding/binary"

	"stackagent/internal/wire"
)

// newWork makes the columns of n extra metrics; none for none.
func newWork(n int) wire.Work {
	if n == 0 {
		return wire.Work{}
	}
	return wire.Work{Total: make([][]int64, n), Nested: make([][]int64, n)}
}

// work appends the extra metrics of the execution before: the totals, then
// the part of nested executions.
func (d *Decoder) work(s []byte) {
	for k := range d.Extras {
		d.ExecutionWork.Total[k] = append(d.ExecutionWork.Total[k], number(s, k))
		d.ExecutionWork.Nested[k] = append(d.ExecutionWork.Nested[k], number(s, d.Extras+k))
	}
}

// constructionWork appends the extra metrics of the construction before.
func (d *Decoder) constructionWork(s []byte) {
	for k := range d.Extras {
		d.ConstructionWork.Total[k] = append(d.ConstructionWork.Total[k], number(s, k))
	}
}

// number is the k-th of s.
func number(s []byte, k int) int64 { return int64(binary.LittleEndian.Uint64(s[8*k:])) }

// firstWork is the first part of each column.
func firstWork(w wire.Work, n int) wire.Work {
	part := newWork(len(w.Total))
	if len(w.Nested) == 0 {
		part.Nested = nil
	}
	for k := range w.Total {
		part.Total[k] = first(w.Total[k], n)
		if len(w.Nested) > 0 {
			part.Nested[k] = first(w.Nested[k], n)
		}
	}
	return part
}

// restWork removes the first n entries of each column.
func restWork(w wire.Work, n int) wire.Work {
	for k := range w.Total {
		w.Total[k] = rest(w.Total[k], n)
		if len(w.Nested) > 0 {
			w.Nested[k] = rest(w.Nested[k], n)
		}
	}
	return w
}
