package gc

import (
	"math"
	"math/rand/v2"
	"testing"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

func span(from, to units.MonoNs) activity.Span { return activity.Span{From: from, To: to} }

func TestDescribe(t *testing.T) {
	p := Describe([]activity.Span{span(90, 110), span(200, 210), span(205, 240), span(950, 1100), span(2000, 2001)}, span(100, 1000))
	// Three begin in the window; the first reaches into it, the last out of it.
	want := Pauses{Count: 3, Total: 10 + 40 + 50, Mean: (10 + 35 + 150) / 3, P50: 35, P90: 150, P99: 150, P999: 150, Min: 10, Max: 150, Share: 100.0 / 900}
	if p != want {
		t.Errorf("got %+v, want %+v", p, want)
	}
	if p := Describe(nil, span(0, 100)); p != (Pauses{}) {
		t.Errorf("without pauses: %+v", p)
	}
}

func TestMMUKnown(t *testing.T) {
	// The example of Cheng and Blelloch: many short pauses may be worse than a
	// long one.
	short := []activity.Span{span(10, 15), span(20, 25), span(30, 35)}
	long := []activity.Span{span(40, 52)}
	for _, c := range []struct {
		pauses []activity.Span
		window units.Ns
		want   float64
	}{
		{short, 5, 0}, {short, 10, 0.5}, {short, 15, 1 - 10.0/15}, {short, 25, 0.4}, {short, 100, 0.85}, {short, 1000, 0.85},
		{long, 5, 0}, {long, 12, 0}, {long, 24, 0.5}, {long, 100, 0.88},
		{nil, 7, 1}, {[]activity.Span{span(-50, 200)}, 10, 0},
	} {
		if got := MMU(c.pauses, span(0, 100), []units.Ns{c.window})[0].Min; math.Abs(got-c.want) > 1e-12 {
			t.Errorf("MMU(%d) of %v = %v, want %v", c.window, c.pauses, got, c.want)
		}
	}
}

// TestMMUAgainstDefinition tries every window.
func TestMMUAgainstDefinition(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 3))
		const length = 120
		stopped := make([]int, length)
		var pauses []activity.Span
		for range rng.IntN(8) {
			from := rng.IntN(length+20) - 10
			to := from + rng.IntN(25)
			pauses = append(pauses, span(units.MonoNs(from), units.MonoNs(to)))
			for i := max(from, 0); i < min(to, length); i++ {
				stopped[i] = 1
			}
		}
		for _, w := range []int{1, 2, 7, 20, 63, 119, 120} {
			least := 1.0
			for from := 0; from+w <= length; from++ {
				sum := 0
				for _, s := range stopped[from : from+w] {
					sum += s
				}
				least = min(least, 1-float64(sum)/float64(w))
			}
			if got := MMU(pauses, span(0, length), []units.Ns{units.Ns(w)})[0].Min; math.Abs(got-least) > 1e-12 {
				t.Fatalf("seed %d: MMU(%d) of %v = %v, want %v", seed, w, pauses, got, least)
			}
		}
	}
}
