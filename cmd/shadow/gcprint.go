package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/internal/listing"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/internal/units"
)

func (f *gcFlags) print(r *gcReport) error {
	switch f.Format {
	case "json":
		return listflags.JSON(f.Env.Out, r)
	case "csv":
		return f.csv(r)
	}
	return f.table(r)
}

func (f *gcFlags) table(r *gcReport) error {
	o := f.TableOptions(false)
	p := r.Pauses
	facts := table.New(table.Column{}, table.Column{})
	facts.Row("collector", r.Collector)
	if s := r.Safepoints; s != nil {
		facts.Row("stopped", fmt.Sprintf("%s in all at %s (reaching them %s, at them %s), of which GC pauses %s", units.FormatNs(s.StoppedNs),
			text.PluralExact(s.Count, "safepoint", "safepoints"), units.FormatNs(s.ReachNs), units.FormatNs(s.TimeNs), units.FormatNs(p.TotalNs)))
	}
	if own := r.Profiler; own.Stops > 0 {
		facts.Row("by the profiler", fmt.Sprintf("%s of it at most, at %s: it changed classes", units.FormatNs(own.StoppedNs),
			text.PluralExact(int64(own.Stops), "safepoint", "safepoints")))
	}
	facts.Row("pauses", fmt.Sprintf("%s, stopped %s, %s of %s", units.FormatExact(int64(p.Count)), units.FormatNs(p.TotalNs),
		units.FormatPercent(p.Share), units.FormatNs(units.Ns(r.ToNs-r.FromNs))))
	if p.Count > 0 {
		facts.Row("a pause", fmt.Sprintf("mean %s, median %s, p90 %s, p99 %s, max %s", units.FormatNs(*p.MeanNs), units.FormatNs(*p.P50Ns),
			units.FormatNs(*p.P90Ns), units.FormatNs(*p.P99Ns), units.FormatNs(*p.MaxNs)))
	}
	if s := r.Stalls; s != nil {
		facts.Row("stalls", s.String())
	}
	if t := r.Threads; t != nil {
		facts.Row("collector threads", fmt.Sprintf("%s ran, work %s (in pauses %s, and %s waiting for a processor), share of the time %s, %.2f at once", units.FormatExact(int64(t.Threads)),
			units.FormatNs(t.WorkNs), units.FormatNs(t.InPause), units.FormatNs(t.Waited), units.FormatNs(units.Ns(t.TimeNs)), t.Width))
	}
	for _, what := range slices.Sorted(maps.Keys(r.NotAvailable)) {
		facts.Row("not available", what+": "+r.NotAvailable[what])
	}
	if err := facts.Render(f.Env.Out, table.Options{}); err != nil {
		return err
	}
	fmt.Fprintln(f.Env.Out)
	if err := listflags.Table(f.Env.Out, o, r.MMU, utilizationColumns(r.NotAvailable["utilization"] == "" && r.Safepoints != nil, r.Stalls != nil && r.Stalls.Count > 0)); err != nil {
		return err
	}
	if err := f.causesTable(r, o); err != nil {
		return err
	}
	return f.latencyTable(r, o)
}

func (f *gcFlags) latencyTable(r *gcReport, o table.Options) error {
	if len(r.Latency) == 0 {
		return nil
	}
	fmt.Fprintln(f.Env.Out)
	return listflags.Table(f.Env.Out, o, listing.Refs(r.Latency), latencyColumns())
}

func utilizationColumns(safepoints, stalls bool) []listing.Column[gcUtilization] {
	columns := []listing.Column[gcUtilization]{
		{Title: "window", Kind: listing.Int, Unit: listing.Ns, Value: func(u gcUtilization) listing.Value { return listing.IntOf(u.WindowNs) }},
		{Title: "utilization, least", Kind: listing.Float, Unit: listing.Share, Value: func(u gcUtilization) listing.Value { return listing.FloatOf(u.Min) }},
	}
	if safepoints {
		columns = append(columns, listing.Column[gcUtilization]{Title: "pauses alone", Kind: listing.Float, Unit: listing.Share,
			Value: func(u gcUtilization) listing.Value { return listing.FloatOf(u.Pauses) }})
	}
	if stalls {
		columns = append(columns, listing.Column[gcUtilization]{Title: "with stalls", Kind: listing.Float, Unit: listing.Share,
			Value: func(u gcUtilization) listing.Value { return listing.FloatOf(*u.WithStalls) }})
	}
	return columns
}

