package fleet

import (
	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/internal/listing"
	"stackagent/internal/text"
	"stackagent/shadow/analysis/diff"
	"stackagent/shadow/fleet"
	"stackagent/shadow/show/view"
)

func newVersions(env console.Env) *cobra.Command {
	var (
		l    listflags.Flags
		q    queryFlags
		a, b string
	)
	cmd := &cobra.Command{
		Use:   "versions STORE --service NAME",
		Short: "What got slower or faster from one version of a service to another",
		Long: `Compares two versions of a service, class by class, by what one execution takes: its work,
wall time, queue time and response time, and how often it ends by an exception. Each
instance counts as one run, as in shadow diff: changes have 95 % intervals, and
"different" is corrected for all figures that were judged.

Without --a and --b, the version that appeared last is compared with the one before.
Instances of one version differ by machine and by what is asked of them; so the two
versions should have run on machines alike.`,
		Example: `  shadow fleet versions s3://traces/stackagent --service orders --last 24h
  shadow fleet versions /srv/fleet --service orders --a 1.4.2 --b 1.5.0 --from 2026-03-01 --format csv`,
		Args: oneStore,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := l.Check(); err != nil {
				return err
			}
			if len(q.Services) != 1 {
				return console.Usagef("name one service: --service NAME")
			}
			if q.Select.Version != "" {
				return console.Usagef("--version chooses one version; here --a and --b choose two")
			}
			s, err := q.check(env.Now())
			if err != nil {
				return err
			}
			st, err := openStore(cmd.Context(), env, args[0])
			if err != nil {
				return err
			}
			d, err := st.inquiry.Versions(cmd.Context(), &q.Question, s, a, b)
			st.note(s)
			if err != nil {
				return err
			}
			for _, c := range d.Cautions {
				env.Note("caution: %s", text.Cell(c))
			}
			if d.Note != "" {
				env.Note("%s", text.Cell(d.Note))
			}
			return printDiff(&l, d)
		},
	}
	l.AddTo(cmd, env, true, "table", "json", "csv")
	q.addTo(cmd)
	cmd.Flags().StringVar(&a, "a", "", "the version before (default: the last but one to appear)")
	cmd.Flags().StringVar(&b, "b", "", "the version after (default: the last one to appear)")
	return cmd
}

func printDiff(l *listflags.Flags, d *fleet.VersionDiff) error {
	rows := d.Top(l.Limit())
	switch l.Format {
	case "json":
		d.Rows = rows
		return l.JSON(d)
	case "csv":
		return listing.All(listing.CSV(l.Out, diff.Columns(true)), diff.Lines(rows, false))
	}
	l.Note("A is version %s on %s, B version %s on %s", text.Cell(d.A.Program), text.PluralExact(d.A.Runs, "instance", "instances"),
		text.Cell(d.B.Program), text.PluralExact(d.B.Runs, "instance", "instances"))
	if err := view.Table(l.Out, l.TableOptions(false), diff.Lines(rows, true), diff.Columns(d.A.Runs > 1 && d.B.Runs > 1)); err != nil {
		return err
	}
	l.Note("%d of %d judged figures are different", d.Different, d.Judged)
	return nil
}
