package top

import (
	"fmt"
	"math"
	"strings"
	"time"

	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/show/live"
)

// state is what the user chose to see, and what there is to see.
type state struct {
	page   string // the page's address
	folder string // of the JVM in view; "": the fleet
	fleet  *live.Fleet
	jvm    *live.JVM

	received time.Time // when the last snapshot arrived
	trouble  string    // why there is no newer one; "": there is
	paused   bool

	panel    int
	sorts    map[string]int // column that a table is sorted by, -1: as it arrived
	selected map[string]string
	details  bool // of the selected row
}

const fleetTitle = "JVMs"

// title names the table in view.
func (s *state) title() string {
	if s.folder == "" {
		return fleetTitle
	}
	return panels[s.panel].title
}

// grid is the table in view, in the user's order.
func (s *state) grid() grid {
	var l grid
	switch {
	case s.folder != "" && s.jvm != nil:
		l = panels[s.panel].grid(s.jvm)
	case s.folder == "" && s.fleet != nil:
		l = fleetGrid(s.fleet)
	}
	if column, chosen := s.sorts[s.title()]; chosen {
		l.sort(column)
	}
	return l
}

// selection is the index of the selected row. If it is gone, the first one is selected.
func (s *state) selection(l *grid) int {
	if i := l.find(s.selected[s.title()]); i >= 0 {
		return i
	}
	return min(0, len(l.rows)-1)
}

// frame draws the whole screen.
func (s *state) frame(now time.Time, width, height int, color bool) []string {
	c := &canvas{width: width, color: color}
	s.status(c, now)
	if s.folder != "" && s.jvm != nil {
		s.head(c)
	}
	below := &canvas{width: width, color: color}
	s.keysLine(below)
	l := s.grid()
	if s.details && len(l.rows) > 0 {
		s.showDetails(c, &l)
	} else {
		s.showTable(c, &l, height-len(below.lines))
	}
	room := max(height-len(below.lines), 0)
	for len(c.lines) < room {
		c.lines = append(c.lines, "")
	}
	return append(c.lines[:room], below.lines...)[:height]
}

// status is the first line: what is shown and how old it is.
func (s *state) status(c *canvas, now time.Time) {
	parts := []string{"shadow top", s.page}
	switch {
	case s.folder == "" && s.fleet != nil:
		parts = append(parts, text.Plural(len(s.fleet.JVMs), "JVM", "JVMs"))
		if s.fleet.More > 0 {
			parts = append(parts, fmt.Sprintf("%s more on the page", units.FormatCount(int64(s.fleet.More))))
		}
	case s.jvm != nil:
		r := &s.jvm.Row
		parts = []string{table.Clean(nameOf(*r)), fmt.Sprintf("pid %d", r.PID), table.Clean(r.Host), uptime(r, s.jvm.NowNs), table.Clean(r.State)}
	}
	style := bold
	switch {
	case s.trouble != "":
		parts = append([]string{s.trouble}, parts...)
		style = reverse
	case s.paused:
		parts = append([]string{"PAUSED"}, parts...)
		style = reverse
	}
	if !s.received.IsZero() {
		parts = append(parts, "as of "+s.age(now)+" ago")
	}
	c.flow(style, " · ", parts...)
}

// age is how old the figures are: how late they were when the page sent them, and the
// time since.
func (s *state) age(now time.Time) string {
	age := now.Sub(s.received)
	if s.folder != "" && s.jvm != nil {
		age += time.Duration(s.jvm.Row.LagMs * float64(time.Millisecond))
	}
	if age < time.Minute {
		return fmt.Sprintf("%.1f s", max(age.Seconds(), 0))
	}
	return ago(float64(age))
}

func uptime(r *live.Row, nowNs float64) string {
	if r.StartedMs == 0 && nowNs == 0 {
		return ""
	}
	return "recorded " + ago(nowNs)
}

// head are the lines of figures above the table.
func (s *state) head(c *canvas) {
	v := s.jvm
	t := &v.Totals
	spare := min(max(c.width/4, 10), 60)
	c.flow("", "  ", "Tasks "+known(optional(v.Row.FinishedRate), rate)+"/s", "started "+known(optional(v.Row.StartedRate), rate)+"/s",
		"running "+known(optional(t.Running), count), "queued "+known(optional(t.Queued), count),
		"queue p99 "+known(optional(v.Row.QueueP99Ns), span), recent(seriesOf(v, "finished"), spare))
	c.flow("", "  ", append(cpuParts(v), recent(v.Row.Sparks.CPUs, spare))...)
	c.flow("", "  ", "Since the start: finished "+count(t.Finished), problem("threw", t.Threw), problem("rejected", t.Rejected),
		problem("cancelled", t.Cancelled), fmt.Sprintf("GC %s, %s", text.Plural(int64(t.GCPauses), "pause", "pauses"), span(t.GCPauseNs)),
		problem("lost", v.Row.Lost), problem("lost batches", v.Row.LostBatches), problem("not shown", v.Row.NotShown), "threads "+count(t.Threads))
	s.headFindings(c)
}

// headLines is how many findings the head has room for. It has so many lines also with
// none: the table below stays where it is.
const headLines = 2

