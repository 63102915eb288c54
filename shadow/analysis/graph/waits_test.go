package graph

import (
	"slices"
	"testing"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
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

// TestUnseen: a virtual thread computed for 4 ms by its clock. Of 1 + 30 + 1 + 20 ms between its waits it computed 1 in each; the rest of the 30 ms it
// was ready for 9, as a carrier was, and waited for what is not known for 20.
func TestUnseen(t *testing.T) {
	r := &reader{rec: &recording{units: []unitOf{{start: 10 * ms, end: 82 * ms, cpu: 4 * ms}}}, carriers: map[uint32]*threadOf{
		9: {id: 9, pieces: []piece{awaits(0, 25, activity.Futex, 0, ""), {Span: span(25, 35), state: activity.Running, run: ms, held: 2 * ms}, run(35, 90)}}}}
	waits := []piece{awaits(11, 21, activity.Sleeping, 0, ""), awaits(51, 61, activity.Sleeping, 0, ""), awaits(62, 62, activity.Sleeping, 0, "")}
	got := r.between(&threadOf{virtual: true, units: []uint32{0}}, waits)
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
	if got := r.between(&threadOf{units: []uint32{0}}, waits); len(got) != 7 {
		t.Errorf("of a thread that is not virtual: %+v", got)
	}
}

// TestSeen: a virtual thread that computed for 29.5 of 30 ms by its clock did not wait.
func TestSeen(t *testing.T) {
	r := &reader{rec: &recording{units: []unitOf{{start: 10 * ms, end: 40 * ms, cpu: 29*ms + ms/2}}}}
	if got := r.between(&threadOf{virtual: true, units: []uint32{0}}, nil); !slices.Equal(got, []piece{run(10, 40)}) {
		t.Errorf("%+v", got)
	}
}
