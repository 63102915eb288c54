package store

import (
	"fmt"

	"github.com/parquet-go/parquet-go"

	"stackagent/internal/units"
)

var executionSpecs = []columnSpec{
	{"task_id", true, false}, {"outer_task_id", true, true}, {"class", false, false}, {"thread", false, false},
	{"depth", false, false}, {"flags", false, false}, {"start_ns", true, false}, {"end_ns", true, true},
	{"wall_ns", true, true}, {"cpu_ns", true, true}, {"self_wall_ns", true, true}, {"self_cpu_ns", true, true},
}

var creationSpecs = []columnSpec{
	{"task_id", true, false}, {"outer_task_id", true, true}, {"class", false, false}, {"thread", false, false},
	{"flags", false, false}, {"at_ns", true, false},
}

// ReadExecutions streams the executions in the order of the batches. An error
// of use ends the reading and is returned; damaged parts are skipped and listed.
func (f *Folder) ReadExecutions(use func(*ExecutionColumns) error) (bad []*PartError, err error) {
	var c ExecutionColumns
	return f.each(Executions, func(pf *parquet.File, done *int64) error {
		return eachRun(pf, executionSpecs, done, func(cols []column, n int) error {
			if err := fill(&c, AllColumns, executionFill, cols, n); err != nil {
				return err
			}
			return callersError(use(&c))
		})
	})
}

// ReadCreations streams the creations likewise.
func (f *Folder) ReadCreations(use func(*CreationColumns) error) (bad []*PartError, err error) {
	var c CreationColumns
	return f.each(Creations, func(pf *parquet.File, done *int64) error {
		return eachRun(pf, creationSpecs, done, func(cols []column, n int) error {
			if err := fill(&c, AllColumns, creationFill, cols, n); err != nil {
				return err
			}
			return callersError(use(&c))
		})
	})
}

func callersError(err error) error {
	if err == nil {
		return nil
	}
	return stopError{err}
}

// eachRun goes through the row groups of a part in runs of at most readRows.
func eachRun(pf *parquet.File, specs []columnSpec, done *int64, use func([]column, int) error) error {
	for _, g := range pf.RowGroups() {
		cols, err := openColumns(pf, g, specs)
		if err != nil {
			return err
		}
		err = runs(cols, g.NumRows(), done, use)
		for i := range cols {
			cols[i].close()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func runs(cols []column, rows int64, done *int64, use func([]column, int) error) error {
	if rows < 0 {
		return fmt.Errorf("a row group of %d rows", rows)
	}
	for rows > 0 {
		n := int(min(rows, readRows))
		if err := use(cols, n); err != nil {
			return err
		}
		*done += int64(n)
		rows -= int64(n)
	}
	return nil
}

// fill reads n rows of the wanted columns, which cols holds in their order, and
// leaves the others empty.
func fill[C any](c *C, want Columns, by []func(*C, *column, int) error, cols []column, n int) error {
	next := 0
	for i, read := range by {
		var col *column
		if want&(1<<i) != 0 {
			col = &cols[next]
			next++
		}
		if err := read(c, col, n); err != nil {
			return err
		}
	}
	return nil
}

// wide and narrow make the reader of one column into its slice; a column that
// is not wanted is nil and leaves the slice empty.
func wide[C any, T ~int64 | ~uint64](slice func(*C) *[]T, null T) func(*C, *column, int) error {
	return func(c *C, col *column, n int) error {
		s := slice(c)
		if col == nil {
			*s = (*s)[:0]
			return nil
		}
		*s = sized(*s, n)
		return read64(col, *s, null)
	}
}

func narrow[C any, T ~uint16 | ~uint32](slice func(*C) *[]T) func(*C, *column, int) error {
	return func(c *C, col *column, n int) error {
		s := slice(c)
		if col == nil {
			*s = (*s)[:0]
			return nil
		}
		*s = sized(*s, n)
		return read32(col, *s)
	}
}

// sized gives s a length; a run after the first allocates nothing.
func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, max(n, readRows))
	}
	return s[:n]
}

// executionFill are the readers of the columns of executionSpecs.
var executionFill = []func(*ExecutionColumns, *column, int) error{
	wide(func(c *ExecutionColumns) *[]uint64 { return &c.TaskID }, 0),
	wide(func(c *ExecutionColumns) *[]uint64 { return &c.OuterTaskID }, 0),
	narrow(func(c *ExecutionColumns) *[]uint32 { return &c.Class }),
	narrow(func(c *ExecutionColumns) *[]uint32 { return &c.Thread }),
	narrow(func(c *ExecutionColumns) *[]uint16 { return &c.Depth }),
	narrow(func(c *ExecutionColumns) *[]uint16 { return &c.Flags }),
	wide(func(c *ExecutionColumns) *[]units.MonoNs { return &c.StartNs }, 0),
	wide(func(c *ExecutionColumns) *[]units.MonoNs { return &c.EndNs }, 0),
	wide(func(c *ExecutionColumns) *[]units.Ns { return &c.WallNs }, units.NotMeasured),
	wide(func(c *ExecutionColumns) *[]units.Ns { return &c.CPUNs }, units.NotMeasured),
	wide(func(c *ExecutionColumns) *[]units.Ns { return &c.SelfWallNs }, units.NotMeasured),
	wide(func(c *ExecutionColumns) *[]units.Ns { return &c.SelfCPUNs }, units.NotMeasured),
}

// creationFill are those of creationSpecs.
var creationFill = []func(*CreationColumns, *column, int) error{
	wide(func(c *CreationColumns) *[]uint64 { return &c.TaskID }, 0),
	wide(func(c *CreationColumns) *[]uint64 { return &c.OuterTaskID }, 0),
	narrow(func(c *CreationColumns) *[]uint32 { return &c.Class }),
	narrow(func(c *CreationColumns) *[]uint32 { return &c.Thread }),
	narrow(func(c *CreationColumns) *[]uint16 { return &c.Flags }),
	wide(func(c *CreationColumns) *[]units.MonoNs { return &c.AtNs }, 0),
}
