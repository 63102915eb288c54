package granularity

import (
	"fmt"
	"strings"
)

// Metric names one kind of work of an execution. It indexes every list of work.
// A session has the first two metrics, each total and self; then, in its own
// order, bytes allocated, hardware events and the queue time. Their values have
// the type units.Ns whatever their unit is.
type Metric int

// The metrics of every session, in nanoseconds. Self metrics have the nested
// executions on the same thread taken out: they add up to the total without
// counting twice.
const (
	Wall     Metric = iota // end - start
	CPU                    // CPU time of the thread between start and end
	SelfWall               // Wall less the Wall of directly nested executions
	SelfCPU                // CPU less the CPU of directly nested executions
	named                  // the others have their names from the session
)

// MetricOf is the number of the metric at index k of a session's list: 0 is wall
// time, 1 CPU time.
func MetricOf(k int, self bool) Metric {
	m := Metric(2 * k)
	if m < named {
		m /= 2
	}
	switch {
	case !self:
		return m
	case m < SelfWall:
		return m + SelfWall
	}
	return m + 1
}

// IsSelf reports whether m is a self metric.
func (m Metric) IsSelf() bool {
	if m < named {
		return m >= SelfWall
	}
	return m%2 == 1
}

// Self is the self metric of m: Wall gives SelfWall, CPU gives SelfCPU.
func (m Metric) Self() Metric {
	switch {
	case m.IsSelf():
		return m
	case m < named:
		return m + SelfWall
	}
	return m + 1
}

// Total is the metric of which m is the self metric: SelfWall gives Wall.
func (m Metric) Total() Metric {
	switch {
	case !m.IsSelf():
		return m
	case m < named:
		return m - SelfWall
	}
	return m - 1
}

// String is the metric's name as it stands in JSON, "self_cpu_ns".
func (m Metric) String() string {
	if m >= named {
		return fmt.Sprintf("metric%d", int(m))
	}
	return [named]string{"wall_ns", "cpu_ns", "self_wall_ns", "self_cpu_ns"}[m]
}

// Label is the metric in words for an axis, "self CPU time".
func (m Metric) Label() string {
	if m == CPU || m == SelfCPU {
		return strings.ReplaceAll(words(m.String()), "cpu", "CPU")
	}
	return words(m.String())
}

// words is the name of a metric in words.
func words(name string) string {
	if time, ok := strings.CutSuffix(name, "_ns"); ok {
		name = time + " time"
	}
	return strings.ReplaceAll(name, "_", " ")
}
