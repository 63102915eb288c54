package wire

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/vmihailenco/msgpack/v5"

	"stackagent/internal/units"
)

// columnarOf is how the records R travel in a columnar payload.
type columnarOf[R any] struct {
	ratio   func([]R) cpuRatio // nil: the payload holds no ratio
	work    bool               // columns of extra metrics may follow
	columns []columnOf[R]      // ascending
	lists   sync.Pool          // of *[]R, whose content is left over
}

// columnOf is how a column of the records R becomes codes, and codes become the column. The columns are set
// in ascending order; each may rely on those before it.
type columnOf[R any] struct {
	number uint64
	codes  func(c []uint64, x []R, ratio cpuRatio)
	set    func(x []R, codes []uint64, ratio cpuRatio) bool // false: a value does not fit
	used   func(x []R) bool                                 // of a column that is left out where it is not used; else nil
}

// Encoder keeps the scratch memory of encoding. The zero value is ready. It is
// for one goroutine at a time.
type Encoder struct {
	codes   []uint64
	payload []byte
	out     sliceWriter
	mp      *msgpack.Encoder
}

func (e *Encoder) scratch(n int) []uint64 {
	if cap(e.codes) < n {
		e.codes = make([]uint64, n)
	}
	return e.codes[:n]
}

// appendPayload writes the payload of the records x.
func appendPayload[R any](e *Encoder, out []byte, x []R, work Work, of *columnarOf[R]) []byte {
	out = append(out, payloadFormat)
	out = binary.AppendUvarint(out, uint64(len(x)))
	var ratio cpuRatio
	if of.ratio != nil {
		ratio = of.ratio(x)
		out = binary.AppendUvarint(out, uint64(ratio))
	}
	codes := e.scratch(len(x))
	for i := range of.columns {
		column := &of.columns[i]
		if column.used == nil || column.used(x) {
			column.codes(codes, x, ratio)
			out = appendColumn(out, column.number, codes)
		}
	}
	if of.work {
		out = e.appendWork(out, work)
	}
	return out
}

// decodePayload is the inverse of appendPayload, with a limit of records; unknown counts the columns that were skipped.
func decodePayload[R any](data []byte, limit int, of *columnarOf[R]) (x []R, work Work, unknown int, err error) {
	p, err := openPayload(data, limit)
	if err != nil {
		return nil, Work{}, 0, err
	}
	var ratio cpuRatio
	if of.ratio != nil {
		ratio = cpuRatio(p.uvarint("ratio"))
	}
	if p.err != nil {
		return nil, Work{}, 0, p.err
	}
	codes := reuse[uint64](&codeLists, p.count)
	defer letGo(&codeLists, codes)
	x = reuse[R](&of.lists, p.count) // every column is set, in every row
	for i := range of.columns {
		if err := decodeColumn(p, x, codes, ratio, &of.columns[i]); err != nil {
			return nil, Work{}, 0, err
		}
	}
	if of.work {
		if work, err = p.work(codes); err != nil {
			return nil, Work{}, 0, err
		}
	}
	if err := p.finish(); err != nil {
		return nil, Work{}, 0, err
	}
	return x, work, p.unknown, nil
}

// decodeColumn reads one column; one that is left out is all 0.
func decodeColumn[R any](p *payload, x []R, codes []uint64, ratio cpuRatio, column *columnOf[R]) error {
	if column.used != nil && !p.has(column.number) {
		clear(codes)
		column.set(x, codes, ratio)
		return p.err
	}
	if err := p.column(column.number, codes); err != nil {
		return err
	}
	if !column.set(x, codes, ratio) {
		return p.fail(columnName(column.number), "value too large for its column")
	}
	return nil
}

// edge is what the next start is coded by: records are written when
// executions end, and the next execution of a thread starts soon after.
func edge(start, end units.Ticks) uint64 {
	if end == NoEnd {
		return uint64(start)
	}
	return uint64(end)
}

// codeSubmitted codes the submission of an execution: 0 not known, otherwise
// the time before the start.
func codeSubmitted(at, start units.Ticks) uint64 {
	if at == 0 {
		return 0
	}
	return skipOver(zigzag(uint64(start-at)), zigzag(uint64(start)))
}

func decodeSubmitted(c uint64, start units.Ticks) units.Ticks {
	if c == 0 {
		return 0
	}
	return start - units.Ticks(unzigzag(unskip(c, zigzag(uint64(start)))))
}

// ratioOfExecutions and ratioOfConstructions estimate CPU time per tick.
func ratioOfExecutions(x []Execution) cpuRatio {
	return estimateRatio(len(x), func(i int) (units.Ns, units.Ticks, units.Ticks) { return x[i].CPU, x[i].Start, x[i].End })
}

func ratioOfConstructions(x []Construction) cpuRatio {
	return estimateRatio(len(x), func(i int) (units.Ns, units.Ticks, units.Ticks) { return x[i].CPU, 0, x[i].Wall })
}

// estimateRatio takes the median of CPU time per tick over a sample of n records; a
// bad guess costs bytes, never truth.
func estimateRatio(n int, record func(int) (cpu units.Ns, start, end units.Ticks)) cpuRatio {
	const samples = 63
	ratios := make([]uint64, 0, samples)
	step := max(1, n/samples)
	for i := 0; i < n && len(ratios) < samples; i += step {
		cpu, start, end := record(i)
		if cpu > 0 && end > start && cpu < 1<<40 {
			ratios = append(ratios, uint64(float64(cpu)/float64(end-start)*(1<<32)))
		}
	}
	if len(ratios) == 0 {
		return 0
	}
	slices.Sort(ratios)
	return cpuRatio(ratios[len(ratios)/2])
}
