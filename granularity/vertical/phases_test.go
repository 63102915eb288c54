package vertical

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// steps is a series with these levels, each for so many samples.
func steps(levels []float64, lengths ...int) (out []float64) {
	for i, n := range lengths {
		out = append(out, slices.Repeat(levels[i:i+1], n)...)
	}
	return out
}

func TestPhasesOfSteps(t *testing.T) {
	for _, c := range []struct {
		levels  []float64
		lengths []int
		want    []int
	}{
		{[]float64{5}, []int{100}, nil},
		{[]float64{0, 1}, []int{50, 50}, []int{50}},
		{[]float64{7, 3, 7}, []int{211, 4, 320}, []int{211, 215}},
		{[]float64{1, 2, 30, 2, 400, 401}, []int{100, 40, 7, 133, 60, 99}, []int{100, 140, 147, 280, 340}},
		{[]float64{0, 1, 0, 1, 0}, []int{20, 20, 20, 20, 20}, []int{20, 40, 60, 80}},
	} {
		got := ChangePoints(steps(c.levels, c.lengths...), PhaseOptions{})
		if !slices.Equal(got, c.want) {
			t.Errorf("%v %v: %v, want %v", c.levels, c.lengths, got, c.want)
		}
	}
}

// With noise the change points are where they were planted, but for a sample or two; outliers and trends are none.
func TestPhasesInNoise(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	exact, all := 0, 0
	for range 100 {
		v := steps([]float64{100, 60, 100, 150}, 300, 40, 260, 200)
		for i, e := range red(r, len(v), 0.3) {
			v[i] += 8*e + 10*float64(i)/float64(len(v))
			if r.IntN(100) == 0 {
				v[i] *= 20
			}
			if r.IntN(50) == 0 {
				v[i] = math.NaN()
			}
		}
		found := ChangePoints(v, PhaseOptions{})
		for _, want := range []int{300, 340, 600} {
			all++
			if slices.ContainsFunc(found, func(f int) bool { return f >= want-2 && f <= want+2 }) {
				exact++
			}
		}
		if len(found) > 4 {
			t.Errorf("%v", found)
		}
	}
	t.Logf("%d of %d", exact, all)
	if exact < all*95/100 {
		t.Errorf("%d of %d within two samples", exact, all)
	}
}

// Most series without phases have none.
func TestFalsePhases(t *testing.T) {
	const trials = 100
	r := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		name string
		of   func() []float64
		most int
	}{
		{"white", func() []float64 { return red(r, 1000, 0) }, 5},
		{"phi 0.5", func() []float64 { return red(r, 1000, 0.5) }, 5},
		{"phi 0.8", func() []float64 { return red(r, 1000, 0.8) }, 10},
		{"trend", func() []float64 {
			v := red(r, 1000, 0.3)
			for i := range v {
				v[i] += 6 * float64(i) / 1000
			}
			return v
		}, 20},
		{"heavy tails", func() []float64 {
			v := red(r, 1000, 0)
			for i := range v {
				v[i] = math.Exp(1.5 * v[i])
			}
			return v
		}, 5},
	} {
		some := 0
		for range trials {
			if len(ChangePoints(c.of(), PhaseOptions{})) > 0 {
				some++
			}
		}
		t.Logf("%s: %d of %d have phases", c.name, some, trials)
		if some > c.most {
			t.Errorf("%s: %d of %d have phases", c.name, some, trials)
		}
	}
}

// An hour at 36 ms.
func TestPhasesOfManySamples(t *testing.T) {
	v := steps([]float64{50, 80, 50}, 40_000, 300, 59_700)
	for i, e := range red(rand.New(rand.NewPCG(5, 6)), len(v), 0.5) {
		v[i] += 5 * e
	}
	found := ChangePoints(v, PhaseOptions{})
	if len(found) != 2 || !near(float64(found[0]), 40_000, 2) || !near(float64(found[1]), 40_300, 2) {
		t.Errorf("%v", found)
	}
}
