package granularity

import (
	"stackagent/internal/histogram"
)

// counts are in the agent's buckets.
type counts = histogram.Counts[int16, int64]

// rough has the values that the agent summarised, in its buckets. The sum of their squares is not known.
type rough struct {
	histogram.Moments
	counts counts
	n      int64  // of Count, those in a bucket
	sample sample // the part of the values that is estimated
}

// maxSummarised bounds the values of one set, so that sums of many do not overflow.
const maxSummarised = 1 << 44

func (r *rough) add(count, sum, least, greatest int64, buckets []histogram.Bucket) {
	r.Merge(&histogram.Moments{Count: count, Sum: sum, Min: least, Max: greatest})
	for _, b := range buckets {
		if b.Index >= histogram.Buckets || b.Count > uint64(maxSummarised-r.n) {
			continue // from a hostile sender: a value without a bucket
		}
		r.counts.Add(int16(b.Index), int64(b.Count))
		r.n += int64(b.Count)
	}
}

func (r *rough) merge(o *rough) {
	r.Merge(&o.Moments)
	r.counts.Merge(&o.counts)
	r.n += o.n
	r.sample.add(o.sample)
}

// deviations is sum((x-mean)^2), every value in the middle of its bucket.
func (r *rough) deviations(mean float64) float64 {
	s := 0.0
	for i, n := range r.counts.All() {
		d := min(max(histogram.Middle(int(i)), float64(r.Min)), float64(r.Max)) - mean
		s += float64(n) * d * d
	}
	return s
}

// join counts all values in the agent's buckets; negative values that were recorded one by one
// stay as they are.
func (v *Values) join() []cell {
	var all counts
	if v.rough != nil {
		all.Merge(&v.rough.counts)
	}
	all.Merge(&v.binned)
	var out []cell
	v.recorded(func(c cell) bool {
		if c.lo < 0 && len(v.binned.Index) == 0 {
			out = append(out, c)
		} else {
			all.Add(int16(histogram.Agent.Signed(c.lo)), c.n)
		}
		return true
	})
	for i, n := range all.All() {
		lo, hi := histogram.Agent.SignedBounds(int(i))
		out = append(out, cell{lo, hi, n})
	}
	return out
}
