package granularity

import (
	"math/rand/v2"
	"slices"
	"testing"

	"stackagent/internal/units"
)

func TestWeights(t *testing.T) {
	g := Grid{From: 100, Width: 10, N: 4}
	for _, c := range []struct {
		from, to units.MonoNs
		want     []float64
	}{
		{100, 140, []float64{10, 10, 10, 10}}, {105, 120, []float64{5, 10, 0, 0}}, {90, 102, []float64{12, 0, 0, 0}},
		{135, 160, []float64{0, 0, 0, 25}}, {110, 110, []float64{1, 0, 0, 0}}, {111, 110, []float64{1, 0, 0, 0}}, {0, 1, []float64{1, 0, 0, 0}},
	} {
		if got := g.Weights(c.from, c.to); !slices.Equal(got, c.want) {
			t.Errorf("%d..%d: %v, want %v", c.from, c.to, got, c.want)
		}
	}
}

// TestDivide: parts add up, none is negative, and each is its share but for less than 1.
func TestDivide(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		weights, all := make([]float64, 1+r.IntN(20)), 0.0
		for i := range weights {
			weights[i] = float64(r.IntN(5)) * r.Float64()
			all += weights[i]
		}
		n := r.Int64N(1 << (1 + seed%40))
		sum := int64(0)
		for i, part := range Divide(n, weights) {
			sum += part
			if exact := float64(n) * weights[i] / all; all > 0 && (float64(part) < exact-1.01 || float64(part) > exact+1.01) {
				t.Fatalf("%d by %v: part %d is %d", n, weights, i, part)
			}
		}
		if sum != n {
			t.Fatalf("%d by %v: %d in all", n, weights, sum)
		}
	}
}
