package fleet

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/internal/text"
	"stackagent/shadow/iceberg"
	"stackagent/shadow/objects"
)

func newIceberg(env console.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "iceberg STORE",
		Short: "Describe the roll-ups as tables of Apache Iceberg",
		Long: `Writes Apache Iceberg metadata beside the roll-ups of a store, so that Spark, DuckDB and
PyIceberg can read them as tables, with or without a catalogue. No roll-up is copied or
moved. A table lists the files that count when it is written, and compaction deletes
files an hour after merging them, so run this after each compaction, or hourly.

  rollups         a row for each five minutes, instance, class, executor and call site
  rollups_by_day  a row for each day; rows of five minutes for what is not compacted yet

Prints where the metadata of each table is.`,
		Example: `  shadow fleet iceberg s3://traces/stackagent
  shadow fleet iceberg /srv/fleet`,
		Args: oneStore,
		RunE: func(cmd *cobra.Command, args []string) error {
			root, _, _ := strings.Cut(args[0], "?")
			if !objects.Remote(args[0]) {
				var err error
				if root, err = filepath.Abs(args[0]); err != nil {
					return err
				}
			}
			st, err := openStore(cmd.Context(), env, args[0])
			if err != nil {
				return err
			}
			for _, x := range iceberg.Tables {
				t, err := iceberg.Write(cmd.Context(), st.objects, root, x.Name, x.Level, env.Now())
				if err != nil {
					return err
				}
				for i, m := range t.Missing {
					if i == mostNamed {
						env.Note("and %s more are not in the table", text.PluralExact(len(t.Missing)-i, "file", "files"))
						break
					}
					env.Note("not in the table %s: %s: %s", x.Name, text.Cell(m.Key), text.Cell(m.Why))
				}
				env.Note("%s: %s in %s", x.Name, text.PluralExact(t.Rows, "row", "rows"), text.PluralExact(t.Files, "file", "files"))
				fmt.Fprintln(env.Out, t.Metadata)
			}
			return nil
		},
	}
}
