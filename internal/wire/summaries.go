package wire

import (
	"stackagent/internal/loglinear"
	"stackagent/internal/units"
)

// Metric numbers a work metric in summaries. Numbers are for ever.
type Metric uint8

// The metrics.
const (
	MetricWall     Metric = 1 // sums and extremes in ticks
	MetricSelfWall Metric = 2 // sums and extremes in ticks
	MetricCPU      Metric = 3 // nanoseconds
	MetricSelfCPU  Metric = 4 // nanoseconds
	MetricQueue    Metric = 5 // from the latest submission to the start; sums and extremes in ticks

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

// Extra tells which entry of Hello.Extra m is; ok is false for wall, CPU and queue time.
func (m Metric) Extra() (k int, self, ok bool) {
	if m < metricExtra || m >= metricExtra+2*MaxExtra {
		return 0, false, false
	}
	return int(m-metricExtra) / 2, (m-metricExtra)%2 == 1, true
}

// InTicks tells whether sums and extremes of m travel in ticks.
func (m Metric) InTicks() bool { return m == MetricWall || m == MetricSelfWall || m == MetricQueue }

// known tells whether a reader knows m.
func (m Metric) known() bool {
	_, _, extra := m.Extra()
	return extra || m >= MetricWall && m <= MetricQueue
}

// SummaryFlags qualify a summary.
type SummaryFlags uint16

// SummaryVirtual says that the tasks ran on virtual threads; Thread is then
// the carrier, or 0 where it is not known.
const SummaryVirtual SummaryFlags = 1

// Summary stands for the executions and creations of one class in one thread
// between two moments that were too many to be told one by one. An execution
// or creation is either in a summary or a record, never both. Counts are what
// was added since the summary before it of the same class, thread and flags.
type Summary struct {
	Class, Thread uint32
	Flags         SummaryFlags
	From, To      units.Ticks

	Executions     uint64
	First          uint64 // of these, first executions of a task whose creation was seen
	Threw          uint64
	Cut            uint64
	CreationUnseen uint64

	// The three are events of Totals.Creations each, as their records are: a
	// constructor that threw is counted in Creations, and again in Failed.
	Creations uint64 // successful or not
	Failed    uint64 // creations taken back: the constructor threw
	Withdrawn uint64 // creations taken back: the JVM's own thread objects

	// The three are events of Totals.Submissions each. Inner is part of Submissions.
	Submissions uint64 // without those rejected or cancelled
	Inner       uint64 // flag Inner
	Rejected    uint64
	Cancelled   uint64

	Measures []Measure // of the executions, a metric each, in the order of their numbers
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
	Buckets  []loglinear.Bucket // of nanoseconds or the metric's own unit, ascending by index, none empty
}

// ThreadLoss counts events of one thread that were lost after its record.
type ThreadLoss struct {
	Thread uint32
	Events uint64
}
