package sched

import (
	"slices"
	"testing"

	"stackagent/internal/units"
)

// turnsByPerf is what perf records of two threads that take turns on CPU 0, round by
// round of 100 µs. The record of a switch to a thread is way later than the record with
// which the other thread left.
func turnsByPerf(rounds int, way units.MonoNs) []event {
	const round, first = units.MonoNs(100_000), units.MonoNs(1_000_000)
	var all []event
	for tid := range int32(2) {
		all = append(all, event{kind: eventNew, at: first - 10 + units.MonoNs(tid), pid: 1, tid: 5 + tid, cpu: 0})
	}
	for i := range rounds {
		at, tid := first+units.MonoNs(i)*round, 5+int32(i%2)
		all = append(all, event{kind: eventIn, at: at + way, pid: 1, tid: tid, cpu: 0, cpuTime: units.NotMeasured},
			event{kind: eventOut, at: at + round, pid: 1, tid: tid, cpu: 0, state: Blocked, block: true, cpuTime: units.NotMeasured})
	}
	return all
}

// byAccount builds a part of the events with two readings of a CPU clock that
// charges rate for each nanosecond on the CPU from 1 ms on.
func byAccount(t *testing.T, events []event, from, to units.MonoNs, rate float64) (*builder, *Part) {
	t.Helper()
	b := newBuilder(1, 0)
	readings := []reading{{from, units.Ns(float64(from-1e6) * rate)}, {to, units.Ns(float64(to-1e6) * rate)}}
	for _, e := range events {
		for len(readings) > 0 && readings[0].at < e.at {
			b.compare(readings[0])
			readings = readings[1:]
		}
		b.apply(&e)
	}
	for _, r := range readings {
		b.compare(r)
	}
	return b, b.cut(to+1000, 0)
}

func sumOf(p *Part, state State) (sum units.MonoNs) {
	for _, s := range p.Slices {
		if s.State == state {
			sum += s.To - s.From
		}
	}
	return sum
}

// The time of a switch is charged to the next thread: the estimate is right to a
// nanosecond, and the two threads never run at once.
func TestEstimateSwitches(t *testing.T) {
	const rounds, way = 200, 7_000
	end := units.MonoNs(1e6 + rounds*100_000)
	b, p := byAccount(t, turnsByPerf(rounds, way), 2_050_000, end, 1)
	if want := units.MonoNs(rounds * 100_000); sumOf(p, Running) != want || b.way != way || b.turned != rounds {
		t.Errorf("running %d, want %d; a switch takes %d, want %d; %d switches", sumOf(p, Running), want, b.way, way, b.turned)
	}
	a := b.account.result()
	if off := a.Running - a.CPU; off < -way || off > way || a.Estimated < 100*way {
		t.Errorf("%+v", a)
	}
	running := slices.DeleteFunc(slices.Clone(p.Slices), func(s Slice) bool { return s.State != Running })
	slices.SortFunc(running, bySliceBegin)
	for i, s := range running[1:] {
		if s.From < running[i].To {
			t.Fatalf("%+v and %+v at once on a CPU", running[i], s)
		}
	}
}

// A third of the time is the hypervisor's: the stays are runnable for so long.
func TestEstimateTaken(t *testing.T) {
	const rounds = 200
	end := units.MonoNs(1e6 + rounds*100_000)
	b, p := byAccount(t, turnsByPerf(rounds, 0), 2_000_000, end, 2.0/3)
	want := units.MonoNs(rounds * 100_000 * 2 / 3)
	if got := sumOf(p, Running); got < want-rounds || got > want+rounds {
		t.Errorf("running %d, want %d", got, want)
	}
	a := b.account.result()
	if off := a.Running - a.CPU; off < -rounds || off > rounds || a.Estimated >= 0 || b.takenAway == 0 {
		t.Errorf("%+v, %d taken", a, b.takenAway)
	}
	texts := map[string]string{}
	if b.explainEstimates(texts); texts[takenTime] == "" || texts[switchItself] != "" {
		t.Errorf("%v", texts)
	}
}

// A stay of which nothing is known begins the comparison anew.
func TestCompareGap(t *testing.T) {
	b := newBuilder(1, 0)
	for _, e := range []event{made(10), in(20, 0)} {
		b.apply(&e)
	}
	b.compare(reading{30, 10})
	b.compare(reading{60, 40})
	if a := b.account.result(); a == nil || *a != (Account{From: 30, To: 60, CPU: 30, Running: 30, Behind: 10 + 40}) {
		t.Errorf("%+v", a)
	}
	for _, e := range []event{in(100, 2), out(120, 3, 80, IO)} { // it left and came back unseen
		b.apply(&e)
	}
	b.compare(reading{130, 80})
	if a := b.account.result(); a != nil {
		t.Errorf("compared over a gap: %+v", a)
	}
	b.compare(reading{140, 80})
	if a := b.account.result(); a == nil || *a != (Account{From: 130, To: 140}) {
		t.Errorf("%+v", a)
	}
	b.hole(&event{kind: eventLost, at: 150, from: 145, cpu: 0})
	b.compare(reading{160, 80})
	if a := b.account.result(); a == nil || a.To != 140 {
		t.Errorf("compared while nothing is known: %+v", a)
	}
}

// Of a part in which a thread gets a CPU and none leaves one, the switch is of that part.
func TestSwitchWithoutOut(t *testing.T) {
	b := newBuilder(5, 0)
	var all []Slice
	for _, e := range []event{perfEvent(eventNew, 10, 0, 0), perfEvent(eventIn, 40, 0, 0)} {
		b.apply(&e)
	}
	all = append(all, b.cut(100, 0).Slices...)
	if len(b.turns) != 0 {
		t.Errorf("%d switches are left over for the next part", len(b.turns))
	}
	e := perfEvent(eventOut, 130, 0, Blocked)
	b.apply(&e)
	all = append(all, b.cut(200, 0).Slices...)
	if want := []Slice{{0, Runnable, 10, 40, 0, 0}, {0, Running, 40, 100, 0, 0}, {0, Running, 100, 130, 0, 0}, {0, Blocked, 130, 200, 0, 0}}; !slices.Equal(all, want) {
		t.Errorf("%v, want %v", all, want)
	}
}
