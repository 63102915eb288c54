// Package granularity turns executions of tasks into figures about how fine
// the tasks are: distributions, box plots, cumulative distributions, counts
// over time, and hotspots by class or thread.
//
// The granularity of an execution is its work in one metric. The notion, the
// self work (nested executions taken out, so that sums do not count twice) and
// the figures follow tgp, the task granularity profiler (Rosales, Rosà,
// Binder). Everything here is pure: no input or output, no clock. Times and
// work are nanoseconds.
package granularity
