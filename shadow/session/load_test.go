package session

import (
	"testing"

	"stackagent/internal/units"
	"stackagent/shadow/store"
)

// The CPU time of an OS thread that carried several Java threads is shared
// out, never counted twice.
func TestShareOut(t *testing.T) {
	s := &Session{Threads: []Thread{
		{ID: 1, OSID: 7, Name: "main", StartNs: 10, EndNs: 50, CPU: 300},
		{ID: 2, OSID: 7, Name: "DestroyJavaVM", StartNs: 50, CPU: units.NotMeasured},
		{ID: 3, OSID: 8, Name: "old", StartNs: 10, CPU: units.NotMeasured}, // its end was lost
		{ID: 4, OSID: 8, Name: "new", StartNs: 20, CPU: units.NotMeasured},
		{ID: 5, OSID: 9, Name: "reported", CPU: 40},
		{ID: 6, OSID: 10, Name: "ended", EndNs: 60, CPU: units.NotMeasured},
		{ID: 7, OSID: 11, Name: "ahead", CPU: 90, EndNs: 60},
		{ID: 8, OSID: 11, Name: "behind", StartNs: 60, CPU: units.NotMeasured}, // the kernel's figure is older
		{ID: 9, Name: "virtual", Virtual: true, CPU: units.NotMeasured},
		{ID: 10, OSID: 12, Name: "not in the kernel's list", CPU: units.NotMeasured},
	}}
	cpu := func(n int64) store.OSThread { return store.OSThread{CPUNs: &n} }
	s.shareOut(map[int32]store.OSThread{7: cpu(310), 8: cpu(100), 9: cpu(55), 10: cpu(20), 11: cpu(80), 0: cpu(1)})
	none := units.NotMeasured
	for i, want := range []units.Ns{300, 10, none, 100, 40, none, 90, 0, none, none} {
		if got := s.Threads[i].CPU; got != want {
			t.Errorf("%s: CPU time %d, want %d", s.Threads[i].Name, got, want)
		}
	}
}

// An id that is far off at first stays findable when later ones make the slice reach beyond it.
func TestIndexFarIDs(t *testing.T) {
	var x index
	ids := []uint32{1, 1<<16 + 9, 2, 3, 4, 1<<16 + 23}
	for i, id := range ids {
		x.set(id, i)
	}
	for i, id := range ids {
		if at, ok := x.get(id); !ok || at != i {
			t.Errorf("id %d is at %d, %v; want %d", id, at, ok, i)
		}
	}
}
