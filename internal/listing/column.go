// Package listing prints listings. A listing declares each of its columns once: the name in CSV, JSON and
// Parquet, the title on the terminal, the unit, where the value comes from, and a line of
// documentation. All formats follow from this declaration.
//
// To add a column, add a Column to the listing's list.
package listing

import (
	"cmp"
	"slices"
	"strconv"

	"stackagent/internal/listing/table"
	"stackagent/internal/units"
)

// Column declares one column of a listing with rows of type R.
type Column[R any] struct {
	Name     string // in CSV, JSON and Parquet; "": the terminal only
	Title    string // on the terminal; "": not there
	Doc      string // one line, in plain text
	Kind     Kind
	Unit     Unit
	Optional bool          // the value may be Null
	Value    func(R) Value // nil: the terminal only

	Show  func(R) string // on the terminal; nil: Value in Unit
	Text  func(R) string // in CSV; nil: Value in digits
	Last  int            // terminal: columns are in the order of Last, then as declared
	CSV   string         // name in CSV if it differs; Absent: not there
	JSON  string         // name in JSON if it differs; Absent: not there
	Stays bool           // terminal: a name that is never cut
	Wraps bool           // terminal: a sentence that continues on the next line where there is no room
	Holds any            // of an Object: a value of its type, or the []Described of its fields; its schema is made from it
}

// Absent as the name of a column in a format leaves it out of that format.
const Absent = "-"

// Unit says how the terminal shows a number.
type Unit uint8

// The units.
const (
	Plain  Unit = iota // digits: ids and the like
	Ns                 // nanoseconds
	Count              // digits in groups
	Share              // a fraction of 1, in percent
	Factor             // two decimals
)

func (c *Column[R]) csvName() string  { return cmp.Or(c.CSV, c.Name, Absent) }
func (c *Column[R]) jsonName() string { return cmp.Or(c.JSON, c.Name, Absent) }

// shown is the cell on the terminal.
func (c *Column[R]) shown(r R) string {
	if c.Show != nil {
		return c.Show(r)
	}
	return c.Unit.Show(c.Value(r))
}

// Show returns v as the terminal shows it.
func (u Unit) Show(v Value) string {
	switch {
	case v.IsNull():
		return ""
	case v.kind == Name || v.kind == Word:
		return v.s
	case u == Ns:
		return units.FormatNs(units.Ns(v.n))
	case u == Count:
		return units.FormatExact(int64(v.n))
	case u == Share:
		return units.FormatPercent(v.f)
	case u == Factor:
		return strconv.FormatFloat(v.f, 'f', 2, 64)
	}
	return v.cell()
}

// head is the column of the terminal's table.
func (c *Column[R]) head() table.Column {
	words := c.Kind == Name || c.Kind == Word || c.Kind == Bool
	return table.Column{Title: c.Title, Right: !words, Flexible: c.Kind == Name && !c.Stays && !c.Wraps, Wraps: c.Wraps}
}

// onTerminal are the columns of the terminal's table, in their order.
func onTerminal[R any](columns []Column[R]) []Column[R] {
	list := slices.DeleteFunc(slices.Clone(columns), func(c Column[R]) bool { return c.Title == "" })
	slices.SortStableFunc(list, func(a, b Column[R]) int { return cmp.Compare(a.Last, b.Last) })
	return list
}

// Refs are pointers to the elements of a list: the rows of columns that read large elements in place.
func Refs[T any](list []T) []*T {
	out := make([]*T, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}
