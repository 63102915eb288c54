package virtual

import (
	"testing"

	"stackagent/internal/units"
	"stackagent/shadow/store"
)

// TestSums: there is a median only if each thread has a record, and ready time only
// if it was measured for all of them.
func TestSums(t *testing.T) {
	ready := func(n units.Ns) *units.Ns { return &n }
	var s Sums
	for _, mounts := range []uint64{9, 1, 2, 2, 50} {
		s.add(&store.VirtualThread{Thread: 1, Threads: 1, Alive: mounts == 50, Mounts: mounts, Changes: 1, Pins: 2, PinnedNs: 3, AwayNs: 4, ReadyNs: ready(2),
			MostMounts: mounts, MostPinnedNs: 3, MostAwayNs: 4, MostReadyNs: 2})
	}
	s.finish()
	if s.Threads != 5 || s.Alive != 1 || s.Mounts != 64 || s.Changes != 5 || s.Pins != 10 || s.PinnedNs != 15 || s.AwayNs != 20 || *s.ReadyNs != 10 ||
		s.MostMounts != 50 || s.MedianMounts == nil || *s.MedianMounts != 2 {
		t.Errorf("%+v, median %v, ready %v", s, s.MedianMounts, s.ReadyNs)
	}
	s.MedianMounts = nil
	s.add(&store.VirtualThread{Threads: 1000, Mounts: 1000, MostMounts: 70, MostPinnedNs: 30})
	s.finish()
	if s.Threads != 1005 || s.Mounts != 1064 || s.MedianMounts != nil || s.ReadyNs != nil || s.MostMounts != 70 || s.MostPinnedNs != 30 {
		t.Errorf("with a group: %+v, median %v, ready %v", s, s.MedianMounts, s.ReadyNs)
	}
}
