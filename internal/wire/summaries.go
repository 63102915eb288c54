package wire

import "stackagent/internal/histogram"

// Metric numbers a work metric in summaries. Numbers are for ever.
type Metric uint8

// The metrics.
const (
	MetricWall     Metric = 1 // sums and extremes in ticks
	MetricSelfWall Metric = 2 // sums and extremes in ticks
	MetricCPU      Metric = 3 // nanoseconds
	MetricSelfCPU  Metric = 4 // nanoseconds
	MetricQueue    Metric = 5 // from the latest submission, or when the task was due if that is later, to the start; sums and extremes in ticks
	MetricResponse Metric = 6 // from then to the end; sums and extremes in ticks
	MetricDelay    Metric = 7 // from the submission to when the task was due, of tasks for which a delay was asked; sums and extremes in ticks

	metricExtra Metric = 16 // + 2k: extra metric k; + 2k + 1: of this, the execution's own
)

// MetricOfExtra is the metric of Hello.Extra[k], inclusive or self.
func MetricOfExtra(k int, self bool) Metric {
	m := metricExtra + 2*Metric(k)
	if self {
		m++
	}
	return m
}

// Extra finds which entry of Hello.Extra m is; ok is false for the others.
func (m Metric) Extra() (k int, self, ok bool) {
	if m < metricExtra || m >= metricExtra+2*MaxExtra {
		return 0, false, false
	}
	return int(m-metricExtra) / 2, (m-metricExtra)%2 == 1, true
}

// InTicks reports whether sums and extremes of m travel in ticks.
func (m Metric) InTicks() bool {
	return m == MetricWall || m == MetricSelfWall || m >= MetricQueue && m <= MetricDelay
}

// known reports whether a reader knows m.
func (m Metric) known() bool {
	_, _, extra := m.Extra()
	return extra || m >= MetricWall && m <= MetricDelay
}

// CreationEvents is what the summary stands for in Totals.Creations.
func (s *Summary) CreationEvents() uint64 { return s.Creations + s.Failed + s.Withdrawn }

// SubmissionEvents is what the summary stands for in Totals.Submissions.
func (s *Summary) SubmissionEvents() uint64 { return s.Submissions + s.Rejected + s.Cancelled }

// Measure is one metric of a summary's executions.
type Measure struct {
	Metric   Metric
	Count    uint64             // executions measured: the sum of the buckets; does not travel
	Sum      uint64             // exact; ticks where Metric.InTicks, nanoseconds of CPU time, else in the metric's own unit
	Min, Max uint64             // extremes over the whole time that the summary's cell has counted; same unit as Sum
	Buckets  []histogram.Bucket // of nanoseconds or the metric's own unit, ascending by index, none empty
}
