package speedup

import (
	"math"
	"testing"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

// withShifts gives main shifts in the only segment.
func (in Input) withShifts(shifts ...activity.Span) Input {
	in.Region[0].Shifts = make([][]activity.Span, len(in.Threads))
	in.Region[0].Shifts[0] = shifts
	return in
}

// TestDriver: what a thread that is not main computes alone between two phases of its
// pool is sequential if it is a driver.
func TestDriver(t *testing.T) {
	// Thread 1 is the driver, 2 and 3 the pool: 100 in parallel, 200 alone, 100 in parallel.
	in := input(2, 3, 400, sl(0, futex, 0, 400), sl(1, futex, 0, 100), sl(1, run, 100, 250), sl(1, ready, 250, 300), sl(1, futex, 300, 400),
		sl(2, run, 0, 100), sl(2, futex, 100, 300), sl(2, run, 300, 400), sl(3, run, 0, 100), sl(3, futex, 100, 300), sl(3, run, 300, 400))
	in.Workers[1] = false
	if a := reckon(t, in); a.Sequential != 0 || a.InState[futex] != 400 {
		t.Errorf("without drivers: %+v", a)
	}
	in.Drivers = []bool{true, true, false, false}
	if a := reckon(t, in); a.Sequential != 200 || a.InState[futex] != 0 || a.InState[run] != 400 || a.MainOnly {
		t.Errorf("sequential %d, want 200; waiting %d, want 0: %+v", a.Sequential, a.InState[futex], a)
	}
}

// TestSeveralDrivers: they compute at once; the time counts once.
func TestSeveralDrivers(t *testing.T) {
	in := input(1, 3, 300, sl(0, futex, 0, 300), sl(1, run, 0, 150), sl(1, futex, 150, 300), sl(2, run, 50, 200), sl(2, futex, 200, 300),
		sl(3, futex, 0, 180), sl(3, run, 180, 300))
	in.Workers[1], in.Workers[2] = false, false
	in.Drivers = []bool{true, true, true, false}
	if a := reckon(t, in); a.Sequential != 180 || a.Parallel != 120 || a.InState[run] != 120 {
		t.Errorf("%+v", a)
	}
}

// TestShifts: main is a worker while it does the workers' tasks: it ends the last one
// alone, which is imbalance; what it does after that is sequential.
func TestShifts(t *testing.T) {
	slices := []activity.Slice{sl(0, run, 0, 700), sl(1, run, 100, 300), sl(1, futex, 300, 700)}
	in := input(2, 1, 700, slices...).withShifts(activity.Span{From: 100, To: 600})
	in.Region[0].Done = []units.MonoNs{0, 300}
	slot := in
	slot.Workers = []bool{true, true}
	a := reckon(t, slot)
	if a.Sequential != 200 || a.Exited != 300 || a.InState[run] != 700 || a.Workers != 2 || a.MainOnly {
		t.Errorf("with a slot: %+v", a)
	}
	// Without a slot it still keeps the phase parallel.
	if a := reckon(t, in); a.Sequential != 200 || a.Parallel != 500 || a.InState[run] != 200 {
		t.Errorf("without a slot: %+v", a)
	}
	// Between two shifts it waits as others do, and what it runs while no worker is at work is sequential.
	in = input(2, 1, 500, sl(0, run, 0, 200), sl(0, futex, 200, 300), sl(0, run, 300, 500), sl(1, run, 0, 350), sl(1, futex, 350, 500)).
		withShifts(activity.Span{From: 0, To: 200}, activity.Span{From: 400, To: 500})
	in.Workers = []bool{true, true}
	if a := reckon(t, in); a.Sequential != 50 || a.InState[futex] != 100+100 || a.InState[run] != 350+200+50+100 {
		t.Errorf("between shifts: %+v", a)
	}
}

// TestBaseOfShifts: main does all the work of the base; its shifts divide it from the sequential part.
func TestBaseOfShifts(t *testing.T) {
	base := input(1, 0, 1000, sl(0, run, 0, 1000)).withShifts(activity.Span{From: 100, To: 900})
	base.Workers = []bool{true}
	b := reckon(t, base)
	if b.Sequential != 200 || b.MainOnly || b.InState[run] != 800 {
		t.Errorf("%+v", b)
	}
	if Stack(b, one(t)).AssumedSequential {
		t.Error("the sequential part of the base is known, and assumed")
	}
}

// TestAlone: what one run says about its speedup. Two threads and main for 1000: main
// 200 alone, a pause of 100, then 700 in which one works and waits for the other 300,
// and the other works 500 and is gone.
func TestAlone(t *testing.T) {
	in := input(2, 2, 1000, sl(0, run, 0, 200), sl(0, futex, 200, 1000),
		sl(1, run, 300, 700), sl(1, futex, 700, 1000), sl(2, run, 300, 800)).lives(1, 300, 1000).lives(2, 300, 800)
	in.Pauses = []activity.Span{{From: 200, To: 300}}
	a := reckon(t, in)
	b := Alone(a)
	want := map[Component]float64{GC: 0.1, Sequential: 0.2, Synchronization: 0.3, Imbalance: 0.2}
	sum := b.Speedup
	for c := range NComponents {
		sum += b.Components[c]
		if math.Abs(b.Components[c]-want[c]) > 1e-12 {
			t.Errorf("%s %v, want %v", c, b.Components[c], want[c])
		}
	}
	// 100 + 200 + 400 + 500 of work.
	if !b.AtMost || math.Abs(b.Speedup-1.2) > 1e-12 || math.Abs(sum-2) > 1e-12 || !b.Unknown[IO] {
		t.Errorf("at most %v, sum %v: %+v", b.Speedup, sum, b)
	}
	stalled := a
	stalled.InState[run], stalled.InState[activity.Stalled] = a.InState[run]-200, 200
	if b := Alone(stalled); math.Abs(b.Components[GC]-0.2) > 1e-12 || math.Abs(b.Speedup-1.1) > 1e-12 {
		t.Errorf("stalled: %+v", b)
	}
	a.Unseparated = true
	if b := Alone(a); math.Abs(b.Speedup-1.2) > 1e-12 || !b.Unknown[Imbalance] || !b.Unknown[Synchronization] || math.Abs(b.Parts[Unseparated]-0.5) > 1e-12 {
		t.Errorf("not separated: %+v", b)
	}
	if b := Stack(one(t), a); !b.Unknown[Imbalance] || b.Components[Synchronization] != 0 || math.Abs(b.Parts[Unseparated]-0.5) > 1e-12 {
		t.Errorf("not separated, with a base: %+v", b)
	}
}
