package listing

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"

	"stackagent/internal/listing/table"
	"stackagent/internal/text"
)

// Sink takes the rows of a listing one by one.
type Sink[R any] interface {
	Write(r R) error
	Close() error
}

// csvSink prints a header and a line for each row.
type csvSink[R any] struct {
	w       *csv.Writer
	columns []Column[R]
	buf     []string
}

// CSV returns a sink that prints CSV to w.
func CSV[R any](w io.Writer, columns []Column[R]) Sink[R] {
	s := &csvSink[R]{w: csv.NewWriter(w)}
	var header []string
	for _, c := range columns {
		if name := c.csvName(); name != Absent {
			s.columns, header = append(s.columns, c), append(header, name)
		}
	}
	_ = s.w.Write(header) // an error stays with the writer
	return s
}

func (s *csvSink[R]) Write(r R) error {
	s.buf = s.buf[:0]
	for i := range s.columns {
		if c := &s.columns[i]; c.Text != nil {
			s.buf = append(s.buf, c.Text(r))
		} else {
			s.buf = append(s.buf, c.Value(r).cell())
		}
	}
	return s.w.Write(s.buf)
}

func (s *csvSink[R]) Close() error {
	s.w.Flush()
	if err := s.w.Error(); err != nil {
		return fmt.Errorf("printing CSV: %w", err)
	}
	return nil
}

// jsonSink prints a list of objects, one a line.
type jsonSink[R any] struct {
	w    *bufio.Writer
	out  io.Writer // through which hidden characters are escaped
	keys [][]byte  // with the comma before and the colon behind
	of   []func(R) Value
	buf  []byte
	rows int
}

// JSONLines returns a sink that prints a JSON list to w, a row a line.
func JSONLines[R any](w io.Writer, columns []Column[R]) Sink[R] {
	b := bufio.NewWriter(w)
	s := &jsonSink[R]{w: b, out: text.JSON(b)}
	for _, c := range columns {
		if name := c.jsonName(); name != Absent {
			key, _ := appendAny(nil, name) // a string is always valid
			if len(s.of) > 0 {
				key = append([]byte{','}, key...)
			}
			s.keys, s.of = append(s.keys, append(key, ':')), append(s.of, c.Value)
		}
	}
	return s
}

func (s *jsonSink[R]) Write(r R) error {
	prefix := byte(',')
	if s.rows == 0 {
		prefix = '['
	}
	s.rows++
	s.buf = append(s.buf[:0], prefix, '{')
	for i, of := range s.of {
		s.buf = append(s.buf, s.keys[i]...)
		var err error
		if s.buf, err = of(r).appendJSON(s.buf); err != nil {
			return err
		}
	}
	s.buf = append(s.buf, "}\n"...)
	_, err := s.out.Write(s.buf)
	return err
}

func (s *jsonSink[R]) Close() error {
	end := "]\n"
	if s.rows == 0 {
		end = "[]\n"
	}
	if _, err := s.w.WriteString(end); err != nil {
		return err
	}
	return s.w.Flush()
}

// jsonIndented prints the rows as an indented list.
type jsonIndented[R any] struct {
	Sink[R]
	w     io.Writer
	plain *bytes.Buffer
}

// JSON returns a sink that prints an indented JSON list to w. It holds the whole list in memory.
func JSON[R any](w io.Writer, columns []Column[R]) Sink[R] {
	var plain bytes.Buffer
	return &jsonIndented[R]{JSONLines(&plain, columns), w, &plain}
}

func (s *jsonIndented[R]) Close() error {
	if err := s.Sink.Close(); err != nil {
		return err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, s.plain.Bytes(), "", "  "); err != nil {
		return fmt.Errorf("printing JSON: %w", err)
	}
	if _, err := s.w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("printing JSON: %w", err)
	}
	return nil
}

// Terminal is a sink that prints an aligned table when it is closed.
type Terminal[R any] struct {
	*table.Table
	w       io.Writer
	o       table.Options
	columns []Column[R]
}

// ForTerminal returns a sink that prints the columns that have a title as a table.
func ForTerminal[R any](w io.Writer, o table.Options, columns []Column[R]) *Terminal[R] {
	columns = onTerminal(columns)
	heads := make([]table.Column, len(columns))
	for i := range columns {
		heads[i] = columns[i].head()
	}
	return &Terminal[R]{table.New(heads...), w, o, columns}
}

// Write adds a row.
func (t *Terminal[R]) Write(r R) error {
	cells := make([]string, len(t.columns))
	for i := range t.columns {
		cells[i] = t.columns[i].shown(r)
	}
	t.Row(cells...)
	return nil
}

// Close prints the table.
func (t *Terminal[R]) Close() error { return t.Render(t.w, t.o) }

// All writes rows and closes the sink.
func All[R any](to Sink[R], rows []R) error {
	for _, r := range rows {
		if err := to.Write(r); err != nil {
			return err
		}
	}
	return to.Close()
}
