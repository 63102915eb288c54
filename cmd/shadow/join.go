package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/shadow/store"
)

func newJoin(env console.Env) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "join DIR DIR... -o DIR",
		Short: "Join the pieces of a session that several shadows stored",
		Long: `When a shadow dies, another one takes over its sessions. If each has its own store,
the session is then in two folders, and each says so. join copies the parts of both
into one folder. It keeps one copy of what both have, and counts as lost what
neither has.`,
		Example: `  shadow join host1/blue host2/blue -o blue`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || out == "" {
				return console.Usagef("want the folders of the pieces and -o: shadow join DIR DIR... -o DIR")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			m, err := store.Join(out, args)
			if err != nil {
				return err
			}
			env.Note("session %s in %s: %s in %s, %s missing", table.Clean(m.Session), out,
				text.PluralExact(m.Sequences.Count(), "batch", "batches"), text.PluralExact(int64(len(args)), "piece", "pieces"), fmt.Sprint(m.Lost.Batches))
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "folder of the whole session, new or empty")
	return cmd
}