func (s *state) headFindings(c *canvas) {
	findings := s.jvm.Findings
	for i := range headLines {
		switch more := len(findings) - i; {
		case len(findings) == 0 && i == 0:
			c.add(dim, table.Clean(because(s.jvm, "findings", "No findings now. "+s.jvm.Bound)))
		case more <= 0:
			c.add("", "")
		case more > 1 && i == headLines-1:
			c.add(bold, fmt.Sprintf("! %d more findings", more))
		default:
			c.add(bold, "! "+table.Clean(findings[i].Title))
		}
	}
}

// problem is a count that is shown only if it is not zero.
func problem(name string, n float64) string {
	if n == 0 {
		return ""
	}
	return name + " " + count(n)
}

// leastCPU is what a kind of thread uses at least, to be worth a word.
const leastCPU = 0.005

func cpuParts(v *live.JVM) []string {
	if v.Row.CPUs == nil {
		return []string{"CPUs " + because(v, "cpu", notKnown)}
	}
	parts := []string{"CPUs " + rate(cpus(v.Row))}
	for _, share := range v.Row.CPUs {
		if share.Value < leastCPU {
			continue
		}
		parts = append(parts, table.Clean(share.Key)+" "+rate(share.Value))
	}
	return parts
}

func seriesOf(v *live.JVM, key string) live.Points {
	for _, s := range v.Series {
		if s.Key == key {
			return s.Values
		}
	}
	return nil
}

// tabs is the line of tables, the one in view in brackets.
func (s *state) tabs(c *canvas) {
	if s.folder == "" {
		return
	}
	parts := make([]string, len(panels))
	for i, p := range panels {
		parts[i] = p.title
		if p.title == "Findings" && s.jvm != nil && len(s.jvm.Findings) > 0 {
			parts[i] = fmt.Sprintf("%s (%d)", p.title, len(s.jvm.Findings))
		}
		if i == s.panel {
			parts[i] = "[" + parts[i] + "]"
		}
	}
	c.flow(bold, "  ", parts...)
}

// showTable draws the table in view: the part around the selected row for which there is room.
func (s *state) showTable(c *canvas, l *grid, bottom int) {
	s.tabs(c)
	if len(l.rows) == 0 {
		if l.none != "" {
			c.wrap("", "", table.Clean(l.none), 3)
		}
		return
	}
	selected := s.selection(l)
	room := max(bottom-len(c.lines)-1, 1) // without the titles
	first := min(max(selected-room/2, 0), max(len(l.rows)-room, 0))
	columns := make([]table.Column, len(l.columns))
	for i, h := range l.columns {
		columns[i] = h.Column
		if at, chosen := s.sorts[s.title()]; chosen && at == i {
			columns[i].Title += sortMark(h.number)
		}
	}
	var rows [][]string
	for _, r := range l.rows[first:min(first+room, len(l.rows))] {
		rows = append(rows, r.cells)
	}
	c.table(columns, rows, selected-first)
}

func sortMark(number bool) string {
	if number {
		return "▼"
	}
	return "▲"
}

// showDetails has all cells of the selected row whole, below each other.
func (s *state) showDetails(c *canvas, l *grid) {
	r := l.rows[max(s.selection(l), 0)]
	for i, h := range l.columns {
		if r.cells[i] == "" {
			continue
		}
		if c.width < 60 || len(r.cells[i]) > c.width-18 {
			c.add(bold, h.Title)
			c.wrap("", "  ", r.cells[i], 8)
			continue
		}
		c.add("", fmt.Sprintf("%-14s  %s", h.Title, r.cells[i]))
	}
}

// keysLine says which keys do what.
func (s *state) keysLine(c *canvas) {
	sorted := "as sent"
	l := s.grid()
	if i, chosen := s.sorts[s.title()]; chosen && i >= 0 && i < len(l.columns) {
		sorted = l.columns[i].Title
	}
	pause := "p pause"
	if s.paused {
		pause = "p go on"
	}
	switch {
	case s.details:
		c.flow(dim, "  ", "esc back", "↑↓ row", pause, "q quit")
	case s.folder == "":
		c.flow(dim, "  ", "↑↓ JVM", "enter open", "s sort: "+sorted, pause, "q quit")
	default:
		c.flow(dim, "  ", "←→ table", "↑↓ row", "enter details", "s sort: "+sorted, pause, "esc all JVMs", "q quit")
	}
}

// print is a snapshot for a pipe: the fleet, or a JVM with all of its tables.
func (s *state) print(now time.Time, width int) string {
	c := &canvas{width: width}
	if width == 0 {
		c.width = math.MaxInt32
	}
	s.status(c, now)
	if s.folder != "" && s.jvm != nil {
		s.head(c)
		for s.panel = range panels {
			l := s.grid()
			c.add("", "")
			c.add("", panels[s.panel].title)
			s.printTable(c, &l)
		}
	} else {
		l := s.grid()
		s.printTable(c, &l)
	}
	return strings.Join(c.lines, "\n") + "\n"
}

func (s *state) printTable(c *canvas, l *grid) {
	if len(l.rows) == 0 {
		c.add("", table.Clean(l.none))
		return
	}
	columns, rows := make([]table.Column, len(l.columns)), make([][]string, len(l.rows))
	for i, h := range l.columns {
		columns[i] = h.Column
	}
	for i, r := range l.rows {
		rows[i] = r.cells
	}
	c.table(columns, rows, -1)
}
