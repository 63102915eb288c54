package granularity

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"stackagent/internal/units"
)

func valuesOf(ns ...units.Ns) *Values {
	v := new(Values)
	for _, n := range ns {
		v.Add(n)
	}
	return v
}

// random makes a slice of values of a random shape: few distinct ones, wide
// spreads, negative ones, ones beyond 32 bits, more than are kept one by one.
func random(rng *rand.Rand) []units.Ns {
	n := 1 + rng.IntN(200)
	if rng.IntN(4) == 0 {
		n = listMax + rng.IntN(2*listMax)
	}
	limit := []int64{3, 1000, 1 << 31, 1 << 33, 1 << 40}[rng.IntN(5)]
	out := make([]units.Ns, n)
	for i := range out {
		out[i] = units.Ns(rng.Int64N(limit))
		if rng.IntN(50) == 0 {
			out[i] = -out[i]
		}
	}
	return out
}

func TestQuantileByHand(t *testing.T) {
	ten := valuesOf(10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
	for _, c := range []struct {
		v        *Values
		permille int
		want     units.Ns
	}{
		{ten, 500, 50}, {ten, 501, 60}, {ten, 250, 30}, {ten, 750, 80}, {ten, 950, 100}, {ten, 900, 90},
		{ten, 1, 10}, {ten, 0, 10}, {ten, 100, 10}, {ten, 101, 20}, {ten, 1000, 100},
		{valuesOf(7), 10, 7}, {valuesOf(7), 999, 7},
		{valuesOf(1, 2), 500, 1}, {valuesOf(2, 1), 501, 2},
		{valuesOf(-5, 3, 1<<40), 1, -5}, {valuesOf(-5, 3, 1<<40), 500, 3}, {valuesOf(-5, 3, 1<<40), 999, 1 << 40},
	} {
		if got := c.v.Quantile(c.permille); got != c.want {
			t.Errorf("quantile %d/1000 of %d values = %d, want %d", c.permille, c.v.Len(), got, c.want)
		}
	}
}

func TestDescribeByHand(t *testing.T) {
	// mean 5, squares 9+1+1+1+0+0+4+16 = 32, 32/7 = 4.571..., root 2.138...
	d := Describe(valuesOf(2, 4, 4, 4, 5, 5, 7, 9))
	want := Distribution{Count: 8, Sum: 40, Mean: 5, StdDev: math.Sqrt(32.0 / 7), Min: 2,
		P1: 2, P5: 2, P25: 4, P50: 4, P75: 5, P95: 9, P99: 9, P999: 9, Max: 9}
	if d != want {
		t.Errorf("got  %+v\nwant %+v", d, want)
	}
	if d := Describe(new(Values)); d != (Distribution{}) {
		t.Errorf("nothing described as %+v", d)
	}
	if d := Describe(valuesOf(3)); d.StdDev != 0 || d.Mean != 3 || d.P1 != 3 || d.Max != 3 {
		t.Errorf("one value: %+v", d)
	}
}

// TestAgainstNaive compares with definitions written down as plainly as can
// be, over a sorted slice.
func TestAgainstNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		raw := random(rng)
		a, b := new(Values), new(Values)
		for i, n := range raw {
			if i%3 == 0 {
				a.Add(n)
			} else {
				b.Add(n)
			}
		}
		if rng.IntN(2) == 0 {
			a.sort() // merging into sorted values must make them unsorted
		}
		a.Merge(b)
		unsorted := slices.Clone(raw)
		slices.Sort(raw)
		checkQuantiles(t, a, unsorted, raw)
		checkMoments(t, a, unsorted, raw)
		var box Box
		exactly(t, a, unsorted, func() { box = BoxOf(a) })
		checkBox(t, box, raw)
		checkCDF(t, CDFOf(a, 100), raw)
		if t.Failed() {
			return
		}
	}
}

// exactly asks until all answers are exact, with more readings of the values
// by two readers in between.
func exactly(t *testing.T, v *Values, raw []units.Ns, ask func()) {
	t.Helper()
	for range 6 {
		ask()
		if !v.Unknown() {
			if e := v.RelativeError(); e != 0 {
				t.Errorf("answers are off by %g after all was read", e)
			}
			return
		}
		one, two := v.Search(), v.Search()
		for i, n := range raw {
			if i%2 == 0 {
				one.Look(n)
			} else {
				two.Look(n)
			}
		}
		v.Learn(one, two)
	}
	t.Error("six readings are not enough")
}

