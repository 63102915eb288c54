package otlp

import (
	"math"

	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/slim/otlp/metrics/v1"

	"stackagent/internal/histogram"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// Exponential histograms have 32 buckets to each power of two. The value in the middle of a bucket is within
// 1.1 % of those in it; with the buckets of internal/histogram, from which they come, a quantile is within RelativeError.
const (
	scale     = 5
	perOctave = 1 << scale
)

// RelativeError bounds how far a quantile of an exported histogram is from the exact one. The two steps add up: half of a
// bucket of internal/histogram, then half of one here.
const RelativeError = 0.019

// distribution has durations. Count, sum, least and greatest are exact.
type distribution struct {
	recent  histogram.Counter // of single values, not in all yet
	all     histogram.Histogram
	without uint64 // values of summaries of which only count and sum are known; not counted above
}

func (d *distribution) add(v units.Ns) {
	if v < 0 {
		return // not measured
	}
	if d.recent.Count == math.MaxUint32 {
		d.settle()
	}
	d.recent.Add(int64(v))
}

// settle moves what was counted lately to all.
func (d *distribution) settle() {
	h := d.recent.Histogram()
	d.all.Merge(&h)
	d.recent = histogram.Counter{}
}

// addMeasure adds what a summary measured. Where its buckets cannot be read but all values are the same, that is known.
func (d *distribution) addMeasure(m *session.Measure) {
	buckets := m.Buckets
	switch {
	case m.Count == 0 || m.MinNs < 0:
		return
	case buckets == nil && m.MinNs == m.MaxNs:
		buckets = []histogram.Bucket{{Index: uint16(histogram.Index(uint64(m.MinNs))), Count: m.Count}}
	case buckets == nil:
		d.without += m.Count
		return
	}
	d.all.Moments.Merge(&histogram.Moments{Count: int64(m.Count), Sum: int64(m.SumNs), Min: int64(m.MinNs), Max: int64(m.MaxNs)})
	for _, b := range buckets {
		d.all.Counts.Add(int16(b.Index), int64(b.Count))
	}
}

// point is the distribution in seconds.
func (d *distribution) point(attributes []*common.KeyValue, start, at uint64) *metrics.ExponentialHistogramDataPoint {
	d.settle()
	sum, least, greatest := seconds(d.all.Sum), seconds(d.all.Min), seconds(d.all.Max)
	p := &metrics.ExponentialHistogramDataPoint{Attributes: attributes, StartTimeUnixNano: start, TimeUnixNano: at, Count: uint64(d.all.Count), Scale: scale, Sum: &sum, Min: &least, Max: &greatest,
		Positive: &metrics.ExponentialHistogramDataPoint_Buckets{}}
	for i, n := range d.all.All() {
		if i == 0 {
			p.ZeroCount = uint64(n)
		} else {
			into(p.Positive, exponentialIndex(histogram.Middle(int(i))/1e9), uint64(n))
		}
	}
	return p
}

func seconds(v int64) float64 { return float64(v) / 1e9 }

// exponentialIndex is i where v lies above base^i and at most at base^(i+1), base being 2^(1/perOctave).
func exponentialIndex(v float64) int32 {
	fraction, exponent := math.Frexp(v) // v = fraction * 2^exponent, fraction from 1/2 to below 1: its logarithm is exact to the last digits
	return int32(math.Ceil((math.Log2(fraction)+float64(exponent))*perOctave)) - 1
}

// into counts in a bucket that is not below those before.
func into(b *metrics.ExponentialHistogramDataPoint_Buckets, i int32, n uint64) {
	if len(b.BucketCounts) == 0 {
		b.Offset = i
	}
	for int(i-b.Offset) >= len(b.BucketCounts) {
		b.BucketCounts = append(b.BucketCounts, 0)
	}
	b.BucketCounts[i-b.Offset] += n
}
