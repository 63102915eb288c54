package fleet

import (
	"context"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/internal/listing"
	"stackagent/shadow/fleet"
	"stackagent/shadow/show/view"
)

func newOutliers(env console.Env) *cobra.Command {
	var l listflags.Flags
	var q queryFlags
	cmd := &cobra.Command{
		Use:   "outliers STORE",
		Short: "Instances that are unlike the others of their service",
		Long: `Compares the instances of each version of a service by the work, wall time, queue time and
response time of their executions, their waits, collections, exceptions and load. Listed
is what deviates from the median of its version by 3.5 robust standard deviations (from
the median absolute deviation) and by a quarter of the median. Versions with fewer than
five instances are not judged.`,
		Example: `  shadow fleet outliers s3://traces/stackagent --last 24h
  shadow fleet outliers /srv/fleet --service orders --format csv`,
		Args: oneStore,
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := answer(cmd, env, &l, &q, args[0], (*fleet.Store).Outliers)
			if err != nil {
				return err
			}
			if len(list) == 0 {
				env.Note("no instance is unlike the others")
			}
			return view.Rows(&l.Printer, listing.Refs(list), fleet.OutlierColumns())
		},
	}
	l.AddTo(cmd, env, true, "table", "json", "csv")
	q.addTo(cmd)
	return cmd
}

func newTrends(env console.Env) *cobra.Command {
	var l listflags.Flags
	var q queryFlags
	cmd := &cobra.Command{
		Use:   "trends STORE",
		Short: "How the services develop from day to day",
		Long: `Follows the executions, work, queue times, response times, collections and losses of each
service, a value a day, with the slope (Theil-Sen) and the p of the hypothesis that there
is no trend (Mann-Kendall). It takes five whole days to judge one; today is left out.`,
		Example: `  shadow fleet trends s3://traces/stackagent --last 90d
  shadow fleet trends /srv/fleet --service orders --last 52w --format csv`,
		Args: oneStore,
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := answer(cmd, env, &l, &q, args[0], (*fleet.Store).Trends)
			if err != nil {
				return err
			}
			return view.Rows(&l.Printer, listing.Refs(list), fleet.TrendColumns())
		},
	}
	l.AddTo(cmd, env, true, "table", "json", "csv")
	q.addTo(cmd)
	cmd.Flags().Lookup("last").DefValue, q.Last = "30d", "30d"
	return cmd
}

func newFindings(env console.Env) *cobra.Command {
	var l listflags.Flags
	var q queryFlags
	cmd := &cobra.Command{
		Use:   "findings STORE",
		Short: "What was found in the sessions of the services, and in how many",
		Long: `Groups the findings of the services' sessions that have ended: those of the same rule,
class and executor, with the number of sessions that have them. They are the findings of
shadow stats and shadow report, which have their figures: shadow fleet top --by session
names some sessions. See also shadow fleet outliers and trends.`,
		Example: `  shadow fleet findings s3://traces/stackagent
  shadow fleet findings /srv/fleet --service orders --last 30d --format json`,
		Args: oneStore,
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := answer(cmd, env, &l, &q, args[0], (*fleet.Store).Findings)
			if err != nil {
				return err
			}
			if len(list) == 0 {
				env.Note("nothing was found")
			}
			return view.Rows(&l.Printer, listing.Refs(list), fleet.FindingColumns())
		},
	}
	l.AddTo(cmd, env, true, "table", "json", "csv")
	q.addTo(cmd)
	return cmd
}

// answer asks a question that needs nothing but the flags.
func answer[T any](cmd *cobra.Command, env console.Env, l *listflags.Flags, q *queryFlags, address string, question func(*fleet.Store, context.Context, *fleet.Question, fleet.Span) ([]T, error)) ([]T, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	s, err := q.check(env.Now())
	if err != nil {
		return nil, err
	}
	st, err := openStore(cmd.Context(), env, address)
	if err != nil {
		return nil, err
	}
	list, err := question(&st.inquiry, cmd.Context(), &q.Question, s)
	if err != nil {
		return nil, err
	}
	st.note(s)
	return list, nil
}
