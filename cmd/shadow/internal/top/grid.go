package top

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/internal/units"
)

// column declares a column of a grid, the most important first: a narrow terminal
// leaves out the last ones.
type column[R any] struct {
	title string
	name  string          // in CSV; "": not there
	text  func(R) string  // of a column of words
	value func(R) float64 // of a column of numbers; NaN: not known
	show  func(float64) string
}

// grid is rows of cells, ready to be sorted and shown.
type grid struct {
	columns []heading
	rows    []row
	none    string // why there are no rows
}

type heading struct {
	table.Column
	name   string
	number bool
}

type row struct {
	key     string // which row of the next snapshot it is
	cells   []string
	numbers []float64
}

// list makes the grid of rows.
func list[R any](rows []R, key func(R) string, columns []column[R]) grid {
	var l grid
	for _, c := range columns {
		l.columns = append(l.columns, heading{table.Column{Title: c.title, Right: c.value != nil, Flexible: c.value == nil}, c.name, c.value != nil})
	}
	for _, r := range rows {
		to := row{key: key(r), cells: make([]string, len(columns)), numbers: make([]float64, len(columns))}
		for i, c := range columns {
			if c.value == nil {
				to.cells[i] = table.Clean(c.text(r))
				continue
			}
			to.numbers[i] = c.value(r)
			to.cells[i] = known(to.numbers[i], c.show)
		}
		l.rows = append(l.rows, to)
	}
	return l
}

// notKnown is the cell of a number that is not known.
const notKnown = "-"

func known(v float64, show func(float64) string) string {
	if math.IsNaN(v) {
		return notKnown
	}
	return show(v)
}

// sort orders the rows by a column: the greatest numbers first, unknown ones last, words
// from a to z. Column -1 leaves the order of the snapshot.
func (l *grid) sort(column int) {
	if column < 0 || column >= len(l.columns) {
		return
	}
	number := l.columns[column].number
	slices.SortStableFunc(l.rows, func(a, b row) int {
		if !number {
			return cmp.Compare(a.cells[column], b.cells[column])
		}
		return cmp.Compare(b.numbers[column], a.numbers[column]) // NaN is below all others
	})
}

// find is the index of the row with a key, -1: it is gone.
func (l *grid) find(key string) int {
	return slices.IndexFunc(l.rows, func(r row) bool { return r.key == key })
}

// csv are the header and the rows for scripts.
func (l *grid) csv() [][]string {
	lines := make([][]string, 1+len(l.rows))
	for i, c := range l.columns {
		if c.name == "" {
			continue
		}
		lines[0] = append(lines[0], c.name)
		for n, r := range l.rows {
			lines[n+1] = append(lines[n+1], r.csv(i, c.number))
		}
	}
	return lines
}

// csv is a cell for scripts: a number in full, nothing where it is not known.
func (r *row) csv(column int, number bool) string {
	switch {
	case !number:
		return text.Cell(r.cells[column])
	case math.IsNaN(r.numbers[column]):
		return ""
	}
	return strconv.FormatFloat(r.numbers[column], 'f', -1, 64)
}

// optional is the value that p points to, NaN for nil.
func optional(p *float64) float64 {
	if p == nil {
		return math.NaN()
	}
	return *p
}

func count(v float64) string { return units.FormatCount(int64(v)) }

func span(v float64) string { return units.FormatNs(units.Ns(v)) }

// rate prints tasks per second or CPUs with three digits.
func rate(v float64) string {
	switch {
	case v >= 99.95:
		return units.FormatCount(int64(math.Round(v)))
	case v >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v == 0:
		return "0"
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// ago prints a time that has passed in whole seconds, minutes and hours.
func ago(ns float64) string {
	s := int64(max(ns, 0) / 1e9)
	var parts []string
	for _, unit := range []struct {
		seconds int64
		name    string
	}{{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}} {
		if n := s / unit.seconds; n > 0 && len(parts) < 2 {
			parts = append(parts, strconv.FormatInt(n, 10)+" "+unit.name)
			s %= unit.seconds
		} else if len(parts) > 0 {
			break
		}
	}
	if len(parts) == 0 {
		return "0 s"
	}
	return strings.Join(parts, " ")
}
