// Package explain says in sentences what moves with a metric of a session: which monitors changed with it, what came
// first, and what to try. Package granularity/vertical computes it; the sentences are in text.go, the remedies in remedy.go.
package explain

import (
	"math"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/granularity/vertical"
	"stackagent/hpc/monitor"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/formula"
	"stackagent/shadow/analysis/timeseries"
)

// Profile is a session's table with what metrics need.
type Profile struct {
	Table   *timeseries.Table
	Metrics *formula.Set
	Start   units.MonoNs // of the session: times are counted from it

	monitors []vertical.Series
}

// New is the profile of a table.
func New(t *timeseries.Table, start units.MonoNs) *Profile {
	s := &formula.Samples{Edges: t.Edges, Absent: t.NotAvailable}
	for i := range t.Series {
		d := &t.Series[i]
		x := formula.Series{Name: d.Name, Unit: d.Unit, Layer: string(d.Layer), Doc: d.Doc, Counter: d.Kind == monitor.Counter, Values: d.Values, Ends: d.Ends}
		s.Series = append(s.Series, x)
	}
	return &Profile{Table: t, Metrics: formula.New(s), Start: start}
}

// Monitors are all series of the table as rates and levels, in its order.
func (p *Profile) Monitors() []vertical.Series {
	if p.monitors == nil {
		p.monitors = make([]vertical.Series, p.Metrics.Len())
		for i := range p.monitors {
			p.monitors[i] = seriesOf(p.Metrics.Monitor(i))
			if ns := p.Table.Series[i].Dated; ns > 0 {
				p.monitors[i].Coarse = int(math.Ceil(float64(ns) / float64(max(p.Lag(1), 1))))
			}
		}
	}
	return p.monitors
}

func seriesOf(m *formula.Metric) vertical.Series {
	return vertical.Series{Name: m.Name, Unit: m.Unit, Layer: m.Layer, Values: m.Values}
}

// Samples are those that overlap a span of time.
func (p *Profile) Samples(s activity.Span) vertical.Range {
	edges := p.Table.Edges
	from, _ := slices.BinarySearch(edges, s.From+1)
	to, _ := slices.BinarySearch(edges, s.To)
	return vertical.Range{From: max(from-1, 0), To: max(min(to, p.Table.Len()), 0)}
}

// Span is the time of a range of samples.
func (p *Profile) Span(r vertical.Range) activity.Span {
	if r.Len() == 0 {
		return activity.Span{}
	}
	return activity.Span{From: p.Table.Edges[r.From], To: p.Table.Edges[r.To]}
}

// Lag is how long n samples last, on average.
func (p *Profile) Lag(n int) units.Ns {
	if p.Table.Len() == 0 {
		return 0
	}
	return units.Ns(n) * units.Ns(p.Table.Edges[p.Table.Len()]-p.Table.Edges[0]) / units.Ns(p.Table.Len())
}
