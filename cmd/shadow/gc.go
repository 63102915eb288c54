package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"stackagent/granularity/activity"
	"stackagent/granularity/bottle"
	"stackagent/granularity/gc"
	"stackagent/internal/units"
	"stackagent/shadow/figure"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
	"stackagent/shadow/view/table"
)

// gcFlags are the flags of shadow gc.
type gcFlags struct {
	listing
	window windowFlags
	class  string
	output string
}

func newGC(env Env) *cobra.Command {
	var f gcFlags
	cmd := &cobra.Command{
		Use:   "gc DIR",
		Short: "What garbage collection costs: pauses, utilization, collector threads, latency of tasks",
		Long: `Pauses are the stop-the-world pauses that the JVM reported, without the time to
reach the safepoint. That time is shown with the safepoints; they and the causes come
from the JVM's own counters. Utilization is the minimum mutator utilization, the worst
case: in any window of this length, the program could run at least this share of the
time. With a scheduling record, the collector's threads are shown, too: work is their
running time, time their share of the program's time (shadow bottle).

With --class, shows the latency of the class's executions. Simple latency is from
start to end. Metered latency assumes that requests arrive at a steady rate, smoothed
over a window, so that a pause delays all requests that had to wait for it.`,
		Example: `  shadow gc /tmp/s
  shadow gc /tmp/s --class 'com.acme.Request' --format json
  shadow gc /tmp/s -o mmu.svg`,
		Args: oneSession,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := errors.Join(f.listing.check(), f.window.check(), checkFigure(f.output)); err != nil {
				return err
			}
			if _, err := path.Match(f.class, ""); err != nil {
				return usagef("--class %s: %v", f.class, err)
			}
			return f.run(env, args[0])
		},
	}
	f.addTo(cmd, env, false, "table", "json", "csv")
	f.window.addTo(cmd)
	cmd.Flags().StringVar(&f.class, "class", "", "latency of the executions of classes whose Java name matches this glob")
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "write the curve of utilization to FILE.svg|png|pdf")
	return cmd
}

// gcReport is the output of shadow gc; times are nanoseconds.
type gcReport struct {
	Session      string            `json:"session"`
	Collector    string            `json:"collector"`
	FromNs       units.MonoNs      `json:"from_ns"`
	ToNs         units.MonoNs      `json:"to_ns"`
	Pauses       gcPauses          `json:"pauses"`
	MMU          []gcUtilization   `json:"mmu"`
	Threads      *gcThreads        `json:"threads"`    // of the collector; null: not available
	Causes       []gcCause         `json:"causes"`     // null: not available
	Safepoints   *gcSafepoints     `json:"safepoints"` // null: not available
	Latency      []gcLatency       `json:"latency,omitempty"`
	NotAvailable map[string]string `json:"not_available"`
}

type gcPauses struct {
	Count   int      `json:"count"`
	TotalNs units.Ns `json:"total_ns"` // stopped; overlaps count once
	Share   float64  `json:"share"`
	// Of a single pause; null without pauses.
	MeanNs *units.Ns `json:"mean_ns"`
	MinNs  *units.Ns `json:"min_ns"`
	P50Ns  *units.Ns `json:"p50_ns"`
	P90Ns  *units.Ns `json:"p90_ns"`
	P99Ns  *units.Ns `json:"p99_ns"`
	P999Ns *units.Ns `json:"p999_ns"`
	MaxNs  *units.Ns `json:"max_ns"`
}

type gcUtilization struct {
	WindowNs units.Ns `json:"window_ns"`
	Min      float64  `json:"min"`
}

type gcThreads struct {
	Threads int      `json:"threads"`
	WorkNs  units.Ns `json:"work_ns"`
	TimeNs  float64  `json:"time_ns"`
	Width   float64  `json:"width"` // threads running at once while the collector's did
	InPause units.Ns `json:"pause_work_ns"`
	// Waited is what they were ready for in pauses and found no processor, summed.
	Waited units.Ns `json:"pause_runnable_ns"`
}

