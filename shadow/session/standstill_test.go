package session

import (
	"slices"
	"testing"

	"stackagent/hpc/sched"
	"stackagent/internal/units"
)

// A JVM that ran before the agent attached has counted before; only what it counts from then on is of the session.
func TestSinceFirst(t *testing.T) {
	at := func(n units.MonoNs, collector string, invocations, safepoints int64) sched.GCSample {
		return sched.GCSample{At: n, Collector: collector, Invocations: invocations, Safepoints: safepoints, Safepoint: units.Ns(10 * safepoints), Sync: units.Ns(safepoints)}
	}
	got := sinceFirst([]sched.GCSample{
		at(5, "young", 100, 500), at(5, "full", 7, 500), at(9, "", 0, 501), at(12, "young", 101, 502), at(12, "concurrent", 40, 502), at(20, "full", 9, 504)})
	want := []sched.GCSample{at(9, "", 0, 1), at(12, "young", 1, 2), at(12, "concurrent", 1, 2), at(20, "full", 2, 4)}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if sinceFirst(nil) != nil {
		t.Error("samples from nothing")
	}
}