func checkQuantiles(t *testing.T, v *Values, raw, sorted []units.Ns) {
	t.Helper()
	if v.Len() != len(sorted) {
		t.Fatalf("%d values, want %d", v.Len(), len(sorted))
	}
	for _, permille := range []int{0, 1, 10, 50, 250, 333, 500, 750, 950, 990, 999, 1000} {
		// The smallest value with at least permille/1000 * n at or below it.
		i := 0
		for (i+1)*1000 < permille*len(sorted) {
			i++
		}
		for i+1 < len(sorted) && sorted[i+1] == sorted[i] { // equal ones are at or below too
			i++
		}
		var got units.Ns
		first := v.Quantile(permille)
		if want := float64(sorted[i]); math.Abs(float64(first)-want) > math.Abs(want)/exactFrom {
			t.Errorf("quantile %d/1000 of %d values = %d at first, want nearly %g", permille, len(sorted), first, want)
		}
		exactly(t, v, raw, func() { v.guessed = false; got = v.Quantile(permille) })
		if got != sorted[i] {
			t.Errorf("quantile %d/1000 of %d values = %d, want %d", permille, len(sorted), got, sorted[i])
		}
	}
}

func checkMoments(t *testing.T, v *Values, raw, sorted []units.Ns) {
	t.Helper()
	floats := make([]float64, len(sorted))
	var sum units.Ns
	below := 0
	for i, x := range sorted {
		floats[i] = float64(x)
		sum += x
		if x < 500 {
			below++
		}
	}
	var d Distribution
	exactly(t, v, raw, func() { d = Describe(v) })
	if d.Sum != sum || d.Min != sorted[0] || d.Max != sorted[len(sorted)-1] || d.RelativeError != 0 {
		t.Errorf("%+v; want the sum %d of %d..%d", d, sum, sorted[0], sorted[len(sorted)-1])
	}
	at := sorted[len(sorted)/3] // in the middle of a bucket, mostly
	want := 0
	for want < len(sorted) && sorted[want] < at {
		want++
	}
	got := 0
	exactly(t, v, raw, func() { v.guessed = false; got = v.CountBelow(at) })
	if got != want || v.CountBelow(500) != below {
		t.Errorf("%d below %d, %d below 500; want %d, %d", got, at, v.CountBelow(500), want, below)
	}
	if want := stat.Mean(floats, nil); math.Abs(d.Mean-want) > 1e-9*math.Abs(want)+1e-9 {
		t.Errorf("mean %g, want %g", d.Mean, want)
	}
	if len(floats) > 1 {
		if want := stat.StdDev(floats, nil); math.Abs(d.StdDev-want) > 1e-9*want+1e-9 {
			t.Errorf("stddev %g, want %g", d.StdDev, want)
		}
	}
}

func checkBox(t *testing.T, b Box, sorted []units.Ns) {
	t.Helper()
	iqr := 1.5 * float64(b.Q3-b.Q1)
	var inside, outside []units.Ns
	for _, x := range sorted {
		if float64(x) >= float64(b.Q1)-iqr && float64(x) <= float64(b.Q3)+iqr {
			inside = append(inside, x)
		} else {
			outside = append(outside, x)
		}
	}
	if b.LowWhisker != inside[0] || b.HiWhisker != inside[len(inside)-1] || b.OutlierCount != len(outside) {
		t.Errorf("whiskers %d..%d, %d outliers; want %d..%d, %d", b.LowWhisker, b.HiWhisker, b.OutlierCount,
			inside[0], inside[len(inside)-1], len(outside))
	}
	// Every outlier is drawn, or a drawn one lies within a dot of it.
	for _, x := range outside {
		near := false
		for _, o := range b.Outliers {
			near = near || o == x || x < 1 && o < 1 || o >= 1 && o < x && math.Log10(float64(x)/float64(o)) <= 1.1/dotsPerDecade
		}
		if !near {
			t.Errorf("outlier %d is not drawn: %v", x, b.Outliers)
		}
	}
}

