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
	merged           []cell // with the recorded values, computed when needed
	with             int64  // how many recorded values are in there
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
	r.sum, r.merged = r.sum+sum, nil
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
	r.n, r.blank, r.sum, r.merged = r.n+o.n, r.blank+o.blank, r.sum+o.sum, nil
	for i, n := range o.counts {
		r.counts[i] += n
	}
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

// cells are the agent's buckets with what v recorded counted into them;
// negative values, which only records have, stay as they are.
func (r *rough) cells(v *Values, f func(cell) bool) {
	if r.merged == nil || r.with != v.sums.n {
		r.merged, r.with = r.join(v.recorded), v.sums.n
	}
	for _, c := range r.merged {
		if !f(c) {
			return
		}
	}
}

func (r *rough) join(recorded func(func(cell) bool)) []cell {
	var out []cell
	counts := maps.Clone(r.counts)
	recorded(func(c cell) bool {
		if c.lo < 0 {
			out = append(out, c)
		} else {
			counts[uint16(loglinear.Index(uint64(c.lo)))] += c.n
		}
		return true
	})
	for _, i := range slices.Sorted(maps.Keys(counts)) {
		lo, hi := loglinear.Bounds(int(i))
		out = append(out, cell{int64(lo), int64(hi), counts[i]})
	}
	return out
}
