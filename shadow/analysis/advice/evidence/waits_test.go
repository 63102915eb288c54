package evidence

import (
	"math/rand/v2"
	"testing"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

func span(from, to units.MonoNs) activity.Span { return activity.Span{From: from, To: to} }

// TestWaitsKnown: two threads of a collector (0, 1) and one of the program (2) on two
// processors, in a pause from 10 to 20 ms, and beside the program from 30 to 40 ms.
func TestWaitsKnown(t *testing.T) {
	const ms = 1_000_000
	of := []role{collects, collects, mutates}
	for name, c := range map[string]struct {
		slices         []activity.Slice
		waited, beside units.Ns
	}{
		"both run":        {[]activity.Slice{{Thread: 0, State: activity.Running, From: 10 * ms, To: 20 * ms}, {Thread: 1, State: activity.Running, From: 10 * ms, To: 20 * ms}}, 0, 0},
		"one of two runs": {[]activity.Slice{{Thread: 0, State: activity.Running, From: 10 * ms, To: 20 * ms}, {Thread: 1, State: activity.Runnable, From: 10 * ms, To: 18 * ms}}, 4 * ms, 0},
		"both wait":       {[]activity.Slice{{Thread: 0, State: activity.Runnable, From: 5 * ms, To: 13 * ms}, {Thread: 1, State: activity.Runnable, From: 10 * ms, To: 13 * ms}}, 3 * ms, 0},
		"waits elsewhere": {[]activity.Slice{{Thread: 0, State: activity.Futex, From: 10 * ms, To: 20 * ms}}, 0, 0},
		"beside": {[]activity.Slice{{Thread: 0, State: activity.Running, From: 15 * ms, To: 40 * ms},
			{Thread: 2, State: activity.Runnable, From: 18 * ms, To: 25 * ms}, {Thread: 2, State: activity.Runnable, From: 38 * ms, To: 45 * ms}}, 0, 3*ms + 500_000},
		"wakes up": {[]activity.Slice{{Thread: 0, State: activity.Running, From: 25 * ms, To: 40 * ms}, {Thread: 2, State: activity.Runnable, From: 30 * ms, To: 30*ms + 900_000}}, 0, 0},
	} {
		x := &sharing{cpus: 2, pauses: []activity.Span{span(10*ms, 20*ms)}, stops: []activity.Span{span(10*ms, 20*ms)}}
		if err := x.read(activity.Of(c.slices), of); err != nil || units.Ns(x.stopped) != c.waited || units.Ns(x.beside) != c.beside {
			t.Errorf("%s: waited %v, beside %v, want %v and %v (%v)", name, x.stopped, x.beside, c.waited, c.beside, err)
		}
	}
}

// TestWaitsAgainstDefinition looks at every moment.
func TestWaitsAgainstDefinition(t *testing.T) {
	const length = 60
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 11))
		of := []role{collects, helps, mutates, collects, mutates, collects}
		cpus := 1 + rng.IntN(4)
		var slices []activity.Slice
		var states [length][6]activity.ThreadState
		open := make([]int, len(of)) // until when the last slice of each thread lasts
		for at := range length {
			for thread := range of {
				if open[thread] > at || rng.IntN(3) == 0 {
					continue
				}
				to, state := min(length, at+1+rng.IntN(12)), []activity.ThreadState{activity.Running, activity.Runnable, activity.Futex, activity.Stalled}[rng.IntN(4)]
				open[thread] = to
				slices = append(slices, activity.Slice{Thread: uint32(thread), State: state, From: units.MonoNs(at) * longWait, To: units.MonoNs(to) * longWait})
				for i := at; i < to; i++ {
					states[i][thread] = state
				}
			}
		}
		from := rng.IntN(length)
		to := from + rng.IntN(length-from)
		waited, beside, lost, stalled, share := 0.0, 0.0, 0.0, 0.0, 0.0
		for at := range length {
			var n, ready [roles]int
			held := 0
			for thread, r := range of {
				switch states[at][thread] {
				case activity.Running:
					n[r]++
				case activity.Runnable:
					ready[r]++
				case activity.Stalled:
					if r == mutates {
						held++
					}
				}
			}
			w, sum := min(cpus, n[collects]+ready[collects]), n[helps]+n[collects]+n[mutates]
			if want := min(cpus, sum+ready[helps]+ready[collects]+ready[mutates]); want > sum {
				lost += 1 - float64(sum)/float64(want)
			}
			switch paused := at >= from && at < to; {
			case paused && w > n[collects]:
				waited += 1 - float64(n[collects])/float64(w)
			case !paused && held > 0:
				stalled++
				share += float64(held) / float64(held+n[mutates]+ready[mutates])
			case !paused && n[collects] > 0 && ready[mutates] > 0:
				beside += min(1, float64(n[collects])/float64(cpus))
			}
		}
		c := &sharing{cpus: cpus, pauses: []activity.Span{span(units.MonoNs(from)*longWait, units.MonoNs(to)*longWait)}}
		c.stops = append(cursor(nil), c.pauses...)
		if err := c.read(activity.Of(slices), of); err != nil || !near(c.stopped, waited*float64(longWait)) || !near(c.beside, beside*float64(longWait)) || !near(c.lost, lost*float64(longWait)) ||
			!near(c.stalled, stalled*float64(longWait)) || !near(c.share, share*float64(longWait)) {
			t.Fatalf("seed %d: stopped %v, beside %v, lost %v, stalled %v (%v), want %v, %v, %v, %v (%v) of %v (%v)", seed, c.stopped, c.beside, c.lost, c.stalled, c.share, waited, beside, lost, stalled, share, longWait, err)
		}
	}
}

func near(a, b float64) bool { return a-b < 10 && b-a < 10 }
