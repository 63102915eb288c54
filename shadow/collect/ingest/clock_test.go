package ingest

import (
	"math/rand"
	"slices"
	"testing"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// bentClock is a counter whose rate changes: 2.5 ticks a nanosecond for one
// second, then 100 parts per million faster, as after a step of NTP.
func bentClock(ns int64) units.Ticks {
	const base, bend = 7_000_000_000, 1_000_000_000
	if ns <= bend {
		return units.Ticks(base + ns*5/2)
	}
	return units.Ticks(base + bend*5/2 + int64(float64(ns-bend)*2.5*1.0001))
}

const monoBase = 123_000_000_000

func pairAt(ns int64) wire.ClockPair {
	return wire.ClockPair{Ticks: bentClock(ns), Mono: units.MonoNs(monoBase + ns)}
}

func TestClockFollowsChangingRate(t *testing.T) {
	var c clock
	c.extend([]wire.ClockPair{pairAt(0)})
	type reading struct {
		ticks units.Ticks
		mono  units.MonoNs
	}
	var early []reading
	rng := rand.New(rand.NewSource(1))
	for from := int64(0); from < 2_000_000_000; from += 250_000_000 {
		var pairs []wire.ClockPair
		for ns := from + 7_000_000; ns <= from+250_000_000; ns += 9_000_000 {
			pairs = append(pairs, pairAt(ns))
		}
		pairs = append(pairs, pairAt(from+250_000_000))
		c.extend(pairs)
		for range 200 {
			ns := from + rng.Int63n(250_000_000)
			got := c.mono(bentClock(ns))
			// The bend lies inside a segment of at most 59 ms: 100 ppm of a half of it is 1.5 us.
			if off := int64(got) - monoBase - ns; off < -3000 || off > 3000 {
				t.Fatalf("at %d ns: off by %d ns", ns, off)
			}
			early = append(early, reading{bentClock(ns), got})
		}
	}
	for _, r := range early {
		if got := c.mono(r.ticks); got != r.mono {
			t.Fatalf("ticks %d were %d at first and %d later", r.ticks, r.mono, got)
		}
	}
	slices.SortFunc(early, func(a, b reading) int { return int(int64(a.ticks) - int64(b.ticks)) })
	for i := 1; i < len(early); i++ {
		if early[i].mono < early[i-1].mono {
			t.Fatalf("time goes back between ticks %d and %d", early[i-1].ticks, early[i].ticks)
		}
	}
	if n := len(c.knots); n > 2_000/50+10 {
		t.Errorf("%d knots for 2 s: not thinned to 50 ms", n)
	}
	if c.late != 0 {
		t.Errorf("%d readings counted as late", c.late)
	}
}

func TestClockEdges(t *testing.T) {
	var c clock
	if got := c.mono(42); got != 42 {
		t.Errorf("no knot: mono(42) = %d", got)
	}
	c.add(wire.ClockPair{Ticks: 1000, Mono: 5000})
	c.add(wire.ClockPair{Ticks: 2000, Mono: 5500})
	c.add(wire.ClockPair{Ticks: 1500, Mono: 5900}) // backwards in ticks
	c.add(wire.ClockPair{Ticks: 2500, Mono: 5400}) // backwards in time
	if len(c.knots) != 2 {
		t.Fatalf("knots: %v", c.knots)
	}
	for _, x := range []struct {
		ticks units.Ticks
		want  units.MonoNs
		late  uint64
	}{{1000, 5000, 0}, {1500, 5250, 0}, {2000, 5500, 0}, {0, 4500, 0}, {9000, 5500, 1}, {1 << 63, 5500, 2}} {
		if got := c.mono(x.ticks); got != x.want || c.late != x.late {
			t.Errorf("mono(%d) = %d, late %d; want %d, late %d", x.ticks, got, c.late, x.want, x.late)
		}
	}
}

func TestConvertExecution(t *testing.T) {
	var c clock
	c.add(wire.ClockPair{Ticks: 0, Mono: 1000})
	c.add(wire.ClockPair{Ticks: 1000, Mono: 1500}) // 0.5 ns a tick
	x := wire.Execution{TaskID: 1, Start: 100, End: 500, ChildTicks: 300, CPU: 120, ChildCPU: 90}
	var r store.Execution
	rowExecution(&r, &x, &c, 1)
	if r.StartNs != 1050 || r.EndNs != 1250 || r.WallNs != 200 || r.SelfWallNs != 50 || r.CPUNs != 120 || r.SelfCPUNs != 30 {
		t.Errorf("ended: %+v", r)
	}
	x.End, x.ChildCPU = wire.NoEnd, units.NotMeasured
	r = store.Execution{}
	rowExecution(&r, &x, &c, 1)
	if r.EndNs != 0 || r.WallNs.Measured() || r.SelfWallNs.Measured() || r.CPUNs != 120 || r.SelfCPUNs.Measured() {
		t.Errorf("running: %+v", r)
	}
}

// Pairs that are read some 100 ns late now and then, a millisecond after others, do not bend the clock: what is
// measured between them is right to 50 parts per million, and the clock does not run away.
func TestClockKeepsItsRateBetweenNearPairs(t *testing.T) {
	const step, lateness = 1_000_000, 150
	rng := rand.New(rand.NewSource(3))
	var c clock
	c.extend([]wire.ClockPair{pairAt(0), pairAt(60_000_000)})
	for ns := int64(61_000_000); ns < 900_000_000; ns += step {
		p := pairAt(ns)
		p.Mono += units.MonoNs(rng.Intn(2) * lateness)
		c.extend([]wire.ClockPair{p})
		from, to := c.mono(bentClock(ns-step)), c.mono(bentClock(ns-1))
		if off := int64(to-from) - (step - 1); off < -step*50/1e6 || off > step*50/1e6 {
			t.Fatalf("at %d ns: a millisecond is off by %d ns", ns, off)
		}
		if off := int64(to) - monoBase - (ns - 1); off < -2*lateness || off > 2*lateness {
			t.Fatalf("at %d ns: the clock is off by %d ns", ns, off)
		}
	}
}

// So it is in a session younger than 50 ms: the rate is that since its first pair.
func TestClockKeepsItsRateAtFirst(t *testing.T) {
	const step, lateness = 1_000_000, 150
	var c clock
	c.extend([]wire.ClockPair{pairAt(0)})
	c.extend([]wire.ClockPair{pairAt(20_000_000)})
	late := pairAt(20_000_000 + step)
	late.Mono += lateness
	c.extend([]wire.ClockPair{late})
	from, to := c.mono(bentClock(20_000_000)), c.mono(bentClock(20_000_000+step-1))
	if off := int64(to-from) - (step - 1); off < -step*50/1e6 || off > step*50/1e6 {
		t.Errorf("a millisecond is off by %d ns", off)
	}
}
