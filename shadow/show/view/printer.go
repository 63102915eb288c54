package view

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"stackagent/internal/listing"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
)

// DefaultTop is how many rows a table shows if nobody says how many.
const DefaultTop = 20

// Printer prints listings in the format that the user chose.
type Printer struct {
	Out    io.Writer
	Format string // table, json, csv, parquet
	Top    int    // rows at most; 0: DefaultTop in a table, all elsewhere
	Wide   bool   // tables as wide as they are
	Getenv func(string) string
	Notes  table.Noter // takes what is said beside the listing
}

// Note says something beside the listing.
func (p *Printer) Note(format string, args ...any) { p.Notes.Note(format, args...) }

// Limit is the number of rows to print, 0 for all.
func (p *Printer) Limit() int {
	if p.Top == 0 && p.Format == "table" {
		return DefaultTop
	}
	return p.Top
}

// Render prints a table, and notes how many rows it leaves out.
func (p *Printer) Render(t *table.Table, total int) error {
	if err := t.Render(p.Out, p.TableOptions(false)); err != nil {
		return err
	}
	if total > t.Len() {
		p.Note("%d of %d rows; --top N shows more", t.Len(), total)
	}
	return nil
}

// TableOptions are those of a table that goes to a file or to Out.
func (p *Printer) TableOptions(file bool) table.Options {
	if file {
		return table.Options{}
	}
	o := table.ForWriter(p.Out, p.Getenv)
	o.Notes = p.Notes
	if p.Wide {
		o.Width = 0
	}
	return o
}

// NoteCut notes that a table was cut.
func (p *Printer) NoteCut(cut bool) {
	if cut && p.Format == "table" {
		p.Note("the first %s; --top N shows more, --format csv all", text.PluralExact(p.Limit(), "row", "rows"))
	}
}

// JSON prints a value that is no list of rows.
func (p *Printer) JSON(v any) error { return Encode(p.Out, v) }

// Text prints a line.
func (p *Printer) Text(line string) error {
	if _, err := fmt.Fprintln(p.Out, line); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return nil
}

// Encode prints v as indented JSON. It escapes control characters for the terminal, but nothing for HTML.
func Encode(w io.Writer, v any) error {
	enc := json.NewEncoder(text.JSON(w))
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("printing JSON: %w", err)
	}
	return nil
}

// Cells prints a header and rows as CSV.
func (p *Printer) Cells(header []string, rows [][]string) error {
	return WriteCSV(p.Out, header, rows)
}

// WriteCSV writes a header and rows as CSV.
func WriteCSV(w io.Writer, header []string, rows [][]string) error {
	c := csv.NewWriter(w)
	_ = c.Write(header) // errors stay with the writer
	_ = c.WriteAll(rows)
	if err := c.Error(); err != nil {
		return fmt.Errorf("printing CSV: %w", err)
	}
	return nil
}

// Stream is the sink for rows that are printed as they are read. file means that w is not Out.
func Stream[R any](p *Printer, w io.Writer, file bool, columns []listing.Column[R]) listing.Sink[R] {
	switch p.Format {
	case "csv":
		return listing.CSV(w, columns)
	case "json":
		return listing.JSONLines(w, columns)
	case "parquet":
		return listing.Parquet(w, columns)
	}
	return listing.ForTerminal(w, p.TableOptions(file), columns)
}

// ErrEnough ends the reading when enough rows are printed.
var ErrEnough = errors.New("enough rows")

// Rows prints the rows of a listing, at most as many as are wanted.
func Rows[R any](p *Printer, rows []R, columns []listing.Column[R]) error {
	total := len(rows)
	rows = First(p, rows)
	switch p.Format {
	case "json":
		return listing.All(listing.JSON(text.JSON(p.Out), columns), rows)
	case "csv":
		return listing.All(listing.CSV(p.Out, columns), rows)
	}
	return p.Render(TableOf(rows, columns), total)
}

// First are the rows that are wanted.
func First[R any](p *Printer, rows []R) []R {
	if n := p.Limit(); n > 0 && n < len(rows) {
		return rows[:n]
	}
	return rows
}

// Print prints all rows as a table, or as CSV where that is the format, and JSON as content is.
func Print[R any](p *Printer, content any, rows []R, columns []listing.Column[R]) error {
	switch p.Format {
	case "json":
		return p.JSON(content)
	case "csv":
		return listing.All(listing.CSV(p.Out, columns), rows)
	}
	return p.Render(TableOf(rows, columns), len(rows))
}

// Table prints all rows as a table for the terminal.
func Table[R any](w io.Writer, o table.Options, rows []R, columns []listing.Column[R]) error {
	return listing.All(listing.ForTerminal(w, o, columns), rows)
}

// TableOf is the terminal's table of rows.
func TableOf[R any](rows []R, columns []listing.Column[R]) *table.Table {
	t := listing.ForTerminal(nil, table.Options{}, columns)
	for _, r := range rows {
		_ = t.Write(r) // a table takes every row
	}
	return t.Table
}
