package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/docs/schema"
)

func newSchema(env console.Env) *cobra.Command {
	var list bool
	cmd := &cobra.Command{
		Use:   "schema [VERB]",
		Short: "The JSON Schema of what a verb prints with --format json",
		Long: `Prints the JSON Schema (draft 2020-12) of the JSON that a verb prints, with a
description of each field and its unit. It allows no other fields, so a validator finds
every difference. What a verb prints can depend on its flags: each form has a title with
the flags that it belongs to.`,
		Example: `  shadow schema stats > stats.schema.json
  shadow schema tgp fine
  shadow schema --list`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if list == (len(args) > 0) {
				return console.Usagef("name one verb, or give --list")
			}
			verbs := withJSON(cmd.Root())
			if list {
				_, err := fmt.Fprintln(env.Out, strings.Join(verbs, "\n"))
				return err
			}
			verb := strings.Join(args, " ")
			text, ok := schema.Of(verb)
			if !ok || !slices.Contains(verbs, verb) {
				return console.Usagef("%q has no --format json; shadow schema --list names the verbs that have it", verb)
			}
			_, err := env.Out.Write(text)
			return err
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "name the verbs that have a schema, one a line")
	cmd.ValidArgsFunction = func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return withJSON(cmd.Root()), cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

// withJSON are the verbs below cmd that print JSON of one form, in alphabetical order.
func withJSON(cmd *cobra.Command) (verbs []string) {
	for _, c := range cmd.Commands() {
		if f := c.Flags().Lookup("format"); f != nil && slices.Contains(strings.Split(f.Usage, "|"), "json") {
			verbs = append(verbs, strings.TrimPrefix(c.CommandPath(), cmd.Root().Name()+" "))
		}
		verbs = append(verbs, withJSON(c)...)
	}
	slices.Sort(verbs)
	return verbs
}
