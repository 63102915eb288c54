package main

import (
	"errors"
	"io"

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
		l.env.note("the first %d rows; --top N shows more, --format csv all", l.limit())
	}
}
