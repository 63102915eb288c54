package histogram

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

// Buckets of each scale tile the integers, and are unions of those of a finer one.
func TestScales(t *testing.T) {
	for s := Scale(0); s < 11; s++ {
		for next, i := int64(0), 0; ; i++ {
			low, high := s.SignedBounds(i)
			if low != next || s.Signed(low) != i || s.Signed(high) != i || s.Signed(-high) != -i {
				t.Fatalf("scale %d: bucket %d is %d..%d", s, i, low, high)
			}
			if l, h := s.SignedBounds(-i); l != -high || h != -low {
				t.Fatalf("scale %d: bucket %d is %d..%d, want the mirror of %d..%d", s, -i, l, h, low, high)
			}
			if s > 0 && (s-1).Signed(low) != (s-1).Signed(high) {
				t.Fatalf("scale %d: bucket %d lies in two of the coarser scale", s, i)
			}
			if high == math.MaxInt64 {
				break
			}
			next = high + 1
		}
	}
}
