package latency

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"stackagent/internal/loglinear"
	"stackagent/internal/units"
)

const ms = units.MonoNs(1e6)

// harness is the metered latency of DaCapo Chopin's harness, step by step: for each event,
// the first event that starts no earlier than half a window before it, and the first that
// starts no earlier than half a window after it, or the last; the mean distance of starts
// between the two; the synthetic start. Full smoothing is a window of ten times the run.
func harness(events []Event, window units.Ns) []units.Ns {
	sorted := slices.Clone(events)
	slices.SortStableFunc(sorted, func(a, b Event) int { return int(a.Start - b.Start) })
	n := len(sorted)
	if window == Whole {
		window = 10 * units.Ns(sorted[n-1].End-sorted[0].Start)
	}
	var out []units.Ns
	for i := range sorted {
		at := float64(sorted[i].Start)
		from := slices.IndexFunc(sorted, func(e Event) bool { return float64(e.Start) >= at-float64(window)/2 })
		to := slices.IndexFunc(sorted, func(e Event) bool { return float64(e.Start) >= at+float64(window)/2 })
		if to < 0 {
			to = n - 1
		}
		actual := float64(sorted[i].End) - at
		mean := (float64(sorted[to].Start) - float64(sorted[from].Start)) / float64(to-from)
		metered := float64(sorted[i].End) - (float64(sorted[from].Start) + float64(i-from)*mean)
		if to == from || metered < actual { // 0/0 is no number, and no later
			metered = actual
		}
		out = append(out, units.Ns(math.Round(metered)))
	}
	return out
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

// TestMeteredIsTheHarness holds metered latency against the harness's own steps, event by event.
func TestMeteredIsTheHarness(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	for name, events := range streams(rng) {
		for _, window := range []units.Ns{1, 1e6, 10e6, 100e6, 1e9, 100e9, Whole} {
			want, got := harness(events, window), Metered(events, window)
			for i := range want {
				if d := want[i] - got[i]; d < -2 || d > 2 {
					t.Fatalf("%s, window %d: event %d takes %d, by the harness %d", name, window, i, got[i], want[i])
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
		want, got := Describe(harness(events, window), nil), Describe(Metered(events, window), nil)
		for _, p := range Percentiles {
			if w, g := want.At(p), got.At(p); w-g > 2 || g-w > 2 {
				t.Errorf("window %d: percentile %d is %d, by the harness %d", window, p, g, w)
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
		counts[uint16(loglinear.Index(uint64(v)))]++
		s.Sum += v
	}
	for i := range uint16(loglinear.Buckets) {
		if counts[i] > 0 {
			s.Buckets = append(s.Buckets, loglinear.Bucket{Index: i, Count: counts[i]})
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
