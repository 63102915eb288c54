package experiments

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"stackagent/granularity/activity"
	"stackagent/granularity/speedup"
	"stackagent/internal/listing"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/experiment"
	"stackagent/shadow/show/view"
)

// StackJSON is the output of shadow stack; threads, speedup and components are promised.
type StackJSON struct {
	Bars         []barJSON         `json:"bars"`
	NotAvailable map[string]string `json:"not_available"`
	Collector    []collectorJSON   `json:"collector,omitempty"` // of shadow scale, where more than threads vary
}

type barJSON struct {
	Threads    int                 `json:"threads"`
	Speedup    *float64            `json:"speedup"` // null: there is no base with the same work, see speedup_not_available
	AtMost     *float64            `json:"at_most"` // then: the number of threads minus the losses
	NoSpeedup  string              `json:"speedup_not_available,omitempty"`
	Components map[string]*float64 `json:"components"` // null: not available
	// GCStallsNs is what the threads waited for the collector outside of pauses, in gc; the mean of the runs.
	GCStallsNs units.Ns            `json:"gc_stalls_ns"`
	Rest       map[string]float64  `json:"rest"`       // parts of the component of this name
	Confidence map[string]*float64 `json:"confidence"` // half the interval at 95 %; null: a single run
	Counted    bool                `json:"threads_counted"`
	// Configuration is what else the runs of the bar have in common: collector, heap, ...
	Configuration experiment.Point `json:"configuration,omitempty"`
	// SequentialAssumed: the base is one thread alone, its sequential part is
	// taken to be that of the run.
	SequentialAssumed bool `json:"sequential_assumed"`
	// Counters are events of the whole run, normalised to the base: the hardware
	// table.
	Counters map[string]counterJSON `json:"counters"`
	// CountersOf are those of the application's threads and of the collector's, with the work and the time of both.
	CountersOf map[string]map[string]counterJSON `json:"counters_of"`
	Runs       []runJSON                         `json:"runs"`
	Advice     string                            `json:"advice"`
}

// runJSON is what a bar was computed from, nanoseconds.
type runJSON struct {
	BaseNs       *units.Ns           `json:"base_ns"` // T_s; null: no base
	DurationNs   units.Ns            `json:"duration_ns"`
	GCNs         units.Ns            `json:"gc_ns"`
	SequentialNs units.Ns            `json:"sequential_ns"`
	IdleNs       units.Ns            `json:"idle_ns"`
	ParallelNs   units.Ns            `json:"parallel_ns"`
	States       map[string]units.Ns `json:"states"` // of the application threads, in the parallel part
	ExitedNs     units.Ns            `json:"exited_ns"`
	Threads      int                 `json:"application_threads"`
	AtOnce       int                 `json:"at_once"`
}

func (f *stackFlags) print(bars []stackBar, collector []configuration) error {
	switch f.Format {
	case "json":
		out := StackJSON{Bars: []barJSON{}, NotAvailable: map[string]string{}}
		for _, b := range bars {
			_, missing := b.compared()
			maps.Copy(out.NotAvailable, missing)
			bar := b.json()
			if b.AtMost {
				bar.NoSpeedup = f.noSpeedup
			}
			out.Bars = append(out.Bars, bar)
		}
		for _, c := range collector {
			out.Collector = append(out.Collector, c.json())
		}
		return f.JSON(out)
	case "csv":
		return f.csv(bars)
	}
	if len(bars) > 0 {
		if err := f.table(bars); err != nil {
			return err
		}
	}
	return f.collectorTable(collector)
}

func (b *stackBar) json() barJSON {
	out := barJSON{
		Threads: b.Threads, Speedup: &b.Speedup.Mean, Components: map[string]*float64{}, Rest: map[string]float64{},
		Confidence: map[string]*float64{"speedup": half(b.Speedup)}, Counted: b.counted, Configuration: b.others, Advice: advice.OfBar(b.Mean()),
	}
	out.Counters, out.CountersOf = b.counters()
	if b.AtMost {
		out.Speedup, out.AtMost = nil, out.Speedup
	}
	for c, v := range b.Components {
		name := speedup.Component(c).String()
		out.Components[name], out.Confidence[name] = &v.Mean, half(v)
		if b.Unknown[c] {
			out.Components[name] = nil
		}
	}
	for p, v := range b.Parts {
		out.Rest[speedup.Part(p).String()] = v.Mean
	}
	for _, bar := range b.Bars {
		out.SequentialAssumed = out.SequentialAssumed || bar.AssumedSequential
		out.Runs = append(out.Runs, runOf(bar))
		out.GCStallsNs += bar.Run.InState[activity.Stalled] / units.Ns(len(b.Bars))
	}
	return out
}

