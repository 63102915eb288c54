package sched

import (
	"cmp"
	"reflect"
	"slices"
	"testing"

	"stackagent/internal/units"
)

// The events of a thread 5 of process 1, as eBPF reports them.
func made(at units.MonoNs) event { return event{kind: eventNew, at: at, pid: 1, tid: 5} }

func in(at units.MonoNs, switches uint32) event {
	return event{kind: eventIn, at: at, pid: 1, tid: 5, counted: true, switches: switches, cpu: -1}
}

func out(at units.MonoNs, switches uint32, cpu units.Ns, s State) event {
	return event{kind: eventOut, at: at, pid: 1, tid: 5, counted: true, switches: switches, cpuTime: cpu, state: s, block: s != Runnable}
}

func wake(at units.MonoNs) event { return event{kind: eventWake, at: at, pid: 1, tid: 5} }

func dead(at units.MonoNs, switches uint32, cpu units.Ns) event {
	e := out(at, switches, cpu, Blocked)
	e.dead = true
	return e
}

// as perf reports them: without counts.
func perfEvent(kind eventKind, at units.MonoNs, cpu int32, s State) event {
	return event{kind: kind, at: at, pid: 1, tid: 5, cpu: cpu, state: s, block: s == Blocked, cpuTime: units.NotMeasured}
}

func lost(from, to units.MonoNs, cpu int32) event {
	return event{kind: eventLost, from: from, at: to, cpu: cpu}
}

