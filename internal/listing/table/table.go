// Package table prints rows of text as aligned columns, fit for a terminal or
// a pipe, and makes names from a foreign program harmless to print.
package table

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	pretty "github.com/jedib0t/go-pretty/v6/table"
	prettytext "github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"

	"stackagent/internal/text"
)

// Column is one column of a table.
type Column struct {
	Title    string
	Right    bool // numbers
	Flexible bool // names: may be cut when the terminal is too narrow, or other columns follow
	Wraps    bool // sentences: continue on the next line when the terminal is too narrow
}

// Table is rows of cells under columns.
type Table struct {
	columns []Column
	rows    [][]string
}

// Options of Render.
type Options struct {
	Width int   // of the terminal in cells; 0: any
	Color bool  // print titles in bold
	Notes Noter // is told which columns the terminal has no room for; nil: nobody
}

// Noter takes messages to the user.
type Noter interface {
	Note(format string, args ...any)
}

const (
	gap          = 2  // blanks between columns
	leastFlex    = 16 // a flexible column is not cut below this
	easyFlex     = 24 // nor below this while there are more than fewNumbers columns of numbers to leave out
	fewNumbers   = 4
	mostFlex     = 96 // nor wider than this, where other columns follow: one long name would push them out of sight
	ellipsis     = "…"
	headShare    = 3 // a cut name keeps 1/3 of its room for the head, the rest for the tail
	ansiBold     = "\x1b[1m"
	ansiReset    = "\x1b[0m"
	replacedRune = '?'
)

// New makes an empty table.
func New(columns ...Column) *Table { return &Table{columns: columns} }

// Row adds a row. Cells are cleaned; missing ones are empty.
func (t *Table) Row(cells ...string) {
	row := make([]string, len(t.columns))
	for i := range row {
		if i < len(cells) {
			row[i] = Clean(cells[i])
		}
	}
	t.rows = append(t.rows, row)
}

// Len is the number of rows.
func (t *Table) Len() int { return len(t.rows) }

// ForWriter chooses the options for w: width and colour only for a terminal,
// colour only without NO_COLOR (https://no-color.org) and on a capable one.
func ForWriter(w io.Writer, getenv func(string) string) Options {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return Options{}
	}
	o := Options{Color: getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil {
		o.Width = width
	}
	return o
}

// Render prints the table.
func (t *Table) Render(w io.Writer, o Options) error {
	widths := t.fit(o.Width)
	var out []string
	p := pretty.NewWriter()
	p.SetStyle(plain())
	p.SuppressTrailingSpaces()
	header, configs := make(pretty.Row, len(t.columns)), make([]pretty.ColumnConfig, len(t.columns))
	for i, c := range t.columns {
		header[i] = c.Title
		configs[i] = pretty.ColumnConfig{Number: i + 1, Hidden: widths[i] == hidden}
		if configs[i].Hidden {
			out = append(out, c.Title)
		}
		if c.Wraps && o.Width > 0 {
			configs[i].WidthMax, configs[i].WidthMaxEnforcer = widths[i], prettytext.WrapSoft
		}
		if c.Right {
			configs[i].Align, configs[i].AlignHeader = prettytext.AlignRight, prettytext.AlignRight
		}
	}
	titled := slices.ContainsFunc(t.columns, func(c Column) bool { return c.Title != "" })
	if titled {
		p.AppendHeader(header)
	}
	p.SetColumnConfigs(configs)
	for _, row := range t.rows {
		cells := make(pretty.Row, len(row))
		for i, cell := range row {
			cells[i] = cell
			if !t.columns[i].Wraps {
				cells[i] = Cut(cell, widths[i])
			}
		}
		p.AppendRow(cells)
	}
	printed := p.Render()
	if first, rest, ok := strings.Cut(printed, "\n"); o.Color && titled {
		printed = ansiBold + first + ansiReset
		if ok {
			printed += "\n" + rest
		}
	}
	if _, err := fmt.Fprintln(w, printed); err != nil {
		return fmt.Errorf("printing the table: %w", err)
	}
	if len(out) > 0 && o.Notes != nil {
		o.Notes.Note("the terminal has no room for: %s; --wide, a pipe or --format csv has all columns", strings.Join(out, ", "))
	}
	return nil
}

