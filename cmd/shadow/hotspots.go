package main

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/choice"
	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/granularity"
	"stackagent/internal/listing"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/show/view"
)

func newHotspots(env console.Env) *cobra.Command {
	var l listflags.Flags
	o := summary.HotspotOptions{}
	var sort, output string
	var exact bool
	cmd := &cobra.Command{
		Use:   "hotspots DIR",
		Short: "Which tasks hold the work, by class, site, executor, thread or context",
		Long: `Lists where the work is. A site is the call site that submits the tasks, or creates
them if the submission is not known. A context is a whole stack; it needs a session
recorded with --contexts. Executors that one line makes are one row, with their number;
--each lists each. Up to 16 pools with threads of their own always have a row each.

--format pprof and collapsed write the work for tools that draw flame graphs
(pprof -http=: FILE, flamegraph.pl): by context if the session has contexts and
--units is not given, else by executor, site and class.`,
		Example: `  shadow hotspots /tmp/s --app --top 10
  shadow hotspots /tmp/s --by thread --sort count
  shadow hotspots /tmp/s --by site --units --sort queue
  shadow hotspots /tmp/s --metric alloc --sort p99
  shadow hotspots /tmp/s --by context --sort count
  shadow hotspots /tmp/s --trace 0af7651916cd43dd8448eb211c80319c --by site
  shadow hotspots /tmp/s --format pprof -o tasks.pb.gz
  shadow hotspots /tmp/s --format json`,
		Args: listflags.OneSession,
		RunE: func(_ *cobra.Command, args []string) error {
			o.Sort = granularity.Order(sort)
			if err := checkHotspots(&l, o); err != nil {
				return err
			}
			if l.Format == "pprof" && output == "" {
				return console.Usagef("--format pprof: name a file with -o")
			}
			if l.Format == "pprof" || l.Format == "collapsed" {
				if o.Metric != "" {
					return console.Usagef("--format %s and --metric exclude each other: the format has its own metrics", l.Format)
				}
				return writeStacks(&l, args[0], o, output)
			}
			if o.By == summary.ByContext {
				return listContexts(&l, args[0], o)
			}
			rows, s, err := hotspotsOf(env, args[0], o, l.Format, exact)
			if err != nil {
				return err
			}
			defer noteHotspots(env, s)
			return printHotspots(&l, rows, s, o.By)
		},
	}
	l.AddTo(cmd, env, true, "table", "json", "csv", "pprof", "collapsed")
	choice.AddFilter(cmd, &o.Filter)
	choice.AddTrace(cmd, &o.Filter.Trace)
	choice.AddUnits(cmd, &o.Units)
	choice.AddExact(cmd, &exact)
	cmd.Flags().StringVar(&o.By, "by", "class", "class|site|executor|thread|context")
	cmd.Flags().BoolVar(&o.Each, "each", false, "with --by executor: a row for each executor, also of those that one line makes")
	cmd.Flags().StringVar(&o.Metric, "metric", "", "sort and show by this metric instead of CPU time: wall, cpu, queue, alloc, ... as the session has them")
	cmd.Flags().StringVarP(&output, "output", "o", "", "of pprof and collapsed: file to write (default: standard output)")
	cmd.Flags().StringVar(&sort, "sort", "work", "work|self|wall|cpu|count|mean|p99|max|never|threw|queue, greatest first")
	return cmd
}

// checkHotspots refuses wrong usage before anything is read.
func checkHotspots(l *listflags.Flags, o summary.HotspotOptions) error {
	if err := l.Check(); err != nil {
		return err
	}
	switch o.By {
	case "class", "thread", summary.BySite, summary.ByExecutor, summary.ByContext:
	default:
		return console.Usagef("--by %s: use class, site, executor, thread or context", o.By)
	}
	if o.Each && o.By != summary.ByExecutor {
		return console.Usagef("--each goes with --by executor")
	}
	if err := choice.CheckTrace(o.Filter, o.Units); err != nil {
		return err
	}
	if o.Filter.Trace != "" && (o.By == summary.ByContext || l.Format == "pprof" || l.Format == "collapsed") {
		return console.Usagef("--trace goes with --by class, site, executor and thread, and with --format table, json and csv: stacks are summed up over the run")
	}
	if o.By != summary.ByContext && !slices.Contains(granularity.Orders, o.Sort) {
		return console.Usagef("--sort %s: use %s", o.Sort, text.OneOf(granularity.Orders))
	}
	return nil
}

