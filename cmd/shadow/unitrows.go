package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"stackagent/granularity"
	"stackagent/granularity/unit"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/summary"
	"stackagent/shadow/view/table"
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
	before, rows, n := len(s.Warnings), newRowMaker(s), 0
	err = toFile(l.env.Out, output, func(w io.Writer) error {
		to, err := l.unitSink(w, output != "", s.Manifest.StartNs)
		if err != nil {
			return err
		}
		limit := l.limit()
		err = u.Each(func(x *unit.Unit) error {
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
			return to.write(rows.unit(s, x, name))
		})
		if err != nil && !errors.Is(err, errEnough) {
			return fmt.Errorf("listing the units of %s: %w", s.Dir, err)
		}
		l.noteCut(errors.Is(err, errEnough))
		return to.close()
	})
	if err != nil {
		return err
	}
	if err := l.noteSummarised(s, filter); err != nil {
		return err
	}
	if text := u.Note(0).Text(); text != "" { // what was summarised has no row
		l.env.note("%s", text)
	}
	if s.Manifest.Summarised.Sum() == 0 {
		noteNone(l.env, s, filter, n)
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

func (l *listing) unitSink(w io.Writer, file bool, from units.MonoNs) (sink[*unitRow], error) {
	switch l.format {
	case "csv":
		return newCSVSink(w, unitColumnNames, (*unitRow).cells)
	case "json":
		return newJSONSink(w, func(r *unitRow) any { return r }), nil
	}
	t := table.New(right("start"), right("queue"), right("wall"), right("self wall"), right("self CPU"),
		right("executions"), table.Column{Title: "threw"}, table.Column{Title: "thread", Flexible: true}, table.Column{Title: "class", Flexible: true})
	return &tableSink[*unitRow]{w, l.tableOptions(file), t, func(r *unitRow) []string { return r.shown(from) }}, nil
}

// cells are the row in the order of unitColumnNames.
func (r *unitRow) cells(row []string) []string {
	row = append(row, uintCell(&r.RootTaskID), csvName(r.Class), csvName(textCell(r.Thread)), strconv.FormatInt(r.StartNs, 10), intCell(r.EndNs))
	for _, n := range []*int64{r.QueueNs, r.WallNs, r.CPUNs, r.SelfWallNs, r.SelfCPUNs} {
		row = append(row, intCell(n))
	}
	row = append(row, strconv.FormatInt(r.Executions, 10), strconv.Itoa(int(r.Depth)))
	for _, b := range []bool{r.Inside, r.Threw, r.Swallowed} {
		row = append(row, strconv.FormatBool(b))
	}
	return row
}

// shown are the cells of the table; the start is shown against that of the session.
func (r *unitRow) shown(from units.MonoNs) []string {
	threw := ""
	switch {
	case r.Swallowed:
		threw = "inside"
	case r.Threw:
		threw = "yes"
	}
	return []string{"+" + units.FormatNs(units.Ns(r.StartNs)-units.Ns(from)), nsCell(r.QueueNs), nsCell(r.WallNs), nsCell(r.SelfWallNs), nsCell(r.SelfCPUNs),
		strconv.FormatInt(r.Executions, 10), threw, textCell(r.Thread), r.Class}
}
