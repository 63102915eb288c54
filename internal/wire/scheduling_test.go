package wire

import (
	"testing"

	"stackagent/internal/units"
)

// What the scheduler of virtual threads did travels, also without submissions;
// a batch without it stays as it was.
func TestScheduling(t *testing.T) {
	want := VirtualScheduling{Mounts: 1 << 40, Unmounts: 8, Pins: 2, PinnedNs: 1e6}
	b := &Batch{Session: "s", Seq: 1, Totals: Totals{Executions: 3, Scheduling: want}}
	msg, err := Encode(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(msg, DefaultLimits())
	if err != nil || got.Totals.Scheduling != want || got.Totals.Executions != 3 || got.Unknown != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	b.Totals.SummarisedConstructions = 1 << 33
	if got, err := Decode(mustEncode(t, b), DefaultLimits()); err != nil || got.Totals.SummarisedConstructions != 1<<33 || got.Totals.Scheduling != want || got.Unknown != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	b.Totals.SummarisedConstructions = 0
	b.Totals.Scheduling = VirtualScheduling{}
	without, err := Encode(b, nil)
	if err != nil || len(without) >= len(msg) {
		t.Errorf("%d bytes without, %d with, %v", len(without), len(msg), err)
	}
}

// A time that no session can have does not become negative.
func TestSchedulingHostile(t *testing.T) {
	b := &Batch{Session: "s", Seq: 1, Totals: Totals{Scheduling: VirtualScheduling{Mounts: 1, PinnedNs: units.Ns(-1)}}}
	msg, err := Encode(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(msg, DefaultLimits())
	if err == nil && got.Totals.Scheduling.PinnedNs < 0 {
		t.Errorf("pinned for %d ns", got.Totals.Scheduling.PinnedNs)
	}
}
