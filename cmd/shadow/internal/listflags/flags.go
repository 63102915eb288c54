// Package listflags has the flags --format, --top and --wide of every verb that prints rows.
package listflags

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/shadow/show/view"
)

// Flags are --format and --top of one verb.
type Flags struct {
	view.Printer
	Env console.Env

	formats []string
}

// AddTo gives cmd the flags --format and, with top, --top.
func (l *Flags) AddTo(cmd *cobra.Command, env console.Env, top bool, formats ...string) {
	l.Env, l.formats = env, formats
	l.Out, l.Getenv, l.Notes = env.Out, env.Getenv, env
	cmd.Flags().StringVar(&l.Format, "format", formats[0], strings.Join(formats, "|"))
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	if slices.Contains(formats, "table") {
		cmd.Flags().BoolVar(&l.Wide, "wide", false, "on a terminal, too, print all columns and whole names, however wide")
	}
	if top {
		cmd.Flags().IntVar(&l.Top, "top", 0, fmt.Sprintf("print the first N rows (default: %d in a table, all elsewhere)", view.DefaultTop))
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
