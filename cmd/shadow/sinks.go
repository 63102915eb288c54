package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"stackagent/internal/text"
	"stackagent/shadow/view/table"
)

// sink takes the rows of a listing one by one.
type sink[R any] interface {
	write(r R) error
	close() error
}

// errEnough ends the reading when --top rows are printed.
var errEnough = errors.New("enough rows")

// csvSink prints rows by their cells.
type csvSink[R any] struct {
	w     *csv.Writer
	cells func(r R, buf []string) []string
	buf   []string
}

func newCSVSink[R any](w io.Writer, header []string, cells func(r R, buf []string) []string) (*csvSink[R], error) {
	s := &csvSink[R]{w: csv.NewWriter(w), cells: cells}
	if err := s.w.Write(header); err != nil {
		return nil, fmt.Errorf("printing CSV: %w", err)
	}
	return s, nil
}

func (s *csvSink[R]) write(r R) error {
	s.buf = s.cells(r, s.buf[:0])
	return s.w.Write(s.buf)
}

func (s *csvSink[R]) close() error {
	s.w.Flush()
	return s.w.Error()
}

// jsonSink prints a list, a row a line.
type jsonSink[R any] struct {
	w     *bufio.Writer
	enc   *json.Encoder
	value func(r R) any
	rows  int
}

func newJSONSink[R any](w io.Writer, value func(r R) any) *jsonSink[R] {
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(text.JSON(b))
	enc.SetEscapeHTML(false)
	return &jsonSink[R]{w: b, enc: enc, value: value}
}

func (s *jsonSink[R]) write(r R) error {
	prefix := ","
	if s.rows == 0 {
		prefix = "["
	}
	s.rows++
	if _, err := s.w.WriteString(prefix); err != nil {
		return err
	}
	return s.enc.Encode(s.value(r))
}

func (s *jsonSink[R]) close() error {
	end := "]\n"
	if s.rows == 0 {
		end = "[]\n"
	}
	if _, err := s.w.WriteString(end); err != nil {
		return err
	}
	return s.w.Flush()
}

// tableSink shows the columns that fit a screen.
type tableSink[R any] struct {
	w     io.Writer
	o     table.Options
	t     *table.Table
	cells func(r R) []string
}

func (s *tableSink[R]) write(r R) error {
	s.t.Row(s.cells(r)...)
	return nil
}

func (s *tableSink[R]) close() error { return s.t.Render(s.w, s.o) }

// tableOptions are those of a listing that goes to a file or to standard output.
func (l *listing) tableOptions(file bool) table.Options {
	if file {
		return table.Options{}
	}
	return table.ForWriter(l.env.Out, l.env.Getenv)
}

// noteCut says that a table is not all there is.
func (l *listing) noteCut(cut bool) {
	if cut && l.format == "table" {
		l.env.note("the first %d rows; --top N shows more, --format csv all", l.limit())
	}
}