type gcLatency struct {
	Kind      string              `json:"kind"` // "simple", "metered"
	WindowNs  *units.Ns           `json:"window_ns"`
	Whole     bool                `json:"whole"` // smoothed over the whole run
	Count     int                 `json:"count"`
	Quantiles map[string]units.Ns `json:"quantiles"`
	MaxNs     units.Ns            `json:"max_ns"`
}

func (f *gcFlags) run(env Env, dir string) error {
	s, err := open(env, dir)
	if err != nil {
		return err
	}
	r := gcReport{Session: s.Manifest.Session, Collector: s.Manifest.JVM.GC, NotAvailable: map[string]string{}}
	a, without := openActivity(env, s)
	if without != nil && !errors.Is(without, session.ErrNoActivity) {
		return without
	}
	w := activity.Span{From: s.Manifest.StartNs, To: s.Manifest.EndNs}
	if w, err = f.window.of(s.Manifest.StartNs, w.From, w.To); err != nil {
		return err
	}
	r.FromNs, r.ToNs = w.From, w.To
	pauses := s.Spans()
	r.Pauses = gcPausesOf(gc.Describe(pauses, w))
	curve := gc.MMU(pauses, w, gc.Lengths(1e6, w, 8))
	if f.output != "" {
		return writeFigure(env, f.output, figure.MMU(curve))
	}
	for _, u := range gc.MMU(pauses, w, gc.Lengths(1e6, w, 1)) {
		r.MMU = append(r.MMU, gcUtilization{u.Window, u.Min})
	}
	if a == nil {
		r.NotAvailable["threads"] = without.Error()
	} else if err := r.threads(a, w, pauses); err != nil {
		return err
	}
	r.causes(a, w)
	if a != nil {
		noteDamage(env, a)
	}
	if err := f.latency(s, &r, w); err != nil {
		return err
	}
	return f.print(&r)
}

func gcPausesOf(p gc.Pauses) gcPauses {
	out := gcPauses{Count: p.Count, TotalNs: p.Total, Share: p.Share}
	if p.Count > 0 {
		out.MeanNs, out.MinNs, out.MaxNs = &p.Mean, &p.Min, &p.Max
		out.P50Ns, out.P90Ns, out.P99Ns, out.P999Ns = &p.P50, &p.P90, &p.P99, &p.P999
	}
	return out
}

// threads adds what the collector's threads did.
func (r *gcReport) threads(a *session.Activity, w activity.Span, pauses []activity.Span) error {
	graphs, err := bottle.Compute(a.Threads, a.Stream(w.From, w.To), w)
	if err != nil {
		return err
	}
	t := &gcThreads{}
	for _, b := range graphs[0].Group(bottle.ByKind).Boxes {
		if b.Kind == activity.KindGC {
			t.Threads, t.WorkNs, t.TimeNs, t.Width = b.Threads, b.RunningNs, b.HeightNs, b.Width
		}
	}
	stopped, vm := gc.Union(pauses, w), units.Ns(0)
	if len(stopped) > 0 {
		if graphs, err = bottle.Compute(a.Threads, a.Stream(w.From, w.To), stopped...); err != nil {
			return err
		}
		for _, g := range graphs {
			for _, b := range g.Boxes {
				switch b.Kind {
				case activity.KindGC:
					t.InPause += b.RunningNs
				case activity.KindVM:
					vm += b.RunningNs
				}
			}
		}
	}
	if t.Threads == 0 {
		r.NotAvailable["collector threads"] = fmt.Sprintf("none was running: the Serial collector has none, it works in the VM thread; "+
			"in the pauses the JVM's own threads were running for %s", units.FormatNs(vm))
		return nil
	}
	r.Threads = t
	t.Waited, err = waitedIn(a, stopped)
	return err
}

