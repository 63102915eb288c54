package main

import (
	"fmt"
	"strconv"

	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
	"stackagent/shadow/summary"
	"stackagent/shadow/view/table"
	"stackagent/shadow/virtual"
)

// turns are how a virtual thread was scheduled.
type turns struct {
	Mounts       uint64    `json:"mounts"`
	Changes      uint64    `json:"carrier_changes"`
	FirstCarrier *string   `json:"first_carrier"` // null: not known
	LastCarrier  *string   `json:"last_carrier"`
	Pins         uint64    `json:"pins"`
	PinnedNs     units.Ns  `json:"pinned_ns"`
	AwayNs       units.Ns  `json:"away_ns"`
	ReadyNs      *units.Ns `json:"ready_ns"` // null: not measured
}

var turnsHeader = []string{"mounts", "carrier_changes", "first_carrier", "last_carrier", "pins", "pinned_ns", "away_ns", "ready_ns"}

func (t *turns) cells() []string {
	if t == nil {
		return make([]string, len(turnsHeader))
	}
	return []string{uintCell(&t.Mounts), uintCell(&t.Changes), nameCell(t.FirstCarrier), nameCell(t.LastCarrier), uintCell(&t.Pins),
		strconv.FormatInt(int64(t.PinnedNs), 10), strconv.FormatInt(int64(t.AwayNs), 10), intCell((*int64)(t.ReadyNs))}
}

func nameCell(s *string) string {
	if s == nil {
		return ""
	}
	return csvName(*s)
}

// addTurns puts into the rows of the virtual threads how they were scheduled.
// The table does not show it of single ones.
func (l *listing) addTurns(s *session.Session, rows []threadRow, threads []summary.ThreadRow) error {
	if l.format != "json" && l.format != "csv" {
		return nil
	}
	byID := map[uint32]*threadRow{}
	for i := range threads {
		if threads[i].Virtual {
			byID[threads[i].ID] = &rows[i]
		}
	}
	carrier := func(id uint32) *string {
		if t := s.ThreadByID(id); t != nil {
			label := t.Label()
			return &label
		}
		return nil
	}
	return s.VirtualThreads(func(v *store.VirtualThread) {
		r := byID[v.Thread]
		if r == nil {
			return
		}
		t := r.Scheduling
		if t == nil {
			t = &turns{FirstCarrier: carrier(v.First), ReadyNs: new(units.Ns)}
			r.Scheduling = t
		}
		t.Mounts, t.Changes, t.Pins = t.Mounts+v.Mounts, t.Changes+v.Changes, t.Pins+v.Pins
		t.PinnedNs, t.AwayNs, t.LastCarrier = t.PinnedNs+v.PinnedNs, t.AwayNs+v.AwayNs, carrier(v.Last)
		if v.ReadyNs == nil || t.ReadyNs == nil {
			t.ReadyNs = nil
		} else {
			*t.ReadyNs += *v.ReadyNs
		}
	})
}

// virtualText is the line of the statistics.
func virtualText(v *virtual.Threads) string {
	told := &v.Recorded
	line := fmt.Sprintf("threads mounted %s times", units.FormatExact(int64(v.Mounts)))
	if told.Threads > 0 {
		line = fmt.Sprintf("%s mounted %s times (", text.PluralExact(told.Threads, "thread", "threads"), units.FormatExact(int64(v.Mounts)))
		if told.MedianMounts != nil {
			line += fmt.Sprintf("median %s, ", units.FormatExact(int64(*told.MedianMounts)))
		}
		line += fmt.Sprintf("at most %s a thread), of these %s on another carrier than before", units.FormatExact(int64(told.MostMounts)), units.FormatExact(int64(told.Changes)))
		if told.ReadyNs != nil {
			line += fmt.Sprintf("; waited for a carrier for %s, at most %s", units.FormatNs(*told.ReadyNs), units.FormatNs(told.MostReadyNs))
		}
	}
	line += fmt.Sprintf("; parked while pinned to their carrier %s times, %s in all", units.FormatExact(int64(v.Pins)), units.FormatNs(v.PinnedNs))
	if len(v.List) > 0 && v.List[0].Pins > 0 {
		line += fmt.Sprintf(" (most: %s, %s)", v.List[0].Class, units.FormatNs(v.List[0].PinnedNs))
	}
	return line
}

// listVirtual prints a row for each class of virtual threads' bodies.
func (l *listing) listVirtual(s *session.Session) error {
	v, err := summary.Virtual(s, summary.Filter{})
	if err != nil {
		return err
	}
	if v == nil {
		v = &virtual.Threads{List: []virtual.Class{}}
		l.env.note("no virtual thread was mounted, or the agent could not see it (shadow stats)")
	}
	total := len(v.List)
	if n := l.limit(); n > 0 && n < total {
		v.List = v.List[:n]
	}
	switch l.format {
	case "json":
		return writeJSON(l.env.Out, v)
	case "csv":
		return l.virtualCSV(v)
	}
	t := table.New(table.Column{Title: "class", Flexible: true}, right("threads"), right("mounts"), right("median"), right("most"),
		right("other carrier"), right("away"), right("waited for carrier"), right("most"), right("pins"), right("pinned"), right("most"))
	for _, c := range v.List {
		waited, most := "", ""
		if c.ReadyNs != nil {
			waited, most = units.FormatNs(*c.ReadyNs), units.FormatNs(c.MostReadyNs)
		}
		t.Row(c.Class, exact(c.Threads), exact(c.Mounts), medianCell(c.MedianMounts), exact(c.MostMounts), exact(c.Changes),
			units.FormatNs(c.AwayNs), waited, most, exact(c.Pins), units.FormatNs(c.PinnedNs), units.FormatNs(c.MostPinnedNs))
	}
	if err := l.render(t, total); err != nil {
		return err
	}
	if v.Unrecorded != 0 {
		l.env.note("%s of %s mounts are of threads that executed no task, or whose record was lost", units.FormatExact(v.Unrecorded), units.FormatExact(int64(v.Mounts)))
	}
	return nil
}

func exact(n uint64) string { return units.FormatExact(int64(n)) }

// medianCell is empty where some threads were told together only.
func medianCell(n *uint64) string {
	if n == nil {
		return ""
	}
	return exact(*n)
}

func (l *listing) virtualCSV(v *virtual.Threads) error {
	header := []string{"class", "threads", "alive", "mounts", "median_mounts", "most_mounts", "carrier_changes", "away_ns", "most_away_ns",
		"ready_ns", "most_ready_ns", "pins", "pinned_ns", "most_pinned_ns"}
	ns := func(n units.Ns) string { return strconv.FormatInt(int64(n), 10) }
	var rows [][]string
	for i := range v.List {
		c := &v.List[i]
		ready := []string{"", ""}
		if c.ReadyNs != nil {
			ready = []string{ns(*c.ReadyNs), ns(c.MostReadyNs)}
		}
		row := []string{csvName(c.Class), uintCell(&c.Threads), uintCell(&c.Alive), uintCell(&c.Mounts)}
		row = append(row, uintCell(c.MedianMounts), uintCell(&c.MostMounts), uintCell(&c.Changes), ns(c.AwayNs), ns(c.MostAwayNs))
		rows = append(rows, append(append(row, ready...), uintCell(&c.Pins), ns(c.PinnedNs), ns(c.MostPinnedNs)))
	}
	return writeCSV(l.env.Out, header, rows)
}
