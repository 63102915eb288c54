package gcreport

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"stackagent/internal/listing"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/show/view"
)

// Print prints the report in the format that the user chose.
func (r *Report) Print(p *view.Printer) error {
	switch p.Format {
	case "json":
		return p.JSON(r)
	case "csv":
		return r.csv(p)
	}
	return r.table(p)
}

func (r *Report) table(p *view.Printer) error {
	o := p.TableOptions(false)
	all := r.Pauses
	facts := table.New(table.Column{}, table.Column{})
	facts.Row("collector", r.Collector)
	if s := r.Safepoints; s != nil {
		facts.Row("stopped", fmt.Sprintf("%s in all at %s (reaching them %s, at them %s), of which GC pauses %s", units.FormatNs(s.StoppedNs),
			text.PluralExact(s.Count, "safepoint", "safepoints"), units.FormatNs(s.ReachNs), units.FormatNs(s.TimeNs), units.FormatNs(all.TotalNs)))
	}
	if own := r.Profiler; own.Stops > 0 {
		facts.Row("by the profiler", fmt.Sprintf("%s of it at most, at %s: it changed classes", units.FormatNs(own.StoppedNs),
			text.PluralExact(int64(own.Stops), "safepoint", "safepoints")))
	}
	facts.Row("pauses", fmt.Sprintf("%s, stopped %s, %s of %s", units.FormatExact(int64(all.Count)), units.FormatNs(all.TotalNs),
		units.FormatPercent(all.Share), units.FormatNs(units.Ns(r.ToNs-r.FromNs))))
	if all.Count > 0 {
		facts.Row("a pause", fmt.Sprintf("mean %s, median %s, p90 %s, p99 %s, max %s", units.FormatNs(*all.MeanNs), units.FormatNs(*all.P50Ns),
			units.FormatNs(*all.P90Ns), units.FormatNs(*all.P99Ns), units.FormatNs(*all.MaxNs)))
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
	if err := facts.Render(p.Out, table.Options{}); err != nil {
		return err
	}
	fmt.Fprintln(p.Out)
	if err := view.Table(p.Out, o, r.MMU, utilizationColumns(r.NotAvailable["utilization"] == "" && r.Safepoints != nil, r.Stalls != nil && r.Stalls.Count > 0)); err != nil {
		return err
	}
	if err := r.causesTable(p, o); err != nil {
		return err
	}
	return r.latencyTable(p, o)
}

func (r *Report) latencyTable(p *view.Printer, o table.Options) error {
	if len(r.Latency) == 0 {
		return nil
	}
	fmt.Fprintln(p.Out)
	return view.Table(p.Out, o, listing.Refs(r.Latency), latencyColumns())
}

func utilizationColumns(safepoints, stalls bool) []listing.Column[Utilization] {
	columns := []listing.Column[Utilization]{
		{Title: "window", Kind: listing.Int, Unit: listing.Ns, Value: func(u Utilization) listing.Value { return listing.IntOf(u.WindowNs) }},
		{Title: "utilization, least", Kind: listing.Float, Unit: listing.Share, Value: func(u Utilization) listing.Value { return listing.FloatOf(u.Min) }},
	}
	if safepoints {
		columns = append(columns, listing.Column[Utilization]{Title: "pauses alone", Kind: listing.Float, Unit: listing.Share,
			Value: func(u Utilization) listing.Value { return listing.FloatOf(u.Pauses) }})
	}
	if stalls {
		columns = append(columns, listing.Column[Utilization]{Title: "with stalls", Kind: listing.Float, Unit: listing.Share,
			Value: func(u Utilization) listing.Value { return listing.FloatOf(*u.WithStalls) }})
	}
	return columns
}

func latencyColumns() []listing.Column[*Latency] {
	columns := []listing.Column[*Latency]{
		{Title: "latency", Kind: listing.Word, Value: func(l *Latency) listing.Value { return listing.WordOf(l.Kind) }},
		{Title: "smoothed over", Kind: listing.Int, Show: (*Latency).over},
		{Title: "count", Kind: listing.Int, Unit: listing.Count, Value: func(l *Latency) listing.Value { return listing.IntOf(int64(l.Count)) }},
	}
	for _, p := range quantiles {
		name := "p" + view.PercentileName(p)
		columns = append(columns, listing.Column[*Latency]{Title: name, Kind: listing.Int, Unit: listing.Ns,
			Show: func(l *Latency) string { return view.Marked(l.Quantiles[name], l.RelativeError) }})
	}
	return append(columns, listing.Column[*Latency]{Title: "max", Kind: listing.Int, Unit: listing.Ns,
		Value: func(l *Latency) listing.Value { return listing.IntOf(l.MaxNs) }})
}

func (l *Latency) over() string {
	switch {
	case l.Whole:
		return "the whole run"
	case l.WindowNs != nil:
		return units.FormatNs(*l.WindowNs)
	}
	return ""
}

// csv prints name and value.
func (r *Report) csv(p *view.Printer) error {
	all := r.Pauses
	number := func(n units.Ns) string { return strconv.FormatInt(int64(n), 10) }
	one := func(n *units.Ns) string { // of a pause
		if n == nil {
			return ""
		}
		return number(*n)
	}
	share := func(v float64) string { return strconv.FormatFloat(v, 'g', 9, 64) }
	cells := [][]string{{"pauses", strconv.Itoa(all.Count)}, {"pause_total_ns", number(all.TotalNs)}, {"pause_share", share(all.Share)},
		{"pause_mean_ns", one(all.MeanNs)}, {"pause_min_ns", one(all.MinNs)}, {"pause_p50_ns", one(all.P50Ns)}, {"pause_p90_ns", one(all.P90Ns)},
		{"pause_p99_ns", one(all.P99Ns)}, {"pause_p999_ns", one(all.P999Ns)}, {"pause_max_ns", one(all.MaxNs)},
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
	if s := r.Safepoints; s != nil {
		cells = append(cells, []string{"safepoints", strconv.FormatInt(s.Count, 10)}, []string{"safepoint_ns", number(s.TimeNs)}, []string{"safepoint_reach_ns", number(s.ReachNs)}, []string{"stopped_ns", number(s.StoppedNs)})
	}
	for _, l := range r.Latency {
		name := "latency_" + l.Kind
		if l.Whole {
			name += "_whole"
		} else if l.WindowNs != nil {
			name += "_" + number(*l.WindowNs)
		}
		for _, q := range quantiles {
			quantile := "p" + view.PercentileName(q)
			cells = append(cells, []string{name + "_" + quantile + "_ns", number(l.Quantiles[quantile])})
		}
		cells = append(cells, []string{name + "_max_ns", number(l.MaxNs)})
	}
	return p.Cells([]string{"figure", "value"}, cells)
}