func TestBuild(t *testing.T) {
	for _, c := range []struct {
		name   string
		events []event
		want   []Slice // until 1000
		thread Thread  // the last one
	}{
		{"a whole life",
			[]event{made(10), in(20, 0), out(50, 1, 30, Futex), wake(70), in(75, 1), out(100, 2, 55, Runnable), in(110, 2), dead(120, 3, 65)},
			[]Slice{{0, Runnable, 10, 20, 0, 0}, {0, Running, 20, 50, 0, 0}, {0, Futex, 50, 70, 0, 0}, {0, Runnable, 70, 75, 0, 0}, {0, Running, 75, 100, 0, 0}, {0, Runnable, 100, 110, 0, 0}, {0, Running, 110, 120, 0, 0}},
			Thread{TID: 5, First: 10, Last: 120, BeginSeen: true, EndSeen: true, Voluntary: 1, Involuntary: 1, CPU: 65}},
		{"a switch to the thread was not reported: its CPU time shows it",
			[]event{made(10), in(20, 0), out(50, 1, 30, Futex), wake(70), out(100, 2, 55, Sleeping), wake(200), in(210, 2), dead(220, 3, 65)},
			[]Slice{{0, Runnable, 10, 20, 0, 0}, {0, Running, 20, 50, 0, 0}, {0, Futex, 50, 70, 0, 0}, {0, Runnable, 70, 75, 0, 0}, {0, Running, 75, 100, 0, 0}, {0, Sleeping, 100, 200, 0, 0}, {0, Runnable, 200, 210, 0, 0}, {0, Running, 210, 220, 0, 0}},
			Thread{TID: 5, First: 10, Last: 220, BeginSeen: true, EndSeen: true, Voluntary: 2, CPU: 65}},
		{"no switch to a new thread was reported; its CPU time began a moment before the record of its creation",
			[]event{made(10), out(50, 1, 60, Sleeping), wake(200), in(210, 1), dead(220, 2, 70)},
			[]Slice{{0, Running, 10, 50, 0, 0}, {0, Sleeping, 50, 200, 0, 0}, {0, Runnable, 200, 210, 0, 0}, {0, Running, 210, 220, 0, 0}},
			Thread{TID: 5, First: 10, Last: 220, BeginSeen: true, EndSeen: true, Voluntary: 1, CPU: 70}},
		{"a CPU time that cannot be that of the stay",
			[]event{made(10), out(50, 1, 200_000, Sleeping), wake(200), in(210, 1), dead(220, 2, 200_010)},
			[]Slice{{0, Unknown, 10, 50, 0, 0}, {0, Sleeping, 50, 200, 0, 0}, {0, Runnable, 200, 210, 0, 0}, {0, Running, 210, 220, 0, 0}},
			Thread{TID: 5, First: 10, Last: 220, BeginSeen: true, EndSeen: true, Voluntary: 1, CPU: 200_010}},
		{"two switches were lost, from the CPU and to it",
			[]event{made(10), in(20, 0), in(100, 1), out(120, 2, 50, IO), wake(130), in(140, 2), dead(150, 3, 60)},
			[]Slice{{0, Runnable, 10, 20, 0, 0}, {0, Unknown, 20, 100, 0, 0}, {0, Running, 100, 120, 0, 0}, {0, IO, 120, 130, 0, 0}, {0, Runnable, 130, 140, 0, 0}, {0, Running, 140, 150, 0, 0}},
			Thread{TID: 5, First: 10, Last: 150, BeginSeen: true, EndSeen: true, Voluntary: 1, CPU: 60}},
		{"pairs of switches were lost while it seemed to run",
			[]event{made(10), in(20, 0), out(100, 3, 40, IO), wake(110), in(120, 3), dead(150, 4, 70)},
			[]Slice{{0, Runnable, 10, 20, 0, 0}, {0, Unknown, 20, 100, 0, 0}, {0, IO, 100, 110, 0, 0}, {0, Runnable, 110, 120, 0, 0}, {0, Running, 120, 150, 0, 0}},
			Thread{TID: 5, First: 10, Last: 150, BeginSeen: true, EndSeen: true, Voluntary: 1, CPU: 70}},
		{"pairs were lost while it seemed to be blocked",
			[]event{made(10), in(20, 0), out(30, 1, 10, Futex), wake(100), in(120, 2), dead(150, 3, 70)},
			[]Slice{{0, Runnable, 10, 20, 0, 0}, {0, Running, 20, 30, 0, 0}, {0, Futex, 30, 100, 0, 0}, {0, Unknown, 100, 120, 0, 0}, {0, Running, 120, 150, 0, 0}},
			Thread{TID: 5, First: 10, Last: 150, BeginSeen: true, EndSeen: true, Voluntary: 1, CPU: 70}},
		{"its end was lost and its id used again",
			[]event{made(10), in(20, 0), out(30, 1, 10, Futex), made(500), in(510, 0), dead(520, 1, 10)},
			[]Slice{{0, Runnable, 10, 20, 0, 0}, {0, Running, 20, 30, 0, 0}, {0, Unknown, 30, 500, 0, 0}, {1, Runnable, 500, 510, 0, 0}, {1, Running, 510, 520, 0, 0}},
			Thread{TID: 5, First: 500, Last: 520, BeginSeen: true, EndSeen: true, CPU: 10}},
		{"alive at the end, woken for nothing while it runs",
			[]event{made(10), in(20, 0), wake(30)},
			[]Slice{{0, Runnable, 10, 20, 0, 0}, {0, Running, 20, 1000, 0, 0}},
			Thread{TID: 5, First: 10, Last: 1000, BeginSeen: true, CPU: units.NotMeasured}},
		{"its begin was lost",
			[]event{in(20, 7), out(30, 8, 500, Futex)},
			[]Slice{{0, Running, 20, 30, 0, 0}, {0, Futex, 30, 1000, 0, 0}},
			Thread{TID: 5, First: 20, Last: 1000, Voluntary: 1, CPU: units.NotMeasured}},
		{"late: an event that is older than the state",
			[]event{made(10), in(20, 0), out(15, 1, 5, Futex), wake(30), in(40, 1), dead(50, 2, 15)},
			[]Slice{{0, Runnable, 10, 20, 0, 0}, {0, Futex, 20, 30, 0, 0}, {0, Runnable, 30, 40, 0, 0}, {0, Running, 40, 50, 0, 0}},
			Thread{TID: 5, First: 10, Last: 50, BeginSeen: true, EndSeen: true, Voluntary: 1, CPU: 15}},
		{"perf lost records of the CPU on which it ran",
			[]event{perfEvent(eventNew, 10, 0, 0), perfEvent(eventIn, 20, 0, 0), lost(30, 60, 0), perfEvent(eventOut, 100, 0, Blocked), perfEvent(eventIn, 200_000, 0, 0), perfEvent(eventEnd, 200_100, 0, 0)},
			[]Slice{{0, Runnable, 10, 20, 0, 0}, {0, Running, 20, 30, 0, 0}, {0, Unknown, 30, 100, 0, 0}, {0, Blocked, 100, 200_000, 0, 0}, {0, Running, 200_000, 200_100, 0, 0}},
			Thread{TID: 5, First: 10, Last: 200_100, BeginSeen: true, EndSeen: true, Voluntary: 1, CPU: units.NotMeasured}},
		{"perf lost records of another CPU than that on which it ran",
			[]event{perfEvent(eventNew, 10, 0, 0), perfEvent(eventIn, 20, 0, 0), lost(30, 60, 1), perfEvent(eventOut, 100, 0, Runnable)},
			[]Slice{{0, Runnable, 10, 20, 0, 0}, {0, Running, 20, 100, 0, 0}, {0, Runnable, 100, 1000, 0, 0}},
			Thread{TID: 5, First: 10, Last: 1000, BeginSeen: true, Involuntary: 1, CPU: units.NotMeasured}},
		{"perf lost records while it was off: it may have run",
			[]event{perfEvent(eventNew, 10, 0, 0), lost(30, 60, 1), perfEvent(eventIn, 100, 0, 0)},
			[]Slice{{0, Runnable, 10, 30, 0, 0}, {0, Unknown, 30, 100, 0, 0}, {0, Running, 100, 1000, 0, 0}},
			Thread{TID: 5, First: 10, Last: 1000, BeginSeen: true, CPU: units.NotMeasured}},
		{"perf reports a switch twice",
			[]event{perfEvent(eventNew, 10, 0, 0), perfEvent(eventIn, 20, 0, 0), perfEvent(eventIn, 21, 0, 0), perfEvent(eventOut, 50_000, 0, Blocked), perfEvent(eventOut, 50_001, 0, Blocked)},
			[]Slice{{0, Runnable, 10, 20, 0, 0}, {0, Running, 20, 50_000, 0, 0}},
			Thread{TID: 5, First: 10, Last: 50_001, BeginSeen: true, Voluntary: 1, CPU: units.NotMeasured}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBuilder(1, 0)
			for _, e := range c.events {
				b.apply(&e)
			}
			p := b.cut(1000, 0)
			got := p.Slices
			if n := len(got); c.name == "perf reports a switch twice" && n > 0 { // the stay that has just begun
				got = got[:n-1]
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %v\nwant %v", got, c.want)
			}
			last := p.Threads[0]
			for _, th := range p.Threads {
				if th.Index > last.Index {
					last = th
				}
			}
			if last.Thread != c.thread {
				t.Errorf("got  %+v\nwant %+v", last.Thread, c.thread)
			}
		})
	}
}

