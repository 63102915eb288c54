package tgp

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"stackagent/internal/text"
)

// TaskWriter writes tasks.csv row by row.
type TaskWriter struct {
	csv *csv.Writer
	row []string
}

// NewTaskWriter writes the header.
func NewTaskWriter(w io.Writer) *TaskWriter {
	t := &TaskWriter{csv: csv.NewWriter(w)}
	_ = t.csv.Write(Columns) // the writer keeps errors until Close
	return t
}

// Row is a row to write: a task with its names, threads and executor; nil: none. The
// indexes in Task are ignored.
type Row struct {
	Task
	Class           string
	Creator, Runner *Thread
	Executor        *Executor
}

// Write writes a row.
func (t *TaskWriter) Write(r *Row) error {
	t.row = append(t.row[:0], number(r.ID), cell(r.Class), number(r.Outer), number(r.Execution))
	t.thread(r.Creator)
	t.thread(r.Runner)
	if r.Executor == nil {
		t.row = append(t.row, "-1", "null")
	} else {
		t.row = append(t.row, number(r.Executor.ID), cell(r.Executor.Class))
	}
	t.row = append(t.row, number(r.Entry), number(r.Exit), number(r.Granularity))
	for flag := IsThread; flag <= RanExec; flag <<= 1 {
		if r.Flags&flag != 0 {
			t.row = append(t.row, "T")
		} else {
			t.row = append(t.row, "F")
		}
	}
	return t.csv.Write(t.row)
}

func (t *TaskWriter) thread(x *Thread) {
	if x == nil {
		t.row = append(t.row, "-1", "null", "null")
		return
	}
	t.row = append(t.row, number(x.ID), cell(x.Class), cell(x.Name))
}

// Close flushes the file and returns the first error of writing.
func (t *TaskWriter) Close() error {
	t.csv.Flush()
	if err := t.csv.Error(); err != nil {
		return fmt.Errorf("writing %s: %w", TasksFile, err)
	}
	return nil
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// cell is a name made safe for terminals and spreadsheets; null if empty.
func cell(s string) string {
	if s == "" {
		return "null"
	}
	return text.Cell(s)
}

// WriteGC writes gc.csv.
func WriteGC(w io.Writer, pauses []Pause) error {
	rows := make([][]string, 0, 2*len(pauses))
	for _, p := range pauses {
		rows = append(rows, []string{gcStart, number(p.Start)}, []string{gcEnd, number(p.End)})
	}
	return writeAll(w, GCFile, rows)
}

// WriteSwitches writes cs.csv.
func WriteSwitches(w io.Writer, samples []Switches) error {
	rows := [][]string{csColumns}
	for _, s := range samples {
		rows = append(rows, []string{number(s.At), decimal(s.Count)})
	}
	return writeAll(w, CSFile, rows)
}

// WriteCPU writes cpu.csv.
func WriteCPU(w io.Writer, samples []Utilisation) error {
	rows := [][]string{cpuColumns}
	for _, s := range samples {
		rows = append(rows, []string{number(s.At), decimal(s.User), decimal(s.Kernel)})
	}
	return writeAll(w, CPUFile, rows)
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func writeAll(w io.Writer, file string, rows [][]string) error {
	if err := csv.NewWriter(w).WriteAll(rows); err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	return nil
}
