package waiting

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

// A request of 100: the record has it on a CPU until 10, in a futex until 60, ready until 65, on a CPU until 70, in a read until
// 80, in a futex until 90, on a CPU to the end. The agent saw a wait for a lock from 10 to 65. A pause lasts from 50 to 55.
// CPU 10+5+10, lock 40+5 (the pause taken out), GC 5, runnable 5, I/O 10, unnamed 10.
func TestKnown(t *testing.T) {
	states := []activity.ThreadState{activity.Running, activity.Futex, activity.Runnable, activity.Running, activity.IO, activity.Futex, activity.Running}
	ends := []units.MonoNs{10, 60, 65, 70, 80, 90, 100}
	want := Times{CPU: 25, Lock: 45, GC: 5, Runnable: 5, IO: 10, Unnamed: 10}
	waited := map[Part]units.Ns{}
	var got Times
	l := NewLine(0, activity.Cover([]activity.Span{{From: 50, To: 55}}).Spans, []Wait{{From: 10, Ready: 65, To: 65, Part: Lock}},
		[]Unit{{From: 0, To: 100, CPU: units.NotMeasured}}, Use{
			Unit:   func(_ *Unit, t *Times) { got = *t },
			Waited: func(u *Unit, _ *Wait, p Part, d units.Ns) { waited[p] += d },
		})
	from := units.MonoNs(0)
	for i, s := range states {
		l.Add(activity.Slice{State: s, From: from, To: ends[i]})
		from = ends[i]
	}
	l.Close(100)
	if got != want || l.Times() != want {
		t.Errorf("unit %v, thread %v, want %v", got, l.Times(), want)
	}
	if waited[Lock] != 45 || waited[GC] != 5 || waited[Runnable] != 5 || len(waited) != 3 {
		t.Errorf("of the wait: %v", waited)
	}
}

