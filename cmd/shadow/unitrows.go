package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"stackagent/cmd/shadow/internal/table"
	"stackagent/granularity"
	"stackagent/granularity/unit"
	"stackagent/internal/harmless"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/summary"
)

// unitFormats are those of a listing of units.
var unitFormats = []string{"table", "csv", "json"}

// unitRow is a unit of work; nil where nothing was measured. Times are
// CLOCK_MONOTONIC nanoseconds.
type unitRow struct {
	RootTaskID uint64  `json:"root_task_id"` // of its outermost execution
	Class      string  `json:"class"`
	Thread     *string `json:"thread"`
	StartNs    int64   `json:"start_ns"`
	EndNs      *int64  `json:"end_ns"` // null: still running
	QueueNs    *int64  `json:"queue_ns"`
	WallNs     *int64  `json:"wall_ns"`
	CPUNs      *int64  `json:"cpu_ns"`
	SelfWallNs *int64  `json:"self_wall_ns"` // other units nested in it taken out
	SelfCPUNs  *int64  `json:"self_cpu_ns"`
	Executions int64   `json:"executions"`
	Depth      int32   `json:"depth"`
	Inside     bool    `json:"inside"` // ran inside another unit
	Threw      bool    `json:"threw"`
	Swallowed  bool    `json:"swallowed"` // its wrapper took the exception
}

var unitColumnNames = []string{"root_task_id", "class", "thread", "start_ns", "end_ns", "queue_ns", "wall_ns", "cpu_ns",
	"self_wall_ns", "self_cpu_ns", "executions", "depth", "inside", "threw", "swallowed"}

// printUnits lists the units of a session in the order of their ends on each
// thread.
func (l *listing) printUnits(s *session.Session, filter summary.Filter, output string) error {
	u, err := summary.NewUnits(s)
	if err != nil {
		return err
	}
	before, rows := len(s.Warnings), newRowMaker(s)
	err = toFile(l.env.Out, output, func(w io.Writer) error {
		sink := l.unitSink(w, output != "", s.Manifest.StartNs)
		n, limit := 0, l.limit()
		err := u.Each(func(x *unit.Unit) error {
			name, kinds := summary.UnknownClass(x.Class), units.Kinds(0)
			if c := s.ClassByID(x.Class); c != nil {
				name, kinds = c.Name, c.Kinds
			}
			if !filter.Match(name, kinds) {
				return nil
			}
			if n++; limit > 0 && n > limit {
				return errEnough
			}
			return sink.write(rows.unit(s, x, name))
		})
		if err != nil && !errors.Is(err, errEnough) {
			return fmt.Errorf("listing the units of %s: %w", s.Dir, err)
		}
		if errors.Is(err, errEnough) && l.format == "table" {
			l.env.note("the first %d rows; --top N shows more, --format csv all", limit)
		}
		return sink.close()
	})
	if err != nil {
		return err
	}
	if text := u.Note(int64(s.Manifest.Summarised.Executions)).Text(); text != "" {
		l.env.note("%s", text)
	}
	noteFound(l.env, s, before)
	return nil
}

func (m rowMaker) unit(s *session.Session, x *unit.Unit, class string) *unitRow {
	return &unitRow{
		RootTaskID: x.Root, Class: class, Thread: m.label(s.ThreadByID(x.Thread)), StartNs: int64(x.Start), EndNs: unlessZero(int64(x.End)),
		QueueNs: ifMeasured(x.Queue), WallNs: ifMeasured(x.Work[granularity.Wall]), CPUNs: ifMeasured(x.Work[granularity.CPU]),
		SelfWallNs: ifMeasured(x.Work[granularity.SelfWall]), SelfCPUNs: ifMeasured(x.Work[granularity.SelfCPU]),
		Executions: x.Executions, Depth: x.Depth, Inside: x.Inside, Threw: x.Threw, Swallowed: x.Swallowed,
	}
}

// unitSink takes units one by one.
type unitSink interface {
	write(r *unitRow) error
	close() error
}

func (l *listing) unitSink(w io.Writer, file bool, from units.MonoNs) unitSink {
	switch l.format {
	case "csv":
		s := &unitCSV{csv.NewWriter(w)}
		_ = s.w.Write(unitColumnNames) // errors stay with the writer
		return s
	case "json":
		b := bufio.NewWriter(w)
		enc := json.NewEncoder(harmless.JSON(b))
		enc.SetEscapeHTML(false)
		return &unitJSON{w: b, enc: enc}
	}
	o := table.Options{}
	if !file {
		o = table.ForWriter(l.env.Out, l.env.Getenv)
	}
	return &unitTable{w: w, o: o, from: from, t: table.New(right("start"), right("queue"), right("wall"), right("self wall"), right("self CPU"),
		right("executions"), table.Column{Title: "threw"}, table.Column{Title: "thread", Flexible: true}, table.Column{Title: "class", Flexible: true})}
}

type unitCSV struct{ w *csv.Writer }

func (s *unitCSV) write(r *unitRow) error {
	row := []string{uintCell(&r.RootTaskID), csvName(r.Class), csvName(textCell(r.Thread)), strconv.FormatInt(r.StartNs, 10), intCell(r.EndNs)}
	for _, n := range []*int64{r.QueueNs, r.WallNs, r.CPUNs, r.SelfWallNs, r.SelfCPUNs} {
		row = append(row, intCell(n))
	}
	row = append(row, strconv.FormatInt(r.Executions, 10), strconv.Itoa(int(r.Depth)))
	for _, b := range []bool{r.Inside, r.Threw, r.Swallowed} {
		row = append(row, strconv.FormatBool(b))
	}
	return s.w.Write(row)
}

func (s *unitCSV) close() error {
	s.w.Flush()
	return s.w.Error()
}

// unitJSON prints a list, a row a line.
type unitJSON struct {
	w    *bufio.Writer
	enc  *json.Encoder
	rows int
}

func (s *unitJSON) write(r *unitRow) error {
	prefix := byte(',')
	if s.rows == 0 {
		prefix = '['
	}
	s.rows++
	if err := s.w.WriteByte(prefix); err != nil {
		return err
	}
	return s.enc.Encode(r)
}

func (s *unitJSON) close() error {
	end := "]\n"
	if s.rows == 0 {
		end = "[]\n"
	}
	_, err := s.w.WriteString(end)
	return errors.Join(err, s.w.Flush())
}

type unitTable struct {
	w    io.Writer
	o    table.Options
	t    *table.Table
	from units.MonoNs
}

func (s *unitTable) write(r *unitRow) error {
	threw := ""
	switch {
	case r.Swallowed:
		threw = "inside"
	case r.Threw:
		threw = "yes"
	}
	s.t.Row("+"+units.FormatNs(units.Ns(r.StartNs)-units.Ns(s.from)), nsCell(r.QueueNs), nsCell(r.WallNs), nsCell(r.SelfWallNs), nsCell(r.SelfCPUNs),
		strconv.FormatInt(r.Executions, 10), threw, textCell(r.Thread), r.Class)
	return nil
}

func (s *unitTable) close() error { return s.t.Render(s.w, s.o) }
