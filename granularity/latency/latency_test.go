package latency

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"stackagent/internal/histogram"
	"stackagent/internal/units"
)

const ms = units.MonoNs(1e6)

// byDefinition is metered latency, event by event: collect the starts no further than half a window away, and say where
// the event would start if these were at equal distances from the first to the last of them.
func byDefinition(events []Event, window units.Ns) []units.Ns {
	sorted := slices.Clone(events)
	slices.SortStableFunc(sorted, func(a, b Event) int { return cmp.Compare(a.Start, b.Start) })
	var out []units.Ns
	for i, e := range sorted {
		from, to, before, n := e.Start, e.Start, 0, 0
		for k := range sorted {
			other := sorted[k].Start
			if d := other - e.Start; window == Whole || 2*units.Ns(max(d, -d)) <= window {
				from, to, n = min(from, other), max(to, other), n+1
				if k < i {
					before++
				}
			}
		}
		start := float64(e.Start)
		if n > 1 {
			start = min(start, float64(from)+float64(before)*float64(to-from)/float64(n-1))
		}
		out = append(out, units.Ns(math.Round(float64(e.End)-start)))
	}
	return out
}

// TestMeteredKnown has answers by hand. Starts in ms, each event takes 1 ms.
func TestMeteredKnown(t *testing.T) {
	for _, c := range []struct {
		why    string
		starts []units.MonoNs
		window units.Ns
		want   []units.Ns // in ms
	}{
		{"equal distances stay", []units.MonoNs{0, 10, 20, 30}, 20e6, []units.Ns{1, 1, 1, 1}},
		{"0, 10 and 12 would start at 0, 6 and 12; what starts behind the window has no part", []units.MonoNs{0, 10, 12, 112}, 40e6, []units.Ns{1, 5, 1, 1}},
		{"nor has what started before it", []units.MonoNs{0, 100, 110, 112}, 40e6, []units.Ns{1, 1, 5, 1}},
		{"a start just at the edge is in the window", []units.MonoNs{0, 15, 20}, 40e6, []units.Ns{1, 6, 1}},
		{"windows shorter than the gaps", []units.MonoNs{0, 10, 30, 60}, 9e6, []units.Ns{1, 1, 1, 1}},
		{"the whole run is uniform", []units.MonoNs{0, 10, 12, 90}, Whole, []units.Ns{1, 1, 1, 1}},
		{"and what waited for a stall pays", []units.MonoNs{0, 80, 81, 90}, Whole, []units.Ns{1, 51, 22, 1}},
		{"equal starts", []units.MonoNs{0, 30, 30, 30}, 60e6, []units.Ns{1, 21, 11, 1}},
		{"all at once", []units.MonoNs{5, 5, 5}, 60e6, []units.Ns{1, 1, 1}},
	} {
		var events []Event
		for _, s := range c.starts {
			events = append(events, Event{s * ms, (s + 1) * ms})
		}
		for i, got := range Metered(events, c.window) {
			if want := c.want[i] * units.Ns(ms); got != want {
				t.Errorf("%s: event %d takes %d, want %d", c.why, i, got, want)
			}
		}
	}
}

// streams are requests of several shapes.
func streams(rng *rand.Rand) map[string][]Event {
	all := map[string][]Event{}
	add := func(name string, n int, next func(i int) (gap, length units.MonoNs)) {
		at := 7 * ms
		for i := range n {
			gap, length := next(i)
			at += gap
			all[name] = append(all[name], Event{at, at + length})
		}
		rng.Shuffle(n, func(i, j int) { e := all[name]; e[i], e[j] = e[j], e[i] })
	}
	around := func(n units.MonoNs) units.MonoNs { return units.MonoNs(rng.ExpFloat64() * float64(n)) }
	add("steady", 1000, func(int) (units.MonoNs, units.MonoNs) { return ms, ms / 2 })
	add("random", 2000, func(int) (units.MonoNs, units.MonoNs) { return around(ms), around(ms) })
	add("pauses", 2000, func(i int) (units.MonoNs, units.MonoNs) {
		if i%300 == 299 {
			return 60 * ms, around(ms)
		}
		return around(ms / 2), around(ms / 2)
	})
	add("bursts", 2000, func(i int) (units.MonoNs, units.MonoNs) {
		if i%100 == 0 {
			return 200 * ms, 1 + around(ms)
		}
		return around(ms / 20), 1 + around(ms)
	})
	add("rate doubles", 2000, func(i int) (units.MonoNs, units.MonoNs) { return 2 * ms / units.MonoNs(1+i/1000), around(ms) })
	add("same start", 50, func(int) (units.MonoNs, units.MonoNs) { return 0, ms })
	add("one", 1, func(int) (units.MonoNs, units.MonoNs) { return ms, ms })
	return all
}