func checkCDF(t *testing.T, c CDF, sorted []units.Ns) {
	t.Helper()
	share := func(x units.Ns) float64 {
		n := 0
		for _, y := range sorted {
			if y <= x {
				n++
			}
		}
		return float64(n) / float64(len(sorted))
	}
	if len(c.Points) > 100 || c.N != len(sorted) {
		t.Errorf("%d points of %d values, want at most 100 of %d", len(c.Points), c.N, len(sorted))
	}
	for i, p := range c.Points {
		if p.Share != share(p.X) || p.X <= 0 {
			t.Errorf("F(%d) = %g, want %g", p.X, p.Share, share(p.X))
		}
		if i > 0 && (p.X <= c.Points[i-1].X || p.Share <= c.Points[i-1].Share) {
			t.Errorf("points %d and %d do not ascend", i-1, i)
		}
	}
	if n := len(c.Points); n > 0 && (c.Points[n-1].Share != 1 || c.Points[n-1].X != sorted[len(sorted)-1]) {
		t.Errorf("the curve ends at %+v", c.Points[n-1])
	}
	if want := share(0); c.At(0) != want {
		t.Errorf("F(0) = %g, want %g", c.At(0), want)
	}
}

func TestBoxByHand(t *testing.T) {
	// Quartiles 20 and 60 (nearest rank of 8: the 2nd and 6th), reach 60: the
	// whiskers may go from -40 to 120, so 1000 and 121 are outliers.
	b := BoxOf(valuesOf(10, 20, 30, 40, 50, 60, 121, 1000))
	if b.Q1 != 20 || b.Median != 40 || b.Q3 != 60 || b.LowWhisker != 10 || b.HiWhisker != 60 {
		t.Errorf("box %+v", b)
	}
	if !slices.Equal(b.Outliers, []units.Ns{121, 1000}) || b.OutlierCount != 2 {
		t.Errorf("outliers %v", b.Outliers)
	}
	if b := BoxOf(valuesOf(5, 5, 5, 5)); b.LowWhisker != 5 || b.HiWhisker != 5 || b.OutlierCount != 0 {
		t.Errorf("equal values: %+v", b)
	}
	if b := BoxOf(new(Values)); b.N != 0 {
		t.Errorf("empty: %+v", b)
	}
}

func TestOutliersThinned(t *testing.T) {
	v := new(Values)
	for range 100_000 {
		v.Add(10)
	}
	for i := range units.Ns(20_000) {
		v.Add(1_000_000 + i)
	}
	b := BoxOf(v)
	if b.OutlierCount != 20_000 || len(b.Outliers) > 5 || b.Outliers[len(b.Outliers)-1] != 1_019_999 {
		t.Errorf("%d outliers, drawn %v", b.OutlierCount, b.Outliers)
	}
}

func TestCDFByHand(t *testing.T) {
	c := CDFOf(valuesOf(0, -4, 100, 100, 200, 800, 800, 800), 2000)
	want := []Point{{100, 0.5}, {200, 0.625}, {800, 1}}
	if c.NonPositive != 2 || !slices.Equal(c.Points, want) {
		t.Errorf("%+v, want %v", c, want)
	}
	for _, p := range []Point{{0, 0.25}, {99, 0.25}, {100, 0.5}, {799, 0.625}, {9999, 1}} {
		if got := c.At(p.X); got != p.Share {
			t.Errorf("F(%d) = %g, want %g", p.X, got, p.Share)
		}
	}
	if c := CDFOf(valuesOf(0, 0), 10); c.NonPositive != 2 || c.Points != nil || c.At(0) != 1 {
		t.Errorf("only zeros: %+v", c)
	}
}

func BenchmarkDescribe(b *testing.B) {
	rng := rand.New(rand.NewPCG(3, 4))
	src := new(Values)
	for range 1_000_000 {
		src.Add(units.Ns(math.Exp(10 + 2*rng.NormFloat64())))
	}
	for b.Loop() {
		v := new(Values)
		v.Merge(src)
		Describe(v)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e6, "ns/value")
}
