package summary

import (
	"slices"

	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// metrics are the metrics of the session: the times, then its further ones.
func (b *builder) metrics() []granularity.Metric {
	list := make([]granularity.Metric, int(granularity.NMetrics)+2*len(b.src.Manifest.Extra))
	for i := range list {
		list[i] = granularity.Metric(i)
	}
	return list
}

// columnsOf are the columns that hold metric m.
func columnsOf(m granularity.Metric) store.Columns {
	if !m.Further() {
		return metricColumns[m]
	}
	k, self := place(m)
	if self {
		return store.ExecutionSelfExtra(k)
	}
	return store.ExecutionExtra(k)
}

// place is where in the session's list further metric m is.
func place(m granularity.Metric) (k int, self bool) {
	i := int(m - granularity.NMetrics)
	return i / 2, i%2 == 1
}

// more puts the further metrics of execution i of c into e, which keeps them.
func more(c *session.Chunk, i int, e []units.Ns) {
	for k := range len(e) / 2 {
		e[2*k], e[2*k+1] = at(c.Extra, k, i), at(c.SelfExtra, k, i)
	}
}

// at is a value of a column that may be missing in a part.
func at(columns [][]units.Ns, k, i int) units.Ns {
	if k >= len(columns) || i >= len(columns[k]) {
		return units.NotMeasured
	}
	return columns[k][i]
}

// column is the column of further metric m of c, nil where it is missing.
func column(c *session.Chunk, m granularity.Metric) []units.Ns {
	k, self := place(m)
	columns := c.Extra
	if self {
		columns = c.SelfExtra
	}
	if k >= len(columns) {
		return nil
	}
	return columns[k]
}

// furtherOf tells which further metric one of the wire is, if the session has it.
func (b *builder) furtherOf(m wire.Metric) (int, bool) {
	extra := b.src.Manifest.Extra
	k, self, ok := m.Extra()
	if m == wire.MetricQueue { // see withQueue
		k = slices.IndexFunc(extra, func(x store.ExtraMetric) bool { return x.Column == granularity.QueueName })
		ok = k >= 0
	}
	return int(granularity.FurtherMetric(k, self) - granularity.NMetrics), ok && k < len(extra)
}

// name gives the distributions of further metrics their names and units.
func (b *builder) name(metrics granularity.Metrics) {
	for m, d := range metrics {
		if !m.Further() {
			continue
		}
		k, self := place(m)
		if k >= len(b.src.Manifest.Extra) {
			delete(metrics, m) // damaged: nobody knows what it is
			continue
		}
		x := b.src.Manifest.Extra[k]
		d.Name, d.Unit = x.Column, x.Unit
		if self {
			d.Name = "self_" + x.Column
		}
		metrics[m] = d
	}
}

// asked tells whether the session set out to measure further metric m.
func (b *builder) asked(m granularity.Metric) bool {
	k, _ := place(m)
	return k < len(b.src.Manifest.Extra) && slices.Contains(b.src.Manifest.Metrics, b.src.Manifest.Extra[k].Name)
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
