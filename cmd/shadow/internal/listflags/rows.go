package listflags

import (
	"errors"
	"io"

	"stackagent/internal/listing"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
)

// Stream is the sink for rows that are printed as they are read. file means that w is not standard output.
func Stream[R any](l *Flags, w io.Writer, file bool, columns []listing.Column[R]) listing.Sink[R] {
	switch l.Format {
	case "csv":
		return listing.CSV(w, columns)
	case "json":
		return listing.JSONLines(w, columns)
	case "parquet":
		return listing.Parquet(w, columns)
	}
	return listing.ForTerminal(w, l.TableOptions(file), columns)
}

// Rows prints the rows of a listing, at most as many as --top wants.
func Rows[R any](l *Flags, rows []R, columns []listing.Column[R]) error {
	total := len(rows)
	if n := l.Limit(); n > 0 && n < total {
		rows = rows[:n]
	}
	switch l.Format {
	case "json":
		return listing.All(listing.JSON(text.JSON(l.Env.Out), columns), rows)
	case "csv":
		return listing.All(listing.CSV(l.Env.Out, columns), rows)
	}
	return l.Render(TableOf(rows, columns), total)
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

// ErrEnough ends the reading when --top rows are printed.
var ErrEnough = errors.New("enough rows")

// TableOptions are those of a table that goes to a file or to standard output.
func (l *Flags) TableOptions(file bool) table.Options {
	if file {
		return table.Options{}
	}
	o := table.ForWriter(l.Env.Out, l.Env.Getenv)
	o.Notes = l.Env
	if l.Wide {
		o.Width = 0
	}
	return o
}

// NoteCut notes that a table was cut.
func (l *Flags) NoteCut(cut bool) {
	if cut && l.Format == "table" {
		l.Env.Note("the first %s; --top N shows more, --format csv all", text.PluralExact(l.Limit(), "row", "rows"))
	}
}
