package summary

import (
	"slices"

	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// metric is a metric of the session; its index in the builder's list is the
// granularity.Metric.
type metric struct {
	name, unit string // of further metrics
	asked      bool   // the session set out to measure it: an empty distribution is reported, too
	columns    store.Columns
	values     func(*session.Chunk) []units.Ns // nil: a part lacks the column
}

// metricsOf lists the metrics of a source: the times, the further metrics, each
// inclusive and self, and the queue time.
func metricsOf(src *Source) []metric {
	m := &src.Manifest
	wall, cpu := slices.Contains(m.Metrics, "wall"), slices.Contains(m.Metrics, "cpu")
	list := []metric{
		granularity.Wall:     {asked: wall, columns: store.ExecutionWall, values: func(c *session.Chunk) []units.Ns { return c.WallNs }},
		granularity.CPU:      {asked: cpu, columns: store.ExecutionCPU, values: func(c *session.Chunk) []units.Ns { return c.CPUNs }},
		granularity.SelfWall: {asked: wall, columns: store.ExecutionSelfWall, values: func(c *session.Chunk) []units.Ns { return c.SelfWallNs }},
		granularity.SelfCPU:  {asked: cpu, columns: store.ExecutionSelfCPU, values: func(c *session.Chunk) []units.Ns { return c.SelfCPUNs }},
	}
	for k, x := range m.Extra {
		asked := slices.Contains(m.Metrics, x.Name)
		list = append(list,
			metric{x.Column, x.Unit, asked, store.ExecutionExtra(k), func(c *session.Chunk) []units.Ns { return nth(c.Extra, k) }},
			metric{"self_" + x.Column, x.Unit, asked, store.ExecutionSelfExtra(k), func(c *session.Chunk) []units.Ns { return nth(c.SelfExtra, k) }})
	}
	if src.Queues {
		list = append(list, metric{granularity.QueueName, "ns", false, store.ExecutionQueue, func(c *session.Chunk) []units.Ns { return c.QueueNs }})
	}
	return list
}

func nth(columns [][]units.Ns, k int) []units.Ns {
	if k >= len(columns) {
		return nil
	}
	return columns[k]
}

// queuesKnown reports whether queue times were recorded, one by one or in summaries.
func queuesKnown(m *store.Manifest) bool {
	return m.Rows[store.Submissions.String()] > 0 || m.Submissions != nil && m.Submissions.Summarised > 0
}

// further are the columns of the further metrics in a chunk.
func (b *builder) further(c *session.Chunk) [][]units.Ns {
	var columns [][]units.Ns
	for _, m := range b.metrics[granularity.NMetrics:] {
		columns = append(columns, m.values(c))
	}
	return columns
}

// row puts the values of execution i into to.
func row(columns [][]units.Ns, i int, to []units.Ns) {
	for k, column := range columns {
		to[k] = units.NotMeasured
		if i < len(column) {
			to[k] = column[i]
		}
	}
}

// furtherOf is the place of a metric of a summary among the further ones, if the
// session has it.
func (b *builder) furtherOf(m wire.Metric) (int, bool) {
	further := b.metrics[granularity.NMetrics:]
	if m == wire.MetricQueue {
		i := slices.IndexFunc(further, func(x metric) bool { return x.name == granularity.QueueName })
		return i, i >= 0
	}
	k, self, ok := m.Extra()
	return int(granularity.FurtherMetric(k, self) - granularity.NMetrics), ok && k < len(b.src.Manifest.Extra)
}

// name gives the distributions of further metrics their names and units.
func (b *builder) name(metrics granularity.Metrics) {
	for m, d := range metrics {
		if m.Further() {
			d.Name, d.Unit = b.metrics[m].name, b.metrics[m].unit
			metrics[m] = d
		}
	}
}

// addMore adds the self parts of n further metrics to the thread's sums.
func (t *threadGroup) addMore(n int, of func(k int) units.Ns) {
	for k := range n {
		if k >= len(t.more) {
			t.more = append(t.more, 0)
		}
		if v := of(k); v.Measured() {
			t.more[k] += v
		}
	}
}
