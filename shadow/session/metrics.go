package session

import (
	"slices"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// Metric is a work metric of a session: how much of it an execution used between start and end, nested executions
// included (total) and excluded (self). All metrics have the type units.Ns, whatever their unit.
type Metric struct {
	Name     string // "wall", "cpu", "queue", "delay", or the column of an extra metric: "alloc_bytes"
	Unit     string // "ns", "bytes"; "" a count
	How      string // how it is read, of extra metrics
	Measured bool   // by the agent of this session

	Total, Self store.Columns // to ask ScanExecutions for; Self 0: the metric has no self value

	// SummaryTotal and SummarySelf are its numbers in the measures of summaries.
	SummaryTotal, SummarySelf wire.Metric

	chunk func(*Chunk) (total, self []units.Ns)
	task  func(*Task) (total, self units.Ns)
}

// Values are the columns of the metric in c; nil where they were not asked for.
func (m *Metric) Values(c *Chunk) (total, self []units.Ns) { return m.chunk(c) }

// Of is what an execution used of the metric.
func (m *Metric) Of(t *Task) (total, self units.Ns) { return m.task(t) }

// FirstExtra is the index of the first extra metric in the list of Metrics.
const FirstExtra = 2

// Metrics are the metrics of the session: wall and CPU time, the extra metrics in the order of the manifest, queue time and delay.
func (s *Session) Metrics() []Metric { return MetricsOf(&s.Manifest) }

// MetricsOf are the metrics of the session with that manifest.
func MetricsOf(m *store.Manifest) []Metric {
	list := []Metric{
		{Name: "wall", Unit: "ns", Measured: true, Total: store.ExecutionWall, Self: store.ExecutionSelfWall,
			SummaryTotal: wire.MetricWall, SummarySelf: wire.MetricSelfWall,
			chunk: func(c *Chunk) ([]units.Ns, []units.Ns) { return c.WallNs, c.SelfWallNs },
			task:  func(t *Task) (units.Ns, units.Ns) { return t.WallNs, t.SelfWallNs }},
		{Name: "cpu", Unit: "ns", Measured: slices.Contains(m.Metrics, "cpu"), Total: store.ExecutionCPU, Self: store.ExecutionSelfCPU,
			SummaryTotal: wire.MetricCPU, SummarySelf: wire.MetricSelfCPU,
			chunk: func(c *Chunk) ([]units.Ns, []units.Ns) { return c.CPUNs, c.SelfCPUNs },
			task:  func(t *Task) (units.Ns, units.Ns) { return t.CPUNs, t.SelfCPUNs }},
	}
	for k, x := range m.Extra {
		list = append(list, extraMetric(k, x, slices.Contains(m.Metrics, x.Name)))
	}
	submissions := m.Rows[store.Submissions.String()] > 0 || m.Submissions != nil && m.Submissions.Summarised > 0
	return append(list, Metric{
		Name: "queue", Unit: "ns", Measured: submissions, Total: store.ExecutionQueue, SummaryTotal: wire.MetricQueue,
		chunk: func(c *Chunk) ([]units.Ns, []units.Ns) { return c.QueueNs, nil },
		task:  func(t *Task) (units.Ns, units.Ns) { return t.QueueNs, units.NotMeasured },
	}, Metric{
		Name: "delay", Unit: "ns", Measured: submissions, Total: store.ExecutionDelay, SummaryTotal: wire.MetricDelay,
		chunk: func(c *Chunk) ([]units.Ns, []units.Ns) { return c.DelayNs, nil },
		task:  func(t *Task) (units.Ns, units.Ns) { return t.DelayNs, units.NotMeasured },
	})
}

// extraMetric is entry k of Manifest.Extra.
func extraMetric(k int, x store.ExtraMetric, measured bool) Metric {
	return Metric{
		Name: x.Column, Unit: x.Unit, How: x.How, Measured: measured,
		Total: store.ExecutionExtra(k), Self: store.ExecutionSelfExtra(k),
		SummaryTotal: wire.MetricOfExtra(k, false), SummarySelf: wire.MetricOfExtra(k, true),
		chunk: func(c *Chunk) (total, self []units.Ns) { return column(c.Extra, k), column(c.SelfExtra, k) },
		task:  func(t *Task) (total, self units.Ns) { return value(t.Extra, k), value(t.SelfExtra, k) },
	}
}

func column(columns [][]units.Ns, k int) []units.Ns {
	if k >= len(columns) {
		return nil
	}
	return columns[k]
}

func value(list []units.Ns, k int) units.Ns {
	if k >= len(list) {
		return units.NotMeasured
	}
	return list[k]
}
