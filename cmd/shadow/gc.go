package main

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/files"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/granularity/activity"
	"stackagent/granularity/bottle"
	"stackagent/granularity/gc"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/show/figure"
	"stackagent/shadow/store"
)

// gcFlags are the flags of shadow gc.
type gcFlags struct {
	listflags.Flags
	window windowFlags
	class  string
	output string
}

func newGC(env console.Env) *cobra.Command {
	var f gcFlags
	cmd := &cobra.Command{
		Use:   "gc DIR",
		Short: "What garbage collection costs: pauses, utilization, collector threads, latency of tasks",
		Long: `Stopped is how long safepoints stopped the whole program, for collections and other
reasons: to reach them, and at them. It comes from the JVM's own counters, as do the
causes. Pauses are what the JVM reported as such: the parts of collections at
safepoints, without the time to reach them. Utilization is the minimum mutator utilization, the worst
case: in any window of this length, the program could run at least this share of the
time. It counts all of the time stopped, and beside it the pauses alone; other stops than
pauses have their place from looks at the counters every 20 ms. With a scheduling record, the collector's threads are shown, too: work is their
running time, time their share of the program's time (shadow bottle).

A stall is a wait of a thread for the collector outside of pauses: ZGC's allocation stalls,
Shenandoah's pacing, the wait for the end of a collection. The least utilization with
stalls counts a stalled thread as one of the threads that were running, stopped.

With --class, shows the latency of the class's executions, as shadow latency does.
Simple latency is from start to end. Metered latency assumes that requests arrive at
a steady rate, smoothed over a window, so that a pause delays all requests that had
to wait for it.`,
		Example: `  shadow gc /tmp/s
  shadow gc /tmp/s --class 'com.acme.Request' --format json
  shadow gc /tmp/s -o mmu.svg`,
		Args: listflags.OneSession,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := errors.Join(f.Flags.Check(), f.window.check(), files.CheckFigure(f.output)); err != nil {
				return err
			}
			if _, err := path.Match(f.class, ""); err != nil {
				return console.Usagef("--class %s: %v", f.class, err)
			}
			return f.run(env, args[0])
		},
	}
	f.AddTo(cmd, env, false, "table", "json", "csv")
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
	Profiler     gcOwn             `json:"profiler"`
	MMU          []gcUtilization   `json:"mmu"`
	Stalls       *gcStalls         `json:"stalls"`     // null: not available
	Threads      *gcThreads        `json:"threads"`    // of the collector; null: not available
	Causes       []gcCause         `json:"causes"`     // null: not available
	Safepoints   *gcSafepoints     `json:"safepoints"` // null: not available
	Latency      []gcLatency       `json:"latency,omitempty"`
	NotAvailable map[string]string `json:"not_available"`
}

// gcOwn is when the profiler stopped the program to change classes. This is not a pause of the collector, but the safepoints include it.
type gcOwn struct {
	Stops     int      `json:"stops"`
	StoppedNs units.Ns `json:"stopped_ns"` // at most: with the time around them
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
	// Min counts all that stopped the program: safepoints for collections and other reasons, reaching them included.
	// Where these are not available, it is Pauses, and not_available says so.
	Min    float64 `json:"min"`
	Pauses float64 `json:"min_pauses"` // pauses alone
	// WithStalls counts a stalled thread as one of the program's threads stopped; null: stalls are not available.
	WithStalls *float64 `json:"min_with_stalls"`
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

func (f *gcFlags) run(env console.Env, dir string) error {
	s, err := env.Open(dir)
	if err != nil {
		return err
	}
	if why := s.Manifest.NotAvailable[store.NoPauses]; why != "" {
		return fmt.Errorf("session %s: pauses are not available: %s", s.Manifest.Session, why)
	}
	r := gcReport{Session: s.Manifest.Session, Collector: s.Manifest.JVM.GC, NotAvailable: map[string]string{}}
	a, without := openActivity(env, s)
	if without != nil && !errors.Is(without, session.ErrNoActivity) {
		return without
	}
	w := activity.Span{From: s.Manifest.StartNs, To: s.Manifest.EndNs}
	if w, err = f.window.of(env, s, w.From, w.To); err != nil {
		return err
	}
	r.FromNs, r.ToNs = w.From, w.To
	pauses := s.Spans()
	own := gc.Describe(s.OwnStops(), w)
	r.Pauses, r.Profiler = gcPausesOf(gc.Describe(pauses, w)), gcOwn{own.Count, own.Total}
	stops := r.stops(a, pauses)
	if f.output != "" {
		return files.WriteFigure(env, f.output, figure.MMU(gc.MMU(stops, w, gc.Lengths(1e6, w, 8))))
	}
	lengths := gc.Lengths(1e6, w, 1)
	alone := gc.MMU(pauses, w, lengths)
	for i, u := range gc.MMU(stops, w, lengths) {
		r.MMU = append(r.MMU, gcUtilization{WindowNs: u.Window, Min: u.Min, Pauses: alone[i].Min})
	}
	if a == nil {
		for _, what := range []string{"threads", "safepoints", "stalls"} {
			r.NotAvailable[what] = without.Error()
		}
	} else if err := errors.Join(r.threads(a, w, pauses), r.stalls(a, w, stops)); err != nil {
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

// stops are when the program stood still; where only the pauses are known, these.
func (r *gcReport) stops(a *session.Activity, pauses []activity.Span) []activity.Span {
	if a == nil {
		return pauses // what there is not is said with the safepoints
	}
	stops, err := a.Stops()
	if err != nil {
		r.NotAvailable["utilization"] = "with safepoints other than pauses: the table is of the pauses alone"
		return pauses
	}
	return stops
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
