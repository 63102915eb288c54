// Package gcreport brings together what garbage collection costs a session: pauses, utilization, stalls, the
// collector's threads, causes, and the latency of tasks. It prints that, too.
package gcreport

import (
	"errors"
	"fmt"

	"stackagent/granularity/activity"
	"stackagent/granularity/bottle"
	"stackagent/granularity/gc"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// Report is the output of shadow gc; times are nanoseconds.
type Report struct {
	Session      string            `json:"session"`
	Collector    string            `json:"collector"`
	FromNs       units.MonoNs      `json:"from_ns"`
	ToNs         units.MonoNs      `json:"to_ns"`
	Pauses       Pauses            `json:"pauses"`
	Profiler     Own               `json:"profiler"`
	MMU          []Utilization     `json:"mmu"`
	Stalls       *Stalls           `json:"stalls"`     // null: not available
	Threads      *Threads          `json:"threads"`    // of the collector; null: not available
	Causes       []Cause           `json:"causes"`     // null: not available
	Safepoints   *Safepoints       `json:"safepoints"` // null: not available
	Latency      []Latency         `json:"latency,omitempty"`
	NotAvailable map[string]string `json:"not_available"`
}

// Own is when the profiler stopped the program to change classes. This is not a pause of the collector, but the safepoints include it.
type Own struct {
	Stops     int      `json:"stops"`
	StoppedNs units.Ns `json:"stopped_ns"` // at most: with the time around them
}

// Pauses are those that the JVM reported, as a whole and each.
type Pauses struct {
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

// Utilization is the least share of a window in which the program could run.
type Utilization struct {
	WindowNs units.Ns `json:"window_ns"`
	// Min counts all that stopped the program: safepoints for collections and other reasons, reaching them included.
	// Where these are not available, it is Pauses, and not_available says so.
	Min    float64 `json:"min"`
	Pauses float64 `json:"min_pauses"` // pauses alone
	// WithStalls counts a stalled thread as one of the program's threads stopped; null: stalls are not available.
	WithStalls *float64 `json:"min_with_stalls"`
}

// Threads is what the collector's threads did.
type Threads struct {
	Threads int      `json:"threads"`
	WorkNs  units.Ns `json:"work_ns"`
	TimeNs  float64  `json:"time_ns"`
	Width   float64  `json:"width"` // threads running at once while the collector's did
	InPause units.Ns `json:"pause_work_ns"`
	// Waited is what they were ready for in pauses and found no processor, summed.
	Waited units.Ns `json:"pause_runnable_ns"`
}

// New is an empty report of a session whose pauses are known.
func New(s *session.Session) (*Report, error) {
	if why := s.Manifest.NotAvailable[store.NoPauses]; why != "" {
		return nil, fmt.Errorf("session %s: pauses are not available: %s", s.Manifest.Session, why)
	}
	return &Report{Session: s.Manifest.Session, Collector: s.Manifest.JVM.GC, NotAvailable: map[string]string{}}, nil
}

// PausesIn adds the pauses in w, and returns when the program stood still. a is nil without a scheduling record.
func (r *Report) PausesIn(s *session.Session, a *session.Activity, w activity.Span) []activity.Span {
	r.FromNs, r.ToNs = w.From, w.To
	pauses, own := s.Spans(), gc.Describe(s.OwnStops(), w)
	r.Pauses, r.Profiler = pausesOf(gc.Describe(pauses, w)), Own{own.Count, own.Total}
	return r.stops(a, pauses)
}

// Collect adds the utilization, and what the scheduling record says. without is why there is none.
func (r *Report) Collect(s *session.Session, a *session.Activity, without error, w activity.Span, stops []activity.Span) error {
	pauses, lengths := s.Spans(), gc.Lengths(1e6, w, 1)
	alone := gc.MMU(pauses, w, lengths)
	for i, u := range gc.MMU(stops, w, lengths) {
		r.MMU = append(r.MMU, Utilization{WindowNs: u.Window, Min: u.Min, Pauses: alone[i].Min})
	}
	if a == nil {
		for _, what := range []string{"threads", "safepoints", "stalls"} {
			r.NotAvailable[what] = without.Error()
		}
	} else if err := errors.Join(r.threads(a, w, pauses), r.stalls(a, w, stops)); err != nil {
		return err
	}
	r.causes(a, w)
	return nil
}

// stops are when the program stood still; where only the pauses are known, these.
func (r *Report) stops(a *session.Activity, pauses []activity.Span) []activity.Span {
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

func pausesOf(p gc.Pauses) Pauses {
	out := Pauses{Count: p.Count, TotalNs: p.Total, Share: p.Share}
	if p.Count > 0 {
		out.MeanNs, out.MinNs, out.MaxNs = &p.Mean, &p.Min, &p.Max
		out.P50Ns, out.P90Ns, out.P99Ns, out.P999Ns = &p.P50, &p.P90, &p.P99, &p.P999
	}
	return out
}

// threads adds what the collector's threads did.
func (r *Report) threads(a *session.Activity, w activity.Span, pauses []activity.Span) error {
	graphs, err := bottle.Compute(a.Threads, a.Stream(w.From, w.To), w)
	if err != nil {
		return err
	}
	t := &Threads{}
	for _, b := range graphs[0].Group(bottle.ByKind).Boxes {
		if b.Kind == activity.KindGC {
			t.Threads, t.WorkNs, t.TimeNs, t.Width = b.Threads, b.RunningNs, b.HeightNs, b.Width
		}
	}
	stopped, vm := activity.Union(pauses, w), units.Ns(0)
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
	t.Waited, err = WaitedIn(a, stopped)
	return err
}

// WaitedIn is how long the collector's threads were ready to run in pauses, which
// do not touch, and had no processor.
func WaitedIn(a *session.Activity, stopped []activity.Span) (sum units.Ns, err error) {
	if len(stopped) == 0 {
		return 0, nil
	}
	pauses := activity.Cover(stopped)
	err = a.Stream(stopped[0].From, stopped[len(stopped)-1].To)(func(s activity.Slice) error {
		if s.State == activity.Runnable && a.Threads[s.Thread].Kind == activity.KindGC {
			sum += pauses.In(s.From, s.To)
		}
		return nil
	})
	return sum, err
}
