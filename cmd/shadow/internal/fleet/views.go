package fleet

import (
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/files"
	"stackagent/internal/text"
	"stackagent/shadow/fleet/engine"
	"stackagent/shadow/store/objectstore"
)

func newViews(env console.Env) *cobra.Command {
	var dialect, output string
	var prepare bool
	cmd := &cobra.Command{
		Use:   "views STORE",
		Short: "Write SQL views of a fleet's store for DuckDB, ClickHouse or Spark",
		Long: `Writes a script of SQL that creates views of the roll-ups and sessions of a store: the
engine reads the files where they are. The views follow the rule by which roll-ups count,
so sums are those of shadow fleet, whatever is compacted at the moment.

  rollups         five minutes a row of each instance, class, executor and call site
  rollups_by_day  a day a row, of all instances together
  rollup_buckets  the histograms of rollups, a bucket a row
  executions      the executions of all sessions, one by one (DuckDB; if there are sessions)

Engines refuse patterns that match nothing. So an empty file is put into each place of
roll-ups that has none; --prepare=false leaves the store alone.`,
		Example: `  shadow fleet views s3://traces/stackagent --engine duckdb > views.sql
  shadow fleet views s3://traces/stackagent --engine clickhouse -o views.sql
  shadow fleet views /srv/fleet --engine spark -o views.sql`,
		Args: oneStore,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(engine.Dialects, engine.Dialect(dialect)) {
				return console.Usagef("--engine %s: use %s", dialect, text.OneOf(engine.Dialects))
			}
			address := args[0]
			if !objectstore.Remote(address) {
				var err error
				if address, err = filepath.Abs(address); err != nil {
					return err
				}
			}
			st, err := openStore(cmd.Context(), env, address)
			if err != nil {
				return err
			}
			sessions, err := engine.HasSessions(cmd.Context(), st.objects)
			if err != nil {
				return err
			}
			if prepare {
				if err := engine.Prepare(cmd.Context(), st.objects); err != nil {
					return err
				}
			}
			return files.Write(env.Out, output, func(w io.Writer) error { return engine.Views(w, engine.Dialect(dialect), address, sessions) })
		},
	}
	cmd.Flags().StringVar(&dialect, "engine", string(engine.DuckDB), "duckdb, clickhouse or spark")
	cmd.Flags().StringVarP(&output, "output", "o", "", "file (default: standard output)")
	cmd.Flags().BoolVar(&prepare, "prepare", true, "put an empty file where the store has no roll-ups")
	return cmd
}
