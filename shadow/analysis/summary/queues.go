package summary

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/session/callsite"
	"stackagent/shadow/session/unit"
)

// queues fills in the waiting units over time, by executor, for the executors with the
// most.
func (a *analysis) queues(f *Figures, most int) error {
	e, err := a.origins()
	if err != nil {
		return err
	}
	u, err := unit.Of(a.s)
	if err != nil {
		return err
	}
	f.Waiting = granularity.NewSeries(f.Grid)
	per := map[string]*granularity.Series{}
	of := func(label string) *granularity.Series {
		if per[label] == nil {
			per[label] = granularity.NewSeries(f.Grid)
		}
		return per[label]
	}
	err = u.Each(func(w *unit.Unit) error {
		if !w.Queue.Measured() {
			return nil
		}
		from := w.Start - units.MonoNs(w.Queue)
		f.Waiting.Add(from, w.Start)
		of(e.ExecutorOn(e.At(e.OfUnit(w, callsite.ByExecutor)), e.ThreadName(w.Thread))).Add(from, w.Start)
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading the units of session %s: %w", a.s.Manifest.Session, err)
	}
	err = summarisedQueues(a.s, u, func(x *session.Summary, m *session.Measure) {
		by := of(e.ExecutorOfSummary(x))
		measured(x, m).Like(f.Grid.Width, func(n int64, wait units.Ns) {
			f.Waiting.SpreadWaits(x.FromNs, x.Until(), n, wait)
			by.SpreadWaits(x.FromNs, x.Until(), n, wait)
		})
	})
	if err != nil {
		return fmt.Errorf("reading the summaries of session %s: %w", a.s.Manifest.Session, err)
	}
	labels := slices.SortedFunc(maps.Keys(per), func(a, b string) int {
		return cmp.Or(cmp.Compare(per[b].StartedTotal(), per[a].StartedTotal()), cmp.Compare(a, b))
	})
	for _, l := range labels[:min(len(labels), most)] {
		f.Queues = append(f.Queues, ClassSeries{Label: l, Series: per[l]})
	}
	return nil
}

// summarisedQueues calls use with the summarised queue times of classes that count as
// units. Summaries do not record the executor.
func summarisedQueues(s *session.Session, u *unit.Reader, use func(*session.Summary, *session.Measure)) error {
	return s.Summaries(func(x *session.Summary) error {
		for i := range x.Measures {
			if m := &x.Measures[i]; m.Metric == wire.MetricQueue && m.Count > 0 && u.Counts(x.Class) {
				use(x, m)
			}
		}
		return nil
	})
}