func latencyColumns() []listing.Column[*gcLatency] {
	columns := []listing.Column[*gcLatency]{
		{Title: "latency", Kind: listing.Word, Value: func(l *gcLatency) listing.Value { return listing.WordOf(l.Kind) }},
		{Title: "smoothed over", Kind: listing.Int, Show: (*gcLatency).over},
		{Title: "count", Kind: listing.Int, Unit: listing.Count, Value: func(l *gcLatency) listing.Value { return listing.IntOf(int64(l.Count)) }},
	}
	for _, p := range gcQuantiles {
		name := "p" + percentileName(p)
		columns = append(columns, listing.Column[*gcLatency]{Title: name, Kind: listing.Int, Unit: listing.Ns,
			Show: func(l *gcLatency) string { return marked(l.Quantiles[name], l.RelativeError) }})
	}
	return append(columns, listing.Column[*gcLatency]{Title: "max", Kind: listing.Int, Unit: listing.Ns,
		Value: func(l *gcLatency) listing.Value { return listing.IntOf(l.MaxNs) }})
}

func (l *gcLatency) over() string {
	switch {
	case l.Whole:
		return "the whole run"
	case l.WindowNs != nil:
		return units.FormatNs(*l.WindowNs)
	}
	return ""
}

// csv prints name and value.
func (f *gcFlags) csv(r *gcReport) error {
	p := r.Pauses
	number := func(n units.Ns) string { return strconv.FormatInt(int64(n), 10) }
	one := func(n *units.Ns) string { // of a pause
		if n == nil {
			return ""
		}
		return number(*n)
	}
	share := func(v float64) string { return strconv.FormatFloat(v, 'g', 9, 64) }
	cells := [][]string{{"pauses", strconv.Itoa(p.Count)}, {"pause_total_ns", number(p.TotalNs)}, {"pause_share", share(p.Share)},
		{"pause_mean_ns", one(p.MeanNs)}, {"pause_min_ns", one(p.MinNs)}, {"pause_p50_ns", one(p.P50Ns)}, {"pause_p90_ns", one(p.P90Ns)},
		{"pause_p99_ns", one(p.P99Ns)}, {"pause_p999_ns", one(p.P999Ns)}, {"pause_max_ns", one(p.MaxNs)},
		{"profiler_stops", strconv.Itoa(r.Profiler.Stops)}, {"profiler_stopped_ns", number(r.Profiler.StoppedNs)}}
	for _, u := range r.MMU {
		cells = append(cells, []string{"mmu_" + number(u.WindowNs), share(u.Min)}, []string{"mmu_pauses_" + number(u.WindowNs), share(u.Pauses)})
		if u.WithStalls != nil {
			cells = append(cells, []string{"mmu_with_stalls_" + number(u.WindowNs), share(*u.WithStalls)})
		}
	}
	if s := r.Stalls; s != nil {
		cells = append(cells, []string{"stalls", strconv.Itoa(s.Count)}, []string{"stall_total_ns", number(s.TotalNs)},
			[]string{"stall_runnable_ns", number(s.ReadyNs)}, []string{"stall_max_ns", number(s.MaxNs)})
	}
	if t := r.Threads; t != nil {
		cells = append(cells, []string{"gc_work_ns", number(t.WorkNs)}, []string{"gc_pause_work_ns", number(t.InPause)}, []string{"gc_pause_runnable_ns", number(t.Waited)}, []string{"gc_time_ns", share(t.TimeNs)}, []string{"gc_width", share(t.Width)})
	}
	for _, c := range r.Causes {
		name := text.Cell(c.Collector + ": " + c.Cause)
		cells = append(cells, []string{"collections " + name, strconv.FormatInt(c.Count, 10)}, []string{"collections_time_ns " + name, one(c.TimeNs)})
	}
	if p := r.Safepoints; p != nil {
		cells = append(cells, []string{"safepoints", strconv.FormatInt(p.Count, 10)}, []string{"safepoint_ns", number(p.TimeNs)}, []string{"safepoint_reach_ns", number(p.ReachNs)}, []string{"stopped_ns", number(p.StoppedNs)})
	}
	for _, l := range r.Latency {
		name := "latency_" + l.Kind
		if l.Whole {
			name += "_whole"
		} else if l.WindowNs != nil {
			name += "_" + number(*l.WindowNs)
		}
		for _, p := range gcQuantiles {
			quantile := "p" + percentileName(p)
			cells = append(cells, []string{name + "_" + quantile + "_ns", number(l.Quantiles[quantile])})
		}
		cells = append(cells, []string{name + "_max_ns", number(l.MaxNs)})
	}
	return listflags.CSV(f.Env.Out, []string{"figure", "value"}, cells)
}
