package session

import (
	"testing"

	"stackagent/shadow/store"
)

// TestAllocations: sums over parts by class, place and whether a thread local's value is made; other contexts do not count, and neither do
// allocations among contexts.
func TestAllocations(t *testing.T) {
	p := &store.Part{
		Range:   store.Range{From: 1, To: 1},
		Classes: []store.Class{{ID: 1, Name: "a.Job", Kinds: "runnable"}},
		Frames: []store.Frame{{ID: 1, Class: "a.Main", Method: "buffer", Line: 3}, {ID: 2, Class: "java.lang.ThreadLocal", Method: "setInitialValue"},
			{ID: 3, Class: "a.Job", Method: "run", Line: 9}, {ID: 4, Class: "java.util.ArrayList", Method: "grow"}},
		Contexts: []store.Context{{ID: 1, Kind: store.ContextAllocation, Class: 1, Frames: []uint32{1, 2, 3}},
			{ID: 2, Kind: store.ContextAllocation, Class: 1, Frames: []uint32{4, 3}},
			{ID: 3, Kind: store.ContextAllocation, Frames: []uint32{4, 9, 3}}, {ID: 4, Kind: store.ContextExecution, Class: 1, Frames: []uint32{3}},
			{ID: 5, Kind: store.ContextAllocation, Class: 1, Frames: []uint32{4, 4, 3}}, {ID: 6, Kind: store.ContextAllocation, Class: 1}},
		ContextSums: []store.ContextSum{{ID: 1, Count: 2, Bytes: 5000}, {ID: 2, Count: 1, Bytes: 900}, {ID: 3, Count: 1, Bytes: 100}, {ID: 1, Count: 1, Bytes: 1000},
			{ID: 4, Count: 7, SelfWallNs: 10}, {ID: 5, Count: 1, Bytes: 300}},
	}
	s, err := Open(write(t, t.TempDir(), "s", store.Counts{}, p))
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Allocations()
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		class          uint32
		site           string
		local          bool
		samples, bytes int64
	}{{1, "a.Main.buffer:3", true, 3, 6000}, {1, "a.Job.run:9", false, 2, 1200}, {0, "a.Job.run:9", false, 1, 100}}
	if len(got) != len(want) {
		t.Fatalf("%d allocations, want %d: %+v", len(got), len(want), got)
	}
	for i, w := range want {
		if g := got[i]; g.Class != w.class || g.Site.Label() != w.site || g.ThreadLocal != w.local || g.Samples != w.samples || g.Bytes != w.bytes {
			t.Errorf("%+v at %s, want %+v", g, g.Site.Label(), w)
		}
	}
	s.Manifest.Contexts = &store.ContextSampling{Every: 1, Taken: 7}
	if list, err := s.Contexts(); err != nil || len(list) != 1 || list[0].ID != 4 || len(s.Warnings) != 0 {
		t.Errorf("contexts %+v, %v, warnings %q", list, err, s.Warnings)
	}
}
