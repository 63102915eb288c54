package otlp

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	metrics "go.opentelemetry.io/proto/slim/otlp/metrics/v1"

	"stackagent/internal/histogram"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// bounds are those of bucket i, as the protocol defines them: above the first and at most the second, in seconds.
func bucketBounds(scale, i int32) (above, most float64) {
	base := math.Pow(2, math.Pow(2, -float64(scale)))
	return math.Pow(base, float64(i)), math.Pow(base, float64(i+1))
}

// quantile is what a reader of the histogram computes: the middle of the bucket in which the value lies.
func quantile(p *metrics.ExponentialHistogramDataPoint, q float64) float64 {
	rank := uint64(math.Ceil(q * float64(p.Count)))
	below := p.ZeroCount
	if below >= rank {
		return 0
	}
	for i, n := range p.Positive.BucketCounts {
		if below += n; below >= rank {
			above, most := bucketBounds(p.Scale, p.Positive.Offset+int32(i))
			return (above + most) / 2
		}
	}
	return math.Inf(1)
}

// Quantiles of the histogram are within RelativeError of those of the values; count, sum and extremes are exact.
func TestQuantiles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	worst := 0.0
	for name, value := range map[string]func() float64{
		"nanoseconds": func() float64 { return 1 + r.ExpFloat64()*50 },
		"log-normal":  func() float64 { return math.Exp(12 + 3*r.NormFloat64()) },
		"uniform":     func() float64 { return 1e6 + r.Float64()*1e9 },
		"constant":    func() float64 { return 12_345_678 },
		"powers":      func() float64 { return math.Ldexp(1, r.IntN(50)) },
		"hours":       func() float64 { return 3.6e12 * (1 + r.Float64()*1000) },
	} {
		var d distribution
		var all []float64
		var sum units.Ns
		for range 20_000 {
			v := units.Ns(value())
			d.add(v)
			sum += v
			all = append(all, float64(v)/1e9)
		}
		d.add(units.NotMeasured)
		slices.Sort(all)
		p := d.point(nil, 1, 2)
		total := p.ZeroCount
		for _, n := range p.Positive.BucketCounts {
			total += n
		}
		if p.Count != 20_000 || total != p.Count || *p.Sum != float64(sum)/1e9 || *p.Min != all[0] || *p.Max != all[len(all)-1] {
			t.Errorf("%s: %d values, %d in buckets, sum %v, %v to %v", name, p.Count, total, *p.Sum, *p.Min, *p.Max)
		}
		for _, q := range []float64{0.001, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1} {
			want := all[int(math.Ceil(q*float64(len(all))))-1]
			if e := math.Abs(quantile(p, q)-want) / want; e > RelativeError {
				t.Errorf("%s: quantile %v is %v, want %v: off by %.4f", name, q, quantile(p, q), want, e)
			} else {
				worst = max(worst, e)
			}
		}
	}
	if worst < RelativeError/4 {
		t.Errorf("the worst error is %.4f: RelativeError says far more", worst)
	}
	t.Logf("worst error: %.2f %%", 100*worst)
}

// The bound of RelativeError is that of the two steps, for any bucket.
func TestRelativeError(t *testing.T) {
	for i := histogram.Linear; i < histogram.Buckets; i++ {
		least, greatest := histogram.Bounds(i)
		above, most := bucketBounds(scale, exponentialIndex(histogram.Middle(i)/1e9))
		middle := (above + most) / 2 * 1e9
		for _, v := range []float64{float64(least), float64(greatest)} {
			if e := math.Abs(middle-v) / v; e > RelativeError {
				t.Fatalf("bucket %d, %v: off by %.4f", i, v, e)
			}
		}
	}
}

func TestExponentialIndex(t *testing.T) {
	for _, v := range []float64{1e-9, 3e-9, 0.001, 0.999999, 1, 1.0000001, 1.5, 2, 4, 1e3, 1e9} {
		i := exponentialIndex(v)
		if above, most := bucketBounds(scale, i); v <= above*(1-1e-12) || v > most*(1+1e-12) {
			t.Errorf("%v is in bucket %d, above %v and at most %v", v, i, above, most)
		}
	}
	for exponent := -30; exponent < 30; exponent++ { // a power of two is the upper bound of a bucket, and in it
		if got := exponentialIndex(math.Ldexp(1, exponent)); got != int32(exponent*perOctave-1) {
			t.Errorf("2^%d is in bucket %d", exponent, got)
		}
	}
}

func TestMeasures(t *testing.T) {
	var d distribution
	d.addMeasure(&session.Measure{Count: 3, SumNs: 300, MinNs: 90, MaxNs: 110, Buckets: []histogram.Bucket{{Index: 90, Count: 1}, {Index: 100, Count: 1}, {Index: 110, Count: 1}}})
	d.addMeasure(&session.Measure{Count: 7, SumNs: 0})                          // all 0
	d.addMeasure(&session.Measure{Count: 5, SumNs: 500, MinNs: 50, MaxNs: 200}) // cannot be read
	d.addMeasure(&session.Measure{})
	d.add(1)
	p := d.point(nil, 0, 0)
	if p.Count != 11 || p.ZeroCount != 7 || *p.Sum != 301e-9 || *p.Min != 0 || *p.Max != 110e-9 || d.without != 5 {
		t.Errorf("%v, without %d", p, d.without)
	}
}
