// Package listflags has the flags --format and --top of every verb that prints rows, and prints the rows: the columns are
// declared in shadow/show/view or beside the verb.
package listflags

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
)

// DefaultTop is how many rows a table shows when --top is not given.
const DefaultTop = 20

// Flags are --format and --top of one verb.
type Flags struct {
	Env    console.Env
	Format string
	Top    int
	Wide   bool // tables as wide as they are

	formats []string
}

// AddTo gives cmd the flags --format and, with top, --top.
func (l *Flags) AddTo(cmd *cobra.Command, env console.Env, top bool, formats ...string) {
	l.Env, l.formats = env, formats
	cmd.Flags().StringVar(&l.Format, "format", formats[0], strings.Join(formats, "|"))
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	if slices.Contains(formats, "table") {
		cmd.Flags().BoolVar(&l.Wide, "wide", false, "on a terminal, too, print all columns and whole names, however wide")
	}
	if top {
		cmd.Flags().IntVar(&l.Top, "top", 0, fmt.Sprintf("print the first N rows (default: %d in a table, all elsewhere)", DefaultTop))
	}
}

// Check refuses a format that the verb lacks, and a negative --top.
func (l *Flags) Check() error {
	if !slices.Contains(l.formats, l.Format) {
		return console.Usagef("--format %s: use one of %s", l.Format, strings.Join(l.formats, ", "))
	}
	if l.Top < 0 {
		return console.Usagef("--top %d: use a number above 0", l.Top)
	}
	return nil
}

// Limit is the number of rows to print, 0 for all.
func (l *Flags) Limit() int {
	if l.Top == 0 && l.Format == "table" {
		return DefaultTop
	}
	return l.Top
}

// Render prints a table, and on stderr how many rows it leaves out.
func (l *Flags) Render(t *table.Table, total int) error {
	if err := t.Render(l.Env.Out, l.TableOptions(false)); err != nil {
		return err
	}
	if total > t.Len() {
		l.Env.Note("%d of %d rows; --top N shows more", t.Len(), total)
	}
	return nil
}

// JSON prints v indented. It escapes control characters for the terminal, but nothing for HTML.
func JSON(w io.Writer, v any) error {
	enc := json.NewEncoder(text.JSON(w))
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("printing JSON: %w", err)
	}
	return nil
}

// CSV prints a header and rows.
func CSV(w io.Writer, header []string, rows [][]string) error {
	c := csv.NewWriter(w)
	_ = c.Write(header) // errors stay with the writer
	_ = c.WriteAll(rows)
	if err := c.Error(); err != nil {
		return fmt.Errorf("printing CSV: %w", err)
	}
	return nil
}
