package granularity

import (
	"math"
	"math/rand/v2"
	"testing"

	"stackagent/internal/histogram"
	"stackagent/internal/units"
)

// drawn counts n values like the agent: each is timed with a probability of 1/64, and the buckets and the sum of
// those that are timed are scaled to all.
func drawn(rng *rand.Rand, n int, value func() float64) (m Measured, sum float64) {
	counts := map[int]int64{}
	timedSum := 0.0
	for range n {
		v := value()
		sum += v
		if rng.IntN(64) != 0 {
			continue
		}
		m.Timed++
		timedSum += v
		counts[histogram.Index(uint64(v))]++
	}
	m.Count, m.Sum = int64(n), units.Ns(timedSum*float64(n)/float64(m.Timed))
	put, seen := int64(0), int64(0)
	for i := range histogram.Buckets {
		seen += counts[i]
		if upto := seen * int64(n) / m.Timed; upto > put {
			m.Buckets = append(m.Buckets, histogram.Bucket{Index: uint16(i), Count: uint64(upto - put)})
			put = upto
		}
	}
	return m, sum
}

// TestSampledInterval: the interval of 95 % has the true sum in 95 % of the cases, also of several samples together.
func TestSampledInterval(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 4))
	values := map[string]func() float64{
		"even":        func() float64 { return 50 + 450*rng.Float64() },
		"exponential": func() float64 { return 100 * rng.ExpFloat64() },
		"two":         func() float64 { return 50 + 450*float64(rng.IntN(8)/7) },
	}
	for name, value := range values {
		const tries = 400
		inside := 0
		for range tries {
			v, all := new(Values), 0.0
			var timed int64
			for range 3 {
				m, sum := drawn(rng, 20_000, value)
				v.AddMeasured(&m)
				all, timed = all+sum, timed+m.Timed
			}
			d := Describe(v)
			if d.Count != 60_000 || d.Timed != timed {
				t.Fatalf("%s: %d values, %d timed; want 60000, %d", name, d.Count, d.Timed, timed)
			}
			if math.Abs(float64(d.Sum)-all) <= v.SumError()*float64(d.Sum) {
				inside++
			}
		}
		if inside < tries*91/100 || inside > tries*99/100 {
			t.Errorf("%s: the true sum is in %d of %d intervals of 95 %%", name, inside, tries)
		}
	}
}

// TestSampledMerge: what is estimated stays so beside what is exact.
func TestSampledMerge(t *testing.T) {
	var exact, all Values
	exact.Add(100)
	exact.AddMeasured(&Measured{Count: 2, Sum: 200, Min: 90, Max: 110, Buckets: []histogram.Bucket{{Index: uint16(histogram.Index(100)), Count: 2}}})
	if exact.Timed() != 0 || exact.SumError() != 0 {
		t.Errorf("all was measured: %d, %g", exact.Timed(), exact.SumError())
	}
	all.AddMeasured(&Measured{Count: 640, Timed: 10, Sum: 64000, Min: 90, Max: 110,
		Buckets: []histogram.Bucket{{Index: uint16(histogram.Index(90)), Count: 320}, {Index: uint16(histogram.Index(110)), Count: 320}}})
	alone := all.SumError()
	all.Merge(&exact)
	if all.Timed() != 13 || all.Count() != 643 || all.SumError() <= 0 || all.SumError() >= alone {
		t.Errorf("%d of %d timed, error %g, alone %g", all.Timed(), all.Count(), all.SumError(), alone)
	}
	if d := Describe(&all); d.Timed != 13 || d.RelativeError < all.SumError() {
		t.Errorf("%+v", d)
	}
}
