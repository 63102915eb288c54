package gc

import (
	"math"
	"math/rand/v2"
	"slices"
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

// TestLatencyOfAPause: a hundred requests of 1 ms, one every 10 ms, by one
// worker, and a pause of 200 ms. Simple latency knows one late request, metered
// latency all that had to wait.
func TestLatencyOfAPause(t *testing.T) {
	const ms = units.MonoNs(1e6)
	var events []Event
	free := units.MonoNs(0)
	for i := range units.MonoNs(100) {
		start := max(i*10*ms, free)
		end := start + ms
		if i == 50 {
			end += 200 * ms
		}
		free = end
		events = append(events, Event{start, end})
	}
	simple, metered := Simple(events), Metered(events, 0, true)
	if got := atLeast(simple, 2e6); got > 1 {
		t.Errorf("simple latency: %d quantiles are late", got)
	}
	if simple.Max != units.Ns(201*ms) || simple.Values[0] != units.Ns(ms) {
		t.Errorf("simple: %+v", simple)
	}
	// Twenty-odd requests began late, by 191 ms, 182 ms, ...: more than a tenth.
	if p90 := metered.Values[slices.Index(Quantiles, 9000)]; p90 < units.Ns(80*ms) || metered.Max != units.Ns(201*ms) {
		t.Errorf("metered: %+v", metered)
	}
}

func atLeast(l Latency, n units.Ns) (count int) {
	for i, q := range Quantiles {
		if q <= 9900 && l.Values[i] >= n {
			count++
		}
	}
	return count
}

func TestMeteredKnown(t *testing.T) {
	// Starts 0, 10, 20, 100, 110, 120: smoothed over three 0, 10, 43, 77, 110, 120.
	events := []Event{{0, 5}, {10, 15}, {20, 25}, {100, 105}, {110, 115}, {120, 125}}
	got := Metered(events, 41, false) // 2.05 events on average: one to either side
	latencies := []units.Ns{5, 5, 5, 5, 5, 105 - 77}
	for i, q := range Quantiles {
		if want := rank(latencies, q); got.Values[i] != want {
			t.Errorf("p%v: %d, want %d", float64(q)/100, got.Values[i], want)
		}
	}
	// Uniform starts: 0, 24, 48, 72, 96, 120.
	whole := Metered(events, 0, true)
	latencies = []units.Ns{5, 5, 5, 105 - 72, 115 - 96, 5}
	slices.Sort(latencies)
	for i, q := range Quantiles {
		if want := rank(latencies, q); whole.Values[i] != want {
			t.Errorf("whole: p%v: %d, want %d", float64(q)/100, whole.Values[i], want)
		}
	}
	if one := Metered([]Event{{7, 9}}, 1e6, false); one.Max != 2 {
		t.Errorf("one event: %+v", one)
	}
	if none := Metered(nil, 1e6, true); none.Count != 0 || none.Values[0].Measured() {
		t.Errorf("no events: %+v", none)
	}
}

// TestMeteredIsNotShorter: a synthetic start is never later than it helps.
func TestMeteredIsNotShorter(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 5))
		var events []Event
		for range 1 + rng.IntN(80) {
			start := units.MonoNs(rng.IntN(10_000))
			events = append(events, Event{start, start + units.MonoNs(rng.IntN(300))})
		}
		simple := Simple(events)
		for _, w := range []units.Ns{1, 100, 1000, 1e9} {
			m := Metered(slices.Clone(events), w, w == 1e9)
			for i := range Quantiles {
				if m.Values[i] < simple.Values[i] {
					t.Fatalf("seed %d, window %d: %v below %v", seed, w, m.Values, simple.Values)
				}
			}
		}
	}
}
