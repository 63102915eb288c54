// Package rollup condenses sessions to sums for each five minutes, which stay when the sessions have gone, and keeps
// them in an object store as Parquet files in Hive partitions that SQL engines read too.
package rollup

import "time"

// Window is the length of time that a row of level 0 sums up.
const Window = 5 * time.Minute

// Row sums up one metric of what one JVM did in a window: of the executions that ended in it, of one class, executor and
// call site; of its waits, its collections, or its losses. Histograms, counts and sums of rows add up.
type Row struct {
	WindowUnixNs int64 // its begin, Unix nanoseconds
	Service      string
	Version, Env string
	Instance     string
	Session      string // its folder in the store; "": of several
	Labels       string // the free ones, as sorted JSON; "": none
	Executor     string // "": none, or not known
	Class        string
	Site         string
	Platform     bool   // the class is the JDK's own
	Metric       string // "executions", "threw", "wall_ns", "self_wall_ns", "cpu_ns", "self_cpu_ns", "queue_ns", "response_ns", "wait_ns:KIND", "gc_ns", "lost_events", ...
	Count        int64  // values; of "executions", "threw" and losses, how many there were
	Sum          int64  // of the values; 0 where only Count has a meaning
	Min, Max     int64
	// The histogram of the values, by index of internal/loglinear, ascending; empty where only Count has a meaning.
	Index   []int32
	Buckets []int64
}
