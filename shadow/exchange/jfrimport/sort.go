package jfrimport

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"stackagent/internal/heap"
)

// row is an execution, a wait or a submission on its way into the session.
type row struct {
	start, end int64
	seq        int64 // order of arrival; of two with the same times, the later one encloses the other
	thread     uint32
	what       rowKind
	class      uint32 // of a wait: the class of what it waited for
	flags      uint32
	kind       uint32 // of a wait
	site       uint32
	context    uint32
	other      uint32 // of a wait: who ended it
	holder     uint32
	cpu, queue int64
	task       int64 // 0: gets a number of its own
}

// rowKind is what a row becomes.
type rowKind uint32

const (
	executionRow rowKind = iota
	waitRow
	submissionRow
	ourWaitRow // a wait that we exported: no part of another one; in cpu is how long it then waited for a carrier
	waitSumRow // sum of waits: their number is in task, their time in cpu, the longest in queue, the class around them in other
	traceRow   // trace of an execution: the trace's id is in cpu and queue, the span's in other and holder
)

const rowBytes = 6*8 + 9*4

func (r *row) put(b []byte) {
	le := binary.LittleEndian
	for i, x := range [...]int64{r.start, r.end, r.seq, r.cpu, r.queue, r.task} {
		le.PutUint64(b[8*i:], uint64(x))
	}
	for i, x := range [...]uint32{r.thread, uint32(r.what), r.class, r.flags, r.kind, r.site, r.context, r.other, r.holder} {
		le.PutUint32(b[48+4*i:], x)
	}
}

func (r *row) get(b []byte) {
	le := binary.LittleEndian
	for i, x := range [...]*int64{&r.start, &r.end, &r.seq, &r.cpu, &r.queue, &r.task} {
		*x = int64(le.Uint64(b[8*i:]))
	}
	for i, x := range [...]*uint32{&r.thread, (*uint32)(&r.what), &r.class, &r.flags, &r.kind, &r.site, &r.context, &r.other, &r.holder} {
		*x = le.Uint32(b[48+4*i:])
	}
}

// compareRows orders by thread, then so that what encloses comes before what it encloses.
func compareRows(a, b row) int {
	return cmp.Or(cmp.Compare(a.thread, b.thread), cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end), cmp.Compare(b.seq, a.seq))
}

// runRows is how many rows are sorted in memory: 84 MB.
const runRows = 1 << 20

// sorter sorts rows, in a temporary file if they are many.
type sorter struct {
	temp string
	rows []row
	file *os.File
	runs []int64 // ends of the sorted runs in the file
	n    int64
	most int // rows in memory
}

func newSorter(temp string) *sorter { return &sorter{temp: temp, most: runRows} }

func (s *sorter) add(r row) error {
	s.n++
	r.seq = s.n
	if s.rows = append(s.rows, r); len(s.rows) < s.most {
		return nil
	}
	return s.spill()
}

// spill writes the rows in memory as a sorted run.
func (s *sorter) spill() error {
	slices.SortFunc(s.rows, compareRows)
	if s.file == nil {
		f, err := os.CreateTemp(s.temp, ".tmp-import-*")
		if err != nil {
			return fmt.Errorf("sorting events: %w", err)
		}
		os.Remove(f.Name()) // it goes with this process, however that ends
		s.file = f
	}
	out := bufio.NewWriterSize(s.file, 1<<20)
	var b [rowBytes]byte
	for i := range s.rows {
		s.rows[i].put(b[:])
		if _, err := out.Write(b[:]); err != nil {
			return fmt.Errorf("sorting events: %w", err)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("sorting events: %w", err)
	}
	end := int64(len(s.rows)) * rowBytes
	if n := len(s.runs); n > 0 {
		end += s.runs[n-1]
	}
	s.runs, s.rows = append(s.runs, end), s.rows[:0]
	return nil
}

func (s *sorter) close() {
	if s.file != nil {
		s.file.Close()
	}
}

// each calls f for all rows in their order.
func (s *sorter) each(f func(*row) error) error {
	if s.file == nil {
		slices.SortFunc(s.rows, compareRows)
		for i := range s.rows {
			if err := f(&s.rows[i]); err != nil {
				return err
			}
		}
		return nil
	}
	if err := s.spill(); err != nil {
		return err
	}
	s.rows = nil
	var m heap.Heap[*run]
	from := int64(0)
	for _, to := range s.runs {
		r := &run{in: bufio.NewReaderSize(io.NewSectionReader(s.file, from, to-from), 256<<10)}
		from = to
		if more, err := r.next(); err != nil {
			return err
		} else if more {
			m = append(m, r)
		}
	}
	m.Init()
	for len(m) > 0 {
		if err := f(&m[0].row); err != nil {
			return err
		}
		more, err := m[0].next()
		switch {
		case err != nil:
			return err
		case more:
			m.Fix()
		default:
			m.Pop()
		}
	}
	return nil
}

// run is a sorted part of the file, at one of its rows.
type run struct {
	in  *bufio.Reader
	row row
}

func (r *run) next() (bool, error) {
	var b [rowBytes]byte
	if _, err := io.ReadFull(r.in, b[:]); errors.Is(err, io.EOF) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("sorting events: %w", err)
	}
	r.row.get(b[:])
	return true, nil
}

// Before is by the order of their rows.
func (r *run) Before(o *run) bool { return compareRows(r.row, o.row) < 0 }