func half(v speedup.Interval) *float64 {
	if v.Half != v.Half { // NaN: a single run
		return nil
	}
	return &v.Half
}

func runOf(b speedup.Bar) runJSON {
	r := b.Run
	out := runJSON{
		DurationNs: r.Duration, GCNs: r.GC, SequentialNs: r.Sequential, IdleNs: r.Idle, ParallelNs: r.Parallel,
		States: map[string]units.Ns{}, ExitedNs: r.Exited, Threads: r.Workers, AtOnce: r.MostAlive,
	}
	if !b.AtMost {
		out.BaseNs = &b.Base.Duration
	}
	for s, d := range r.InState {
		out.States[activity.ThreadState(s).String()] = d
	}
	return out
}

func (f *stackFlags) table(bars []stackBar) error {
	if err := view.Table(f.Out, f.TableOptions(false), listing.Refs(bars), barColumns(bars)); err != nil {
		return err
	}
	var text strings.Builder
	for _, b := range bars {
		fmt.Fprintf(&text, "\n%s", advice.OfBar(b.Mean()))
	}
	if _, err := fmt.Fprintln(f.Out, text.String()); err != nil {
		return fmt.Errorf("printing advice: %w", err)
	}
	return f.counterTable(bars)
}

func barColumns(bars []stackBar) []listing.Column[*stackBar] {
	var columns []listing.Column[*stackBar]
	if slices.ContainsFunc(bars, func(b stackBar) bool { return len(b.others) > 0 }) {
		columns = append(columns, listing.Column[*stackBar]{Title: "with", Kind: listing.Name, Stays: true, Show: func(b *stackBar) string { return b.others.Label() }})
	}
	columns = append(columns, []listing.Column[*stackBar]{
		{Title: "threads", Kind: listing.Int, Value: func(b *stackBar) listing.Value { return listing.IntOf(int64(b.Threads)) }},
		{Title: "speedup", Kind: listing.Float, Show: func(b *stackBar) string {
			if b.AtMost {
				return "at most " + interval(b.Speedup)
			}
			return interval(b.Speedup)
		}},
	}...)
	for c := range speedup.NComponents {
		columns = append(columns, listing.Column[*stackBar]{Title: c.String(), Kind: listing.Float,
			Show: func(b *stackBar) string {
				if b.Unknown[c] {
					return view.NotAvailable
				}
				return interval(b.Components[c])
			}})
	}
	return columns
}

// interval prints a mean and half its confidence interval.
func interval(v speedup.Interval) string {
	if half(v) == nil {
		return fmt.Sprintf("%.2f", v.Mean)
	}
	return fmt.Sprintf("%.2f ± %.2f", v.Mean, v.Half)
}

func (f *stackFlags) csv(bars []stackBar) error {
	header := []string{"threads", "speedup", "speedup_confidence"}
	for c := range speedup.NComponents {
		header = append(header, c.String(), c.String()+"_confidence")
	}
	for p := range speedup.NParts {
		header = append(header, "rest_"+p.String())
	}
	header = append(header, "at_most", "configuration")
	cell := func(v float64) string { return strconv.FormatFloat(v, 'g', 9, 64) }
	confidence := func(v speedup.Interval) string {
		if half(v) == nil {
			return ""
		}
		return cell(v.Half)
	}
	var cells [][]string
	for _, b := range bars {
		row, bound := []string{strconv.Itoa(b.Threads), cell(b.Speedup.Mean), confidence(b.Speedup)}, ""
		if b.AtMost {
			row[1], bound = "", row[1]
		}
		for c, v := range b.Components {
			if row = append(row, cell(v.Mean), confidence(v)); b.Unknown[c] {
				row[len(row)-2] = ""
			}
		}
		for _, v := range b.Parts {
			row = append(row, cell(v.Mean))
		}
		cells = append(cells, append(row, bound, b.others.Label()))
	}
	return f.Cells(header, cells)
}
