package granularity

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"stackagent/internal/histogram"
	"stackagent/internal/units"
)

// TestMassOfEqualValues: many equal large values would not fit into what a
// reading keeps; their bucket is divided until it is known.
func TestMassOfEqualValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	var raw []units.Ns
	v := new(Values)
	for i := range 60_000 {
		n := units.Ns(123_456_789_012)
		if i%3 == 0 {
			n += units.Ns(rng.IntN(1 << 24)) // the same bucket
		}
		if i%1000 == 0 {
			n = -n
		}
		raw = append(raw, n)
		v.Add(n)
	}
	passes := 0
	var d Distribution
	exactly(t, v, raw, func() { passes++; d = Describe(v) })
	slices.Sort(raw)
	for permille, got := range map[int]units.Ns{10: d.P1, 50: d.P5, 250: d.P25, 500: d.P50, 750: d.P75, 950: d.P95, 990: d.P99, 999: d.P999} {
		if want := raw[rank(permille, len(raw))]; got != want {
			t.Errorf("quantile %d/1000 = %d, want %d", permille, got, want)
		}
	}
	if passes < 3 {
		t.Errorf("%d passes: the bucket of %d values was not divided", passes, len(raw))
	}
}

// TestReadingThatDiffers: another reading that finds other values than the
// first (a file damaged in between) makes no figure exact, nor wrong.
func TestReadingThatDiffers(t *testing.T) {
	v := new(Values)
	for i := range units.Ns(5 * listMax) {
		v.Add(1_000_000 + i)
	}
	Describe(v)
	s := v.Search()
	for i := range units.Ns(2 * listMax) {
		s.Look(1_000_000 + 2*i)
	}
	v.Learn(s)
	d, want := Describe(v), 1_000_000+5*listMax/2.0
	if d.RelativeError != 1.0/2048 || math.Abs(float64(d.P50)-want) > want*d.RelativeError {
		t.Errorf("median %d with an error of %g, want nearly %g and 2^-11", d.P50, d.RelativeError, want)
	}
}

func TestCountsBeyond32Bits(t *testing.T) {
	v := new(Values)
	for range listMax + 1 {
		v.Add(7)
	}
	v.tally.pages[halfPages][7] = math.MaxUint32 - 1
	other := new(Values)
	other.Merge(v) // the same bucket, nearly full
	v.Add(7)
	v.Add(7)
	v.Merge(other)
	var total int64
	v.tally.cells(func(c cell) bool { total += c.n; return true })
	if want := int64(math.MaxUint32)*2 - 2 + 2; total != want {
		t.Errorf("%d values counted, want %d", total, want)
	}
}

// summarise counts values as the agent does.
func summarise(raw []units.Ns) (count int64, sum, least, greatest units.Ns, buckets []histogram.Bucket) {
	counts := map[uint16]uint64{}
	least, greatest = raw[0], raw[0]
	for _, n := range raw {
		sum += n
		least, greatest = min(least, n), max(greatest, n)
		counts[uint16(histogram.Index(uint64(n)))]++
	}
	for i, n := range counts {
		buckets = append(buckets, histogram.Bucket{Index: i, Count: n})
	}
	return int64(len(raw)), sum, least, greatest, buckets
}

// TestSummarisedAgainstNaive: counts, sums and extremes of a mixture are exact,
// quantiles as good as they say.
func TestSummarisedAgainstNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	for range 100 {
		v := new(Values)
		var all, part []units.Ns
		limit := []float64{4, 8, 14, 20}[rng.IntN(4)]
		recorded := rng.IntN(3) * 800
		for i := range 3000 {
			n := units.Ns(math.Exp(limit * rng.Float64()))
			all = append(all, n)
			if i < recorded {
				v.Add(n)
			} else {
				part = append(part, n)
			}
		}
		half := new(Values)
		half.AddSummarised(summarise(part[:len(part)/2]))
		v.AddSummarised(summarise(part[len(part)/2:]))
		v.Merge(half)
		slices.Sort(all)
		checkSummarised(t, v, all, int64(len(part)))
	}
}

