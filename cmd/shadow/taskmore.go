package main

import (
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/parquet-go/parquet-go"

	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// A session can have metrics beside the promised ones: events of the machine's
// counters by any name. Their columns come behind the promised ones, and only
// in sessions that have them.

// fullRow is a row with what is not promised.
type fullRow struct {
	taskRow
	more []*int64 // as rowMaker.names
}

// moreColumn is the place of a further metric in the session's list.
type moreColumn struct {
	place  int
	column string
}

func moreColumns(extra []store.ExtraMetric) (more []moreColumn) {
	for k, x := range extra {
		if !slices.Contains(extraColumns[:], x.Column) {
			more = append(more, moreColumn{k, x.Column})
		}
	}
	return more
}

// names are the columns behind the promised ones, each with its self_ one.
func (m rowMaker) names() (names []string) {
	for _, x := range m.more {
		names = append(names, x.column, "self_"+x.column)
	}
	return names
}

// full is the row of a task with all columns.
func (m rowMaker) full(t *session.Task) fullRow {
	r := fullRow{taskRow: m.row(t)}
	for _, x := range m.more {
		if x.place >= len(t.Extra) {
			r.more = append(r.more, nil, nil)
			continue
		}
		r.more = append(r.more, ifMeasured(units.Ns(t.Extra[x.place])), ifMeasured(units.Ns(t.SelfExtra[x.place])))
	}
	return r
}

// wideRow makes rows of a type that has the further columns as fields, so that
// encoders treat them like the others. nil: there are none.
type wideRow struct {
	typ   reflect.Type
	fixed int
}

func newWideRow(more []string) *wideRow {
	if len(more) == 0 {
		return nil
	}
	fields := reflect.VisibleFields(reflect.TypeFor[taskRow]())
	w := &wideRow{fixed: len(fields)}
	for i, name := range more { // names of columns: a-z, 0-9 and _
		tag := fmt.Sprintf(`json:"%s" parquet:"%s,optional"`, name, name)
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("More%d", i), Type: reflect.TypeFor[*int64](), Tag: reflect.StructTag(tag)})
	}
	for i := range fields {
		fields[i].Offset, fields[i].Index = 0, nil
	}
	w.typ = reflect.StructOf(fields)
	return w
}

// of is r as a pointer to such a row.
func (w *wideRow) of(r *fullRow) any {
	if w == nil {
		return &r.taskRow
	}
	row, from := reflect.New(w.typ), reflect.ValueOf(&r.taskRow).Elem()
	for i := range w.fixed {
		row.Elem().Field(i).Set(from.Field(i))
	}
	for i, n := range r.more {
		row.Elem().Field(w.fixed + i).Set(reflect.ValueOf(n))
	}
	return row.Interface()
}

// wideParquet is parquetSink with further columns.
type wideParquet struct {
	w    *parquet.GenericWriter[any]
	wide *wideRow
}

func newWideParquet(w io.Writer, more []string) *wideParquet {
	wide := newWideRow(more)
	schema := parquet.SchemaOf(reflect.New(wide.typ).Interface())
	return &wideParquet{w: parquet.NewGenericWriter[any](w, schema, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(1<<20)), wide: wide}
}

func (s *wideParquet) write(r *fullRow) error {
	_, err := s.w.Write([]any{s.wide.of(r)})
	return err
}

func (s *wideParquet) close() error { return s.w.Close() }
