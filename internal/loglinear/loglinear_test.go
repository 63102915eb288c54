package loglinear

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Buckets follow one another without gap, and every bound lies in its bucket.
func TestBucketsTile(t *testing.T) {
	next := uint64(0)
	for i := range Buckets {
		lowest, highest := Bounds(i)
		if lowest != next || highest < lowest {
			t.Fatalf("bucket %d is %d..%d, want it to begin with %d", i, lowest, highest, next)
		}
		if Index(lowest) != i || Index(highest) != i {
			t.Fatalf("bucket %d: its bounds lie in %d and %d", i, Index(lowest), Index(highest))
		}
		next = highest + 1
	}
	if next != 1<<63 {
		t.Errorf("the buckets end at %d", next)
	}
	if got := Index(math.MaxUint64); got != Buckets-1 {
		t.Errorf("the largest value lies in %d", got)
	}
}

func TestRelativeError(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100000 {
		v := r.Uint64() >> (1 + r.IntN(60))
		if v == 0 {
			continue
		}
		if e := math.Abs(Middle(Index(v))-float64(v)) / float64(v); e > RelativeError {
			t.Fatalf("%d: error %g", v, e)
		}
	}
}
