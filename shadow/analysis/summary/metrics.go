package summary

import (
	"slices"

	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// metric is a metric of the session, total or self. Its index in metrics.list is the
// granularity.Metric.
type metric struct {
	of         *session.Metric
	self       bool
	name, unit string // empty of wall and CPU time, which granularity names
	always     bool   // reported even if no execution has a value
	columns    store.Columns
	onWire     wire.Metric
}

// metrics are the metrics of a source.
type metrics struct {
	session []session.Metric
	list    []metric // by granularity.Metric
	self    []granularity.Metric
}

// metricsOf lists the metrics of a source, with queue time and delay if the session has submissions.
func metricsOf(src *Source) *metrics {
	m := &metrics{session: session.MetricsOf(&src.Manifest)}
	m.session = slices.DeleteFunc(m.session, func(x session.Metric) bool { return x.Self == 0 && !x.Measured })
	for k := range m.session {
		of := &m.session[k]
		always := of.Measured
		switch {
		case of.Self == 0:
			always = false
		case k == 0:
			always = slices.Contains(src.Manifest.Metrics, of.Name)
		}
		m.set(granularity.MetricOf(k, false), metric{of: of, always: always, columns: of.Total, onWire: of.SummaryTotal})
		if of.Self != 0 {
			m.set(granularity.MetricOf(k, true), metric{of: of, self: true, always: always, columns: of.Self, onWire: of.SummarySelf})
		}
	}
	return m
}

// set adds a metric to the list and names it, unless granularity does.
func (m *metrics) set(at granularity.Metric, x metric) {
	switch {
	case at <= granularity.SelfCPU:
	case x.of.Self == 0:
		x.name, x.unit = x.of.Name+"_"+x.of.Unit, x.of.Unit // granularity.QueueName
	case x.self:
		x.name, x.unit = "self_"+x.of.Name, x.of.Unit
	default:
		x.name, x.unit = x.of.Name, x.of.Unit
	}
	if x.self {
		m.self = append(m.self, at)
	}
	if missing := int(at) + 1 - len(m.list); missing > 0 {
		m.list = append(m.list, make([]metric, missing)...)
	}
	m.list[at] = x
}

// count is the number of metrics.
func (m *metrics) count() granularity.Metric { return granularity.Metric(len(m.list)) }

// values is the column of the metric in c; nil where a part lacks it.
func (x *metric) values(c *session.Chunk) []units.Ns {
	if x.of == nil { // the self form of a metric that has none
		return nil
	}
	total, self := x.of.Values(c)
	if x.self {
		return self
	}
	return total
}

// ofSummary is the metric of a measure in a summary, if the session has it.
func (m *metrics) ofSummary(on wire.Metric) (granularity.Metric, bool) {
	i := slices.IndexFunc(m.list, func(x metric) bool { return x.onWire == on })
	return granularity.Metric(i), i >= 0
}

// name gives the distributions of the session's own metrics their names and units.
func (m *metrics) name(to granularity.Metrics) {
	for at, d := range to {
		d.Name, d.Unit = m.list[at].name, m.list[at].unit
		to[at] = d
	}
}
