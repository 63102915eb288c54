package histogram

import (
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// draw makes n values of very different sizes, some negative.
func draw(r *rand.Rand, n int) []int64 {
	list := make([]int64, n)
	for i := range list {
		list[i] = r.Int64() >> (20 + r.IntN(44))
		if r.IntN(4) == 0 {
			list[i] = -list[i]
		}
	}
	return list
}

func of(values []int64) Histogram {
	var c Counter
	for _, v := range values {
		c.Add(v)
	}
	return c.Histogram()
}

func TestMoments(t *testing.T) {
	for name, values := range map[string][]int64{
		"none": nil, "one": {7}, "negative": {-5, -1}, "mixed": {-3, 0, 3}, "large": {1 << 62, 1<<62 - 1, -1 << 61}, "many": draw(rand.New(rand.NewPCG(1, 1)), 1000),
	} {
		var m Moments
		var sum, squares big.Int
		for _, v := range values {
			m.Add(v)
			sum.Add(&sum, big.NewInt(v))
			squares.Add(&squares, new(big.Int).Mul(big.NewInt(v), big.NewInt(v)))
		}
		want := 0.0
		if n := int64(len(values)); n > 1 && sum.IsInt64() {
			top := new(big.Int).Sub(new(big.Int).Mul(&squares, big.NewInt(n)), new(big.Int).Mul(&sum, &sum))
			want, _ = new(big.Float).SetInt(top).Float64()
			want /= float64(n)
		}
		if got := m.Deviations(); m.Count != int64(len(values)) || sum.IsInt64() && (m.Sum != sum.Int64() || got != want) {
			t.Errorf("%s: %+v deviates by %g, want %g", name, m, got, want)
		}
		if len(values) > 0 && (m.Min != slices.Min(values) || m.Max != slices.Max(values)) {
			t.Errorf("%s: from %d to %d", name, m.Min, m.Max)
		}
	}
}

// The order in which parts are merged does not matter, and the whole is as if it had been counted at once.
func TestMergeIsAssociative(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		values := draw(r, r.IntN(300))
		i := r.IntN(len(values) + 1)
		j := i + r.IntN(len(values)-i+1)
		a, b, c := of(values[:i]), of(values[i:j]), of(values[j:])
		var left, right, inner Histogram
		left.Merge(&a)
		left.Merge(&b)
		left.Merge(&c)
		inner.Merge(&c)
		inner.Merge(&b)
		right.Merge(&inner)
		right.Merge(&a)
		whole := of(values)
		if !reflect.DeepEqual(left, right) || !reflect.DeepEqual(left, whole) {
			t.Fatalf("of %d values: %+v, %+v, want %+v", len(values), left, right, whole)
		}
		if again := of(values[:i]); !reflect.DeepEqual(a, again) {
			t.Fatal("merging changed what was merged")
		}
	}
}

// A quantile is within RelativeError of the exact one, and between the extremes.
func TestQuantile(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		values := draw(r, 1+r.IntN(500))
		h := of(values)
		slices.Sort(values)
		for _, q := range []float64{0, 0.01, 0.5, 0.9, 0.999, 1} {
			exact := float64(values[max(int(math.Ceil(q*float64(len(values)))), 1)-1])
			if got, ok := h.Quantile(q); !ok || math.Abs(got-exact) > RelativeError*math.Abs(exact) || got < float64(h.Min) || got > float64(h.Max) {
				t.Fatalf("the %g quantile of %d values is %g, want %g", q, len(values), got, exact)
			}
		}
	}
	if _, ok := new(Histogram).Quantile(0.5); ok {
		t.Error("there is a median of nothing")
	}
}

// Counts stay at the largest number that fits.
func TestCounts(t *testing.T) {
	var c Counts[uint16, uint32]
	for _, i := range []uint16{7, 3, 9, 3} {
		if fresh := c.Add(i, math.MaxUint32-1); fresh == (i == 3 && len(c.Index) == 3) {
			t.Errorf("bucket %d is new: %v", i, fresh)
		}
	}
	if want := (Counts[uint16, uint32]{[]uint16{3, 7, 9}, []uint32{math.MaxUint32, math.MaxUint32 - 1, math.MaxUint32 - 1}}); !reflect.DeepEqual(c, want) {
		t.Errorf("%+v, want %+v", c, want)
	}
	var a, b Counts[int32, int64]
	a.Add(5, math.MaxInt64)
	b.Add(5, 1)
	b.Add(-5, 1)
	a.Merge(&b)
	if want := (Counts[int32, int64]{[]int32{-5, 5}, []int64{1, math.MaxInt64}}); !reflect.DeepEqual(a, want) || a.Total() != math.MaxInt64 {
		t.Errorf("%+v, want %+v", a, want)
	}
}

// FuzzParse: what is anybody's is refused, or makes sense and is encoded again.
func FuzzParse(f *testing.F) {
	h := of(draw(rand.New(rand.NewPCG(5, 6)), 100))
	f.Add(h.Append(nil), uint64(100))
	f.Add(new(Histogram).Append(nil), uint64(0))
	f.Add(h.Append(nil), uint64(99))
	f.Fuzz(func(t *testing.T, data []byte, most uint64) {
		h, rest, err := Parse(data, most)
		if err != nil {
			return
		}
		if uint64(h.Count) > most || h.Total() != h.Count || h.Min > h.Max || !slices.IsSorted(h.Index) || len(rest) >= len(data) {
			t.Errorf("%+v of at most %d, and %d bytes follow", h, most, len(rest))
		}
		if again, rest, err := Parse(h.Append(nil), most); err != nil || len(rest) > 0 || !reflect.DeepEqual(again, h) {
			t.Errorf("%+v becomes %+v: %v", h, again, err)
		}
	})
}
