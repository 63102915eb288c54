package main

import (
	"strconv"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/table"
	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/shadow/summary"
)

func newHotspots(env Env) *cobra.Command {
	var l listing
	o := summary.HotspotOptions{}
	var sort string
	cmd := &cobra.Command{
		Use:   "hotspots DIR",
		Short: "Which tasks hold the work, by class or thread",
		Example: `  shadow hotspots /tmp/s --app --top 10
  shadow hotspots /tmp/s --by thread --sort count
  shadow hotspots /tmp/s --format json`,
		Args: oneSession,
		RunE: func(_ *cobra.Command, args []string) error {
			o.Sort = granularity.Order(sort)
			if err := checkHotspots(&l, o); err != nil {
				return err
			}
			s, err := summarise(env, args[0], summary.Options{Filter: o.Filter, PerThread: o.By == "thread", Units: o.Units})
			if err != nil {
				return err
			}
			rows, err := summary.Hotspots(s, o)
			if err != nil {
				return err
			}
			return l.printHotspots(rows, s.Tasks, o.By)
		},
	}
	l.addTo(cmd, env, true, "table", "json", "csv")
	filterFlags(cmd, &o.Filter)
	unitsFlag(cmd, &o.Units)
	cmd.Flags().StringVar(&o.By, "by", "class", "class|thread")
	cmd.Flags().StringVar(&sort, "sort", "work", "work|self|wall|cpu|count|mean|p99|max|never|threw, greatest first")
	return cmd
}

// checkHotspots refuses wrong usage before anything is read.
func checkHotspots(l *listing, o summary.HotspotOptions) error {
	if err := l.check(); err != nil {
		return err
	}
	switch o.By {
	case "class", "thread":
	case "site", "executor":
		return usagef("--by %s: sites and executors are not recorded by this version; use class or thread", o.By)
	default:
		return usagef("--by %s: use class or thread", o.By)
	}
	if o.Sort == "queue" {
		return usagef("--sort queue: queue times are not recorded by this version; use one of %v", granularity.Orders)
	}
	if err := granularity.SortHotspots(nil, o.Sort); err != nil {
		return &usageError{err}
	}
	return nil
}

func (l *listing) printHotspots(rows []granularity.Hotspot, all summary.Tasks, by string) error {
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
	if err := l.render(hotspotTable(rows, by), total); err != nil {
		return err
	}
	if text := summary.SummarisedText(all.Summarised, all.Executions); text != "" {
		l.env.note("%s (~)", text)
	}
	return nil
}

func hotspotTable(rows []granularity.Hotspot, by string) *table.Table {
	columns := []table.Column{right("work"), right("share"), right("executions")}
	if by == "class" { // a thread has no creations of its own
		columns = append(columns, right("created"), right("never"), right("threads"))
	}
	t := table.New(append(columns, right("median"), right("p99"), right("max"), table.Column{Title: by, Flexible: true})...)
	for i := range rows {
		r := &rows[i]
		cells := []string{"n/a", "n/a", units.FormatExact(r.Executions)}
		quantiles := []string{"n/a", "n/a", "n/a"}
		if d := r.Metrics[r.WorkMetric()]; d.Count > 0 {
			cells[0], cells[1] = units.FormatNs(r.Work), units.FormatPercent(r.WorkShare)
			quantiles = []string{quantile(d.P50, d), quantile(d.P99, d), units.FormatNs(d.Max)}
		}
		name := r.Thread
		if by == "class" {
			name = r.Class
			cells = append(cells, units.FormatExact(r.Created), units.FormatExact(r.NeverExecuted), units.FormatExact(r.Threads))
		}
		t.Row(append(append(cells, quantiles...), name)...)
	}
	return t
}

func (l *listing) hotspotsCSV(rows []granularity.Hotspot, by string) error {
	header := []string{by, "kinds", "created", "executions", "never_executed", "threads", "nested", "threw", "running", "work_ns", "work_share", "execution_share"}
	metrics := []granularity.Metric{granularity.Wall, granularity.CPU, granularity.SelfWall, granularity.SelfCPU}
	for _, m := range metrics {
		for _, q := range []string{"count", "sum", "mean", "stddev", "min", "p1", "p5", "p25", "p50", "p75", "p95", "p99", "p999", "max"} {
			header = append(header, m.String()+"_"+q)
		}
	}
	header = append(header, "summarised")
	for _, m := range metrics {
		header = append(header, m.String()+"_relative_error")
	}
	cells := make([][]string, len(rows))
	for i := range rows {
		r := &rows[i]
		name, kinds := r.Class, r.KindNames
		if by == "thread" {
			name, kinds = r.Thread, r.ThreadKind
		}
		row := []string{csvName(name), csvName(kinds)}
		for _, n := range []int64{r.Created, r.Executions, r.NeverExecuted, r.Threads, r.Nested, r.Threw, r.Running} {
			row = append(row, strconv.FormatInt(n, 10))
		}
		work, share := "", "" // not measured
		if r.Metrics[r.WorkMetric()].Count > 0 {
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
		cells[i] = row
	}
	return writeCSV(l.env.Out, header, cells)
}
