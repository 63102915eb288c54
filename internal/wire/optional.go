package wire

import (
	"fmt"

	"stackagent/internal/units"
)

// Columns that most batches have no use for are left out where they would be
// all zero, and cost such batches nothing.

// code is how a column's values become codes.
type code struct {
	delta bool   // zigzag of the difference to the value before
	limit uint64 // the largest value
}

var (
	asIs        = code{limit: 1<<64 - 1}
	uint16AsIs  = code{limit: 1<<16 - 1}
	uint32Delta = code{delta: true, limit: 1<<32 - 1}
	uint64Delta = code{delta: true, limit: 1<<64 - 1}
)

// appendValues writes a column of n values.
func (e *Encoder) appendValues(out []byte, number uint64, n int, value func(int) uint64, how code) []byte {
	c := e.scratch(n)
	last := uint64(0)
	for i := range c {
		v := value(i)
		c[i] = v
		if how.delta {
			c[i], last = zigzag(v-last), v
		}
	}
	return appendColumn(out, number, c)
}

// appendOptional writes a column unless its values are all 0.
func (e *Encoder) appendOptional(out []byte, number uint64, n int, value func(int) uint64, how code) []byte {
	for i := range n {
		if value(i) != 0 {
			return e.appendValues(out, number, n, value, how)
		}
	}
	return out
}

// values reads a column and hands its values to set.
func (p *payload) values(number uint64, codes []uint64, how code, set func(i int, v uint64)) error {
	if err := p.column(number, codes); err != nil {
		return err
	}
	last := uint64(0)
	for i, c := range codes {
		if how.delta {
			last += unzigzag(c)
			c = last
		}
		if c > how.limit {
			return p.fail(columnName(number), "value too large for its column")
		}
		set(i, c)
	}
	return nil
}

// optional reads a column that may be left out; then its values are 0.
func (p *payload) optional(number uint64, codes []uint64, how code, set func(i int, v uint64)) error {
	if p.has(number) {
		return p.values(number, codes, how, set)
	}
	if p.err != nil {
		return p.err
	}
	for i := range codes {
		set(i, 0)
	}
	return nil
}

// codeSubmitted codes the submission of an execution: 0 not known, otherwise
// the time before the start.
func codeSubmitted(x *Execution) uint64 {
	if x.Submitted == 0 {
		return 0
	}
	return skipOver(zigzag(uint64(x.Start-x.Submitted)), zigzag(uint64(x.Start)))
}

func decodeSubmitted(c uint64, start units.Ticks) units.Ticks {
	if c == 0 {
		return 0
	}
	return start - units.Ticks(unzigzag(unskip(c, zigzag(uint64(start)))))
}

// decodeSites reads where executions were asked for, and when.
func decodeSites(p *payload, codes []uint64, x []Execution) error {
	err := p.optional(colSite, codes, uint32Delta, func(i int, v uint64) { x[i].Site = uint32(v) })
	if err != nil {
		return err
	}
	return p.optional(colSubmitted, codes, asIs, func(i int, v uint64) { x[i].Submitted = decodeSubmitted(v, x[i].Start) })
}

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
