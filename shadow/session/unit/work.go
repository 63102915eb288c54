package unit

import (
	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// WorkColumns are the columns of metrics in chunks of executions, by
// granularity.Metric. One value is for one goroutine.
type WorkColumns struct {
	metrics []session.Metric
	columns [][]units.Ns
	absent  []units.Ns // the column of a metric that a chunk lacks
}

// NewWorkColumns takes the metrics in the order of session.Metrics.
func NewWorkColumns(metrics []session.Metric) *WorkColumns {
	w := &WorkColumns{metrics: metrics}
	for k := range metrics {
		last := granularity.MetricOf(k, metrics[k].Self != 0)
		for len(w.columns) <= int(last) {
			w.columns = append(w.columns, nil)
		}
	}
	return w
}

// Len is the number of metrics, self metrics included.
func (w *WorkColumns) Len() int { return len(w.columns) }

// Of returns the columns of c; the next call reuses them.
func (w *WorkColumns) Of(c *session.Chunk) [][]units.Ns {
	for k := range w.metrics {
		total, self := w.metrics[k].Values(c)
		w.columns[granularity.MetricOf(k, false)] = w.full(total, c.Len())
		if own := int(granularity.MetricOf(k, true)); own < len(w.columns) {
			w.columns[own] = w.full(self, c.Len()) // not measured if the metric has no self value
		}
	}
	return w.columns
}

// full is the column, or one of n values not measured where there is none.
func (w *WorkColumns) full(column []units.Ns, n int) []units.Ns {
	if len(column) >= n {
		return column
	}
	for len(w.absent) < n {
		w.absent = append(w.absent, units.NotMeasured)
	}
	return w.absent[:n]
}