// TestMeteredByDefinition holds metered latency against the definition, event by event.
func TestMeteredByDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	for name, events := range streams(rng) {
		for _, window := range []units.Ns{1, 1e6, 10e6, 100e6, 1e9, 100e9, Whole} {
			want, got := byDefinition(events, window), Metered(events, window)
			for i := range want {
				if d := want[i] - got[i]; d < -2 || d > 2 {
					t.Fatalf("%s, window %d: event %d takes %d, by definition %d", name, window, i, got[i], want[i])
				}
			}
			if len(got) != len(events) {
				t.Errorf("%s: %d latencies of %d events", name, len(got), len(events))
			}
		}
	}
	if got := Metered(nil, Whole); len(got) != 0 {
		t.Errorf("latencies of nothing: %v", got)
	}
}

// TestMeteredIsSymmetric: a window is as long after an event as before it, so that a run played backwards has its synthetic
// starts at the mirrored times. An event that is moved to an earlier time
// forwards is moved to a later one backwards: never to an earlier one in both.
func TestMeteredIsSymmetric(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 6))
	for name, events := range streams(rng) {
		for _, window := range []units.Ns{1e6, 100e6, Whole} {
			delay := func(mirror units.MonoNs) (out []units.Ns) {
				points := make([]Event, len(events))
				for i, e := range events {
					points[i] = Event{mirror * e.Start, mirror * e.Start}
				}
				return Metered(points, window)
			}
			forward, back := delay(1), delay(-1)
			slices.Reverse(back)
			for i := range forward {
				if forward[i] > 1 && back[i] > 1 {
					t.Fatalf("%s, window %d: event %d starts %d early forwards and %d backwards", name, window, i, forward[i], back[i])
				}
			}
		}
	}
}

// TestMeteredOfAStall: a request each millisecond, and after every 500 the server stands
// still for 40 ms. Those that had to wait then start at once, so that simple latency knows
// nothing of it.
func TestMeteredOfAStall(t *testing.T) {
	var events []Event
	at := units.MonoNs(0)
	for i := range 10_000 {
		start := max(at, units.MonoNs(i)*ms)
		if i%500 == 250 {
			start += 40 * ms
		}
		at = start + ms/100
		events = append(events, Event{start, at})
	}
	for _, window := range []units.Ns{100e6, Whole} {
		want, got := Describe(byDefinition(events, window), nil), Describe(Metered(events, window), nil)
		for _, p := range Percentiles {
			if w, g := want.At(p), got.At(p); w-g > 2 || g-w > 2 {
				t.Errorf("window %d: percentile %d is %d, by definition %d", window, p, g, w)
			}
		}
		if g := got.At(99_000); g < units.Ns(10*ms) || g > units.Ns(41*ms) {
			t.Errorf("window %d: p99 is %d: the stalls are not in it", window, g)
		}
	}
	if p := Describe(Simple(events), nil).Max(); p != units.Ns(ms/100) {
		t.Errorf("the longest simple latency is %d", p)
	}
}

