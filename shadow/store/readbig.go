package store

import (
	"fmt"

	"github.com/parquet-go/parquet-go"
)

// ReadExecutions streams the executions in the order of the batches. An error
// of use ends the reading and is returned; damaged parts are skipped and listed.
func (f *Folder) ReadExecutions(use func(*ExecutionColumns) error) (bad []*PartError, err error) {
	return readBig(f, Executions, f.executionLayoutOf, use)
}

// ReadCreations streams the creations, as ReadExecutions does.
func (f *Folder) ReadCreations(use func(*CreationColumns) error) (bad []*PartError, err error) {
	return readBig(f, Creations, creationLayoutOf, use)
}

func readBig[C any](f *Folder, t Table, of func(*parquet.File) *layout[C], use func(*C) error) ([]*PartError, error) {
	var c C
	return f.each(t, func(pf *parquet.File, done *int64) error {
		l := of(pf)
		return eachRun(pf, l.wanted(l.stored(AllColumns)), done, func(cols []column, n int) error {
			if err := l.read(&c, AllColumns, cols, n); err != nil {
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
	if rows < 0 || rows > rowGroupRows { // columns that are not there hold no rows against it
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

func narrow[C any, T small](slice func(*C) *[]T) func(*C, *column, int) error {
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

// ReadConstructions streams the constructions.
func (f *Folder) ReadConstructions(use func(*ConstructionColumns) error) (bad []*PartError, err error) {
	return readBig(f, Constructions, f.constructionLayoutOf, use)
}

// ReadSubmissions streams the submissions.
func (f *Folder) ReadSubmissions(use func(*SubmissionColumns) error) (bad []*PartError, err error) {
	return readBig(f, Submissions, submissionLayoutOf, use)
}