// A virtual thread has no record: a wait of 60 of which it was ready for 20, 25 on a CPU by its own clock, 15 not known. The unit
// nested in it, from 70 on, has 30, of which 10 on a CPU.
func TestWithoutRecord(t *testing.T) {
	var got []Times
	l := NewLine(0, nil, []Wait{{From: 10, Ready: 50, To: 70, Part: Sleep}},
		[]Unit{{From: 0, To: 100, CPU: 25}, {From: 70, To: 100, CPU: 10}}, Use{Unit: func(_ *Unit, t *Times) { got = append(got, *t) }})
	l.Close(200)
	slices.SortFunc(got, func(a, b Times) int { return cmp.Compare(a.Sum(), b.Sum()) })
	want := []Times{{CPU: 10, Unknown: 20}, {CPU: 25, Sleep: 40, Carrier: 20, Unknown: 15}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if all := (Times{Sleep: 40, Carrier: 20, Unknown: 140}); l.Times() != all {
		t.Errorf("thread: %v, want %v", l.Times(), all)
	}
}

// A thread that accepts connections is in a system call, and without work: of 40 in one, the pause takes 10.
func TestAccepts(t *testing.T) {
	l := NewLine(0, []activity.Span{{From: 20, To: 30}}, []Wait{{From: 10, Ready: 50, To: 50, Part: Idle}}, nil, Use{})
	l.Add(activity.Slice{State: activity.IO, From: 0, To: 50})
	if want := (Times{IO: 10, Idle: 30, GC: 10}); l.Times() != want {
		t.Errorf("%v, want %v", l.Times(), want)
	}
}

func TestKnow(t *testing.T) {
	times := Times{Unnamed: 5, Unknown: 10}
	if moved := times.Know(Lock, 8, Unnamed, Unknown); moved != 8 || times != (Times{Lock: 8, Unknown: 7}) {
		t.Errorf("moved %d: %v", moved, times)
	}
	if moved := times.Know(Lock, 100, Unnamed, Unknown); moved != 7 || times != (Times{Lock: 15}) {
		t.Errorf("moved %d: %v", moved, times)
	}
	if moved := times.Know(Lock, -3, CPU); moved != 0 || times != (Times{Lock: 15}) {
		t.Errorf("moved %d: %v", moved, times)
	}
}

const length = 60 // of a random time line

// random is a thread's time: slices without overlaps, waits and units in order, pauses, whatever else.
type random struct {
	slices []activity.Slice
	pauses []activity.Span
	waits  []Wait
	units  []Unit
}

func newRandom(r *rand.Rand) *random {
	x := &random{}
	span := func(from int) (units.MonoNs, units.MonoNs) {
		a := from + r.IntN(12)
		return units.MonoNs(a), units.MonoNs(a + r.IntN(20))
	}
	for at := 0; at < length; {
		from, to := span(at)
		x.slices = append(x.slices, activity.Slice{State: activity.ThreadState(r.IntN(int(activity.NStates))), From: from, To: to})
		at = int(to) + 1
	}
	for range r.IntN(5) {
		from, to := span(r.IntN(length))
		x.pauses = append(x.pauses, activity.Span{From: from, To: to})
	}
	for at := 0; at < length && r.IntN(5) > 0; {
		from, to := span(at)
		x.waits = append(x.waits, Wait{From: from, Ready: to - units.MonoNs(r.IntN(5)), To: to, Part: Part(r.IntN(int(NParts)))})
		at = int(to) + 1
	}
	for i := range r.IntN(8) {
		from, to := span(r.IntN(length))
		x.units = append(x.units, Unit{From: from, To: to, CPU: units.NotMeasured, Class: uint32(i)})
	}
	slices.SortFunc(x.units, func(a, b Unit) int { return cmp.Compare(a.From, b.From) })
	return x
}

// at is what the thread does in the nanosecond at, found without a sweep.
func (x *random) at(at units.MonoNs) Part {
	state, pause := activity.Unknown, false
	for _, s := range x.slices {
		if s.From <= at && at < s.To {
			state = s.State
		}
	}
	for _, p := range x.pauses {
		pause = pause || p.From <= at && at < p.To
	}
	for i := range x.waits {
		if w := &x.waits[i]; w.From <= at && at < w.To {
			return partOf(state, w, at >= w.Ready, pause)
		}
	}
	return partOf(state, nil, false, pause)
}

// The parts of each unit and of the thread are those of their nanoseconds, one by one, and so add up to the wall time.
func TestSweepEqualsCount(t *testing.T) {
	for seed := range uint64(3000) {
		checkRandom(t, newRandom(rand.New(rand.NewPCG(seed, 1))))
	}
}

func checkRandom(t *testing.T, x *random) {
	t.Helper()
	count := func(from, to units.MonoNs) (n Times) {
		for at := from; at < to; at++ {
			n[x.at(at)]++
		}
		return n
	}
	const end = 2 * length
	ended := 0
	l := NewLine(0, activity.Cover(x.pauses).Spans, x.waits, x.units, Use{Unit: func(u *Unit, got *Times) {
		ended++
		if want := count(u.From, u.To); *got != want {
			t.Fatalf("unit %d-%d: %v, want %v\n%+v", u.From, u.To, *got, want, x)
		}
	}})
	for _, s := range x.slices {
		l.Add(s)
	}
	l.Close(end)
	if want := count(0, max(end, l.at)); l.Times() != want || ended != len(x.units) {
		t.Fatalf("thread: %v, want %v; %d of %d units\n%+v", l.Times(), want, ended, len(x.units), x)
	}
}

// Whatever the times are, each unit ends once, and its parts add up to its wall time, none of them negative.
func FuzzLine(f *testing.F) {
	f.Add([]byte{1, 5, 9, 2, 30, 3, 0, 200, 100, 7, 7, 7, 9})
	f.Fuzz(func(t *testing.T, data []byte) {
		x := &random{}
		for len(data) >= 4 {
			kind, from, to := data[0]%4, units.MonoNs(int8(data[1])), units.MonoNs(int8(data[2]))
			switch kind {
			case 0:
				x.slices = append(x.slices, activity.Slice{State: activity.ThreadState(data[3]), From: from, To: to})
			case 1:
				x.pauses = append(x.pauses, activity.Span{From: from, To: to})
			case 2:
				x.waits = append(x.waits, Wait{From: from, Ready: units.MonoNs(int8(data[3])), To: to, Part: Part(data[3]) % NParts})
			case 3:
				x.units = append(x.units, Unit{From: from, To: max(to, from), CPU: units.Ns(int8(data[3]))})
			}
			data = data[4:]
		}
		slices.SortFunc(x.units, func(a, b Unit) int { return cmp.Compare(a.From, b.From) })
		slices.SortFunc(x.waits, func(a, b Wait) int { return cmp.Compare(a.From, b.From) })
		ended := 0
		l := NewLine(0, activity.Cover(x.pauses).Spans, x.waits, x.units, Use{Unit: func(u *Unit, times *Times) {
			ended++
			if times.Sum() != units.Ns(u.To-u.From) || slices.Min(times[:]) < 0 {
				t.Fatalf("unit %d-%d: %v", u.From, u.To, *times)
			}
		}})
		for _, s := range x.slices {
			l.Add(s)
		}
		l.Close(100)
		if sum := l.Times(); ended != len(x.units) || sum.Sum() != units.Ns(l.at) {
			t.Fatalf("%d of %d units ended; %v", ended, len(x.units), sum)
		}
	})
}
