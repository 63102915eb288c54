package timeseries

import (
	"math"
	"slices"
	"testing"

	"stackagent/hpc/monitor"
	"stackagent/internal/units"
)

// A counter that was the same at each tick grew since the last one; another one grew since its own last value.
func TestInsideValues(t *testing.T) {
	edges := []units.MonoNs{0, 100, 200, 300, 400}
	for _, test := range []struct {
		name string
		kind monitor.Kind
		each bool
		rows [][3]units.MonoNs // at, tick before it, value
		want []float64
	}{
		{"each sample", monitor.Counter, true, [][3]units.MonoNs{{100, 0, 5}, {300, 200, 9}, {400, 300, 10}}, []float64{math.NaN(), 0, 4, 1}},
		{"rarely", monitor.Counter, false, [][3]units.MonoNs{{100, 0, 5}, {300, 200, 9}, {400, 300, 10}}, []float64{math.NaN(), 2, 2, 1}},
		{"reset", monitor.Counter, true, [][3]units.MonoNs{{100, 0, 5}, {300, 200, 1}, {400, 300, 4}}, []float64{math.NaN(), 0, 0, 3}},
		{"gauge", monitor.Gauge, true, [][3]units.MonoNs{{100, 0, 5}, {250, 200, -1}, {400, 300, 7}}, []float64{math.NaN(), 5, 2, -1}},
	} {
		b := newBuilder(edges)
		d := monitor.Declaration{Name: "x", Kind: test.kind}
		m := &insideMonitor{Series: &Series{Declaration: d}, each: test.each}
		for _, r := range test.rows {
			b.insideValue(m, r[0], r[1], float64(r[2]))
		}
		same := func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }
		if !slices.EqualFunc(m.Values, test.want, same) {
			t.Errorf("%s: %v, want %v", test.name, m.Values, test.want)
		}
	}
}
