package granularity

import (
	"math"
	"testing"

	"stackagent/internal/units"
)

// A JVM may claim any value; at the ends of the range a float is too coarse to
// compare with.
func TestBoxAtTheLimits(t *testing.T) {
	for _, values := range [][]units.Ns{
		{math.MaxInt64}, {math.MinInt64}, {0, math.MaxInt64}, {math.MinInt64, math.MaxInt64}, {1<<60 + 1}, {1<<60 + 63, 1<<60 + 65}, {math.MaxInt64 - 1, math.MaxInt64 - 1},
		{1<<62 - 1, 1<<62 + 1, 1<<62 + 1}, {math.MinInt64 + 1, math.MinInt64 + 1}, {-1<<60 - 1},
	} {
		var v Values
		for _, x := range values {
			v.Add(x)
		}
		b := BoxOf(&v)
		if b.N != len(values) || b.LowWhisker > b.Q1 || b.HiWhisker < b.Q3 || b.OutlierCount < 0 || b.OutlierCount > b.N {
			t.Errorf("%v: %+v", values, b)
		}
	}
}
