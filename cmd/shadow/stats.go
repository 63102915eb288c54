package main

import (
	"errors"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/choice"
	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/internal/listing"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/show/view"
)

func newStats(env console.Env) *cobra.Command {
	var l listflags.Flags
	var filter summary.Filter
	var inUnits, views, exact bool
	var thresholds []string
	var metric string
	cmd := &cobra.Command{
		Use:   "stats DIR",
		Short: "The summary of a session: tasks, threads, GC, what was lost, distributions",
		Long: `Prints the summary of a session: how many tasks were created and executed, on which
threads, what garbage collection cost, whether anything was lost, and the distributions
of times and sizes. With --units, counts units of work instead of executions and adds
findings: what limits the program, and what to change. CSV has the distributions only.

With --check, compares the session with other measurements of the same threads and
prints the differences.`,
		Example: `  shadow stats /tmp/s
  shadow stats /tmp/s --app --format json
  shadow stats /tmp/s --units
  shadow stats /tmp/s --trace 0af7651916cd43dd8448eb211c80319c
  shadow stats /tmp/s --check`,
		Args: listflags.OneSession,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := l.Check(); err != nil {
				return err
			}
			if views {
				if filter.Active() || inUnits || metric != "" || l.Format == "csv" {
					return console.Usagef("--check compares whole threads; use it without --app, --class, --units, --metric, --trace and --format csv")
				}
				return compareViews(&l, args[0])
			}
			if err := choice.CheckTrace(filter, inUnits); err != nil {
				return err
			}
			t, err := choice.Thresholds(thresholds)
			if err != nil {
				return err
			}
			s, err := choice.Summarise(env, args[0], summary.Options{Filter: filter, Units: inUnits, Thresholds: t, Advice: inUnits, Exact: exact})
			if err != nil {
				return err
			}
			if metric != "" {
				if err := show(s, metric, true); err != nil {
					return err
				}
			}
			switch l.Format {
			case "json":
				return view.Encode(env.Out, s)
			case "csv":
				return listing.All(listing.CSV(env.Out, view.Metrics()), view.MetricsOf(s))
			}
			return view.Stats(&l.Printer, s)
		},
	}
	l.AddTo(cmd, env, false, "table", "json", "csv")
	choice.AddFilter(cmd, &filter)
	choice.AddTrace(cmd, &filter.Trace)
	choice.AddUnits(cmd, &inUnits)
	choice.AddExact(cmd, &exact)
	choice.AddThreshold(cmd, &thresholds)
	cmd.Flags().StringVar(&metric, "metric", "", "only the distributions of this metric: wall, cpu, queue, alloc, ... as the session has them")
	cmd.Flags().BoolVar(&views, "check", false, "compare what the agent measured with the kernel's account of each thread and of the process, and store the comparison in the session")
	return cmd
}

// metricUsage describes --metric where it says by what is sorted.
const metricUsage = "sort, show and draw by this metric instead of CPU time: wall, cpu, queue, alloc, ... as the session has them"

// show makes metric name the one that is shown. One that the session does not
// have is wrong usage.
func show(s *summary.Summary, name string, only bool) error {
	err := s.ShowBy(name, only)
	if errors.Is(err, summary.ErrNoMetric) {
		return &console.UsageError{Err: err}
	}
	return err
}
