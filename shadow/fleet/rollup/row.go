// Package rollup condenses sessions to sums for each five minutes, which stay when the sessions have gone, and keeps
// them in an object store as Parquet files in Hive partitions that SQL engines read too.
package rollup

import (
	"cmp"
	"math"
	"time"

	"stackagent/internal/histogram"
)

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
	Metric       string // see metrics.go
	Cell
}

// Cell sums up values.
type Cell struct {
	Count    int64 // values; of "executions", "threw" and losses, how many there were
	Sum      int64 // of the values; 0 where only Count has a meaning
	Min, Max int64
	// The histogram of the values, by index of internal/histogram; empty where only Count has a meaning.
	histogram.Counts[int32, int64]
}

// Compare orders rows as files hold them: by metric and class first, which questions choose, and by window last, so that
// neighbours differ little. What rows of a day leave out stands behind what they keep. Rows that compare equal are of the
// same thing and add up.
func Compare(a, b *Row) int {
	return cmp.Or(
		cmp.Compare(a.Metric, b.Metric), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Executor, b.Executor), cmp.Compare(a.Site, b.Site),
		compareBools(a.Platform, b.Platform), cmp.Compare(a.Service, b.Service), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Env, b.Env),
		cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.Labels, b.Labels), cmp.Compare(a.Session, b.Session),
		cmp.Compare(a.WindowUnixNs, b.WindowUnixNs))
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// Add adds the values of o, which it leaves unchanged. Sums that no integer holds stay at the largest.
func (c *Cell) Add(o *Cell) {
	c.moments(o.Count, o.Sum, o.Min, o.Max)
	c.Merge(&o.Counts)
}

func (c *Cell) moments(count, sum, least, most int64) {
	if count == 0 {
		return
	}
	if c.Count == 0 {
		c.Min, c.Max = least, most
	}
	c.Min, c.Max = min(c.Min, least), max(c.Max, most)
	c.Count, c.Sum = addUpTo(c.Count, count), addUpTo(c.Sum, sum)
}

func (c *Cell) bucket(i int, n int64) { c.Counts.Add(int32(i), n) }

func (c *Cell) value(v int64) {
	c.moments(1, v, v, v)
	c.bucket(histogram.Index(uint64(max(v, 0))), 1)
}

// Mean is NaN if there are no values.
func (c *Cell) Mean() float64 {
	if c.Count == 0 {
		return math.NaN()
	}
	return float64(c.Sum) / float64(c.Count)
}

// Quantile is the value at or below which a share q of the values lie, by nearest rank, within 0.8 %; NaN if the histogram
// does not hold all values.
func (c *Cell) Quantile(q float64) float64 {
	v, ok := c.Counts.Quantile(q, c.Min, c.Max)
	if !ok || c.Total() != c.Count {
		return math.NaN()
	}
	return v
}

// addUpTo adds without going round.
func addUpTo(a, b int64) int64 {
	switch {
	case b > 0 && a > math.MaxInt64-b:
		return math.MaxInt64
	case b < 0 && a < math.MinInt64-b:
		return math.MinInt64
	}
	return a + b
}