// waitedIn is how long the collector's threads were ready to run in pauses, which
// do not touch, and had no processor.
func waitedIn(a *session.Activity, stopped []activity.Span) (sum units.Ns, err error) {
	if len(stopped) == 0 {
		return 0, nil
	}
	err = a.Stream(stopped[0].From, stopped[len(stopped)-1].To)(func(s activity.Slice) error {
		if s.State != activity.Runnable || a.Threads[s.Thread].Kind != activity.KindGC {
			return nil
		}
		first, _ := slices.BinarySearchFunc(stopped, s.From, func(p activity.Span, at units.MonoNs) int { return cmp.Compare(p.To, at) })
		for _, p := range stopped[first:] {
			if p.From >= s.To {
				break
			}
			sum += p.Cut(activity.Span{From: s.From, To: s.To}).Len()
		}
		return nil
	})
	return sum, err
}

// maxLatencies bounds how many executions a distribution of latencies may hold
// in memory.
const maxLatencies = 50_000_000

var errTooManyLatencies = fmt.Errorf("more than %d executions: choose a shorter time with --from and --to, or another class", maxLatencies)

// latency reads the executions of the class.
func (f *gcFlags) latency(s *session.Session, r *gcReport, w activity.Span) error {
	if f.class == "" {
		return nil
	}
	wanted := map[uint32]bool{}
	for _, c := range s.Classes {
		ok, _ := path.Match(f.class, c.Name) // checked before
		wanted[c.ID] = ok
	}
	parts := make([][]gc.Event, session.Workers())
	err := s.ScanExecutions(store.ExecutionClass|store.ExecutionStart|store.ExecutionEnd, func(worker int, c *session.Chunk) error {
		for i, class := range c.Class {
			if wanted[class] && c.EndNs[i] != 0 && c.StartNs[i] >= w.From && c.StartNs[i] < w.To {
				parts[worker] = append(parts[worker], gc.Event{Start: c.StartNs[i], End: c.EndNs[i]})
			}
		}
		if len(parts[worker]) > maxLatencies/len(parts) {
			return errTooManyLatencies
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("latency of %s: %w", f.class, err)
	}
	events := slices.Concat(parts...)
	if len(events) == 0 {
		r.NotAvailable["latency"] = "no execution of a class that matches " + f.class + " was recorded one by one"
		return nil
	}
	r.Latency = append(r.Latency, latencyOf(gc.Simple(events)))
	for _, window := range gc.Windows(events) {
		r.Latency = append(r.Latency, latencyOf(gc.Metered(events, window, false)))
	}
	r.Latency = append(r.Latency, latencyOf(gc.Metered(events, 0, true)))
	return nil
}

func latencyOf(l gc.Latency) gcLatency {
	out := gcLatency{Kind: "simple", Whole: l.Whole, Count: l.Count, MaxNs: l.Max, Quantiles: map[string]units.Ns{}}
	if l.Window > 0 {
		out.Kind, out.WindowNs = "metered", &l.Window
	}
	if l.Whole {
		out.Kind = "metered"
	}
	for i, q := range gc.Quantiles {
		out.Quantiles[quantileName(q)] = l.Values[i]
	}
	return out
}

// quantileName is "p50", "p99.99".
func quantileName(q int) string { return "p" + strconv.FormatFloat(float64(q)/100, 'f', -1, 64) }

func (f *gcFlags) print(r *gcReport) error {
	switch f.format {
	case "json":
		return writeJSON(f.env.Out, r)
	case "csv":
		return f.csv(r)
	}
	return f.table(r)
}

func (f *gcFlags) table(r *gcReport) error {
	o := table.ForWriter(f.env.Out, f.env.Getenv)
	p := r.Pauses
	facts := table.New(table.Column{}, table.Column{})
	facts.Row("collector", r.Collector)
	facts.Row("pauses", fmt.Sprintf("%s, stopped %s, %s of %s", units.FormatExact(int64(p.Count)), units.FormatNs(p.TotalNs),
		units.FormatPercent(p.Share), units.FormatNs(units.Ns(r.ToNs-r.FromNs))))
	if p.Count > 0 {
		facts.Row("a pause", fmt.Sprintf("mean %s, median %s, p90 %s, p99 %s, max %s", units.FormatNs(*p.MeanNs), units.FormatNs(*p.P50Ns),
			units.FormatNs(*p.P90Ns), units.FormatNs(*p.P99Ns), units.FormatNs(*p.MaxNs)))
	}
	if t := r.Threads; t != nil {
		facts.Row("collector threads", fmt.Sprintf("%s ran, work %s (in pauses %s, and %s waiting for a processor), share of the time %s, %.2f at once", units.FormatExact(int64(t.Threads)),
			units.FormatNs(t.WorkNs), units.FormatNs(t.InPause), units.FormatNs(t.Waited), units.FormatNs(units.Ns(t.TimeNs)), t.Width))
	}
	if p := r.Safepoints; p != nil {
		facts.Row("safepoints", fmt.Sprintf("%s, %s at them, %s to reach them", units.FormatExact(p.Count), units.FormatNs(p.TimeNs), units.FormatNs(p.ReachNs)))
	}
	for _, what := range slices.Sorted(maps.Keys(r.NotAvailable)) {
		facts.Row("not available", what+": "+r.NotAvailable[what])
	}
	if err := facts.Render(f.env.Out, table.Options{}); err != nil {
		return err
	}
	t := table.New(right("window"), right("utilization, least"))
	for _, u := range r.MMU {
		t.Row(units.FormatNs(u.WindowNs), units.FormatPercent(u.Min))
	}
	fmt.Fprintln(f.env.Out)
	if err := t.Render(f.env.Out, o); err != nil {
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
	columns := []table.Column{{Title: "latency"}, right("smoothed over"), right("count")}
	for _, q := range gc.Quantiles {
		columns = append(columns, right(quantileName(q)))
	}
	t := table.New(append(columns, right("max"))...)
	for _, l := range r.Latency {
		row := []string{l.Kind, l.over(), units.FormatExact(int64(l.Count))}
		for _, q := range gc.Quantiles {
			row = append(row, units.FormatNs(l.Quantiles[quantileName(q)]))
		}
		t.Row(append(row, units.FormatNs(l.MaxNs))...)
	}
	fmt.Fprintln(f.env.Out)
	return t.Render(f.env.Out, o)
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
		{"pause_p99_ns", one(p.P99Ns)}, {"pause_p999_ns", one(p.P999Ns)}, {"pause_max_ns", one(p.MaxNs)}}
	for _, u := range r.MMU {
		cells = append(cells, []string{"mmu_" + number(u.WindowNs), share(u.Min)})
	}
	if t := r.Threads; t != nil {
		cells = append(cells, []string{"gc_work_ns", number(t.WorkNs)}, []string{"gc_pause_work_ns", number(t.InPause)}, []string{"gc_pause_runnable_ns", number(t.Waited)}, []string{"gc_time_ns", share(t.TimeNs)}, []string{"gc_width", share(t.Width)})
	}
	for _, c := range r.Causes {
		name := csvName(c.Collector + ": " + c.Cause)
		cells = append(cells, []string{"collections " + name, strconv.FormatInt(c.Count, 10)}, []string{"collections_time_ns " + name, one(c.TimeNs)})
	}
	if p := r.Safepoints; p != nil {
		cells = append(cells, []string{"safepoints", strconv.FormatInt(p.Count, 10)}, []string{"safepoint_ns", number(p.TimeNs)}, []string{"safepoint_reach_ns", number(p.ReachNs)})
	}
	for _, l := range r.Latency {
		name := "latency_" + l.Kind
		if l.Whole {
			name += "_whole"
		} else if l.WindowNs != nil {
			name += "_" + number(*l.WindowNs)
		}
		for _, q := range gc.Quantiles {
			cells = append(cells, []string{name + "_" + quantileName(q) + "_ns", number(l.Quantiles[quantileName(q)])})
		}
		cells = append(cells, []string{name + "_max_ns", number(l.MaxNs)})
	}
	return writeCSV(f.env.Out, []string{"figure", "value"}, cells)
}
