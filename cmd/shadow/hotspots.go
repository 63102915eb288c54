package main

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"stackagent/granularity"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/advice"
	"stackagent/shadow/summary"
	"stackagent/shadow/view/table"
)

func newHotspots(env Env) *cobra.Command {
	var l listing
	o := summary.HotspotOptions{}
	var sort, output string
	cmd := &cobra.Command{
		Use:   "hotspots DIR",
		Short: "Which tasks hold the work, by class, site, executor, thread or context",
		Long: `Lists where the work is. A site is the place in the source where tasks are
handed over (created, where that is not known). A context is the whole stack, of
sessions recorded with --contexts. --format pprof and collapsed write the work by
executor, site and class (by context where there are any, without --units) for
tools that draw flame graphs: pprof -http=: FILE, or flamegraph.pl.`,
		Example: `  shadow hotspots /tmp/s --app --top 10
  shadow hotspots /tmp/s --by thread --sort count
  shadow hotspots /tmp/s --by site --units --sort queue
  shadow hotspots /tmp/s --metric alloc --sort p99
  shadow hotspots /tmp/s --by context --sort count
  shadow hotspots /tmp/s --format pprof -o tasks.pb.gz
  shadow hotspots /tmp/s --format json`,
		Args: oneSession,
		RunE: func(_ *cobra.Command, args []string) error {
			o.Sort = granularity.Order(sort)
			if err := checkHotspots(&l, o); err != nil {
				return err
			}
			if l.format == "pprof" && output == "" {
				return usagef("--format pprof: name a file with -o")
			}
			if l.format == "pprof" || l.format == "collapsed" {
				if o.Metric != "" {
					return usagef("--format %s has its own metrics: it goes without --metric", l.format)
				}
				return l.writeStacks(args[0], o, output)
			}
			if o.By == summary.ByContext {
				return l.listContexts(args[0], o)
			}
			s, err := hotspotSummary(env, args[0], o)
			if err != nil {
				return err
			}
			rows, err := summary.Hotspots(s, o)
			if errors.Is(err, summary.ErrNoMetric) {
				return &usageError{err}
			}
			if err != nil {
				return err
			}
			return l.printHotspots(rows, s, o.By)
		},
	}
	l.addTo(cmd, env, true, "table", "json", "csv", "pprof", "collapsed")
	filterFlags(cmd, &o.Filter)
	unitsFlag(cmd, &o.Units)
	cmd.Flags().StringVar(&o.By, "by", "class", "class|site|executor|thread|context")
	cmd.Flags().StringVar(&o.Metric, "metric", "", "sort and show by this metric in place of CPU time: wall, cpu, queue, alloc, ... as the session has them")
	cmd.Flags().StringVarP(&output, "output", "o", "", "of pprof and collapsed: file to write (default: standard output)")
	cmd.Flags().StringVar(&sort, "sort", "work", "work|self|wall|cpu|count|mean|p99|max|never|threw|queue, greatest first")
	return cmd
}

// checkHotspots refuses wrong usage before anything is read.
func checkHotspots(l *listing, o summary.HotspotOptions) error {
	if err := l.check(); err != nil {
		return err
	}
	switch o.By {
	case "class", "thread", summary.BySite, summary.ByExecutor, summary.ByContext:
	default:
		return usagef("--by %s: use class, site, executor, thread or context", o.By)
	}
	if err := granularity.SortHotspots(nil, o.Sort); err != nil {
		return &usageError{err}
	}
	return nil
}

// hotspotSummary condenses a session as the listing wants it.
func hotspotSummary(env Env, dir string, o summary.HotspotOptions) (*summary.Summary, error) {
	options := summary.Options{Filter: o.Filter, PerThread: o.By == "thread", Units: o.Units}
	if o.By != summary.BySite && o.By != summary.ByExecutor {
		return summarise(env, dir, options)
	}
	s, err := open(env, dir)
	if err != nil {
		return nil, err
	}
	before := len(s.Warnings)
	sum, err := summary.BuildByOrigin(s, options, o.By)
	if err != nil {
		return nil, err
	}
	noteNone(env, s, o.Filter, len(sum.Rows))
	noteFound(env, s, before)
	return sum, nil
}

