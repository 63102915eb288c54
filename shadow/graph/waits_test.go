package graph

import (
	"testing"

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
	got := r.between(&threadOf{units: []int{0}}, []piece{wait(5, 8, 0, 0, ""), wait(20, 30, 0, 3, ""), wait(45, 60, 0, 0, "")})
	want := []piece{run(10, 20), wait(20, 30, 0, 3, ""), run(30, 50)}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("%+v, want %+v", got, want)
	}
}
