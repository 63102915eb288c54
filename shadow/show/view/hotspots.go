package view

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"stackagent/granularity"
	"stackagent/internal/listing"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/analysis/summary"
)

// notKnown is what the terminal shows where nothing was measured.
const notKnown = "n/a"

// ownMetrics have their columns in every listing of hotspots.
var ownMetrics = []granularity.Metric{granularity.Wall, granularity.CPU, granularity.SelfWall, granularity.SelfCPU}

type hotspot = *granularity.Hotspot

// Hotspots returns the columns of a listing of hotspots. by is class, thread, summary.BySite or
// summary.ByExecutor.
func Hotspots(rows []granularity.Hotspot, s *summary.Summary, by string) []listing.Column[hotspot] {
	columns := hotspotCounts(rows, s, by)
	for _, m := range ownMetrics {
		columns = append(columns, Distribution(m.String()+"_", false, func(r hotspot) granularity.Distribution { return r.Metrics[m] })...)
	}
	columns = append(columns, hotspotNumber("summarised", "executions that were not recorded one by one", func(r hotspot) int64 { return r.Summarised }))
	for _, m := range ownMetrics {
		columns = append(columns, RelativeError(m.String()+"_", func(r hotspot) granularity.Distribution { return r.Metrics[m] }))
	}
	for _, name := range furtherMetrics(rows) {
		of := func(r hotspot) granularity.Distribution { return r.Metrics.Named(name) }
		columns = append(append(columns, Distribution(name+"_", false, of)...), RelativeError(name+"_", of))
	}
	if by == summary.BySite {
		submitted := hotspotNumber("handed_over", "submissions by the program that were not refused", func(r hotspot) int64 { return r.Submitted })
		known := submitted.Value
		submitted.Value, submitted.Optional = func(r hotspot) listing.Value { return listing.OnlyIf(!r.NoSubmissions, known(r)) }, true
		submitted.Show = func(r hotspot) string {
			if r.NoSubmissions {
				return notKnown
			}
			return submitted.Unit.Show(submitted.Value(r))
		}
		submitted.Title, submitted.Last = "submitted", 8
		columns = append(columns, submitted)
	}
	if by == summary.ByExecutor {
		executors := hotspotNumber("executors", "executors in the row: those that one line makes are one row", func(r hotspot) int64 { return r.Executors })
		executors.Show = func(r hotspot) string {
			if r.Executors == 0 {
				return "-"
			}
			return executors.Unit.Show(listing.IntOf(r.Executors))
		}
		if slices.ContainsFunc(rows, func(r granularity.Hotspot) bool { return r.Executors > 1 }) {
			executors.Title, executors.Last = "executors", 7
		}
		columns = append(columns, executors)
	}
	columns = append(columns, hotspotNumber("timed", "executions that were timed; if a thread executes a class too fast, a random part of them", func(r hotspot) int64 {
		return cmp.Or(r.Metrics[granularity.Wall].Timed, r.Metrics[granularity.Wall].Count)
	}))
	return append(columns, hotspotQuantiles(rows)...)
}

func hotspotNumber(name, doc string, of func(hotspot) int64) listing.Column[hotspot] {
	return listing.Column[hotspot]{Name: name, Kind: listing.Int, Unit: listing.Count, Doc: doc, Value: func(r hotspot) listing.Value { return listing.IntOf(of(r)) }}
}

// hotspotCounts are the columns about what a row is, how many tasks it has, and its work.
func hotspotCounts(rows []granularity.Hotspot, s *summary.Summary, by string) []listing.Column[hotspot] {
	created := hotspotNumber("created", "tasks created", func(r hotspot) int64 { return r.Created })
	never := hotspotNumber(neverExecuted, "tasks created and never executed", func(r hotspot) int64 { return r.NeverExecuted })
	created.Value, never.Value = ifCreations(created.Value), ifCreations(never.Value)
	created.Optional, never.Optional = true, true
	threads := hotspotNumber("threads", "threads that executed them", func(r hotspot) int64 { return r.Threads })
	executions := hotspotNumber("executions", "executions", func(r hotspot) int64 { return r.Executions })
	executions.Title, executions.Last = s.Of.Many(), 3
	switch by { // sites and threads have no creations of their own
	case "class":
		created.Title, created.Last, created.Show = "created", 4, ifCreationsSeen(s, created)
		never.Title, never.Last, never.Show = "never", 5, ifCreationsSeen(s, never)
	case summary.BySite:
		created.Title, created.Last, created.Show = "created", 7, ifCreationsSeen(s, created)
	}
	if by != "thread" {
		threads.Title, threads.Last = "threads", 6
	}
	work, share := hotspotWork(rows, s)
	return []listing.Column[hotspot]{
		{Name: by, Title: by, Last: 14, Kind: listing.Name, Doc: "what the row is about", Value: func(r hotspot) listing.Value { return listing.NameOf(cmp.Or(r.Class, r.Site, r.Executor, r.Thread)) }},
		{Name: "kinds", Kind: listing.Name, Doc: "kinds of task of the class, or kind of the thread", Value: func(r hotspot) listing.Value { return listing.NameOf(cmp.Or(r.KindNames, r.ThreadKind)) }},
		created, executions, never, threads,
		hotspotNumber("nested", "executions inside others", func(r hotspot) int64 { return r.Nested }),
		hotspotNumber("threw", "executions that ended by an exception", func(r hotspot) int64 { return r.Threw }),
		hotspotNumber("running", "executions that were still running at the end", func(r hotspot) int64 { return r.Running }),
		work, share,
		{Name: "execution_share", Kind: listing.Float, Doc: "share of all executions", Text: func(r hotspot) string { return strconv.FormatFloat(r.ExecutionShare, 'g', 6, 64) }},
	}
}

