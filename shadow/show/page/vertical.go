package page

import (
	"math"

	"stackagent/granularity"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/explain"
	"stackagent/shadow/analysis/timeseries"
)

// Limits of the vertical profile in a page.
const (
	mostMonitors = 300
	mostSamples  = 6000 // by which phases are found
	unmeasured   = math.MaxUint16
	throughput   = "task_throughput"
)

// vertical fills in the monitors over time, and the phases of the throughput with what explains them.
func (b *builder) vertical() error {
	b.progress("reading the vertical profile")
	from, to := b.sum.StartNs, b.sum.EndNs
	o := timeseries.Options{From: from, To: to}
	if each := units.Ns(to-from) / mostSamples; each > 10e6 {
		o.Every = each
	}
	t, err := timeseries.Load(b.s, o)
	if err != nil {
		b.missing("vertical", text.OneLine(err.Error()))
		return nil
	}
	p := explain.New(t, b.axis.from)
	v := &Vertical{Monitors: []Monitor{}, Phases: []Phase{}, Samples: t.Len(), SampleNs: float64(p.Lag(t.Len())) / float64(max(t.Len(), 1))}
	if t.Interval == 0 {
		v.Note = sentence(t.NotAvailable["samples"])
	}
	grid := b.axis.grid(buckets)
	for i, s := range p.Monitors() {
		values := rebin(s.Values, t.Edges, grid)
		m := Monitor{Name: sentence(s.Name), Layer: s.Layer, Unit: s.Unit, Doc: sentence(t.Series[i].Doc)}
		switch changed := m.take(values); {
		case !changed:
			v.Unchanged++
		case len(v.Monitors) == mostMonitors:
			v.Omitted++
		default:
			v.Monitors = append(v.Monitors, m)
		}
	}
	if m, err := p.Metrics.Metric(throughput); err == nil {
		for _, phase := range p.Phases(m) {
			v.Phases = append(v.Phases, phaseOf(&phase))
		}
	}
	b.data.Vertical = v
	return nil
}

// take stores the values as parts of their range, and reports whether there is more than one of them.
func (m *Monitor) take(values []float64) bool {
	m.Low, m.High = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) {
			m.Low, m.High = min(m.Low, v), max(m.High, v)
		}
	}
	if !(m.High > m.Low) || math.IsInf(m.High-m.Low, 0) {
		return false
	}
	for _, v := range values {
		part := uint16(unmeasured)
		if !math.IsNaN(v) {
			part = uint16(math.Round((v - m.Low) / (m.High - m.Low) * (unmeasured - 1)))
		}
		m.Values = append(m.Values, part)
	}
	return true
}

// rebin is the mean of samples in each bucket of a grid, weighted by how long each lies in it.
func rebin(values []float64, edges []units.MonoNs, g granularity.Grid) []float64 {
	out := make([]float64, g.N)
	i := 0
	for n := range out {
		from, to := g.Start(n), g.Start(n+1)
		for i+1 < len(values) && edges[i+1] <= from {
			i++
		}
		sum, known := 0.0, 0.0
		for k := i; k < len(values) && edges[k] < to; k++ {
			if w := float64(min(edges[k+1], to) - max(edges[k], from)); w > 0 && !math.IsNaN(values[k]) {
				sum, known = sum+values[k]*w, known+w
			}
		}
		out[n] = sum / known // NaN: none is known
	}
	return out
}

func phaseOf(p *explain.Phase) Phase {
	out := Phase{From: float64(p.FromNs), To: float64(p.ToNs), Sentence: sentence(p.Sentence), Similar: []Range{}, Causes: []Cause{}}
	for _, s := range p.Similar {
		out.Similar = append(out.Similar, Range{float64(s.FromNs), float64(s.ToNs)})
	}
	const most = 12
	for _, c := range p.Causes[:min(len(p.Causes), most)] {
		to := Cause{Monitor: sentence(c.Monitor), Layer: c.Layer, Before: formatted(c.Before, c.Unit), During: formatted(c.During, c.Unit), Change: c.Change, P: 1, Group: []string{}}
		if c.LagNs != nil {
			to.Lag = units.FormatNs(*c.LagNs)
		}
		if c.P != nil {
			to.P = *c.P
		}
		for _, g := range c.Group[:min(len(c.Group), most)] {
			to.Group = append(to.Group, sentence(g))
		}
		out.Causes = append(out.Causes, to)
	}
	return out
}

func formatted(v *float64, unit string) string {
	if v == nil {
		return ""
	}
	return explain.Format(*v, unit)
}
