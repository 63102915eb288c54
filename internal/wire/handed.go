package wire

import (
	"encoding/binary"

	"stackagent/internal/units"
)

// The payloads of constructions and submissions, and the lists of what they
// name. They are there only in sessions that ask for them.

// appendConstructions writes the payload of constructions.
func (e *Encoder) appendConstructions(out []byte, x []Construction, work Work) []byte {
	ratio := constructionRatio(x)
	n := len(x)
	out = append(out, payloadFormat)
	out = binary.AppendUvarint(out, uint64(n))
	out = binary.AppendUvarint(out, uint64(ratio))
	out = e.appendValues(out, colTask, n, func(i int) uint64 { return x[i].TaskID }, uint64Delta)
	out = e.appendValues(out, colClass, n, func(i int) uint64 { return uint64(x[i].Class) }, uint32Delta)
	out = e.appendValues(out, colThread, n, func(i int) uint64 { return uint64(x[i].Thread) }, uint32Delta)
	out = e.appendValues(out, colWall, n, func(i int) uint64 { return uint64(x[i].Wall) }, asIs)
	out = e.appendValues(out, colCPU, n, func(i int) uint64 { return ratio.encode(x[i].CPU, uint64(x[i].Wall)) }, asIs)
	return e.appendWork(out, work)
}

// constructionRatio is estimateRatio over constructions.
func constructionRatio(x []Construction) cpuRatio {
	const samples = 63
	like := make([]Execution, 0, samples)
	step := max(1, len(x)/samples)
	for i := 0; i < len(x) && len(like) < samples; i += step {
		like = append(like, Execution{End: x[i].Wall, CPU: x[i].CPU})
	}
	return estimateRatio(like)
}

// decodeConstructions is the inverse of appendConstructions.
func decodeConstructions(data []byte, limit int) ([]Construction, Work, int, error) {
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
	x := make([]Construction, p.count)
	err = p.each(codes, []columnReader{
		{colTask, uint64Delta, func(i int, v uint64) { x[i].TaskID = v }},
		{colClass, uint32Delta, func(i int, v uint64) { x[i].Class = uint32(v) }},
		{colThread, uint32Delta, func(i int, v uint64) { x[i].Thread = uint32(v) }},
		{colWall, asIs, func(i int, v uint64) { x[i].Wall = units.Ticks(v) }},
		{colCPU, asIs, func(i int, v uint64) { x[i].CPU = ratio.decode(v, uint64(x[i].Wall)) }},
	})
	if err != nil {
		return nil, Work{}, 0, err
	}
	work, err := p.work(codes)
	if err != nil {
		return nil, Work{}, 0, err
	}
	err = p.finish()
	return x, work, p.unknown, err
}

// appendSubmissions writes the payload of submissions.
func (e *Encoder) appendSubmissions(out []byte, x []Submission) []byte {
	n := len(x)
	out = append(out, payloadFormat)
	out = binary.AppendUvarint(out, uint64(n))
	out = e.appendValues(out, colTask, n, func(i int) uint64 { return x[i].TaskID }, uint64Delta)
	var outer outerCoder
	out = e.appendValues(out, colOuter, n, func(i int) uint64 { return outer.encode(x[i].OuterTaskID) }, asIs)
	out = e.appendValues(out, colClass, n, func(i int) uint64 { return uint64(x[i].Class) }, uint32Delta)
	out = e.appendValues(out, colThread, n, func(i int) uint64 { return uint64(x[i].Thread) }, uint32Delta)
	out = e.appendValues(out, colFlags, n, func(i int) uint64 { return uint64(x[i].Flags) }, asIs)
	out = e.appendValues(out, colStart, n, func(i int) uint64 { return uint64(x[i].At) }, uint64Delta)
	out = e.appendOptional(out, colSite, n, func(i int) uint64 { return uint64(x[i].Site) }, uint32Delta)
	return e.appendOptional(out, colExecutor, n, func(i int) uint64 { return uint64(x[i].Executor) }, uint32Delta)
}

// decodeSubmissions is the inverse of appendSubmissions.
func decodeSubmissions(data []byte, limit int) ([]Submission, int, error) {
	p, err := openPayload(data, limit)
	if err != nil {
		return nil, 0, err
	}
	codes := reuse[uint64](&codeLists, p.count)
	defer letGo(&codeLists, codes)
	x := make([]Submission, p.count)
	var outer outerCoder
	err = p.each(codes, []columnReader{
		{colTask, uint64Delta, func(i int, v uint64) { x[i].TaskID = v }},
		{colOuter, asIs, func(i int, v uint64) { x[i].OuterTaskID = outer.decode(v) }},
		{colClass, uint32Delta, func(i int, v uint64) { x[i].Class = uint32(v) }},
		{colThread, uint32Delta, func(i int, v uint64) { x[i].Thread = uint32(v) }},
		{colFlags, uint16AsIs, func(i int, v uint64) { x[i].Flags = SubmissionFlags(v) }},
		{colStart, uint64Delta, func(i int, v uint64) { x[i].At = units.Ticks(v) }},
	})
	if err == nil {
		err = p.optional(colSite, codes, uint32Delta, func(i int, v uint64) { x[i].Site = uint32(v) })
	}
	if err == nil {
		err = p.optional(colExecutor, codes, uint32Delta, func(i int, v uint64) { x[i].Executor = uint32(v) })
	}
	if err == nil {
		err = p.finish()
	}
	if err != nil {
		return nil, 0, err
	}
	return x, p.unknown, nil
}

// columnReader reads a column that must be there.
type columnReader struct {
	number uint64
	how    code
	set    func(i int, v uint64)
}

func (p *payload) each(codes []uint64, readers []columnReader) error {
	for _, r := range readers {
		if err := p.values(r.number, codes, r.how, r.set); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) extra(x *Extra) {
	w.arrayLen(3)
	w.str(x.Name)
	w.str(x.Unit)
	w.str(x.How)
}

func (r *reader) extra(field string) (x Extra) {
	end := r.fields(field, 3)
	x.Name = r.str(field + ".name")
	x.Unit = r.str(field + ".unit")
	x.How = r.str(field + ".how")
	end()
	return x
}

func (w *writer) executor(x *Executor) {
	w.arrayLen(3)
	w.uint(uint64(x.ID))
	w.str(x.Class)
	w.str(x.Name)
}

func (r *reader) executor(field string) (x Executor) {
	end := r.fields(field, 3)
	x.ID = uint32(r.uintMax(field+".id", 1<<32-1))
	x.Class = r.str(field + ".class")
	x.Name = r.str(field + ".name")
	end()
	return x
}

func (w *writer) site(x *Site) {
	w.arrayLen(5)
	w.uint(uint64(x.ID))
	w.str(x.Class)
	w.str(x.Method)
	w.str(x.File)
	w.int(int64(x.Line))
}

func (r *reader) site(field string) (x Site) {
	end := r.fields(field, 5)
	x.ID = uint32(r.uintMax(field+".id", 1<<32-1))
	x.Class = r.str(field + ".class")
	x.Method = r.str(field + ".method")
	x.File = r.str(field + ".file")
	x.Line = r.int32(field + ".line")
	end()
	return x
}
