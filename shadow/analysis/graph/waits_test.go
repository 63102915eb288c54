package graph

import (
	"maps"
	"slices"
	"testing"

	"stackagent/granularity/activity"
	"stackagent/granularity/graph"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

func TestTheVirtualThreadThatEndedAWait(t *testing.T) {
	r := &reader{virtual: []virtualEnd{{10 * ms, 7}, {20 * ms, 8}, {20*ms + 100_000, 9}}}
	for at, want := range map[units.MonoNs]uint32{9 * ms: 0, 10 * ms: 7, 10*ms + afterEnd: 7, 11 * ms: 0, 20*ms + 99_999: 8, 20*ms + 100_000: 9, 30 * ms: 0} {
		if got := r.endedBefore(at); got != want {
			t.Errorf("at %d: thread %d, want %d", at, got, want)
		}
	}
}

func TestBetweenWaitsAThreadComputes(t *testing.T) {
	r := &reader{rec: &recording{units: []unitOf{{start: 10 * ms, end: 50 * ms}}}}
	got := r.between(&threadOf{units: []uint32{0}}, []piece{awaits(5, 8, 0, 0, ""), awaits(20, 30, 0, 3, ""), awaits(45, 60, 0, 0, "")})
	want := []piece{run(10, 20), awaits(20, 30, 0, 3, ""), run(30, 50)}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// onCarriers is the reader of a virtual thread with one unit, and its waits; its one carrier was ready for 9 ms of the time after 25 ms.
func onCarriers(waits ...piece) (*reader, *threadOf) {
	r := &reader{unseen: newUnseen(), rec: &recording{sums: map[SumOf]Unrecorded{}, names: &graph.Names{}, units: []unitOf{{start: 10 * ms, end: 82 * ms, cpu: 4 * ms}}}, waited: map[waitInfo]uint32{}, carriers: map[uint32]*threadOf{
		9: {id: 9, pieces: []piece{awaits(0, 25, activity.Futex, 0, ""), {Span: span(25, 35), state: activity.Running, run: ms, held: 2 * ms}, run(35, 90)}}}}
	t := &threadOf{id: 7, virtual: true, units: []uint32{0}}
	t.pieces = r.between(t, waits)
	return r, t
}

// TestUnseen: a virtual thread computed for 4 ms by its clock. Of 1 + 30 + 1 + 20 ms between its waits it computed 1 in each; the rest of the 30 ms it
// was ready for 9, as a carrier was, and waited for what is not known for 20.
func TestUnseen(t *testing.T) {
	waits := []piece{awaits(11, 21, activity.Sleeping, 0, ""), awaits(51, 61, activity.Sleeping, 0, ""), awaits(62, 62, activity.Sleeping, 0, "")}
	r, of := onCarriers(waits...)
	got := r.divideGaps(of.pieces, r.gapsOf(of, nil), nil)
	const half = ms / 2
	piecesOf := func(from, ready, to units.MonoNs, held units.Ns) []piece {
		return []piece{{Span: activity.Span{From: from * ms, To: (from+ready)*ms + half}, state: activity.Running, run: half, held: held},
			{Span: activity.Span{From: (from+ready)*ms + half, To: to*ms - half}, state: activity.Futex},
			{Span: activity.Span{From: to*ms - half, To: to * ms}, state: activity.Running, run: half}}
	}
	want := slices.Concat([]piece{run(10, 11), waits[0]}, piecesOf(21, 9, 51, 2*ms), []piece{waits[1], run(61, 62), waits[2]}, piecesOf(62, 0, 82, 0))
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestUnrecordedWaits: of 48 ms between its recorded waits the thread was off its carrier for 48, and for 12 of these waited for a carrier. The sums know of 18 ms in which
// it slept, where its recorded sleeps were: of the other 18 it is not known what for.
func TestUnrecordedWaits(t *testing.T) {
	waits := []piece{awaits(11, 21, activity.Sleeping, 0, ""), awaits(51, 61, activity.Sleeping, 0, ""), awaits(62, 62, activity.Sleeping, 0, "")}
	r, of := onCarriers(waits...)
	r.rec.threads, r.named = map[uint32]*threadOf{7: of}, map[[2]uint32]uint32{{3, 0}: 0}
	r.unseen.threads[7] = turns{threads: 1, mounts: 43, waited: 56 * ms, ready: 12 * ms}
	at := waitInfo{kind: "sleep", site: "Main.run:8"}
	slept := waits[0]
	slept.wait = r.numberOf(at)
	for range 2 {
		r.seen(of, &store.Wait{Kind: "sleep", Within: 3}, slept, at)
	}
	r.unseen.sums[alike{within: 3, kind: "sleep"}].waits, r.unseen.sums[alike{within: 3, kind: "sleep"}].ns = 20, 18*ms
	r.addUnseen(nil)
	sums := map[string]units.Ns{}
	for _, p := range of.pieces {
		what := "not known"
		if p.wait != 0 {
			if x := r.rec.waitAt(p.wait); p.state == activity.Sleeping && x.sum {
				what = x.site
			}
		}
		switch {
		case !p.waits():
			sums["computed"], sums["ready"] = sums["computed"]+p.run, sums["ready"]+p.Len()-p.run
		case !slices.Contains(waits, p):
			sums[what] += p.Len()
		}
	}
	if want := map[string]units.Ns{"computed": 4 * ms, "ready": 12 * ms, "Main.run:8": 18 * ms, "not known": 18 * ms}; !maps.Equal(sums, want) {
		t.Errorf("%v, want %v", sums, want)
	}
	x := r.unseen.turns[0]
	if want := (Turns{Units: 1, Mounts: 43, Recorded: 2, Summed: 20, Computed: 4 * ms}); x != want || x.Yields() != 20 {
		t.Errorf("%+v with %d yields, want %+v with 20", x, x.Yields(), want)
	}
	if got := r.rec.sums; len(got) != 1 || got[SumOf{0, uint32(len(r.rec.waits))}] != (Unrecorded{20, 18 * ms}) {
		t.Errorf("%v", got)
	}
}

// TestSharedSums: the short waits inside executions that wait in the units of two classes are divided by the mounts that follow no recorded wait, 100 and 300, and their time by
// what is not explained otherwise, 10 and 30 ms. Those inside an execution of which nothing else is known may be in either.
func TestSharedSums(t *testing.T) {
	r, _ := onCarriers()

	for class, n := range map[uint32]uint64{1: 1, 2: 3} {
		r.unseen.within[class] = map[uint32]bool{9: true}
		r.unseen.turns[class] = Turns{Units: 2, Mounts: 100*n + 7}
		r.unseen.records[class] = 5
		r.unseen.need[class] = units.Ns(n) * 10 * ms
	}
	sleep := piece{state: activity.Sleeping, wait: r.numberOf(waitInfo{kind: "sleep", site: "Main.run:8"})}
	for _, within := range []uint32{9, 77} {
		x := r.unseen.of(alike{within: within, kind: "sleep"})
		x.waits, x.ns, x.like[sleep] = 80, 10*ms, 1
	}
	r.shareSums(nil)
	for class, want := range map[uint32]uint64{1: 40, 2: 120} {
		turns, sum := r.unseen.turns[class], r.rec.sums[SumOf{class, uint32(len(r.rec.waits))}]
		if turns.Summed != want || turns.Yields() != want/40*100-want || sum != (Unrecorded{want, units.Ns(want/40) * 5 * ms}) {
			t.Errorf("class %d: %+v, %d yields, %+v", class, turns, turns.Yields(), sum)
		}
	}
}

// TestNotEnded: of a virtual thread whose unit has not ended the CPU time is not measured: it computed at most while it was on its carrier.
func TestNotEnded(t *testing.T) {
	r, of := onCarriers()
	r.rec.units[0].cpu = 0
	if g := r.gapsOf(of, nil); g.computed != -1 {
		t.Errorf("nothing is known of it, and it computed at most %d", g.computed)
	}
	r.unseen.threads[7] = turns{threads: 1, mounts: 100, waited: 10 * ms, ready: 60 * ms}
	if g, x := r.gapsOf(of, nil), r.unseen.turns[0]; g.computed != 2*ms || x.Computed != 2*ms || !x.AtMost || x.Yields() != 99 {
		t.Errorf("%+v, %+v", g, x)
	}
}

// TestExpiredRecords: only a wait with a time limit that nobody ended has reached it.
func TestExpiredRecords(t *testing.T) {
	for _, c := range []struct {
		wait store.Wait
		want bool
	}{
		{store.Wait{Kind: "park", Flags: uint32(wire.WaitTimed)}, true},
		{store.Wait{Kind: "park", Flags: uint32(wire.WaitTimed), Waker: 3}, false},
		{store.Wait{Kind: "park"}, false},
		{store.Wait{Kind: "park", Flags: uint32(wire.WaitTimed | wire.WaitOpen)}, false},
		{store.Wait{Kind: "sleep", Flags: uint32(wire.WaitTimed)}, false},
		{store.Wait{Kind: "notify", Flags: uint32(wire.WaitTimed | wire.WaitTimedOut)}, true},
	} {
		if got := expired(&c.wait); got != c.want {
			t.Errorf("%+v: %v", c.wait, got)
		}
	}
}

// TestSeen: a virtual thread that computed for 29.5 of 30 ms by its clock did not wait.
func TestSeen(t *testing.T) {
	r, of := onCarriers()
	r.rec.units[0] = unitOf{start: 10 * ms, end: 40 * ms, cpu: 29*ms + ms/2}
	if got := r.divideGaps(r.between(of, nil), r.gapsOf(of, nil), nil); !slices.Equal(got, []piece{run(10, 40)}) {
		t.Errorf("%+v", got)
	}
}
