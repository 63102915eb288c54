package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"stackagent"
	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/internal/listing"
	"stackagent/shadow/show/view"
)

func newLicenses(env console.Env) *cobra.Command {
	var l listflags.Flags
	var full bool
	cmd := &cobra.Command{
		Use:   "licenses",
		Short: "The modules that shadow and the agent link, with their licences",
		Long: `Lists the modules that shadow and the agent library link. --full prints the texts
of all licences, stackagent's own first; whoever passes the binaries on passes on
these texts, too.`,
		Example: "  shadow licenses\n  shadow licenses --full > THIRD_PARTY_NOTICES",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := l.Check(); err != nil {
				return err
			}
			if full {
				_, err := fmt.Fprintf(env.Out, "%s\n%s", strings.TrimSpace(stackagent.Licence), "\n"+stackagent.Notices)
				return err
			}
			rows := linkedModules(stackagent.Notices)
			l.Top = len(rows) // a licence is not left out
			return view.Rows(&l.Printer, rows, licenceColumns)
		},
	}
	l.AddTo(cmd, env, false, "table", "json", "csv")
	cmd.Flags().BoolVar(&full, "full", false, "print the texts of all licences")
	return cmd
}

// linkedModule is a line of the table in THIRD_PARTY_NOTICES.
type linkedModule struct{ module, version, licences, binaries string }

var licenceColumns = []listing.Column[linkedModule]{
	{Name: "module", Title: "module", Doc: "path of the Go module, or npm name of the library", Kind: listing.Word, Stays: true,
		Value: func(m linkedModule) listing.Value { return listing.WordOf(m.module) }},
	{Name: "version", Title: "version", Doc: "its version", Kind: listing.Word,
		Value: func(m linkedModule) listing.Value { return listing.WordOf(m.version) }},
	{Name: "licences", Title: "licences", Doc: "SPDX identifiers", Kind: listing.Word,
		Value: func(m linkedModule) listing.Value { return listing.WordOf(m.licences) }},
	{Name: "linked_into", Title: "linked into", Doc: "the binaries it is part of", Kind: listing.Word,
		Value: func(m linkedModule) listing.Value { return listing.WordOf(m.binaries) }},
}

var gap = regexp.MustCompile(` {2,}`)

// linkedModules parses the table: it starts after its title line and ends at an empty line.
func linkedModules(notices string) []linkedModule {
	const fields = 4
	_, rest, _ := strings.Cut(notices, "\nmodule ")
	_, rest, _ = strings.Cut(rest, "\n")
	var all []linkedModule
	for line := range strings.Lines(rest) {
		f := gap.Split(strings.TrimRight(line, "\n"), -1)
		if len(f) != fields {
			break
		}
		all = append(all, linkedModule{f[0], f[1], f[2], f[3]})
	}
	return all
}
