// Package rollup condenses sessions to sums for each five minutes, which stay when the sessions have gone, and keeps
// them in an object store as Parquet files in Hive partitions that SQL engines read too.
package rollup

import (
	"cmp"
	"math"
	"time"

	"stackagent/internal/loglinear"
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
	Count        int64  // values; of "executions", "threw" and losses, how many there were
	Sum          int64  // of the values; 0 where only Count has a meaning
	Min, Max     int64
	// The histogram of the values, by index of internal/loglinear, ascending; empty where only Count has a meaning.
	Index   []int32
	Buckets []int64
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

// Add adds the values of b. Sums that no integer holds stay at the largest.
func (r *Row) Add(b *Row) {
	if b.Count == 0 {
		return
	}
	if r.Count == 0 {
		r.Min, r.Max = b.Min, b.Max
	} else {
		r.Min, r.Max = min(r.Min, b.Min), max(r.Max, b.Max)
	}
	r.Count, r.Sum = addUpTo(r.Count, b.Count), addUpTo(r.Sum, b.Sum)
	r.Index, r.Buckets = addBuckets(r.Index, r.Buckets, b.Index, b.Buckets)
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

// addBuckets merges two histograms into new slices, unless one is empty.
func addBuckets(ai []int32, ac []int64, bi []int32, bc []int64) ([]int32, []int64) {
	if len(bi) == 0 {
		return ai, ac
	}
	if len(ai) == 0 {
		return bi, bc
	}
	index, count := make([]int32, 0, len(ai)+len(bi)), make([]int64, 0, len(ai)+len(bi))
	for len(ai) > 0 || len(bi) > 0 {
		switch {
		case len(bi) == 0 || len(ai) > 0 && ai[0] < bi[0]:
			index, count, ai, ac = append(index, ai[0]), append(count, ac[0]), ai[1:], ac[1:]
		case len(ai) == 0 || bi[0] < ai[0]:
			index, count, bi, bc = append(index, bi[0]), append(count, bc[0]), bi[1:], bc[1:]
		default:
			index, count = append(index, ai[0]), append(count, addUpTo(ac[0], bc[0]))
			ai, ac, bi, bc = ai[1:], ac[1:], bi[1:], bc[1:]
		}
	}
	return index, count
}

// Quantile is the value at or below which a share q of the values lie, by nearest rank, within 0.8 %; not ok without a
// histogram.
func (r *Row) Quantile(q float64) (float64, bool) {
	var total int64
	for _, n := range r.Buckets {
		total = addUpTo(total, n)
	}
	if total <= 0 {
		return 0, false
	}
	rank := max(int64(math.Ceil(q*float64(total))), 1)
	for i, n := range r.Buckets {
		if rank -= n; rank <= 0 {
			return min(max(loglinear.Middle(int(r.Index[i])), float64(r.Min)), float64(r.Max)), true
		}
	}
	return float64(r.Max), true
}