// hotspotsOf are the rows of the listing, and the summary that they are of.
func hotspotsOf(env console.Env, dir string, o summary.HotspotOptions, format string, exact bool) ([]granularity.Hotspot, *summary.Summary, error) {
	s, err := hotspotSummary(env, dir, o, format, exact)
	if err != nil {
		return nil, nil, err
	}
	rows, err := summary.Hotspots(s, o)
	if errors.Is(err, summary.ErrNoMetric) {
		err = &console.UsageError{Err: err}
	}
	return rows, s, err
}

// noteHotspots says what limits the rows.
func noteHotspots(env console.Env, s *summary.Summary) {
	if s.Hidden != nil {
		env.Note("%s", table.Clean(s.Hidden.Text()))
	}
	if line := summary.SumsText(s); line != "" {
		env.Note("%s", line)
	}
}

// hotspotSummary condenses a session as the listing wants it.
func hotspotSummary(env console.Env, dir string, o summary.HotspotOptions, format string, exact bool) (*summary.Summary, error) {
	options := summary.Options{Filter: o.Filter, PerThread: o.By == "thread", Units: o.Units, Exact: exact, Each: o.Each}
	// Scripts find the raw executions of a class of the JDK in one row.
	options.AsRecorded = o.By == "class" && format != "table" && !o.Units && !o.Filter.App
	if o.By != summary.BySite && o.By != summary.ByExecutor {
		return choice.Summarise(env, dir, options)
	}
	s, err := env.Open(dir)
	if err != nil {
		return nil, err
	}
	before := len(s.Warnings)
	sum, err := summary.BuildByOrigin(s, options, o.By)
	if err != nil {
		return nil, err
	}
	choice.NoteNone(env, s, o.Filter, len(sum.Rows))
	choice.NoteTrace(env, s, o.Filter, sum)
	env.NoteFound(s, before)
	return sum, nil
}

// inOtherUnits are the classes of a listing by units of which all tasks ran inside
// units of other names: a row would say nothing of them.
func inOtherUnits(r granularity.Hotspot) bool { return r.Executions == 0 && r.NeverExecuted == 0 }

func printHotspots(l *listflags.Flags, rows []granularity.Hotspot, s *summary.Summary, by string) error {
	parts := 0
	if l.Format == "table" && by == "class" && s.Of == text.UnitsOfWork {
		all := len(rows)
		rows = slices.DeleteFunc(rows, inOtherUnits)
		parts = all - len(rows)
	}
	if l.Format == "json" {
		if n := l.Limit(); n > 0 && n < len(rows) {
			rows = rows[:n]
		}
		return l.JSON(rows)
	}
	if l.Format == "table" && len(rows) == 0 && parts == 0 && s.Filter != nil && s.Filter.Class != "" {
		return nil // choice.NoteNone has said why
	}
	shown := rows // the columns of the table depend on its rows
	if n := l.Limit(); n > 0 && n < len(rows) {
		shown = rows[:n]
	}
	if err := view.Rows(&l.Printer, listing.Refs(rows), view.Hotspots(shown, s, by)); err != nil || l.Format != "table" {
		return err
	}
	if parts > 0 {
		l.Note("%s omitted: all their tasks ran inside the units above; without --units their executions are listed", text.PluralExact(parts, "class", "classes"))
	}
	if text := summary.SummarisedText(s.Tasks.Summarised, s.Tasks.Executions, s.Metrics[granularity.Wall]); text != "" {
		l.Note("%s", text)
	}
	return nil
}