const neverExecuted = "never_executed"

// ifCreations is of, but null where no creations are known.
func ifCreations(of func(hotspot) listing.Value) func(hotspot) listing.Value {
	return func(r hotspot) listing.Value { return listing.OnlyIf(!r.NoCreations, of(r)) }
}

// ifCreationsSeen shows c, but n/a for classes that were there before the agent, and a bound as such.
func ifCreationsSeen(s *summary.Summary, c listing.Column[hotspot]) func(hotspot) string {
	return func(r hotspot) string {
		if r.NoCreations || r.Created == 0 && r.Executions > 0 && s.NotAvailable[advice.CreationsUnseen] != "" {
			return notKnown
		}
		if c.Name == neverExecuted && r.NeverAtMost {
			return "≤" + c.Unit.Show(c.Value(r))
		}
		return c.Unit.Show(c.Value(r))
	}
}

// hotspotWork are the columns of the work and its share. The terminal shows them in the metric by
// which the rows are sorted.
func hotspotWork(rows []granularity.Hotspot, s *summary.Summary) (work, share listing.Column[hotspot]) {
	title, all := "work", units.Ns(0)
	if len(rows) > 0 && rows[0].By != granularity.Wall {
		d := s.Metrics[rows[0].By]
		title, all = d.Title(rows[0].By), d.Sum
	}
	shown := func(text func(hotspot, granularity.Distribution) string) func(hotspot) string {
		return func(r hotspot) string {
			if d := r.Metrics[r.WorkMetric()]; d.Count > 0 {
				return Estimated(text(r, d), d)
			}
			return notKnown
		}
	}
	work = listing.Column[hotspot]{Name: "work_ns", Title: title, Last: 1, Kind: listing.Int, Optional: true, Doc: "self CPU time; self wall time if CPU time was not measured",
		Value: func(r hotspot) listing.Value { return listing.OnlyIf(r.WorkMeasured(), listing.IntOf(r.Work)) },
		Show: shown(func(r hotspot, d granularity.Distribution) string {
			if r.By != granularity.Wall {
				return d.Format(d.Sum)
			}
			return units.FormatNs(r.Work)
		})}
	share = listing.Column[hotspot]{Name: "work_share", Title: "share", Last: 2, Kind: listing.Float, Optional: true, Doc: "share of the work of the session",
		Text: func(r hotspot) string {
			if !r.WorkMeasured() {
				return ""
			}
			return strconv.FormatFloat(r.WorkShare, 'g', 6, 64)
		},
		Show: shown(func(r hotspot, d granularity.Distribution) string {
			if r.By != granularity.Wall {
				return units.FormatPercent(float64(d.Sum) / float64(max(all, 1)))
			}
			return units.FormatPercent(r.WorkShare)
		})}
	return work, share
}

// hotspotQuantiles are the quantiles that only the terminal shows: of the queue time, if any row has
// one, and of the work.
func hotspotQuantiles(rows []granularity.Hotspot) []listing.Column[hotspot] {
	column := func(title string, last int, of func(hotspot) granularity.Distribution, text func(granularity.Distribution) string) listing.Column[hotspot] {
		return listing.Column[hotspot]{Title: title, Last: last, Kind: listing.Int, Show: func(r hotspot) string {
			if d := of(r); d.Count > 0 {
				return text(d)
			}
			return notKnown
		}}
	}
	median := func(d granularity.Distribution) string { return Quantile(d.P50, d) }
	p99 := func(d granularity.Distribution) string { return Quantile(d.P99, d) }
	work := func(r hotspot) granularity.Distribution { return r.Metrics[r.WorkMetric()] }
	var columns []listing.Column[hotspot]
	if slices.ContainsFunc(rows, func(r granularity.Hotspot) bool { return waits(&r).Count > 0 }) {
		columns = append(columns, column("queue median", 9, waits, median), column("queue p99", 10, waits, p99))
	}
	return append(columns, column("median", 11, work, median), column("p99", 12, work, p99),
		column("max", 13, work, func(d granularity.Distribution) string { return Estimated(d.Format(d.Max), d) }))
}

// waits is the distribution of the queue time; none if only few of summarised executions have one:
// these were recorded because they are slow.
func waits(r hotspot) granularity.Distribution {
	if d := r.Queue(); r.Summarised == 0 || 2*d.Count >= r.Executions {
		return d
	}
	return granularity.Distribution{}
}

// furtherMetrics names the further metrics of which any row has a value. The queue time is first and
// always there.
func furtherMetrics(rows []granularity.Hotspot) []string {
	found := map[granularity.Metric]string{}
	for i := range rows {
		for m, d := range rows[i].Metrics {
			if d.Name != "" && d.Name != granularity.QueueName {
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
