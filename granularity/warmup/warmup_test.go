package warmup

import "testing"

func TestWarm(t *testing.T) {
	for _, c := range []struct {
		name          string
		times         []float64
		warm, reached int
	}{
		{"none", nil, -1, -1},
		{"one", []float64{5}, 0, 0},
		{"warm from the start", []float64{100, 101, 100.5}, 0, 0},
		{"gets warm", []float64{300, 150, 110, 101, 100, 101.4}, 3, 3},
		{"just within", []float64{200, 101.4, 100}, 1, 1},
		{"just beyond", []float64{200, 101.6, 100}, 2, 2},
		{"once slow in between", []float64{300, 100, 140, 101, 100}, 3, 1},
		{"ends slow", []float64{300, 100, 100, 140}, -1, 1},
		{"gets ever faster", []float64{500, 400, 300, 200}, 3, 3},
	} {
		if warm, reached := WarmFrom(c.times, Within), Reached(c.times, Within); warm != c.warm || reached != c.reached {
			t.Errorf("%s: warm from %d and reached at %d, want %d and %d", c.name, warm, reached, c.warm, c.reached)
		}
	}
}
