package otlp

import (
	"math"

	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/slim/otlp/metrics/v1"

	"stackagent/internal/loglinear"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// Exponential histograms have 32 buckets to each power of two. The value in the middle of a bucket is within
// 1.1 % of those in it; with the buckets of internal/loglinear, from which they come, a quantile is within RelativeError.
const (
	scale     = 5
	perOctave = 1 << scale
)

// RelativeError bounds how far a quantile of an exported histogram is from the exact one. The two steps add up: half of a
// bucket of internal/loglinear, then half of one here.
const RelativeError = 0.019

// distribution counts durations in the buckets of internal/loglinear. Count, sum, least and greatest are exact.
type distribution struct {
	first    int      // bucket of counts[0]
	counts   []uint64 // from the least bucket to the greatest that were seen
	count    uint64
	sum      units.Ns
	min, max units.Ns
	without  uint64 // values of summaries of which only count and sum are known; not counted above
}

func (d *distribution) add(v units.Ns) {
	if v < 0 {
		return // not measured
	}
	d.extremes(v, v)
	d.bucket(loglinear.Index(uint64(v)), 1)
	d.count++
	d.sum += v
}

func (d *distribution) extremes(least, greatest units.Ns) {
	if d.count == 0 {
		d.min, d.max = least, greatest
		return
	}
	d.min, d.max = min(d.min, least), max(d.max, greatest)
}

func (d *distribution) bucket(i int, n uint64) {
	if len(d.counts) == 0 {
		d.first, d.counts = i, make([]uint64, 1, loglinear.PerOctave)
	}
	if i < d.first {
		grown := make([]uint64, d.first-i+len(d.counts), 2*(d.first-i)+len(d.counts))
		copy(grown[d.first-i:], d.counts)
		d.first, d.counts = i, grown
	}
	for i-d.first >= len(d.counts) {
		d.counts = append(d.counts, 0)
	}
	d.counts[i-d.first] += n
}

// addMeasure adds what a summary measured. Where its buckets cannot be read but all values are the same, that is known.
func (d *distribution) addMeasure(m *session.Measure) {
	switch {
	case m.Count == 0 || m.MinNs < 0:
	case m.Buckets != nil:
		d.extremes(m.MinNs, m.MaxNs)
		for _, b := range m.Buckets {
			d.bucket(int(b.Index), b.Count)
		}
		d.count += m.Count
		d.sum += m.SumNs
	case m.MinNs == m.MaxNs:
		d.extremes(m.MinNs, m.MaxNs)
		d.bucket(loglinear.Index(uint64(m.MinNs)), m.Count)
		d.count += m.Count
		d.sum += m.SumNs
	default:
		d.without += m.Count
	}
}

// point is the distribution in seconds.
func (d *distribution) point(attributes []*common.KeyValue, start, at uint64) *metrics.ExponentialHistogramDataPoint {
	sum, least, greatest := seconds(d.sum), seconds(d.min), seconds(d.max)
	p := &metrics.ExponentialHistogramDataPoint{Attributes: attributes, StartTimeUnixNano: start, TimeUnixNano: at, Count: d.count, Scale: scale, Sum: &sum, Min: &least, Max: &greatest,
		Positive: &metrics.ExponentialHistogramDataPoint_Buckets{}}
	for i, n := range d.counts {
		switch middle := loglinear.Middle(d.first + i); {
		case n == 0:
		case middle == 0:
			p.ZeroCount += n
		default:
			into(p.Positive, exponentialIndex(middle/1e9), n)
		}
	}
	return p
}

func seconds(v units.Ns) float64 { return float64(v) / 1e9 }

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
