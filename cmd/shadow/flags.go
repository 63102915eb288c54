package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/internal/text"
	"stackagent/shadow/view/table"
)

// defaultTop is how many rows a table shows when --top is not given.
const defaultTop = 20

// listing holds the flags of a verb that prints data.
type listing struct {
	env     console.Env
	format  string
	formats []string
	top     int
}

// addTo gives cmd the flags --format and, with top, --top.
func (l *listing) addTo(cmd *cobra.Command, env console.Env, top bool, formats ...string) {
	l.env, l.formats = env, formats
	cmd.Flags().StringVar(&l.format, "format", formats[0], strings.Join(formats, "|"))
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	if top {
		cmd.Flags().IntVar(&l.top, "top", 0, fmt.Sprintf("print the first N rows (default: %d in a table, all elsewhere)", defaultTop))
	}
}

// check refuses values that make no sense.
func (l *listing) check() error {
	if !slices.Contains(l.formats, l.format) {
		return console.Usagef("--format %s: use one of %s", l.format, strings.Join(l.formats, ", "))
	}
	if l.top < 0 {
		return console.Usagef("--top %d: use a number above 0", l.top)
	}
	return nil
}

// limit is the number of rows to print, 0 for all.
func (l *listing) limit() int {
	if l.top == 0 && l.format == "table" {
		return defaultTop
	}
	return l.top
}

// render prints a table, and on stderr how many rows it leaves out.
func (l *listing) render(t *table.Table, total int) error {
	if err := t.Render(l.env.Out, table.ForWriter(l.env.Out, l.env.Getenv)); err != nil {
		return err
	}
	if total > t.Len() {
		l.env.Note("%d of %d rows; --top N shows more", t.Len(), total)
	}
	return nil
}

// writeJSON prints v, readable, without escaping what HTML would want escaped,
// and with what a terminal would obey escaped.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(text.JSON(w))
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("printing JSON: %w", err)
	}
	return nil
}

// writeCSV prints a header and rows.
func writeCSV(w io.Writer, header []string, rows [][]string) error {
	c := csv.NewWriter(w)
	_ = c.Write(header) // errors stay with the writer
	_ = c.WriteAll(rows)
	if err := c.Error(); err != nil {
		return fmt.Errorf("printing CSV: %w", err)
	}
	return nil
}

// clean makes text of a foreign program safe to print.
func clean(s string) string { return table.Clean(s) }

// csvName makes a name safe on a terminal and in a spreadsheet. JSON and
// Parquet hold names as they are.
func csvName(s string) string { return text.Cell(s) }
