package sched

import (
	"reflect"
	"testing"

	"stackagent/internal/units"
)

// Running is as long as the kernel charges: some stays are charged from before their
// record (lag), and from some the machine took time.
func TestCharge(t *testing.T) {
	lagging := func(e event, lag units.MonoNs) event { e.lag = lag; return e }
	after := func(e event) event { e.after = true; return e }
	for _, c := range []struct {
		name   string
		events []event
		want   []Slice // until 1000
	}{
		{"the charge passed before either switch was reported",
			[]event{made(10), lagging(in(25, 0), 5), lagging(out(60, 1, 35, Futex), 5)},
			[]Slice{{0, Runnable, 10, 20, 0, 0}, {0, Running, 20, 55, 0, 0}, {0, Futex, 55, 1000, 0, 0}}},
		{"and before the wake-up was reported",
			[]event{made(10), in(20, 0), out(50, 1, 30, Futex), wake(70), lagging(in(75, 1), 8), out(100, 2, 63, IO)},
			[]Slice{{0, Runnable, 10, 20, 0, 0}, {0, Running, 20, 50, 0, 0}, {0, Futex, 50, 67, 0, 0}, {0, Running, 67, 100, 0, 0}, {0, IO, 100, 1000, 0, 0}}},
		{"time was taken: the thread was ready but had no CPU",
			[]event{made(10), in(20, 0), out(100, 1, 50, Futex)},
			[]Slice{{0, Runnable, 10, 50, 0, 0}, {0, Running, 50, 100, 0, 0}, {0, Futex, 100, 1000, 0, 0}}},
		{"time was taken from a thread whose wake-up was not reported",
			[]event{made(10), in(20, 0), out(50, 1, 30, Futex), in(70, 1), out(100, 2, 50, IO)},
			[]Slice{{0, Runnable, 10, 20, 0, 0}, {0, Running, 20, 50, 0, 0}, {0, Futex, 50, 70, 0, 0}, {0, Runnable, 70, 80, 0, 0}, {0, Running, 80, 100, 0, 0}, {0, IO, 100, 1000, 0, 0}}},
		{"more is charged than the switches are apart, on a CPU that was idle",
			[]event{made(10), in(20, 0), out(50, 1, 36, Futex)},
			[]Slice{{0, Runnable, 10, 14, 0, 0}, {0, Running, 14, 50, 0, 0}, {0, Futex, 50, 1000, 0, 0}}},
		{"more is charged than the switches are apart, on a CPU that another thread of the process had",
			[]event{made(10), after(in(20, 0)), out(50, 1, 36, Futex)},
			[]Slice{{0, Runnable, 10, 20, 0, 0}, {0, Running, 20, 50, 0, 0}, {0, Futex, 50, 1000, 0, 0}}},
		{"a new thread is charged from before its creation was reported",
			[]event{made(100), lagging(in(102, 0), 7), out(150, 1, 55, Futex)},
			[]Slice{{0, Running, 95, 150, 0, 0}, {0, Futex, 150, 1000, 0, 0}}},
		{"the charge of several stays says nothing about one",
			[]event{made(10), in(20, 0), out(50, 1, 30, Futex), in(100, 3), out(120, 4, 80, IO)},
			[]Slice{{0, Runnable, 10, 20, 0, 0}, {0, Running, 20, 50, 0, 0}, {0, Unknown, 50, 100, 0, 0}, {0, Running, 100, 120, 0, 0}, {0, IO, 120, 1000, 0, 0}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBuilder(1, 0)
			for _, e := range c.events {
				b.apply(&e)
			}
			if got := b.cut(1000, 0).Slices; !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %v\nwant %v", got, c.want)
			}
		})
	}
}

// A clock that was read in a stay of which time was taken may be off by that.
func TestAccountOfTakenTime(t *testing.T) {
	ms := func(n units.MonoNs) units.MonoNs { return n * 1e6 }
	b := newBuilder(1, 0)
	for _, e := range []event{made(0), in(ms(10), 0)} {
		b.apply(&e)
	}
	b.compare(reading{ms(11), 1e6})
	for _, e := range []event{out(ms(20), 1, 10e6, Futex), in(ms(30), 1)} {
		b.apply(&e)
	}
	b.compare(reading{ms(70), 17e6}) // 40 ms on the CPU as it seems; 7 of them used
	e := out(ms(80), 2, 27e6, Futex) // of 50 ms 17 are charged
	b.apply(&e)
	want := Account{From: ms(11), To: ms(70), CPU: 16e6, Running: 49e6, Behind: 1e6 + 10e6 + 33e6}
	if a := b.account.result(); a == nil || *a != want {
		t.Errorf("%+v, want %+v", a, want)
	}
}

