package gcreport

import (
	"slices"
	"testing"

	"stackagent/granularity/activity"
	"stackagent/granularity/gc"
	"stackagent/hpc/sched"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// TestCauses: what happens between two looks is counted, and its cause is not guessed.
func TestCauses(t *testing.T) {
	const ms = 1_000_000
	at := func(n units.MonoNs, collector, cause string, invocations int64, d units.Ns, safepoints int64) sched.GCSample {
		return sched.GCSample{At: n * ms, Collector: collector, Cause: cause, Invocations: invocations, Entry: 5, Exit: 5 + d,
			Safepoints: safepoints, Safepoint: units.Ns(safepoints) * 10, Sync: units.Ns(safepoints)}
	}
	samples := []sched.GCSample{
		at(1, "young", "Evacuation", 1, 100, 3), at(5, "young", "Evacuation", 2, 50, 5), at(6, "", "", 0, 0, 7),
		at(8, "full", "System.gc()", 1, 900, 8), at(9, "young", "Humongous", 6, 70, 12), at(20, "young", "Evacuation", 7, 1, 13),
	}
	w := activity.Span{From: 3 * ms, To: 15 * ms}
	took := func(n units.Ns) *units.Ns { return &n }
	want := []Cause{{"full", "System.gc()", 1, took(900)}, {"young", causeUnseen, 3, nil}, {"young", "Evacuation", 1, took(50)}, {"young", "Humongous", 1, took(70)}}
	same := func(a, b Cause) bool {
		return a.Collector == b.Collector && a.Cause == b.Cause && a.Count == b.Count && a.time() == b.time()
	}
	if got := causesOf(samples, w); !slices.EqualFunc(got, want, same) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, err := session.StandstillOf(samples, w); err != nil || *got != (gc.Standstill{Safepoints: 9, TotalNs: 99, ReachNs: 9, AtNs: 90}) {
		t.Errorf("safepoints: %+v, %v", got, err)
	}
}