func checkSummarised(t *testing.T, v *Values, all []units.Ns, summarised int64) {
	t.Helper()
	var sum units.Ns
	var squares float64
	for _, n := range all {
		sum += n
	}
	mean := float64(sum) / float64(len(all))
	for _, n := range all {
		squares += (float64(n) - mean) * (float64(n) - mean)
	}
	d := Describe(v)
	if d.Count != int64(len(all)) || d.Sum != sum || d.Min != all[0] || d.Max != all[len(all)-1] || d.Summarised != summarised || d.Mean != mean {
		t.Errorf("%+v; want %d values from %d to %d, sum %d, %d summarised", d, len(all), all[0], all[len(all)-1], sum, summarised)
	}
	if want := math.Sqrt(squares / float64(len(all)-1)); math.Abs(d.StdDev-want) > 0.01*want {
		t.Errorf("standard deviation %g, want nearly %g", d.StdDev, want)
	}
	if v.Unknown() {
		t.Error("wants another reading, which cannot find more")
	}
	off := d.RelativeError
	if off != 0 && off != histogram.RelativeError {
		t.Errorf("relative error %g", off)
	}
	for permille, got := range map[int]units.Ns{10: d.P1, 50: d.P5, 250: d.P25, 500: d.P50, 750: d.P75, 950: d.P95, 990: d.P99, 999: d.P999} {
		if want := all[rank(permille, len(all))]; math.Abs(float64(got-want)) > off*float64(want) {
			t.Errorf("quantile %d/1000 = %d, want %d to within %g", permille, got, want, off)
		}
	}
	b, c := BoxOf(v), CDFOf(v, 500)
	if b.Summarised != summarised || c.Summarised != summarised || b.LowWhisker < all[0] || b.HiWhisker > all[len(all)-1] {
		t.Errorf("box %+v, %d summarised in the curve", b, c.Summarised)
	}
	checkPoints(t, c, all)
}

// checkPoints: the points of a curve are exact whatever it was made of.
func checkPoints(t *testing.T, c CDF, sorted []units.Ns) {
	t.Helper()
	for _, p := range c.Points {
		n, _ := slices.BinarySearch(sorted, p.X+1)
		if want := float64(n) / float64(len(sorted)); p.Share != want {
			t.Errorf("F(%d) = %g, want %g", p.X, p.Share, want)
		}
	}
}

// TestLostBuckets: values whose buckets can no longer be read count and add up.
func TestLostBuckets(t *testing.T) {
	v := new(Values)
	v.AddSummarised(10, 1000, 50, 150, nil)
	if d := Describe(v); d.Count != 10 || d.Sum != 1000 || d.Mean != 100 || d.Max != 150 || d.Summarised != 10 || d.P50 != 0 {
		t.Errorf("%+v", d)
	}
	if c, b := CDFOf(v, 10), BoxOf(v); c.N != 0 || b.N != 0 {
		t.Errorf("shapes of nothing: %+v, %+v", c, b)
	}
	v.Add(70)
	if d := Describe(v); d.Count != 11 || d.P50 != 70 {
		t.Errorf("%+v", d)
	}
}

func TestSpread(t *testing.T) {
	g := NewGrid(100, 140, 4)
	s := NewSeries(g)
	s.Spread(90, 130, 8, 40) // 10 before the grid, then three whole buckets
	s.Spread(135, 155, 5, 20)
	s.Spread(200, 200, 3, 0)
	if want := []int64{2, 2, 2, 1}; !slices.Equal(s.Started, want) || s.Outside != 2+4+3 || s.Spreads != 7 {
		t.Errorf("started %v, %d outside, %d spread; want %v, 9 and 7", s.Started, s.Outside, s.Spreads, want)
	}
	if got, want := s.Running(), []float64{1, 1, 1, 0.5}; !near(got, want) {
		t.Errorf("running %v, want %v", got, want)
	}
	o := NewSeries(g)
	o.Add(105, 125)
	s.Merge(o)
	if got, want := s.Running(), []float64{1.5, 2, 1.5, 0.5}; !near(got, want) || s.StartedTotal() != 8 {
		t.Errorf("merged: running %v, want %v; %d started", got, want, s.StartedTotal())
	}
}

// TestSpreadWaits: waits spread over an interval of starts are those of many executions
// that start evenly in it, shorter and longer than the interval.
func TestSpreadWaits(t *testing.T) {
	const n = 10_000
	g := NewGrid(0, 1_000_000, 10)
	for _, wait := range []units.Ns{0, 50_000, 400_000, 900_000} {
		each, spread := NewSeries(g), NewSeries(g)
		const from, to = 500_000, 700_000
		for i := range n {
			start := units.MonoNs(from + (2*i+1)*(to-from)/(2*n))
			each.Add(start-units.MonoNs(wait), start)
		}
		spread.SpreadWaits(from, to, n, wait)
		if !slices.Equal(spread.Started, each.Started) || spread.Outside != each.Outside || spread.Spreads != each.StartedTotal() {
			t.Errorf("waits of %v: submitted %v, %d outside; want %v, %d", wait, spread.Started, spread.Outside, each.Started, each.Outside)
		}
		for i, want := range each.Running() {
			if got := spread.Running()[i]; math.Abs(got-want) > 0.001*n {
				t.Errorf("waits of %v: %v waited at once in bucket %d, want %v", wait, got, i, want)
			}
		}
	}
}

