package explain

import (
	"math"
	"testing"

	"stackagent/shadow/analysis/formula"
)

// course is a metric of 300 samples: it warms up in 20, and is at another level in the given ranges.
func course(usual, other float64, ranges ...[2]int) *formula.Metric {
	m := &formula.Metric{}
	for i := range 300 {
		v := usual
		if i < 20 {
			v = 0
		}
		for _, r := range ranges {
			if i >= r[0] && i < r[1] {
				v = other
			}
		}
		m.Values = append(m.Values, v)
	}
	return m
}

// Two dips to a half of 40 samples each take 2 x 40 x 0.5 of the 280 samples after the warm-up. What the cause did in the
// warm-up does not matter.
func TestTry(t *testing.T) {
	h := Hypothesis{Length: 40, Level: 0.5, Rises: true}
	cause := course(1, 100, [2]int{0, 10}, [2]int{100, 140}, [2]int{200, 240})
	with, ok := h.Try(course(10, 5, [2]int{100, 140}, [2]int{200, 240}), cause)
	if want := 2 * 40 * 0.5 / 280.0; !ok || math.Abs(with.Loss-want) > 0.2*want || with.Peak != 100 {
		t.Errorf("%+v, %v; want a loss of about %.3f and a peak of 100", with, ok, want)
	}
	steady, ok := h.Try(course(10, 10), course(1, 100, [2]int{0, 10}))
	if !ok || steady.Loss != 0 || steady.Peak > 2 {
		t.Errorf("steady: %+v, %v", steady, ok)
	}
	still, _ := h.Try(course(10, 5, [2]int{50, 90}, [2]int{150, 190}), course(1, 1))
	if absent, ok := h.Try(course(10, 10), nil); !ok || absent.Peak != 0 {
		t.Errorf("a cause that never happened: %+v, %v", absent, ok)
	}
	for want, without := range map[Verdict][]Trial{
		Confirmed: {steady, steady},
		Refuted:   {still},
		Untested:  {with},
	} {
		if got := h.Judge(with, without); got != want {
			t.Errorf("%+v: %s, want %s", without, got, want)
		}
	}
	falls := Hypothesis{Length: 40, Level: 0.5} // the cause falls, too
	low, _ := falls.Try(course(10, 5, [2]int{100, 140}), course(50, 2, [2]int{100, 140}))
	none, _ := falls.Try(course(10, 10), course(50, 50))
	if low.Peak != 2 || none.Peak != 50 || falls.Judge(low, []Trial{none}) != Confirmed || falls.Judge(low, []Trial{low}) != Untested {
		t.Errorf("a cause that falls: %+v, %+v", low, none)
	}
	if _, ok := h.Try(&formula.Metric{Values: []float64{math.NaN(), math.NaN()}}, nil); ok {
		t.Error("a metric without values")
	}
}