// TestPercentiles: nearest ranks of known values.
func TestPercentiles(t *testing.T) {
	for _, n := range []int{1, 2, 10, 999, 1000, 100_000, 200_001} {
		var values []units.Ns
		for i := range n {
			values = append(values, units.Ns(n-i))
		}
		d := Describe(values, nil)
		for _, p := range append([]Percentile{1, All}, Percentiles...) {
			// The value k is the smallest with at least k/n of all at or below it.
			want := units.Ns(math.Ceil(float64(p) * float64(n) / float64(All)))
			if got := d.At(p); got != want {
				t.Errorf("%d values: percentile %d is %d, want %d", n, p, got, want)
			}
		}
		if d.Max() != units.Ns(n) || d.Count() != int64(n) || d.RelativeError() != 0 || d.Summarised() != 0 {
			t.Errorf("%d values: %d, max %d, error %g", n, d.Count(), d.Max(), d.RelativeError())
		}
	}
	if none := Describe(nil, nil); none.At(50_000).Measured() || none.Max().Measured() || none.Count() != 0 || none.Curve() != nil {
		t.Error("nothing has a latency")
	}
}

// summarise puts values into the buckets of a summary.
func summarise(values []units.Ns) Summary {
	counts := map[uint16]uint64{}
	s := Summary{Count: int64(len(values)), Min: slices.Min(values), Max: slices.Max(values)}
	for _, v := range values {
		counts[uint16(histogram.Index(uint64(v)))]++
		s.Sum += v
	}
	for i := range uint16(histogram.Buckets) {
		if counts[i] > 0 {
			s.Buckets = append(s.Buckets, histogram.Bucket{Index: i, Count: counts[i]})
		}
	}
	return s
}

// TestSummarised: whatever part is summarised, each percentile is within the stated error
// of the exact one; count and maximum are exact.
func TestSummarised(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 5))
	for range 30 {
		var values []units.Ns
		for range 1 + rng.IntN(20_000) {
			values = append(values, units.Ns(math.Exp(rng.NormFloat64()*2+12)))
		}
		part := rng.IntN(len(values))
		exact := Describe(slices.Clone(values), nil)
		d := Describe(slices.Clone(values[part:]), nil)
		if part > 0 {
			d = Describe(slices.Clone(values[part:]), []Summary{summarise(values[:part])})
		}
		if d.Count() != exact.Count() || d.Max() != exact.Max() || d.Summarised() != int64(part) || (d.RelativeError() > 0) != (part > 0) {
			t.Fatalf("count %d of %d, max %d of %d, summarised %d of %d", d.Count(), exact.Count(), d.Max(), exact.Max(), d.Summarised(), part)
		}
		for _, p := range Percentiles {
			want, got := float64(exact.At(p)), float64(d.At(p))
			if math.Abs(got-want) > d.RelativeError()*want+1 {
				t.Errorf("percentile %d: %g, exactly %g, stated error %g", p, got, want, d.RelativeError())
			}
		}
	}
}

// TestCurve: points ascend, from (nearly) all events to the last, and are percentiles.
func TestCurve(t *testing.T) {
	for _, n := range []int{1, 3, 100, 54_321} {
		var values []units.Ns
		for i := range n {
			values = append(values, units.Ns(i+1))
		}
		curve := Describe(values, nil).Curve()
		for i, p := range curve {
			if i > 0 && (p.Above >= curve[i-1].Above || p.Ns < curve[i-1].Ns) {
				t.Fatalf("%d values: %v after %v", n, p, curve[i-1])
			}
			if want := float64(n) * (1 - p.Above); math.Abs(float64(p.Ns)-want) > 1.001 {
				t.Errorf("%d values: %d at 1 - %g, want %g", n, p.Ns, p.Above, want)
			}
		}
		if last := curve[len(curve)-1]; last.Ns != units.Ns(n) {
			t.Errorf("%d values: the curve ends at %d", n, last.Ns)
		}
	}
}

func TestWindows(t *testing.T) {
	if got := fmt.Sprint(Windows([]Event{{0, 1}, {units.MonoNs(2e9), 5}})); got != "[1000000 10000000 100000000 1000000000]" {
		t.Errorf("windows %s", got)
	}
	if Windows([]Event{{0, 1}}) != nil {
		t.Error("one event has windows")
	}
}
