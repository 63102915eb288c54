package store

import (
	"cmp"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"stackagent/internal/units"
)

// wantsSums reports whether a part of t with that many rows gets sums. Small parts get them when they are merged.
func (w *Writer) wantsSums(t Table, rows int) bool {
	return (t == Executions || t == Creations) && rows >= sumsRows && w.stored[t]+uint64(rows) > cmp.Or(w.SumsFrom, sumsFrom)
}

// partSums are the sums of table t of p for its footer.
func (w *Writer) partSums(t Table, p *Part) ([]format.KeyValue, error) {
	if !w.wantsSums(t, p.rows(t)) || p.nameless(t) {
		return nil, nil
	}
	if t == Creations {
		s, class, flags := newSummer(nil), make([]uint32, len(p.Creations)), make([]uint16, len(p.Creations))
		for i := range p.Creations {
			class[i], flags[i] = p.Creations[i].Class, p.Creations[i].Flags
		}
		s.creations(class, flags)
		return s.done().metadata(nil)
	}
	_, metrics, of := executionSums(len(p.ExecutionWork.Total))
	s := newSummer(metrics)
	var c ExecutionColumns
	for from := 0; from < len(p.Executions); from += readRows {
		fillColumns(&c, p, from, min(len(p.Executions)-from, readRows))
		s.executions(&c, of(&c))
	}
	return s.done().metadata(p.Extra)
}

// fillColumns puts n rows of p into c as a reader gets them.
func fillColumns(c *ExecutionColumns, p *Part, from, n int) {
	c.Class, c.Thread, c.Depth, c.Flags = sized(c.Class, n), sized(c.Thread, n), sized(c.Depth, n), sized(c.Flags, n)
	c.StartNs, c.EndNs = sized(c.StartNs, n), sized(c.EndNs, n)
	c.WallNs, c.SelfWallNs, c.CPUNs, c.SelfCPUNs = sized(c.WallNs, n), sized(c.SelfWallNs, n), sized(c.CPUNs, n), sized(c.SelfCPUNs, n)
	c.QueueNs, c.DelayNs = sized(c.QueueNs, n), sized(c.DelayNs, n)
	for i := range n {
		x := &p.Executions[from+i]
		c.Class[i], c.Thread[i], c.Depth[i], c.Flags[i], c.StartNs[i], c.EndNs[i] = x.Class, x.Thread, x.Depth, x.Flags, x.StartNs, x.EndNs
		c.WallNs[i], c.SelfWallNs[i], c.CPUNs[i], c.SelfCPUNs[i] = x.WallNs, x.SelfWallNs, x.CPUNs, x.SelfCPUNs
		c.QueueNs[i], c.DelayNs[i] = orNull(queueTime(x)), orNull(delay(x))
	}
	for k, total := range p.ExecutionWork.Total {
		work, own := slot(&c.Extra, k), slot(&c.SelfExtra, k)
		*work, *own = sized(*work, n), sized(*own, n)
		for i := range n {
			(*work)[i], (*own)[i] = units.Ns(total[from+i]), units.NotMeasured
			if k < len(p.ExecutionWork.Nested) {
				(*own)[i] = units.Ns(p.ExecutionWork.Nested[k][from+i])
			}
		}
		subtract(*work, *own)
	}
}

func orNull(v int64, ok bool) units.Ns {
	if !ok {
		return units.NotMeasured
	}
	return units.Ns(v)
}

// mergedSums are the sums of parts that become one.
func mergedSums(t Table, extra []string, s *sources) ([]format.KeyValue, error) {
	want, metrics, of := executionSums(len(extra))
	sum := newSummer(metrics)
	var x ExecutionColumns
	add := func(pf *parquet.File) error {
		return eachWanted(pf, executionLayout(extra), want, &x, func() { sum.executions(&x, of(&x)) })
	}
	if t == Creations {
		var c CreationColumns
		add = func(pf *parquet.File) error {
			return eachWanted(pf, creationLayout, CreationClass|CreationFlags, &c, func() { sum.creations(c.Class, c.Flags) })
		}
	}
	for _, pf := range s.parts {
		if err := recovering(func() error { return add(pf) }); err != nil {
			return nil, err
		}
	}
	return sum.done().metadata(extra)
}

// eachWanted reads the wanted columns of a part into c, run by run.
func eachWanted[C any](pf *parquet.File, l *layout[C], want Columns, c *C, use func()) error {
	var done int64
	return eachRun(pf, l.wanted(l.stored(want)), &done, func(cols []column, n int) error {
		if err := l.read(c, want, cols, n); err != nil {
			return err
		}
		use()
		return nil
	})
}
