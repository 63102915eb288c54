package drain

import (
	"encoding/binary"

	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// newWork makes the columns of n extra metrics; none for none.
func newWork(n int) wire.Work {
	if n == 0 {
		return wire.Work{}
	}
	return wire.Work{Total: make([][]int64, n), Nested: make([][]int64, n)}
}

// constructionBytes is the size of a construction's record.
func (d *Decoder) constructionBytes() int {
	return slotBytes + (d.Extras*8+slotBytes-1)/slotBytes*slotBytes
}

// construction decodes what it cost to make a task; more are its extra metrics.
func (d *Decoder) construction(thread uint32, s, more []byte) {
	d.Constructions = append(d.Constructions, wire.Construction{
		TaskID: uint64(number(s, offTask)),
		Class:  binary.LittleEndian.Uint32(s[offClass:]),
		Thread: thread,
		Wall:   ticks(s, offWall),
		CPU:    units.Ns(number(s, offConstructionCPU)),
	})
	for k := range d.Extras {
		d.ConstructionWork.Total[k] = append(d.ConstructionWork.Total[k], number(more, 8*k))
	}
}

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