// TestLike: values in buckets come together where a reader could not distinguish them,
// and their sum stays.
func TestLike(t *testing.T) {
	at := func(v uint64, n uint64) histogram.Bucket {
		return histogram.Bucket{Index: uint16(histogram.Index(v)), Count: n}
	}
	for _, c := range []struct {
		of   Measured
		want []int64 // counts and means
	}{
		{Measured{Count: 4, Sum: 400}, []int64{4, 100}},
		{Measured{}, nil},
		{Measured{Count: 5, Sum: 10 + 3*50 + 101, Buckets: []histogram.Bucket{at(10, 1), at(50, 3), at(101, 1)}}, []int64{1, 10, 3, 50, 1, 101}},
		{Measured{Count: 5, Sum: 20 + 3*50 + 101, Buckets: []histogram.Bucket{at(20, 1), at(50, 3), at(101, 1)}}, []int64{4, 42, 1, 101}},
	} {
		var got []int64
		c.of.Like(40, func(n int64, mean units.Ns) { got = append(got, n, int64(mean)) })
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.of, got, c.want)
		}
	}
}

func FuzzDescribe(f *testing.F) {
	f.Add(uint64(1), uint8(20), int64(3))
	f.Add(uint64(2), uint8(40), int64(-5))
	f.Fuzz(func(t *testing.T, seed uint64, width uint8, base int64) {
		rng := rand.New(rand.NewPCG(seed, 1))
		v := new(Values)
		raw := make([]units.Ns, 1+rng.IntN(3*listMax))
		for i := range raw {
			raw[i] = units.Ns(base>>1 + rng.Int64N(1<<(width%60)))
			v.Add(raw[i])
		}
		sorted := slices.Sorted(slices.Values(raw))
		for range 8 {
			d := Describe(v)
			if !v.Unknown() {
				if d.P50 != sorted[rank(500, len(raw))] || d.P999 != sorted[rank(999, len(raw))] || d.RelativeError != 0 {
					t.Fatalf("%+v", d)
				}
				return
			}
			s := v.Search()
			for _, n := range raw {
				s.Look(n)
			}
			v.Learn(s)
		}
		t.Fatal("eight readings are not enough")
	})
}

// TestExtremes: values at the ends of what there is make no figure fail.
func TestExtremes(t *testing.T) {
	for _, raw := range [][]units.Ns{
		{math.MaxInt64}, {math.MinInt64 + 1}, {math.MinInt64 + 1, math.MaxInt64}, {math.MaxInt64, math.MaxInt64, math.MaxInt64},
		{math.MinInt64 + 1, math.MinInt64 + 1, 0, math.MaxInt64, math.MaxInt64}, {0}, {-1, 0, 1},
	} {
		for _, times := range []int{1, 2 * listMax} {
			v, all := new(Values), []units.Ns{}
			for range times {
				for _, n := range raw {
					v.Add(n)
					all = append(all, n)
				}
			}
			var d Distribution
			var b Box
			exactly(t, v, all, func() { d, b = Describe(v), BoxOf(v); CDFOf(v, 100); FinenessOf(Wall, v) })
			if d.Min != slices.Min(raw) || d.Max != slices.Max(raw) || math.IsNaN(d.StdDev) || b.N != len(all) {
				t.Errorf("%v, %d times: %+v, %+v", raw, times, d, b)
			}
		}
	}
	v := new(Values)
	v.AddSummarised(math.MaxInt64, math.MaxInt64, math.MaxInt64, math.MinInt64, []histogram.Bucket{{Index: math.MaxUint16, Count: 1}, {Index: 5, Count: math.MaxUint64}, {Index: 7, Count: 3}})
	v.AddSummarised(3, 9, 3, 3, []histogram.Bucket{{Index: 3, Count: 3}})
	Describe(v)
	BoxOf(v)
	CDFOf(v, 100)
	s := NewSeries(NewGrid(0, 100, 4))
	s.Spread(math.MinInt64, math.MaxInt64, 1000, math.MaxInt64)
	s.Spread(50, math.MinInt64, 3, -5)
	s.SpreadWaits(math.MinInt64, math.MaxInt64, 7, math.MaxInt64)
	s.SpreadWaits(math.MaxInt64, math.MinInt64, 11, math.MaxInt64)
	if n := s.StartedTotal() + s.Outside; n != 1021 {
		t.Errorf("%d executions over time, want 1021", n)
	}
}