// A thread that is older than the observation: its state by /proc holds until its first
// switch, which may correct it.
func TestFound(t *testing.T) {
	for _, c := range []struct {
		name  string
		state State // by /proc, at 20
		first event
		want  []Slice
	}{
		{"ran", Running, out(50, 3, 30, Futex), []Slice{{0, Running, 10, 50, 0, 0}, {0, Futex, 50, 100, 0, 0}}},
		{"was runnable", Running, in(50, 3), []Slice{{0, Runnable, 10, 50, 0, 0}, {0, Running, 50, 100, 0, 0}}},
		{"was blocked", Futex, wake(50), []Slice{{0, Futex, 10, 50, 0, 0}, {0, Runnable, 50, 100, 0, 0}}},
		{"was blocked, woken before /proc was read", Futex, wake(15), []Slice{{0, Blocked, 10, 15, 0, 0}, {0, Runnable, 15, 100, 0, 0}}},
		{"ran, and blocked before /proc was read", Futex, out(15, 3, 30, Sleeping), []Slice{{0, Running, 10, 15, 0, 0}, {0, Sleeping, 15, 100, 0, 0}}},
		{"came before /proc was read", Futex, in(15, 3), []Slice{{0, Unknown, 10, 15, 0, 0}, {0, Running, 15, 100, 0, 0}}},
		{"was only just made", Running, made(12), []Slice{{0, Runnable, 12, 100, 0, 0}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBuilder(1, 10)
			b.found(5, "x", c.state, 7, 20)
			b.apply(&c.first)
			if got := b.cut(100, 0).Slices; !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// A stay's reason by /proc holds for all of it, if it lasted until then.
func TestGuess(t *testing.T) {
	for _, c := range []struct {
		end  units.MonoNs
		want State
	}{{500, Futex}, {250, Blocked}} {
		b := newBuilder(1, 0)
		for _, e := range []event{perfEvent(eventNew, 10, 0, 0), perfEvent(eventIn, 20, 0, 0), perfEvent(eventOut, 30, 0, Blocked)} {
			b.apply(&e)
		}
		b.threads[5].guess = guess{Futex, 300}
		e := perfEvent(eventIn, c.end, 0, 0)
		b.apply(&e)
		if got := b.slices[len(b.slices)-1]; got != (Slice{0, c.want, 30, c.end, 0, 0}) {
			t.Errorf("%+v, want %v", got, c.want)
		}
	}
}

// Parts touch: a stay that a part cuts continues in the next one, and the sums stay.
func TestCut(t *testing.T) {
	b := newBuilder(1, 0)
	events := []event{made(10), in(20, 0), out(250, 1, 230, Futex), wake(470), in(480, 1), dead(500, 2, 250)}
	var sums [NStates]units.Ns
	at := units.MonoNs(0)
	for _, next := range []units.MonoNs{100, 200, 300, 400, 600} {
		for len(events) > 0 && events[0].at < next {
			b.apply(&events[0])
			events = events[1:]
		}
		p := b.cut(next, uint64(next))
		if p.From != at || p.To != next || p.Lost != uint64(next-at) {
			t.Errorf("part %d..%d, lost %d; want %d..%d", p.From, p.To, p.Lost, at, next)
		}
		at = p.To
		for _, s := range p.Slices {
			if s.From < p.From || s.To > p.To {
				t.Errorf("%+v is not in the part %d..%d", s, p.From, p.To)
			}
			sums[s.State] += units.Ns(s.To - s.From)
		}
	}
	if want := ([NStates]units.Ns{Runnable: 20, Running: 250, Futex: 220}); sums != want {
		t.Errorf("sums %v, want %v", sums, want)
	}
}

// For any events, a thread's slices cover its life once, in order.
func FuzzBuild(f *testing.F) {
	f.Add([]byte{3, 1, 0, 1, 1, 2, 2, 3})
	f.Add([]byte{0x13, 0x20, 0x31, 0x42, 0x57, 0x61})
	f.Add([]byte{0x80, 0x44, 0x40, 0x61, 0x51, 0xe5, 0x41, 0x66, 0x70, 0x51, 0x61, 0x70})
	f.Fuzz(func(t *testing.T, b []byte) {
		x := newBuilder(1, 0)
		at, step := units.MonoNs(100), units.MonoNs(1)
		if len(b) > 0 && b[0]&0x80 != 0 {
			step = 50_000 // stays that are long enough for what the machine takes
		}
		var all []Slice
		threads := map[uint32]Thread{}
		take := func(p *Part) {
			all = append(all, p.Slices...)
			for _, th := range p.Threads {
				threads[th.Index] = th.Thread
			}
		}
		for i, c := range b {
			at += (units.MonoNs(c>>4) - 3) * step // back in time, too
			e := event{kind: eventKind(c & 7), at: at, pid: 1, tid: int32(i & 1), state: State(1 + c%6), dead: c == 0xff,
				counted: c&8 != 0, switches: uint32(i / 3), cpuTime: units.Ns(at / 2), cpu: int32(c & 1), from: at - 5,
				lag: units.MonoNs(c & 3), after: c&16 != 0}
			x.apply(&e)
			switch c & 0xf0 {
			case 0x60:
				x.compare(reading{x.last, units.Ns(at) * units.Ns(c&15) / 8}) // more and less than the threads ran
			case 0x70:
				take(x.cut(at, 0))
			}
		}
		take(x.cut(at, 0))
		slices.SortStableFunc(all, func(a, b Slice) int { return cmp.Compare(a.From, b.From) })
		ends := map[uint32]units.MonoNs{}
		for _, s := range all {
			end, seen := ends[s.Thread]
			if !seen {
				end = threads[s.Thread].First
			}
			if s.From != end || s.To <= s.From || s.State >= NStates {
				t.Fatalf("%+v after %d", s, end)
			}
			ends[s.Thread] = s.To
		}
		for i, th := range threads {
			if end, ok := ends[i]; ok && end != th.Last {
				t.Fatalf("thread %d ends at %d, its slices at %d", i, th.Last, end)
			}
		}
	})
}

// TestFreeing: what the kernel charges the last thread of a process with after its end is not the thread's, also if a part ends in
// between.
func TestFreeing(t *testing.T) {
	const ms = 1_000_000
	exit := func(at units.MonoNs, tid int32) event {
		return event{kind: eventExit, at: at, pid: 1, tid: tid, counted: true, name: "w"}
	}
	of := func(tid int32, e event) event {
		e.tid = tid
		return e
	}
	events := []event{made(1), of(6, made(2)), in(10, 0), of(6, in(20, 0)), exit(5*ms, 5), dead(8*ms, 1, 8*ms-10),
		exit(9*ms, 6), of(6, out(20*ms, 1, 20*ms-20, Runnable)), of(6, in(22*ms, 1)), of(6, dead(30*ms, 2, 28*ms-20))}
	for cut := range 3 * len(events) { // a part ends after an event: at once, half a millisecond or two later
		b := newBuilder(1, 0)
		var parts []*Part
		for i, e := range events {
			if i > 0 && i-1 == cut/3 {
				parts = append(parts, b.cut(min(events[i-1].at+[]units.MonoNs{0, ms / 2, 2 * ms}[cut%3], e.at), 0))
			}
			b.apply(&e)
		}
		parts = append(parts, b.cut(31*ms, 0))
		ran, ends, rows := map[uint32]units.Ns{}, map[uint32]units.MonoNs{}, map[uint32]ThreadRow{}
		for _, p := range parts {
			for _, s := range p.Slices {
				if before, any := ends[s.Thread]; any && s.From != before {
					t.Errorf("cut after %d: thread %d is in a state from %d, the stay before ended at %d", cut, s.Thread, s.From, before)
				}
				if ends[s.Thread] = s.To; s.State == Running {
					ran[s.Thread] += units.Ns(s.To - s.From)
				}
			}
			for _, r := range p.Threads {
				rows[r.Index] = r
			}
		}
		from := units.MonoNs(9 * ms)
		if cut == 3*6+1 { // too short to be the end of a process: what this part has stays
			from += ms / 2
		}
		// Thread 5 is not the last, so nothing is taken from it.
		want := map[uint32]Thread{
			0: {TID: 5, Name: "w", First: 1, Last: 8 * ms, BeginSeen: true, EndSeen: true, CPU: 8*ms - 10},
			1: {TID: 6, Name: "w", First: 2, Last: from, BeginSeen: true, EndSeen: true, CPU: units.Ns(from) - 20},
			2: {Name: EndOfProcess, First: from, Last: 30 * ms, BeginSeen: true, EndSeen: true, CPU: 28*ms - units.Ns(from), Involuntary: 1},
		}
		for i, w := range want {
			if r := rows[i].Thread; r != w || ran[i] != w.CPU || ends[i] != w.Last {
				t.Errorf("cut after %d: %+v ran for %d, its stays end at %d; want %+v", cut, r, ran[i], ends[i], w)
			}
		}
		if len(rows) != len(want) {
			t.Errorf("cut after %d: %d threads", cut, len(rows))
		}
	}
}
