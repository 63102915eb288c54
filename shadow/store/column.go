package store

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// column reads one integer column of a row group front to back. Pages are
// decoded as a whole and handed out in runs of any length, so that columns
// whose pages end at different rows stay in step.
type column struct {
	name     string
	pages    parquet.Pages
	wide     bool // 64 bits
	optional bool
	absent   bool // the part has no such column: all null

	page   parquet.Page
	i64    []int64 // what is left of the page: values that are not null
	i32    []int32
	levels []byte // optional columns: 1 per value, 0 per null
	left   int    // rows left in the page
}

// openColumns finds the named columns of a row group and checks their types.
func openColumns(f *parquet.File, g parquet.RowGroup, want []columnSpec) ([]column, error) {
	cols := make([]column, 0, len(want))
	for _, spec := range want {
		leaf, ok := f.Schema().Lookup(spec.name)
		if !ok && spec.mayMiss {
			cols = append(cols, column{name: spec.name, wide: spec.wide, optional: true, absent: true})
			continue
		}
		if !ok {
			return nil, fmt.Errorf("column %s is missing", spec.name)
		}
		kind, wide := leaf.Node.Type().Kind(), spec.wide
		if leaf.MaxRepetitionLevel != 0 || leaf.MaxDefinitionLevel > 1 ||
			(wide && kind != parquet.Int64) || (!wide && kind != parquet.Int32) {
			return nil, fmt.Errorf("column %s has type %v", spec.name, leaf.Node.Type())
		}
		if leaf.MaxDefinitionLevel == 1 && !spec.optional {
			return nil, fmt.Errorf("column %s may be null", spec.name)
		}
		cols = append(cols, column{
			name: spec.name, pages: g.ColumnChunks()[leaf.ColumnIndex].Pages(),
			wide: wide, optional: leaf.MaxDefinitionLevel == 1,
		})
	}
	return cols, nil
}

// columnSpec is what a reader expects of a column.
type columnSpec struct {
	name           string
	wide, optional bool
	mayMiss        bool // a part may be without it: all null
}

func (c *column) close() {
	c.drop()
	if c.pages != nil {
		c.pages.Close()
	}
}

func (c *column) drop() {
	if c.page != nil {
		parquet.Release(c.page)
		c.page, c.i64, c.i32, c.levels, c.left = nil, nil, nil, nil, 0
	}
}

// need makes sure that a page with rows is at hand and returns how many of n
// rows it can give.
func (c *column) need(n int) (int, error) {
	for c.left == 0 {
		c.drop()
		page, err := c.pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return 0, fmt.Errorf("column %s ends early: %w", c.name, io.ErrUnexpectedEOF)
		}
		if err != nil {
			return 0, fmt.Errorf("column %s: %w", c.name, err)
		}
		if err := c.take(page); err != nil {
			return 0, err
		}
	}
	return min(n, c.left), nil
}

func (c *column) take(page parquet.Page) error {
	c.page = page
	if page.Dictionary() != nil {
		return fmt.Errorf("column %s is dictionary encoded", c.name)
	}
	values, n := page.Data(), 0
	if c.wide {
		c.i64 = values.Int64()
		n = len(c.i64)
	} else {
		c.i32 = values.Int32()
		n = len(c.i32)
	}
	c.left = n
	if c.optional {
		c.levels = page.DefinitionLevels()
		c.left = len(c.levels)
		present := 0
		for _, l := range c.levels {
			present += int(l & 1)
		}
		if present != n {
			return fmt.Errorf("column %s: a page has %d values where its levels say %d", c.name, n, present)
		}
	}
	if int64(c.left) != page.NumRows() {
		return fmt.Errorf("column %s: a page has %d rows where its header says %d", c.name, c.left, page.NumRows())
	}
	return nil
}

// read64 fills dst with the next values, null becoming null.
func read64[T ~int64 | ~uint64](c *column, dst []T, null T) error {
	if c.absent {
		for i := range dst {
			dst[i] = null
		}
		return nil
	}
	for len(dst) > 0 {
		n, err := c.need(len(dst))
		if err != nil {
			return err
		}
		used := n
		if c.levels == nil {
			for i, v := range c.i64[:n] {
				dst[i] = T(v)
			}
		} else {
			used = 0
			for i, l := range c.levels[:n] {
				if l == 0 {
					dst[i] = null
				} else {
					dst[i] = T(c.i64[used])
					used++
				}
			}
			c.levels = c.levels[n:]
		}
		c.i64, c.left, dst = c.i64[used:], c.left-n, dst[n:]
	}
	return nil
}

// raw takes at most len(there) rows as they are stored: the values that are not
// null to the beginning of v and, of an optional column, which rows have one.
func (c *column) raw(v []int64, there []byte) (values, rows int, err error) {
	if c.absent {
		clear(there)
		return 0, len(there), nil
	}
	rows, err = c.need(len(there))
	if err != nil {
		return 0, 0, err
	}
	values = rows
	if c.levels != nil {
		values = 0
		for i, l := range c.levels[:rows] {
			there[i] = l
			values += int(l & 1)
		}
		c.levels = c.levels[rows:]
	}
	if c.wide {
		copy(v, c.i64[:values])
		c.i64 = c.i64[values:]
	} else {
		for i, x := range c.i32[:values] {
			v[i] = int64(x) // with its sign: that keeps the order of unsigned values, too
		}
		c.i32 = c.i32[values:]
	}
	c.left -= rows
	return values, rows, nil
}

// small are the types of rows that a column of 32 bits holds.
type small interface {
	~int8 | ~int16 | ~int32 | ~uint8 | ~uint16 | ~uint32
}

// read32 fills dst with the next values of a 32 bit column, null becoming 0.
func read32[T small](c *column, dst []T) error {
	if c.absent {
		clear(dst)
		return nil
	}
	for len(dst) > 0 {
		n, err := c.need(len(dst))
		if err != nil {
			return err
		}
		used := n
		if c.levels == nil {
			for i, v := range c.i32[:n] {
				dst[i] = T(v)
			}
		} else {
			used = 0
			for i, l := range c.levels[:n] {
				dst[i] = 0
				if l != 0 {
					dst[i] = T(c.i32[used])
					used++
				}
			}
			c.levels = c.levels[n:]
		}
		c.i32, c.left, dst = c.i32[used:], c.left-n, dst[n:]
	}
	return nil
}
