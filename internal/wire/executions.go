package wire

import (
	"encoding/binary"
	"slices"

	"github.com/vmihailenco/msgpack/v5"

	"stackagent/internal/units"
)

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

// appendExecutions writes the payload of executions.
func (e *Encoder) appendExecutions(out []byte, x []Execution, work Work) []byte {
	ratio := estimateRatio(x)
	out = append(out, payloadFormat)
	out = binary.AppendUvarint(out, uint64(len(x)))
	out = binary.AppendUvarint(out, uint64(ratio))
	c := e.scratch(len(x))

	var last uint64
	for i := range x {
		c[i], last = zigzag(x[i].TaskID-last), x[i].TaskID
	}
	out = appendColumn(out, colTask, c)
	var outer outerCoder
	for i := range x {
		c[i] = outer.encode(x[i].OuterTaskID)
	}
	out = appendColumn(out, colOuter, c)
	last = 0
	for i := range x {
		c[i], last = zigzag(uint64(x[i].Class)-last), uint64(x[i].Class)
	}
	out = appendColumn(out, colClass, c)
	last = 0
	for i := range x {
		c[i], last = zigzag(uint64(x[i].Thread)-last), uint64(x[i].Thread)
	}
	out = appendColumn(out, colThread, c)
	for i := range x {
		c[i] = uint64(x[i].Flags)
	}
	out = appendColumn(out, colFlags, c)
	out = e.appendTimes(out, x, ratio)
	out = e.appendOptional(out, colSite, len(x), func(i int) uint64 { return uint64(x[i].Site) }, uint32Delta)
	out = e.appendOptional(out, colSubmitted, len(x), func(i int) uint64 { return codeSubmitted(&x[i]) }, asIs)
	return e.appendWork(out, work)
}

// appendTimes writes the columns of executions that follow the clock.
func (e *Encoder) appendTimes(out []byte, x []Execution, ratio cpuRatio) []byte {
	c := e.scratch(len(x))
	var last uint64
	for i := range x {
		c[i] = zigzag(uint64(x[i].Start) - last)
		last = edge(x[i].Start, x[i].End)
	}
	out = appendColumn(out, colStart, c)
	for i := range x {
		c[i] = uint64(x[i].End - x[i].Start)
	}
	out = appendColumn(out, colWall, c)
	for i := range x {
		c[i] = ratio.encode(x[i].CPU, uint64(x[i].End-x[i].Start))
	}
	out = appendColumn(out, colCPU, c)
	last = 0
	for i := range x {
		c[i], last = zigzag(uint64(x[i].Depth)-last), uint64(x[i].Depth)
	}
	out = appendColumn(out, colDepth, c)
	for i := range x {
		c[i] = uint64(x[i].ChildTicks)
	}
	out = appendColumn(out, colChildTicks, c)
	for i := range x {
		c[i] = ratio.encode(x[i].ChildCPU, uint64(x[i].ChildTicks))
	}
	return appendColumn(out, colChildCPU, c)
}

// edge is what the next start is told from: records are written when
// executions end, and the next execution of a thread starts soon after.
func edge(start, end units.Ticks) uint64 {
	if end == NoEnd {
		return uint64(start)
	}
	return uint64(end)
}

// estimateRatio takes the median of CPU time per tick over some executions; a
// bad guess costs bytes, never truth.
func estimateRatio(x []Execution) cpuRatio {
	const samples = 63
	ratios := make([]uint64, 0, samples)
	step := max(1, len(x)/samples)
	for i := 0; i < len(x) && len(ratios) < samples; i += step {
		cpu, wall := x[i].CPU, x[i].End-x[i].Start
		if cpu > 0 && wall > 0 && x[i].End > x[i].Start && cpu < 1<<40 {
			ratios = append(ratios, uint64(float64(cpu)/float64(wall)*(1<<32)))
		}
	}
	if len(ratios) == 0 {
		return 0
	}
	slices.Sort(ratios)
	return cpuRatio(ratios[len(ratios)/2])
}

// decodeExecutions is the inverse of appendExecutions, with the limit of
// events.
func decodeExecutions(data []byte, limit int) ([]Execution, Work, int, error) {
	p, err := openPayload(data, limit)
	if err != nil {
		return nil, Work{}, 0, err
	}
	ratio := cpuRatio(p.uvarint("ratio"))
	if p.err != nil {
		return nil, Work{}, 0, p.err
	}
	codes := reuse[uint64](&codeLists, p.count)
	defer letGo(&codeLists, codes)
	x := reuse[Execution](&executionLists, p.count) // every column is set, in every row
	for number := uint64(colTask); number <= colChildCPU; number++ {
		if err := p.column(number, codes); err != nil {
			return nil, Work{}, 0, err
		}
		if !setExecutions(x, number, codes, ratio) {
			return nil, Work{}, 0, p.fail(columnName(number), "value too large for its column")
		}
	}
	if err := decodeSites(p, codes, x); err != nil {
		return nil, Work{}, 0, err
	}
	work, err := p.work(codes)
	if err != nil {
		return nil, Work{}, 0, err
	}
	err = p.finish()
	return x, work, p.unknown, err
}

// setExecutions fills one column; false: a value does not fit. The columns
// come in ascending order, each may rely on those before it.
func setExecutions(x []Execution, number uint64, codes []uint64, ratio cpuRatio) bool {
	x = x[:len(codes)]
	switch number {
	case colTask, colOuter, colClass, colThread, colFlags:
		return setIdentity(x, number, codes)
	case colDepth:
		var last, seen uint64
		for i, c := range codes {
			last += unzigzag(c)
			x[i].Depth, seen = uint16(last), seen|last>>16
		}
		return seen == 0
	default:
		setTimes(x, number, codes, ratio)
		return true
	}
}

// setIdentity fills the columns that say what was executed where.
func setIdentity(x []Execution, number uint64, codes []uint64) bool {
	var last, seen uint64
	switch number {
	case colTask:
		for i, c := range codes {
			last += unzigzag(c)
			x[i].TaskID = last
		}
	case colOuter:
		var outer outerCoder
		for i, c := range codes {
			x[i].OuterTaskID = outer.decode(c)
		}
	case colClass:
		for i, c := range codes {
			last += unzigzag(c)
			x[i].Class, seen = uint32(last), seen|last>>32
		}
	case colThread:
		for i, c := range codes {
			last += unzigzag(c)
			x[i].Thread, seen = uint32(last), seen|last>>32
		}
	case colFlags:
		for i, c := range codes {
			x[i].Flags, seen = ExecutionFlags(c), seen|c>>16
		}
	}
	return seen == 0
}

// setTimes fills the columns of times, which take any value.
func setTimes(x []Execution, number uint64, codes []uint64, ratio cpuRatio) {
	switch number {
	case colStart:
		// Told from the edge of the execution before, whose end is known only
		// with the next column: finished there.
		for i, c := range codes {
			x[i].Start = units.Ticks(unzigzag(c))
		}
	case colWall:
		var last uint64
		for i, c := range codes {
			e := &x[i]
			e.Start += units.Ticks(last)
			e.End = e.Start + units.Ticks(c)
			last = edge(e.Start, e.End)
		}
	case colCPU:
		for i, c := range codes {
			x[i].CPU = ratio.decode(c, uint64(x[i].End-x[i].Start))
		}
	case colChildTicks:
		for i, c := range codes {
			x[i].ChildTicks = units.Ticks(c)
		}
	case colChildCPU:
		for i, c := range codes {
			x[i].ChildCPU = ratio.decode(c, uint64(x[i].ChildTicks))
		}
	}
}
