// Package explain says in sentences what moves with a metric of a session: which monitors changed with it, what came
// first, and what to try. Package granularity/vertical computes it; the sentences are in text.go, the remedies in remedy.go.
package explain

import (
	"math"
	"slices"

	"stackagent/granularity/activity"
	analysis "stackagent/granularity/vertical"
	"stackagent/hpc/monitor"
	"stackagent/internal/units"
	"stackagent/shadow/metric"
	"stackagent/shadow/vertical"
)

// Profile is a session's table with what metrics need.
type Profile struct {
	Table   *vertical.Table
	Metrics *metric.Set
	Start   units.MonoNs // of the session: times are counted from it

	monitors []analysis.Series
}

// New is the profile of a table.
func New(t *vertical.Table, start units.MonoNs) *Profile {
	s := &metric.Samples{Edges: t.Edges, Absent: t.NotAvailable}
	for i := range t.Series {
		d := &t.Series[i]
		x := metric.Series{Name: d.Name, Unit: d.Unit, Layer: string(d.Layer), Doc: d.Doc, Counter: d.Kind == monitor.Counter, Values: d.Values}
		if !x.Counter && ofProgram(d.Name) && countsUp(d.Values) {
			x.Counter, x.Values = true, growthOf(d.Values)
		}
		s.Series = append(s.Series, x)
	}
	return &Profile{Table: t, Metrics: metric.New(s), Start: start}
}

// ofProgram reports whether a monitor is a value of the program, of which nobody says what it is.
func ofProgram(name string) bool { return in([]string{"app.field.", "app.returns", "app.jmx."}, name) }

// fewSteps are too few rises to tell a counter from a level.
const fewSteps = 10

// countsUp reports whether a value of the program, of which nobody says what it is, is a counter: it only grows, and often.
func countsUp(values []float64) bool {
	steps, last := 0, math.NaN()
	for _, v := range values {
		switch {
		case math.IsNaN(v):
			continue
		case v < last:
			return false
		case v > last:
			steps++
		}
		last = v
	}
	return steps >= fewSteps
}

// growthOf is by how much a total grew in each sample; NaN in the first, and where it was not measured.
func growthOf(totals []float64) []float64 {
	out, last := make([]float64, len(totals)), math.NaN()
	for i, v := range totals {
		out[i] = v - last
		if !math.IsNaN(v) {
			last = v
		}
	}
	return out
}

// Monitors are all series of the table as rates and levels, in its order.
func (p *Profile) Monitors() []analysis.Series {
	if p.monitors == nil {
		p.monitors = make([]analysis.Series, p.Metrics.Len())
		for i := range p.monitors {
			p.monitors[i] = seriesOf(p.Metrics.Monitor(i))
		}
	}
	return p.monitors
}

func seriesOf(m *metric.Metric) analysis.Series {
	return analysis.Series{Name: m.Name, Unit: m.Unit, Layer: m.Layer, Values: m.Values}
}

// Samples are those that overlap a span of time.
func (p *Profile) Samples(s activity.Span) analysis.Range {
	edges := p.Table.Edges
	from, _ := slices.BinarySearch(edges, s.From+1)
	to, _ := slices.BinarySearch(edges, s.To)
	return analysis.Range{From: max(from-1, 0), To: max(min(to, p.Table.Len()), 0)}
}

// Span is the time of a range of samples.
func (p *Profile) Span(r analysis.Range) activity.Span {
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

// number is a value for JSON, where what is not known is null.
func number(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
