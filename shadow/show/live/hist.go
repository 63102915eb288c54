package live

import "stackagent/internal/histogram"

// durations are counted in buckets of 16 to a power of two: the middle of a value's
// bucket is within 3.2 % of it. It holds the buckets between its smallest and largest value
// only: a class that takes microseconds pays nothing for seconds.
type durations struct {
	first  int32 // bucket of counts[0]
	counts []uint32
	count  uint64
	sum    int64
	max    int64
}

const resolution histogram.Scale = 4

func bucketOf(ns int64) int32 { return int32(resolution.Index(uint64(max(ns, 0)))) }

// middle is the value that stands for bucket i.
func middle(i int32) float64 {
	lowest, highest := resolution.Bounds(int(i))
	return (float64(lowest) + float64(highest)) / 2
}

func (h *durations) add(ns int64) {
	h.addTo(bucketOf(ns), 1)
	h.sum += ns
	h.max = max(h.max, ns)
}

// addTo counts n values in bucket i; the caller adds to sum and max.
func (h *durations) addTo(i int32, n uint64) {
	at := i - h.first
	if uint32(at) >= uint32(len(h.counts)) {
		h.grow(i)
		at = i - h.first
	}
	h.counts[at] = uint32(min(uint64(h.counts[at])+n, 1<<32-1))
	h.count += n
}

// growBy is by how many buckets more than needed a histogram grows: an octave.
const growBy = 16

func (h *durations) grow(i int32) {
	if len(h.counts) == 0 {
		h.first = max(0, i-growBy/2)
		h.counts = make([]uint32, growBy)
		return
	}
	first, end := h.first, h.first+int32(len(h.counts))
	if i < first {
		first = max(0, i-growBy)
	} else {
		end = i + growBy
	}
	counts := make([]uint32, end-first)
	copy(counts[h.first-first:], h.counts)
	h.first, h.counts = first, counts
}

// merge adds the values of o.
func (h *durations) merge(o *durations) {
	for i, n := range o.counts {
		if n > 0 {
			h.addTo(o.first+int32(i), uint64(n))
		}
	}
	h.sum += o.sum
	h.max = max(h.max, o.max)
}

// clear keeps the room.
func (h *durations) clear() {
	clear(h.counts)
	h.count, h.sum, h.max = 0, 0, 0
}

// quantile is the value below which a share q of the values is, at most the largest; 0 of none.
func (h *durations) quantile(q float64) float64 {
	if h.count == 0 {
		return 0
	}
	rank := uint64(q * float64(h.count))
	var below uint64
	for i, n := range h.counts {
		if below += uint64(n); below > rank {
			return min(middle(h.first+int32(i)), float64(h.max))
		}
	}
	return float64(h.max)
}

// times is the distribution for the snapshot; nil of none.
func (h *durations) times() *Times {
	if h.count == 0 {
		return nil
	}
	return &Times{Count: float64(h.count), SumNs: float64(h.sum),
		P50Ns: h.quantile(0.5), P90Ns: h.quantile(0.9), P99Ns: h.quantile(0.99), MaxNs: float64(h.max)}
}

// bounds are the upper bounds in nanoseconds of the buckets that Prometheus gets.
var bounds = [...]int64{100e3, 1e6, 5e6, 10e6, 25e6, 50e6, 100e6, 250e6, 500e6, 1e9, 2500e6, 10e9, 60e9}

// running sums durations since the session began, in the buckets of bounds and one above.
type running struct {
	counts [len(bounds) + 1]uint64
	sum    int64
}

func (r *running) add(ns int64, n uint64) {
	i := 0
	for i < len(bounds) && ns > bounds[i] {
		i++
	}
	r.counts[i] += n
}
