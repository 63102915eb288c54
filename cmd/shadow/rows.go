package main

import (
	"errors"
	"io"

	"stackagent/internal/text"
	"stackagent/shadow/view"
	"stackagent/shadow/view/table"
)

// stream returns the sink of the listing's format for rows that are printed as they are read. file
// says that w is not standard output.
func stream[R any](l *listing, w io.Writer, file bool, columns []view.Column[R]) view.Sink[R] {
	switch l.format {
	case "csv":
		return view.CSV(w, columns)
	case "json":
		return view.JSONLines(w, columns)
	case "parquet":
		return view.Parquet(w, columns)
	}
	return view.ForTerminal(w, l.tableOptions(file), columns)
}

// printRows prints the rows of a listing, at most as many as --top wants.
func printRows[R any](l *listing, rows []R, columns []view.Column[R]) error {
	total := len(rows)
	if n := l.limit(); n > 0 && n < total {
		rows = rows[:n]
	}
	switch l.format {
	case "json":
		return view.All(view.JSON(text.JSON(l.env.Out), columns), rows)
	case "csv":
		return view.All(view.CSV(l.env.Out, columns), rows)
	}
	return l.render(tableOf(rows, columns), total)
}

// refs are pointers to the elements of a list.
func refs[T any](list []T) []*T {
	out := make([]*T, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

// printTable prints all rows as a table for the terminal.
func printTable[R any](w io.Writer, o table.Options, rows []R, columns []view.Column[R]) error {
	return view.All(view.ForTerminal(w, o, columns), rows)
}

// tableOf is the terminal's table of rows.
func tableOf[R any](rows []R, columns []view.Column[R]) *table.Table {
	t := view.ForTerminal(nil, table.Options{}, columns)
	for _, r := range rows {
		_ = t.Write(r) // a table takes every row
	}
	return t.Table
}

// errEnough ends the reading when --top rows are printed.
var errEnough = errors.New("enough rows")

// tableOptions are those of a listing that goes to a file or to standard output.
func (l *listing) tableOptions(file bool) table.Options {
	if file {
		return table.Options{}
	}
	return table.ForWriter(l.env.Out, l.env.Getenv)
}

// noteCut says that a table is not all there is.
func (l *listing) noteCut(cut bool) {
	if cut && l.format == "table" {
		l.env.Note("the first %d rows; --top N shows more, --format csv all", l.limit())
	}
}
