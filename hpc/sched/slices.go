package sched

import (
	"fmt"
	"path/filepath"
	"slices"

	"stackagent/internal/parquet"
	"stackagent/internal/units"
)

const runLength = 16 << 10

// Each calls f with runs of the slices between from and to, cut at both, ordered by
// From, then by thread. A stay that lasts beyond a part of the record becomes several
// slices that touch, each with the waker of the whole wait. If a part cannot be read, every thread that lived then is
// Unknown. The run is reused: copy what you keep. An error of f ends Each, which
// returns it.
func (r *Reader) Each(from, to units.MonoNs, f func([]Slice) error) error {
	for i, w := range r.parts {
		if w.to <= from || w.from >= to {
			continue
		}
		if err := r.window(i, max(from, w.from), min(to, w.to), f); err != nil {
			return err
		}
	}
	return nil
}

// All calls f with all slices.
func (r *Reader) All(f func([]Slice) error) error {
	return r.Each(r.record.From, r.record.To, f)
}

func (r *Reader) window(part int, from, to units.MonoNs, f func([]Slice) error) error {
	w := r.parts[part]
	if w.file == "" {
		return r.unknown(from, to, f)
	}
	columns, err := r.load(w)
	if err != nil { // not seen when the record was opened
		r.damaged(w.file, err)
		return r.unknown(from, to, f)
	}
	run := make([]Slice, 0, runLength)
	flush := func() error {
		if len(run) == 0 {
			return nil
		}
		err := f(run)
		run = run[:0]
		return err
	}
	for i := range columns.from {
		s := columns.slice(i)
		if s.From >= to {
			break
		}
		if s.To == w.to && s.Waker == NoWaker && s.State.isWait() {
			s.Waker = r.endedBy(s, part)
		}
		s.From, s.To = max(s.From, from), min(s.To, to)
		if s.From >= s.To {
			continue
		}
		if run = append(run, s); len(run) == cap(run) {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// unknown yields Unknown for every thread between from and to.
func (r *Reader) unknown(from, to units.MonoNs, f func([]Slice) error) error {
	var run []Slice
	for i, t := range r.record.Threads {
		s := Slice{Thread: uint32(i), State: Unknown, From: max(t.First, from), To: min(t.Last, to)}
		if s.From < s.To {
			run = append(run, s)
		}
	}
	slices.SortFunc(run, bySliceBegin)
	if len(run) == 0 {
		return nil
	}
	return f(run)
}

// partColumns are the slices of a part.
type partColumns struct {
	thread, state []int32
	from, ns      []int64
	waker, futex  []int32 // nil: the record has none
}

func (c *partColumns) slice(i int) Slice {
	from := units.MonoNs(c.from[i])
	s := Slice{Thread: uint32(c.thread[i]), State: State(c.state[i]), From: from, To: from + units.MonoNs(c.ns[i])}
	if c.waker != nil {
		s.Waker, s.Futex = Waker(c.waker[i]), uint32(c.futex[i])
	}
	return s
}

// load reads a part and checks what Each promises about it.
func (r *Reader) load(w window) (*partColumns, error) {
	var c partColumns
	err := withPart(filepath.Join(r.dir, w.file), func(f *parquet.File) error {
		columns := parquet.ReadColumns(f, maxPartRows)
		c = partColumns{thread: columns.Int32("thread"), state: columns.Int32("state"), from: columns.Int64("from_ns"), ns: columns.Int64("ns")}
		if columns.Has("waker") {
			c.waker, c.futex = columns.Int32("waker"), columns.Int32("futex")
		}
		if err := columns.Err(); err != nil {
			return err
		}
		return c.check(w, len(r.record.Threads))
	})
	if err != nil {
		return nil, err
	}
	return &c, nil
}

func (c *partColumns) check(w window, threads int) error {
	n := len(c.from)
	if len(c.ns) != n || len(c.thread) != n || len(c.state) != n || c.waker != nil && (len(c.waker) != n || len(c.futex) != n) {
		return fmt.Errorf("columns of unequal length: %w", ErrDamaged)
	}
	before := w.from
	for i := range c.from {
		s := c.slice(i)
		if c.thread[i] < 0 || int(c.thread[i]) >= threads || c.state[i] < 0 || c.state[i] >= NStates ||
			s.From < before || s.To < s.From || s.To > w.to || c.ns[i] < 0 || !s.Waker.valid(threads) {
			return fmt.Errorf("row %d (thread %d, state %d, %d + %d ns) makes no sense: %w", i, c.thread[i], c.state[i], s.From, c.ns[i], ErrDamaged)
		}
		before = s.From
	}
	return nil
}
