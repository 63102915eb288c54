package granularity

import (
	"maps"
	"slices"

	"stackagent/internal/loglinear"
)

// rough has the values that the agent summarised, in its buckets.
type rough struct {
	n, sum, min, max int64 // n: the sum of counts
	blank            int64 // values in sum without a bucket
	counts           map[uint16]int64
	sample           sample // the part of the values that is estimated
}

// maxSummarised bounds the values of one set, so that sums of many do not overflow.
const maxSummarised = 1 << 44

func newRough() *rough { return &rough{counts: map[uint16]int64{}} }

func (r *rough) extremes(least, greatest int64) {
	if r.n+r.blank == 0 {
		r.min, r.max = least, greatest
	}
	r.min, r.max = min(r.min, least), max(r.max, greatest)
}

func (r *rough) add(count, sum, least, greatest int64, buckets []loglinear.Bucket) {
	r.extremes(least, greatest)
	r.sum += sum
	for _, b := range buckets {
		if b.Index >= loglinear.Buckets || b.Count > uint64(maxSummarised-r.n) {
			continue // from a hostile sender: a value without a bucket
		}
		r.counts[b.Index] += int64(b.Count)
		r.n += int64(b.Count)
		count -= int64(b.Count)
	}
	r.blank += count
}

func (r *rough) merge(o *rough) {
	if o.n+o.blank == 0 {
		return
	}
	r.extremes(o.min, o.max)
	r.n, r.blank, r.sum = r.n+o.n, r.blank+o.blank, r.sum+o.sum
	for i, n := range o.counts {
		r.counts[i] += n
	}
	r.sample.add(o.sample)
}

// squares is sum((x-mean)^2), every value in the middle of its bucket.
func (r *rough) squares(mean float64) float64 {
	s := 0.0
	for _, i := range slices.Sorted(maps.Keys(r.counts)) { // in order: sums of floats depend on it
		d := min(max(loglinear.Middle(int(i)), float64(r.min)), float64(r.max)) - mean
		s += float64(r.counts[i]) * d * d
	}
	return s
}

// join counts all values in the agent's buckets; negative values that were recorded one by one
// stay as they are.
func (v *Values) join() []cell {
	counts := map[int16]int64{}
	if v.rough != nil {
		for i, n := range v.rough.counts {
			counts[int16(i)] += n
		}
	}
	for i, n := range v.binned {
		counts[i] += n
	}
	var out []cell
	v.recorded(func(c cell) bool {
		if c.lo < 0 && v.binned == nil {
			out = append(out, c)
		} else {
			counts[int16(loglinear.Agent.Signed(c.lo))] += c.n
		}
		return true
	})
	for _, i := range slices.Sorted(maps.Keys(counts)) {
		lo, hi := loglinear.Agent.SignedBounds(int(i))
		out = append(out, cell{lo, hi, counts[i]})
	}
	return out
}
