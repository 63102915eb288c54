package parquet

import (
	"errors"
	"fmt"
	"io"

	lib "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

// File is an open Parquet file.
type File = lib.File

// ErrDamaged is reported for a file that cannot be decoded.
var ErrDamaged = errors.New("not a sound Parquet file")

// Read opens a file whose footer is believable and runs use on it. The library
// panics over some damaged files; that becomes an error.
func Read(r io.ReaderAt, size int64, use func(*File) error) error { return openGuarded(r, size, use) }

func openGuarded(r io.ReaderAt, size int64, use func(*File) error, options ...lib.FileOption) (err error) {
	if err := Footer(r, size); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrDamaged, p)
		}
	}()
	f, err := lib.OpenFile(r, size, append(options, lib.SkipPageIndex(true), lib.SkipBloomFilters(true))...)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return use(f)
}

const runRows = 256

// EachRow checks all pages of a small table and runs use on its rows.
// The row is reused.
func EachRow[T any](f *File, use func(*T) error) error {
	if err := checkAll(f); err != nil {
		return err
	}
	return EachRun(f, func(rows []T) error {
		for i := range rows {
			if err := use(&rows[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// EachRun runs use on runs of rows of a small table whose pages are checked
// already. The rows are reused.
func EachRun[T any](f *File, use func([]T) error) error {
	r := lib.NewGenericReader[T](f)
	defer r.Close()
	rows := make([]T, runRows)
	for {
		n, err := r.Read(rows)
		if err := use(rows[:n]); err != nil {
			return err
		}
		clear(rows)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case n == 0:
			return io.ErrNoProgress
		}
	}
}

func checkAll(f *File) error {
	if err := Pages(f, f.Size(), f, nil); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return nil
}

// Columns reads flat columns of a table with a bound on their length.
type Columns struct {
	file *File
	most int
	err  error
}

// ReadColumns checks all pages of f. A column of more than most values is damaged.
func ReadColumns(f *File, most int) *Columns {
	return &Columns{file: f, most: most, err: checkAll(f)}
}

// Has reports whether the table has the column.
func (c *Columns) Has(name string) bool {
	_, ok := c.file.Schema().Lookup(name)
	return ok
}

// Err is the first error of checking or reading.
func (c *Columns) Err() error { return c.err }

// Int32 reads a column of 32-bit integers.
func (c *Columns) Int32(name string) (all []int32) {
	c.read(name, lib.Int32, func(p lib.Page) int {
		data := p.Data()
		all = append(all, data.Int32()...)
		return len(all)
	})
	return all
}

// Int64 reads a column of 64-bit integers.
func (c *Columns) Int64(name string) (all []int64) {
	c.read(name, lib.Int64, func(p lib.Page) int {
		data := p.Data()
		all = append(all, data.Int64()...)
		return len(all)
	})
	return all
}

// read passes every page of a column to add, which returns the values so far.
func (c *Columns) read(name string, kind lib.Kind, add func(lib.Page) int) {
	for _, g := range c.file.RowGroups() {
		if c.err != nil {
			return
		}
		if err := c.readGroup(g, name, kind, add); err != nil {
			c.err = fmt.Errorf("column %s: %w", name, err)
		}
	}
}

func (c *Columns) readGroup(g lib.RowGroup, name string, kind lib.Kind, add func(lib.Page) int) error {
	leaf, ok := c.file.Schema().Lookup(name)
	if !ok || leaf.Node.Type().Kind() != kind || leaf.MaxRepetitionLevel != 0 || leaf.MaxDefinitionLevel != 0 {
		return ErrDamaged
	}
	pages := g.ColumnChunks()[leaf.ColumnIndex].Pages()
	defer pages.Close()
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		if page.Dictionary() != nil {
			return fmt.Errorf("a dictionary: %w", ErrDamaged)
		}
		n := add(page)
		lib.Release(page)
		if n > c.most {
			return fmt.Errorf("more than %d rows: %w", c.most, ErrDamaged)
		}
	}
}

const (
	pageBytes = 256 << 10 // of a column, before compression
	// RowGroupRows bounds what a reader has to hold.
	RowGroupRows = 1 << 20
)

// KeyValue is what a footer says besides the rows.
type KeyValue = format.KeyValue

// codec is shared, so that its encoders are reused from file to file. The fastest level, because the
// scheduling record is written while the program runs.
var codec = &zstd.Codec{Level: zstd.SpeedFastest}

// Write writes the rows of a small table as one file with the given version of
// its format and key-value pairs in its footer.
func Write[T any](w io.Writer, rows []T, version int, meta []KeyValue) error {
	return WriteRuns(w, version, meta, func(write func([]T) error) error { return write(rows) })
}

// WriteRuns writes a small table as Write does. each passes its rows to write, run by run.
func WriteRuns[T any](w io.Writer, version int, meta []KeyValue, each func(write func([]T) error) error) error {
	pw := newWriter[T](w, version, meta)
	if err := each(func(rows []T) error {
		_, err := pw.Write(rows)
		return err
	}); err != nil {
		return err
	}
	return pw.Close()
}

func newWriter[T any](w io.Writer, version int, meta []KeyValue) *lib.GenericWriter[T] {
	pw := lib.NewGenericWriter[T](w, lib.Compression(codec), lib.PageBufferSize(pageBytes), lib.MaxRowsPerRowGroup(RowGroupRows),
		lib.DataPageStatistics(true), lib.CreatedBy("stackagent", fmt.Sprint(version), ""))
	for _, m := range meta {
		pw.SetKeyValueMetadata(m.Key, m.Value)
	}
	return pw
}
