// Package granularity turns executions of tasks into figures about how fine
// the tasks are: distributions, box plots, cumulative distributions, counts
// over time, hotspots by class or thread, and findings in sentences.
//
// The granularity of an execution is its work in one metric. The notion, the
// self work (nested executions taken out, so that sums do not count twice) and
// the figures follow tgp, the task granularity profiler (Rosales, Rosà,
// Binder). Everything here is pure: no input or output, no clock. Times and
// work are nanoseconds.
package granularity

import "fmt"

// Metric names one kind of work of an execution.
type Metric int

// The work metrics, all in nanoseconds. Self metrics have the nested
// executions on the same thread taken out; they add up to the total without
// counting twice.
const (
	Wall     Metric = iota // end - start
	CPU                    // CPU time of the thread between start and end
	SelfWall               // Wall less the Wall of directly nested executions
	SelfCPU                // CPU less the CPU of directly nested executions
	NMetrics
)

// Further metrics of a session (bytes allocated, hardware events) are numbered
// from NMetrics on by their place in it: FurtherMetric. Their values are no
// nanoseconds but bytes or counts, and their names are the session's; a
// Distribution has them.

// FurtherMetric is the further metric at place k of a session, inclusive or self.
func FurtherMetric(k int, self bool) Metric {
	m := NMetrics + 2*Metric(k)
	if self {
		m++
	}
	return m
}

// Further reports whether m is a further metric.
func (m Metric) Further() bool { return m >= NMetrics }

var metricNames = [NMetrics]string{"wall_ns", "cpu_ns", "self_wall_ns", "self_cpu_ns"}

// String is the metric's name as it stands in JSON, "self_cpu_ns".
func (m Metric) String() string {
	if m.Further() {
		return fmt.Sprintf("metric%d", int(m))
	}
	return metricNames[m]
}

// Label is the metric in words for an axis, "self CPU time".
func (m Metric) Label() string {
	if m.Further() {
		return m.String()
	}
	return [NMetrics]string{"wall time", "CPU time", "self wall time", "self CPU time"}[m]
}

// Self is the self metric of m: Wall gives SelfWall, CPU gives SelfCPU.
func (m Metric) Self() Metric {
	switch m {
	case Wall:
		return SelfWall
	case CPU:
		return SelfCPU
	}
	if m.Further() && (m-NMetrics)%2 == 0 {
		return m + 1
	}
	return m
}
