package listing

import (
	"errors"
	"io"
	"reflect"

	"github.com/parquet-go/parquet-go"
)

const (
	parquetBatch = 1024    // rows handed to the writer at once
	parquetGroup = 1 << 20 // rows of a row group
)

// parquetSink writes the columns in their order; names stay as they are.
type parquetSink[R any] struct {
	w       *parquet.GenericWriter[any]
	columns []Column[R]
	rows    []parquet.Row
	free    []parquet.Value // of the batch
}

// Parquet returns a sink that writes a Parquet file to w.
func Parquet[R any](w io.Writer, columns []Column[R]) Sink[R] {
	s := &parquetSink[R]{columns: columns}
	schema := parquet.NewSchema("row", fields(columns))
	s.w = parquet.NewGenericWriter[any](w, schema, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(parquetGroup))
	return s
}

func (s *parquetSink[R]) Write(r R) error {
	begin := len(s.free)
	for i := range s.columns {
		c := &s.columns[i]
		v, level := c.Value(r), 0
		if c.Optional && !v.IsNull() {
			level = 1
		}
		s.free = append(s.free, v.parquet().Level(0, level, i))
	}
	s.rows = append(s.rows, s.free[begin:len(s.free):len(s.free)])
	if len(s.rows) < parquetBatch {
		return nil
	}
	return s.flush()
}

func (s *parquetSink[R]) flush() error {
	_, err := s.w.WriteRows(s.rows)
	clear(s.free) // names are freed
	s.rows, s.free = s.rows[:0], s.free[:0]
	return err
}

func (s *parquetSink[R]) Close() error { return errors.Join(s.flush(), s.w.Close()) }

func (v Value) parquet() parquet.Value {
	switch v.kind {
	case 0:
		return parquet.NullValue()
	case Int, Uint:
		return parquet.Int64Value(int64(v.n))
	case Float:
		return parquet.DoubleValue(v.f)
	case Bool:
		return parquet.BooleanValue(v.n != 0)
	}
	return parquet.ValueOf(v.s)
}

// record is a group of fields in their declared order; parquet.Group sorts them by name.
type record struct {
	parquet.Group
	fields []parquet.Field
}

func (r record) Fields() []parquet.Field { return r.fields }

// field is a named node. Rows are written as values, so nothing reads it out of a Go struct.
type field struct {
	parquet.Node
	name string
}

func (f field) Name() string                         { return f.name }
func (field) Value(base reflect.Value) reflect.Value { return base }

func fields[R any](columns []Column[R]) record {
	r := record{Group: parquet.Group{}}
	for _, c := range columns {
		node := c.node()
		r.Group[c.Name], r.fields = node, append(r.fields, field{node, c.Name})
	}
	return r
}

func (c *Column[R]) node() parquet.Node {
	var node parquet.Node
	switch c.Kind {
	case Int:
		node = parquet.Int(64)
	case Uint:
		node = parquet.Uint(64)
	case Float:
		node = parquet.Leaf(parquet.DoubleType)
	case Bool:
		node = parquet.Leaf(parquet.BooleanType)
	default:
		node = parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
	}
	switch {
	case c.Optional:
		return parquet.Optional(node)
	case c.Kind == Uint: // ids grow
		node = parquet.Encoded(node, &parquet.DeltaBinaryPacked)
	}
	return parquet.Required(node)
}