// A clock that was read in a stay whose begin was not reported is compared with what is known of the stay when it has ended.
func TestAccountOfRecoveredStay(t *testing.T) {
	ms := func(n units.MonoNs) units.MonoNs { return n * 1e6 }
	b := newBuilder(1, 0)
	for _, e := range []event{made(0), in(ms(10), 0)} {
		b.apply(&e)
	}
	b.compare(reading{ms(15), 5e6})
	e := out(ms(20), 1, 10e6, Runnable)
	b.apply(&e)
	b.compare(reading{ms(150), 130e6}) // it has run since 30
	e = out(ms(230), 2, 210e6, Futex)
	b.apply(&e)
	want := Account{From: ms(15), To: ms(150), CPU: 125e6, Running: 125e6, Behind: 5e6 + 10e6}
	if a := b.account.result(); a == nil || *a != want {
		t.Errorf("%+v, want %+v", a, want)
	}
}

// If it turns out later that nobody knows what a thread did when the clock was read, that reading is compared with nothing.
func TestAccountOfUnknownStay(t *testing.T) {
	b := newBuilder(1, 0)
	for _, e := range []event{made(0), in(10, 0)} {
		b.apply(&e)
	}
	b.compare(reading{15, 5})
	e := out(20, 1, 10, Futex)
	b.apply(&e)
	b.compare(reading{150, 130})
	e = in(200, 3) // it was on a CPU twice in between
	b.apply(&e)
	if a := b.account.result(); a != nil {
		t.Errorf("%+v, want none", a)
	}
	b.compare(reading{210, 150})
	b.compare(reading{220, 160})
	if a := b.account.result(); a == nil || a.From != 210 || a.Running != 10 {
		t.Errorf("%+v, want what ran from 210 on", a)
	}
}

// What was taken before the end of a part is missing after it: a part that is
// stored does not change.
func TestChargeAfterCut(t *testing.T) {
	b := newBuilder(1, 0)
	for _, e := range []event{made(10), in(20, 0)} {
		b.apply(&e)
	}
	first := b.cut(100, 0)
	e := out(200, 1, 130, Futex) // of 180 ns
	b.apply(&e)
	second := b.cut(300, 0)
	if want := []Slice{{0, Runnable, 10, 20, 0, 0}, {0, Running, 20, 100, 0, 0}}; !reflect.DeepEqual(first.Slices, want) {
		t.Errorf("got  %v\nwant %v", first.Slices, want)
	}
	if want := []Slice{{0, Runnable, 100, 150, 0, 0}, {0, Running, 150, 200, 0, 0}, {0, Futex, 200, 300, 0, 0}}; !reflect.DeepEqual(second.Slices, want) {
		t.Errorf("got  %v\nwant %v", second.Slices, want)
	}
}

// Two clocks that run apart by 100 ppm, each CPU's from its own origin: the lag
// of a record is its delay beyond the smallest recent one.
func TestAccountClocks(t *testing.T) {
	var c accountClocks
	const soonest, tick = units.MonoNs(300), units.MonoNs(100_000)
	for i := range units.MonoNs(10_000) {
		for cpu, origin := range []units.MonoNs{1e9, 5e12} {
			at := 2e9 + i*tick
			lag := i % 10 * 700
			clock := origin + at + (at-2e9)/10_000
			got := c.lag(uint32(cpu), at+soonest+lag, uint64(clock))
			if drift := 2 * clockWindow / 10_000; got < lag-drift || got > lag+drift {
				t.Fatalf("CPU %d, record %d: lag %d, want %d", cpu, i, got, lag)
			}
		}
	}
	if got := c.lag(0, 9e9, 0); got != 0 {
		t.Errorf("no clock: lag %d", got)
	}
	if got := c.lag(1<<31, 9e9, 77); got != 0 {
		t.Errorf("no CPU has such a number: lag %d", got)
	}
	c.lag(0, 9e9, 5e9)
	if got := c.lag(0, 9e9+1000, 1e9); got != 0 { // it was set back by 4 s
		t.Errorf("a clock that was set: lag %d", got)
	}
}
