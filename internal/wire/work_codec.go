package wire

import (
	"fmt"

	"stackagent/internal/units"
)

// workCoder codes extra metrics: 0 not measured, otherwise the difference to
// the last value that was measured (1: the same).
type workCoder struct{ last uint64 }

const workHole = 1 << 63 // of units.NotMeasured

func (w *workCoder) encode(v int64) uint64 {
	if units.Ns(v) == units.NotMeasured {
		return 0
	}
	z := skipOver(zigzag(uint64(v)-w.last), zigzag(workHole-w.last))
	w.last = uint64(v)
	return z
}

func (w *workCoder) decode(c uint64) int64 {
	if c == 0 {
		return int64(units.NotMeasured)
	}
	w.last += unzigzag(unskip(c, zigzag(workHole-w.last)))
	return int64(w.last)
}

// appendWork writes the columns of extra metrics.
func (e *Encoder) appendWork(out []byte, work Work) []byte {
	for k := range work.Total {
		out = e.appendWorkColumn(out, colWork+2*uint64(k), work.Total[k])
		if k < len(work.Nested) {
			out = e.appendWorkColumn(out, colWork+2*uint64(k)+1, work.Nested[k])
		}
	}
	return out
}

func (e *Encoder) appendWorkColumn(out []byte, number uint64, values []int64) []byte {
	c := e.scratch(len(values))
	var coder workCoder
	for i, v := range values {
		c[i] = coder.encode(v)
	}
	return appendColumn(out, number, c)
}

// work reads the columns of extra metrics that are there. One that is missing
// before another was not measured.
func (p *payload) work(codes []uint64) (work Work, err error) {
	for k := range MaxExtra {
		for nested, list := range []*[][]int64{&work.Total, &work.Nested} {
			number := colWork + 2*uint64(k) + uint64(nested)
			if !p.has(number) {
				continue
			}
			if err := p.column(number, codes); err != nil {
				return Work{}, err
			}
			fillWork(list, k, len(codes))
			var coder workCoder
			column := make([]int64, len(codes))
			for i, c := range codes {
				column[i] = coder.decode(c)
			}
			*list = append(*list, column)
		}
	}
	if p.err != nil {
		return Work{}, p.err
	}
	if len(work.Nested) > 0 {
		fillWork(&work.Nested, len(work.Total), len(codes))
		fillWork(&work.Total, len(work.Nested), len(codes))
	}
	return work, nil
}

// fillWork makes list k columns long, of values that were not measured.
func fillWork(list *[][]int64, k, rows int) {
	for len(*list) < k {
		column := make([]int64, rows)
		for i := range column {
			column[i] = int64(units.NotMeasured)
		}
		*list = append(*list, column)
	}
}

// checkWork refuses columns that do not fit their records.
func (b *Batch) checkWork() error {
	for _, x := range []struct {
		name string
		work Work
		rows int
	}{{"executions", b.ExecutionWork, len(b.Executions)}, {"constructions", b.ConstructionWork, len(b.Constructions)}} {
		n := len(x.work.Total)
		if n > MaxExtra || len(x.work.Nested) > 0 && len(x.work.Nested) != n {
			return fmt.Errorf("%s with %d columns of extra metrics and %d nested: want at most %d, and as many", x.name, n, len(x.work.Nested), MaxExtra)
		}
		for _, columns := range [][][]int64{x.work.Total, x.work.Nested} {
			for k := range columns {
				if len(columns[k]) != x.rows {
					return fmt.Errorf("%s: column %d of the extra metrics has %d values for %d records", x.name, k, len(columns[k]), x.rows)
				}
			}
		}
	}
	if b.Hello != nil && len(b.Hello.Extra) > MaxExtra {
		return fmt.Errorf("%d extra metrics: want at most %d", len(b.Hello.Extra), MaxExtra)
	}
	return nil
}
