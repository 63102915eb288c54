package tgp

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// reader reads the rows of one file.
type reader struct {
	file string
	csv  *csv.Reader
	in   *bounded
	row  []string
}

// bounded stops reading a row that is too long.
type bounded struct {
	in   io.Reader
	left int
}

var errLongRow = fmt.Errorf("a row of more than %d bytes: %w", maxRecordBytes, ErrTooLarge)

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLongRow
	}
	n, err := b.in.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

func newReader(in io.Reader, file string) *reader {
	b := &bounded{in: in, left: maxRecordBytes}
	c := csv.NewReader(b)
	c.FieldsPerRecord, c.ReuseRecord = -1, true
	return &reader{file: file, csv: c, in: b}
}

// next reads a row of n fields; false at the end of the file.
func (r *reader) next(n int) (bool, error) {
	r.in.left = maxRecordBytes
	row, err := r.csv.Read()
	var parse *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		return false, nil
	case errors.As(err, &parse):
		return false, &FormatError{r.file, parse.Line, parse.Column, parse.Err.Error(), err}
	case err != nil:
		return false, fmt.Errorf("reading %s: %w", r.file, err)
	}
	if r.row = row; len(row) != n {
		line, column := r.csv.FieldPos(min(len(row)-1, n)) // the last one, or the first beyond
		return false, &FormatError{File: r.file, Line: line, Column: column, Reason: fmt.Sprintf("%s in place of %d", fields(len(row)), n)}
	}
	return true, nil
}

func fields(n int) string {
	if n == 1 {
		return "1 field"
	}
	return fmt.Sprintf("%d fields", n)
}

// header reads the first row, which names the columns. Traces of tgp call them differently ("Execution N.", "Exec N"), and
// its scripts look at their number only: the first name shows that it is such a file.
func (r *reader) header(columns []string) error {
	ok, err := r.next(len(columns))
	if err != nil {
		return err
	}
	if !ok {
		return &FormatError{File: r.file, Line: 1, Reason: "the file is empty; a header is expected"}
	}
	first, _, _ := strings.Cut(columns[0], " ")
	got := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(r.row[0]), "\ufeff"))
	if word, _, _ := strings.Cut(got, " "); !strings.EqualFold(word, first) {
		return r.fail(0, "the column %.40q stands where %q should be", got, columns[0])
	}
	return nil
}

func (r *reader) fail(field int, format string, args ...any) error {
	line, column := r.csv.FieldPos(field)
	return &FormatError{File: r.file, Line: line, Column: column, Reason: fmt.Sprintf(format, args...)}
}

// number reads a whole number that is least or more.
func (r *reader) number(field int, what string, least int64) (int64, error) {
	n, err := strconv.ParseInt(r.row[field], 10, 64)
	if err != nil || n < least {
		return 0, r.fail(field, "%s is %.40q; a whole number from %d is expected", what, r.row[field], least)
	}
	return n, nil
}

// decimal reads a number from 0 to most.
func (r *reader) decimal(field int, what string, most float64) (float64, error) {
	x, err := strconv.ParseFloat(r.row[field], 64)
	if err != nil || math.IsNaN(x) || x < 0 || x > most {
		return 0, r.fail(field, "%s is %.40q; a number from 0 to %g is expected", what, r.row[field], most)
	}
	return x, nil
}

// time reads a time; tgp's own filter writes them with a decimal point.
func (r *reader) time(field int) (int64, error) {
	if n, err := strconv.ParseInt(r.row[field], 10, 64); err == nil && n >= 0 && n <= maxTime {
		return n, nil
	}
	x, err := r.decimal(field, "the time", maxTime)
	return int64(math.Round(x)), err
}

// name is a name, or "" for null.
func (r *reader) name(field int) string {
	if r.row[field] == "null" {
		return ""
	}
	return strings.ToValidUTF8(r.row[field], "\ufffd")
}

// ReadGC reads gc.csv. It skips a collection that was still running at the end.
func ReadGC(in io.Reader, file string) ([]Pause, error) {
	r := newReader(in, file)
	var out []Pause
	var start int64
	open := false
	for {
		ok, err := r.next(2)
		if err != nil || !ok {
			return out, err
		}
		at, err := r.number(1, "the time", 0)
		if err != nil {
			return nil, err
		}
		switch want := [2]string{gcStart, gcEnd}; {
		case !open && r.row[0] == want[0]:
			start, open = at, true
		case open && r.row[0] == want[1] && at >= start:
			out, open = append(out, Pause{Start: start, End: at}), false
		case open && r.row[0] == want[1]:
			return nil, r.fail(1, "the collection ends at %d, before its start at %d", at, start)
		case open:
			return nil, r.fail(0, "%.40q stands where %q should be", r.row[0], want[1])
		default:
			return nil, r.fail(0, "%.40q stands where %q should be", r.row[0], want[0])
		}
		if len(out) > maxSamples {
			return nil, r.fail(0, "more than %d collections: %v", maxSamples, ErrTooLarge)
		}
	}
}

// ReadSwitches reads cs.csv.
func ReadSwitches(in io.Reader, file string) ([]Switches, error) {
	var out []Switches
	err := samples(in, file, csColumns, func(r *reader, at int64) error {
		n, err := r.decimal(1, "the number of context switches", 1e15)
		out = append(out, Switches{At: at, Count: n})
		return err
	})
	return out, err
}

// ReadCPU reads cpu.csv.
func ReadCPU(in io.Reader, file string) ([]Utilisation, error) {
	var out []Utilisation
	err := samples(in, file, cpuColumns, func(r *reader, at int64) error {
		user, err := r.decimal(1, "the user utilisation", 100)
		kernel, err2 := r.decimal(2, "the kernel utilisation", 100)
		out = append(out, Utilisation{At: at, User: user, Kernel: kernel})
		return errors.Join(err, err2)
	})
	return out, err
}

// maxTime bounds times, in nanoseconds: 292 years.
const maxTime = math.MaxInt64 / 2

func samples(in io.Reader, file string, columns []string, add func(*reader, int64) error) error {
	r := newReader(in, file)
	if err := r.header(columns); err != nil {
		return err
	}
	for n := 0; ; n++ {
		ok, err := r.next(len(columns))
		if err != nil || !ok {
			return err
		}
		if n == maxSamples {
			return r.fail(0, "more than %d samples: %v", maxSamples, ErrTooLarge)
		}
		at, err := r.time(0)
		if err != nil {
			return err
		}
		if err := add(r, at); err != nil {
			return err
		}
	}
}
