package ingest

import (
	"testing"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// Times of virtual threads go by the rate of the clock; the largest of a single
// thread are its own, and what was not measured stays so.
func TestAppendVirtual(t *testing.T) {
	c := &clock{}
	for i := range 3 { // two ticks a nanosecond
		c.add(wire.ClockPair{Ticks: units.Ticks(i * 20_000_000), Mono: units.MonoNs(5000 + i*10_000_000)})
	}
	b := &wire.Batch{Clock: wire.ClockPair{Ticks: 20_000_000}, Virtual: []wire.VirtualThread{
		{Thread: 3, Class: 4, Flags: wire.VirtualAlive, At: 20_000_000, Threads: 1, Mounts: 5, Changes: 2, First: 6, Last: 7, Pins: 1, Pinned: 800, Away: 2000, Ready: 600},
		{Class: 4, At: 40_000_000, Threads: 9, Mounts: 90, Ready: units.NotMeasured, MostMounts: 20, MostAway: 400},
	}}
	var p store.Part
	appendRows(&p, b, c)
	if len(p.VirtualThreads) != 2 {
		t.Fatalf("%+v", p.VirtualThreads)
	}
	one, group := p.VirtualThreads[0], p.VirtualThreads[1]
	if one.ReadyNs == nil || *one.ReadyNs != 300 {
		t.Errorf("waited for %v ns, want 300", one.ReadyNs)
	}
	one.ReadyNs = nil
	if want := (store.VirtualThread{Thread: 3, Class: 4, Alive: true, AtNs: 10_005_000, Threads: 1, Mounts: 5, Changes: 2, First: 6, Last: 7, Pins: 1,
		PinnedNs: 400, AwayNs: 1000, MostMounts: 5, MostPinnedNs: 400, MostAwayNs: 1000, MostReadyNs: 300}); one != want {
		t.Errorf("%+v, want %+v", one, want)
	}
	if want := (store.VirtualThread{Class: 4, AtNs: 20_005_000, Threads: 9, Mounts: 90, MostMounts: 20, MostAwayNs: 200}); group != want {
		t.Errorf("%+v, want %+v", group, want)
	}
}
