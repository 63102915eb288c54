package fleet

import (
	"slices"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/internal/text"
	"stackagent/shadow/fleet"
	"stackagent/shadow/show/view"
)

func newTop(env console.Env) *cobra.Command {
	var (
		l    listflags.Flags
		q    queryFlags
		by   string
		sort string
	)
	cmd := &cobra.Command{
		Use:   "top STORE",
		Short: "Where the work, the queues and the waits of the services are",
		Long: `Sums up the roll-ups of a store (a folder or s3://BUCKET/PREFIX) by class, executor, call
site, what was waited for, instance, version, environment, service, session or day. It
reads no sessions, so it answers about a year of them.

Counts, sums and extremes are those of shadow stats; percentiles are within 0.8 %.`,
		Example: `  shadow fleet top s3://traces/stackagent
  shadow fleet top s3://traces/stackagent --service orders --by executor --sort queue --last 24h
  shadow fleet top /srv/fleet --by instance --service 'pay*' --version 1.4.2
  shadow fleet top /srv/fleet --by day --from 2026-01-01 --format csv`,
		Args: oneStore,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := l.Check(); err != nil {
				return err
			}
			if !slices.Contains(fleet.All, fleet.By(by)) {
				return console.Usagef("--by %s: use %s", by, text.OneOf(fleet.All))
			}
			if _, ok := fleet.Weights[sort]; !ok {
				return console.Usagef("--sort %s: use %s", sort, text.OneOf(fleet.Sorts()))
			}
			if fleet.By(by) == fleet.Wait && !cmd.Flags().Changed("sort") {
				sort = "wait"
			}
			s, err := q.check(env.Now())
			if err != nil {
				return err
			}
			st, err := openStore(cmd.Context(), env, args[0])
			if err != nil {
				return err
			}
			rows, err := st.inquiry.Top(cmd.Context(), &q.Question, s, fleet.By(by), sort)
			if err != nil {
				return err
			}
			st.note(s)
			return view.Rows(&l.Printer, rows, fleet.TopColumns(fleet.By(by), rows))
		},
	}
	l.AddTo(cmd, env, true, "table", "json", "csv")
	q.addTo(cmd)
	cmd.Flags().StringVar(&by, "by", string(fleet.Class), text.OneOf(fleet.All))
	cmd.Flags().StringVar(&sort, "sort", "work", "work, count, wall, queue, response, wait, gc, lost or name")
	return cmd
}

func oneStore(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return console.Usagef("give the fleet's store: a folder, or s3://BUCKET/PREFIX")
	}
	return nil
}