// plain is columns apart by blanks, without lines, titles as they are.
func plain() pretty.Style {
	s := pretty.StyleDefault
	s.Options = pretty.OptionsNoBordersAndSeparators
	s.Format.Header = prettytext.FormatDefault
	s.Box.PaddingLeft, s.Box.PaddingRight = "", strings.Repeat(" ", gap)
	return s
}

// hidden is the width of a column that is left out.
const hidden = -1

// fit gives every column its width: its widest cell. Where the terminal has no room for all, names are cut, sentences
// continue on the next line, and columns are left out, the last ones first.
func (t *Table) fit(room int) []int {
	natural := make([]int, len(t.columns))
	for i, c := range t.columns {
		natural[i] = prettytext.StringWidth(c.Title)
		for _, row := range t.rows {
			natural[i] = max(natural[i], prettytext.StringWidth(row[i]))
		}
		if c.Flexible && i < len(t.columns)-1 {
			natural[i] = min(natural[i], mostFlex)
		}
	}
	if room <= 0 {
		return natural
	}
	for _, step := range []struct{ names, numbers int }{{easyFlex, fewNumbers}, {leastFlex, 1}} {
		for {
			widths, fits := t.shrink(natural, room, step.names)
			if fits {
				return widths
			}
			last := t.leastImportant(natural, step.numbers)
			if last < 0 {
				break
			}
			natural[last] = hidden
		}
	}
	widths, _ := t.shrink(natural, room, leastFlex)
	return widths
}

// shrink takes from the widest names and sentences, down to least, until the columns fit the room.
func (t *Table) shrink(natural []int, room, least int) (widths []int, fits bool) {
	widths = slices.Clone(natural)
	over := -room
	for _, w := range widths {
		if w != hidden {
			over += w + gap
		}
	}
	for ; over > 0; over-- {
		widest := -1
		for i, c := range t.columns {
			if (c.Flexible || c.Wraps) && widths[i] > max(least, prettytext.StringWidth(c.Title)) && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return widths, false
		}
		widths[widest]--
	}
	return widths, true
}

// leastImportant is the column to leave out next: the last one that is no name and not the first; -1: none, as no more
// than keep would stay.
func (t *Table) leastImportant(widths []int, keep int) int {
	last, n := -1, 0
	for i, c := range t.columns {
		if i > 0 && c.Title != "" && !c.Flexible && !c.Wraps && widths[i] != hidden {
			last, n = i, n+1
		}
	}
	if n <= keep {
		return -1
	}
	return last
}

// Cut shortens s to width cells by leaving out its middle: the end of a
// class name says most, both ends of a lambda do.
func Cut(s string, width int) string {
	if prettytext.StringWidth(s) <= width {
		return s
	}
	if width <= 1 {
		return ellipsis
	}
	runes := []rune(s)
	head := (width - 1) / headShare
	left := prettytext.Trim(s, head)
	tail, used := len(runes), 0
	for tail > 0 && used+prettytext.RuneWidth(runes[tail-1]) <= width-1-prettytext.StringWidth(left) {
		tail--
		used += prettytext.RuneWidth(runes[tail])
	}
	return left + ellipsis + string(runes[tail:])
}

// Clean makes a name harmless on a terminal: control characters (escape
// sequences, line ends), invisible format characters (those that turn the
// direction of writing among them) and broken UTF-8 become '?'.
func Clean(s string) string {
	return text.Clean(s, replacedRune)
}

// Right is a column of numbers.
func Right(title string) Column { return Column{Title: title, Right: true} }