// rowName is what a row is about.
func rowName(r *granularity.Hotspot) string { return cmp.Or(r.Class, r.Site, r.Executor, r.Thread) }

// inOtherUnits are the classes of a listing by units of which all tasks ran inside
// units of other names: a row would say nothing of them.
func inOtherUnits(r granularity.Hotspot) bool { return r.Executions == 0 && r.NeverExecuted == 0 }

func (l *listing) printHotspots(rows []granularity.Hotspot, s *summary.Summary, by string) error {
	parts := 0
	if l.format == "table" && by == "class" && s.Of == granularity.UnitsOfWork {
		all := len(rows)
		rows = slices.DeleteFunc(rows, inOtherUnits)
		parts = all - len(rows)
	}
	total := len(rows)
	if n := l.limit(); n > 0 && n < total {
		rows = rows[:n]
	}
	switch l.format {
	case "json":
		return writeJSON(l.env.Out, rows)
	case "csv":
		return l.hotspotsCSV(rows, by)
	}
	if total == 0 && parts == 0 && s.Filter != nil && s.Filter.Class != "" {
		return nil // noteNone has said why
	}
	if err := l.render(hotspotTable(rows, s, by), total); err != nil {
		return err
	}
	if parts > 0 {
		l.env.note("not listed: %s of which all tasks ran inside the units above; without --units their executions are", text.PluralExact(parts, "class", "classes"))
	}
	if text := summary.SummarisedText(s.Tasks.Summarised, s.Tasks.Executions); text != "" {
		l.env.note("%s (~)", text)
	}
	return nil
}

func hotspotTable(rows []granularity.Hotspot, s *summary.Summary, by string) *table.Table {
	work, all := "work", units.Ns(0)
	if len(rows) > 0 && rows[0].By != granularity.Wall {
		d := s.Metrics[rows[0].By]
		work, all = d.Title(rows[0].By), d.Sum
	}
	columns := []table.Column{right(work), right("share"), right(s.Of.Many())}
	if by == "class" { // places and threads have no creations of their own
		columns = append(columns, right("created"), right("never"))
	}
	if by != "thread" {
		columns = append(columns, right("threads"))
	}
	if by == summary.BySite {
		columns = append(columns, right("created"), right("handed over"))
	}
	queued := slices.ContainsFunc(rows, func(r granularity.Hotspot) bool { return r.Queue().Count > 0 })
	if queued {
		columns = append(columns, right("queue median"), right("queue p99"))
	}
	t := table.New(append(columns, right("median"), right("p99"), right("max"), table.Column{Title: by, Flexible: true})...)
	for i := range rows {
		r := &rows[i]
		cells := []string{"n/a", "n/a", units.FormatExact(r.Executions)}
		quantiles := []string{"n/a", "n/a", "n/a"}
		if d := r.Metrics[r.WorkMetric()]; d.Count > 0 {
			cells[0], cells[1] = units.FormatNs(r.Work), units.FormatPercent(r.WorkShare)
			if r.By != granularity.Wall {
				cells[0], cells[1] = d.Format(d.Sum), units.FormatPercent(float64(d.Sum)/float64(max(all, 1)))
			}
			quantiles = []string{quantile(d.P50, d), quantile(d.P99, d), d.Format(d.Max)}
		}
		if by == "class" {
			cells = append(cells, createdCells(r, s)...)
		}
		if by != "thread" {
			cells = append(cells, units.FormatExact(r.Threads))
		}
		if by == summary.BySite {
			cells = append(cells, units.FormatExact(r.Created), units.FormatExact(r.HandedOver))
		}
		if queued {
			cells = append(cells, queueCells(r.Queue())...)
		}
		t.Row(append(append(cells, quantiles...), rowName(r))...)
	}
	return t
}

