package experiment

import (
	"context"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// heapOf is the heap of a point in bytes.
func heapOf(t *testing.T, p Point) int64 {
	t.Helper()
	n, unit := strings.CutSuffix(p.Of(Heap), "m")
	v, err := strconv.ParseInt(n, 10, 64)
	if err != nil || !unit {
		t.Fatalf("heap %q", p.Of(Heap))
	}
	return v * mib
}

// search runs a program that completes with the probability that chance tells of a heap.
func search(t *testing.T, chance func(bytes int64) float64, s Search) SmallestHeap {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	x := open(t, t.TempDir(), plan(1), Options{Launch: func(_ context.Context, _ string, p Point, _ int) (Outcome, error) {
		if r.Float64() < chance(heapOf(t, p)) {
			return Outcome{}, nil
		}
		return Outcome{Failure: OutOfMemory, Why: "Java heap space"}, nil
	}})
	defer x.Close()
	found, err := x.Smallest(t.Context(), nil, s)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestSmallestHeap: a sharp edge is found to 1 MiB or 2 %, wherever the search begins.
func TestSmallestHeap(t *testing.T) {
	for _, edge := range []int64{2, 3, 17, 64, 100, 1000, 7777} {
		for _, from := range []int64{1, 64, 4096} {
			found := search(t, func(bytes int64) float64 {
				if bytes >= edge*mib {
					return 1
				}
				return 0
			}, Search{Tries: 3, From: from * mib, Most: 16 << 30})
			if found.Bytes < edge*mib || float64(found.Bytes) > max(1.02*float64(edge*mib), float64((edge+1)*mib)) {
				t.Errorf("found %s for %d MiB, from %d", HeapText(found.Bytes), edge, from)
			}
			if found.Passed != 0 || found.Below >= edge*mib || found.Runs > 40 {
				t.Errorf("edge of %d MiB: %+v", edge, found)
			}
		}
	}
}

// TestBlurredEdge: where runs complete now and then, the result is a heap at which all tries did, and the one below is
// said to complete sometimes.
func TestBlurredEdge(t *testing.T) {
	sometimes := 0
	for range 5 {
		found := search(t, func(bytes int64) float64 { return float64(bytes-100*mib) / (20 * mib) }, Search{Tries: 5, From: 64 * mib, Most: 1 << 30})
		if found.Bytes < 103*mib || found.Bytes > 122*mib || found.Passed == 5 || found.Below >= found.Bytes {
			t.Errorf("%+v, want a heap near 120 MiB", found)
		}
		if found.Passed > 0 {
			sometimes++
		}
	}
	if sometimes == 0 {
		t.Error("no edge is said to be blurred")
	}
}

// TestHeapUnheeded: a command that completes whatever its heap, as its JVM has another one, has no smallest heap.
func TestHeapUnheeded(t *testing.T) {
	found := search(t, func(int64) float64 { return 1 }, Search{Tries: 3, From: 64 * mib, Most: 1 << 30})
	if found.Bytes != 0 || !strings.Contains(found.Why, "does not reach its JVM") {
		t.Errorf("%+v", found)
	}
}

// TestSearchCountsRuns: a run that the search asks for twice is made and counted once.
func TestSearchCountsRuns(t *testing.T) {
	runs := 0
	x := open(t, t.TempDir(), plan(1), Options{Launch: func(_ context.Context, _ string, p Point, _ int) (Outcome, error) {
		runs++
		if heapOf(t, p) < 31*mib {
			return Outcome{Failure: OutOfMemory}, nil
		}
		return Outcome{}, nil
	}})
	defer x.Close()
	if found, err := x.Smallest(t.Context(), nil, Search{Tries: 3, From: 64 * mib, Most: 1 << 30}); err != nil || found.Runs != runs {
		t.Errorf("%+v, %v after %d runs", found, err, runs)
	}
}

// TestNoHeap: a command that completes at no heap is not looked at for ever, and a JVM that does not start only once.
func TestNoHeap(t *testing.T) {
	found := search(t, func(int64) float64 { return 0 }, Search{Tries: 3, From: 64 * mib, Most: 1 << 30})
	if found.Bytes != 0 || !strings.Contains(found.Why, "with a heap of 1.00 GiB: out of memory: Java heap space") {
		t.Errorf("%+v", found)
	}
	runs := 0
	x := open(t, t.TempDir(), plan(1), Options{Launch: func(context.Context, string, Point, int) (Outcome, error) {
		runs++
		return Outcome{Code: 1, Failure: NoJVM, Why: "Option -XX:+UseShenandoahGC not supported"}, nil
	}})
	defer x.Close()
	if found, err := x.Smallest(t.Context(), nil, Search{Tries: 3, From: 64 * mib, Most: 1 << 30}); err != nil || runs != 1 || !strings.Contains(found.Why, "not supported") {
		t.Errorf("%+v, %v after %d runs", found, err, runs)
	}
}
