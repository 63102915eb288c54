package summary

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"stackagent/granularity"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/advice"
	"stackagent/shadow/origin"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
	"stackagent/shadow/unit"
)

// buildUnits condenses the units of work of the session instead of its executions.
func (a *analysis) buildUnits() (*Summary, error) {
	sum, err := a.inUnits()
	if err != nil {
		return nil, err
	}
	sum.facts.Note = sum.Units
	if !a.opts.Filter.Active() {
		return sum, a.advise(sum)
	}
	sum.Findings = advice.Find(&sum.facts)
	return sum, nil
}

// inUnits condenses the units, without advice about them.
func (a *analysis) inUnits() (*Summary, error) {
	u, err := a.units()
	if err != nil {
		return nil, err
	}
	names, err := a.named()
	if err != nil {
		return nil, err
	}
	sum, err := BuildFrom(unitSource(a.s, u, names), a.opts)
	if err != nil {
		return nil, err
	}
	sum.Units = u.Note(sum.Tasks.Summarised)
	if !a.opts.Shapes {
		return sum, nil
	}
	if err := a.queues(sum.Figures, max(a.opts.Classes, DefaultClasses)); err != nil {
		return nil, err
	}
	return sum, a.sites(sum)
}

// unitSource is the session with units as its executions.
func unitSource(s *session.Session, u *unit.Reader, names *origin.Names) Source {
	src := FromSession(s)
	src.Of = text.UnitsOfWork
	src.Executions = func(_ store.Columns, use func(int, *session.Chunk) error) error {
		return u.Chunks(unitClass(names), func(c *session.Chunk, group []uint32) error {
			of := *c
			of.Class = group
			return use(0, &of)
		})
	}
	src.Summaries, src.Counts = u.Summaries, u.ClassCounts
	if names != nil {
		name(&src, names, true)
	}
	return src
}

// sites fills in the rows by executor and by site.
func (a *analysis) sites(sum *Summary) error {
	if !unit.SubmissionsKnown(a.s) || unit.Recorded(&a.s.Manifest) > sitesLimit {
		return nil
	}
	of := *a
	of.opts = Options{Filter: a.opts.Filter, Units: true}
	for by, rows := range map[string]*[]granularity.Hotspot{origin.ByExecutor: &sum.Executors, origin.BySite: &sum.Sites} {
		grouped, err := of.byOrigin(by)
		if err != nil {
			return err
		}
		*rows = grouped.Rows
	}
	return nil
}

// queues fills in the waiting units over time, by executor, for the executors with the
// most.
func (a *analysis) queues(f *Figures, most int) error {
	e, err := a.origins()
	if err != nil {
		return err
	}
	u, err := a.units()
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
		of(e.ExecutorOn(e.At(e.OfUnit(w, origin.ByExecutor)), e.ThreadName(w.Thread))).Add(from, w.Start)
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading the units of session %s: %w", a.s.Manifest.Session, err)
	}
	err = summarisedQueues(a.s, u, func(x *session.Summary, m *session.Measure) {
		f.Waiting.Spread(x.FromNs, x.ToNs, int64(m.Count), m.SumNs)
		of(e.ExecutorOfSummary(x)).Spread(x.FromNs, x.ToNs, int64(m.Count), m.SumNs)
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
