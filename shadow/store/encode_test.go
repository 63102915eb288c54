package store

import (
	"fmt"
	"runtime"
	"testing"
)

// A session that is open and has nothing to store takes next to no memory:
// there may be a thousand of them.
func TestOpenSessionsAreSmall(t *testing.T) {
	root := t.TempDir()
	const n = 64
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	var open []*Writer
	for i := range n {
		w, err := OpenWriter(root, fmt.Sprint("f", i), "job")
		if err != nil {
			t.Fatal(err)
		}
		w.Manifest.Ended = EndedRunning
		commit(t, w, sample(1, 1, 20))
		open = append(open, w)
	}
	each := (heap() - min(before, heap())) / n
	t.Logf("%d bytes a session", each)
	if most := uint64(64 << 10); each > most {
		t.Errorf("%d bytes a session, want at most %d", each, most)
	}
	runtime.KeepAlive(open)
}
