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
}

// Table is rows of cells under columns.
type Table struct {
	columns []Column
	rows    [][]string
}

// Options of Render.
type Options struct {
	Width int  // of the terminal in cells; 0: any
	Color bool // print titles in bold
}

const (
	gap          = 2  // blanks between columns
	leastFlex    = 16 // a flexible column is not cut below this
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
	p := pretty.NewWriter()
	p.SetStyle(plain())
	p.SuppressTrailingSpaces()
	header, configs := make(pretty.Row, len(t.columns)), make([]pretty.ColumnConfig, len(t.columns))
	for i, c := range t.columns {
		header[i] = c.Title
		configs[i] = pretty.ColumnConfig{Number: i + 1}
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
			cells[i] = Cut(cell, widths[i])
		}
		p.AppendRow(cells)
	}
	out := p.Render()
	if first, rest, ok := strings.Cut(out, "\n"); o.Color && titled {
		out = ansiBold + first + ansiReset
		if ok {
			out += "\n" + rest
		}
	}
	if _, err := fmt.Fprintln(w, out); err != nil {
		return fmt.Errorf("printing the table: %w", err)
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

// fit gives every column its width: its widest cell, and flexible ones less
// where the terminal has no room for all.
func (t *Table) fit(room int) []int {
	widths := make([]int, len(t.columns))
	total := 0
	for i, c := range t.columns {
		widths[i] = prettytext.StringWidth(c.Title)
		for _, row := range t.rows {
			widths[i] = max(widths[i], prettytext.StringWidth(row[i]))
		}
		if c.Flexible && i < len(t.columns)-1 {
			widths[i] = min(widths[i], mostFlex)
		}
		total += widths[i] + gap
	}
	for over := total - room; room > 0 && over > 0; over-- {
		widest := -1
		for i, c := range t.columns {
			if c.Flexible && widths[i] > max(leastFlex, prettytext.StringWidth(c.Title)) && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	return widths
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
