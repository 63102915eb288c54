package gc

import (
	"math/rand/v2"
	"slices"
	"testing"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

func TestPlaceStops(t *testing.T) {
	w := span(0, 1000)
	for _, c := range []struct {
		what          string
		looks         []Stopped
		pauses, hints []activity.Span
		want          []activity.Span
	}{
		{"nothing known but the total", []Stopped{{20, 0}, {40, 15}}, nil, nil, []activity.Span{span(25, 40)}},
		{"reaching the pause", []Stopped{{40, 15}}, []activity.Span{span(20, 30)}, nil, []activity.Span{span(15, 30)}},
		{"longer than the distance of the looks", []Stopped{{20, 0}, {40, 35}}, nil, nil, []activity.Span{span(5, 40)}},
		{"a pause that the counters have later", []Stopped{{40, 2}, {60, 12}}, []activity.Span{span(30, 40)}, nil, []activity.Span{span(30, 40), span(58, 60)}},
		{"a pause under way", []Stopped{{40, 2}, {60, 12}}, []activity.Span{span(35, 45)}, nil, []activity.Span{span(33, 45)}},
		{"threads waited for its end", []Stopped{{40, 10}}, nil, []activity.Span{span(12, 20)}, []activity.Span{span(10, 20)}},
		{"a hint takes no more than is left", []Stopped{{40, 5}}, nil, []activity.Span{span(12, 20)}, []activity.Span{span(15, 20)}},
		{"a hint without time", []Stopped{{40, 10}}, []activity.Span{span(22, 32)}, []activity.Span{span(12, 20)}, []activity.Span{span(22, 32)}},
		{"a hint before a pause", []Stopped{{40, 18}}, []activity.Span{span(30, 40)}, []activity.Span{span(2, 10)}, []activity.Span{span(2, 10), span(30, 40)}},
		{"before the session", []Stopped{{-10, 50}, {40, 55}, {1000, 90}}, nil, nil, []activity.Span{span(35, 40)}},
	} {
		if got := PlaceStops(c.looks, c.pauses, c.hints, w); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}

// TestPlaceStopsSum: however the looks, pauses and hints lie, the spans are in order, apart, have all the pauses, and
// add up to the total of the counters where there was room.
func TestPlaceStopsSum(t *testing.T) {
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 9))
		var looks []Stopped
		var pauses, hints []activity.Span
		total, at := units.Ns(0), units.MonoNs(0)
		for range 1 + rng.IntN(6) {
			// Each stop is wholly between two looks: reaching, pause, leaving; or no pause.
			at += units.MonoNs(10 + rng.IntN(50))
			reach, stop, leave := units.MonoNs(rng.IntN(10)), units.MonoNs(rng.IntN(30)), units.MonoNs(rng.IntN(3))
			end := at + reach + stop + leave
			if rng.IntN(2) == 0 && stop > 0 {
				pauses = append(pauses, span(at+reach, at+reach+stop))
			}
			if rng.IntN(2) == 0 {
				hints = append(hints, span(at+units.MonoNs(rng.IntN(5)), end+units.MonoNs(rng.IntN(5))))
			}
			total += units.Ns(end - at)
			at = end + units.MonoNs(rng.IntN(20))
			looks = append(looks, Stopped{at, total})
		}
		w := span(0, at+1)
		got := PlaceStops(looks, pauses, hints, w)
		if sum := length(got); sum != total {
			t.Fatalf("seed %d: %v adds up to %d, want %d", seed, got, sum, total)
		}
		for i, s := range got {
			if s.Len() == 0 || i > 0 && s.From < got[i-1].To {
				t.Fatalf("seed %d: %v is not in order", seed, got)
			}
		}
		if both := length(activity.Union(append(slices.Clone(got), pauses...), w)); both != total {
			t.Fatalf("seed %d: %v does not have the pauses %v", seed, got, pauses)
		}
	}
}