// createdCells are how many tasks of a class were created, and never executed;
// not those of a class that was there before the agent.
func createdCells(r *granularity.Hotspot, s *summary.Summary) []string {
	if r.Created == 0 && r.Executions > 0 && s.NotAvailable[advice.CreationsUnseen] != "" {
		return []string{"n/a", "n/a"}
	}
	return []string{units.FormatExact(r.Created), units.FormatExact(r.NeverExecuted)}
}

// queueCells are the median and the 99th percentile of queue times.
func queueCells(d granularity.Distribution) []string {
	if d.Count == 0 {
		return []string{"n/a", "n/a"}
	}
	return []string{quantile(d.P50, d), quantile(d.P99, d)}
}

// distributionColumns are what distributionCells gives.
var distributionColumns = []string{"count", "sum", "mean", "stddev", "min", "p1", "p5", "p25", "p50", "p75", "p95", "p99", "p999", "max"}

func (l *listing) hotspotsCSV(rows []granularity.Hotspot, by string) error {
	header := []string{by, "kinds", "created", "executions", "never_executed", "threads", "nested", "threw", "running", "work_ns", "work_share", "execution_share"}
	metrics := []granularity.Metric{granularity.Wall, granularity.CPU, granularity.SelfWall, granularity.SelfCPU}
	for _, m := range metrics {
		for _, q := range distributionColumns {
			header = append(header, m.String()+"_"+q)
		}
	}
	header = append(header, "summarised")
	for _, m := range metrics {
		header = append(header, m.String()+"_relative_error")
	}
	further := furtherOf(rows)
	for _, name := range further {
		for _, q := range distributionColumns {
			header = append(header, name+"_"+q)
		}
		header = append(header, name+"_relative_error")
	}
	if by == summary.BySite {
		header = append(header, "handed_over")
	}
	cells := make([][]string, len(rows))
	for i := range rows {
		r := &rows[i]
		name, kinds := rowName(r), cmp.Or(r.KindNames, r.ThreadKind)
		row := []string{csvName(name), csvName(kinds)}
		for _, n := range []int64{r.Created, r.Executions, r.NeverExecuted, r.Threads, r.Nested, r.Threw, r.Running} {
			row = append(row, strconv.FormatInt(n, 10))
		}
		work, share := "", "" // not measured
		if r.WorkMeasured() {
			work, share = strconv.FormatInt(int64(r.Work), 10), strconv.FormatFloat(r.WorkShare, 'g', 6, 64)
		}
		row = append(row, work, share, strconv.FormatFloat(r.ExecutionShare, 'g', 6, 64))
		for _, m := range metrics {
			row = append(row, distributionCells(r.Metrics[m])...)
		}
		row = append(row, strconv.FormatInt(r.Summarised, 10))
		for _, m := range metrics {
			row = append(row, formatError(r.Metrics[m]))
		}
		for _, name := range further {
			d := r.Metrics.Named(name)
			row = append(append(row, distributionCells(d)...), formatError(d))
		}
		if by == summary.BySite {
			row = append(row, strconv.FormatInt(r.HandedOver, 10))
		}
		cells[i] = row
	}
	return writeCSV(l.env.Out, header, cells)
}

// furtherOf names the further metrics of which any row has a value, the queue
// time first: that has columns in any case.
func furtherOf(rows []granularity.Hotspot) []string {
	found := map[granularity.Metric]string{}
	for i := range rows {
		for m, d := range rows[i].Metrics {
			if m.Further() && d.Name != granularity.QueueName {
				found[m] = d.Name
			}
		}
	}
	names := []string{granularity.QueueName}
	for _, m := range slices.Sorted(maps.Keys(found)) {
		names = append(names, found[m])
	}
	return names
}
