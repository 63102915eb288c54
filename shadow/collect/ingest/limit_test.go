package ingest

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"stackagent/shadow/store"
)

// crowded remembers the calls of a Crowd.
type crowded struct {
	problems
	mu     sync.Mutex
	counts []int
}

func (c *crowded) Crowded(waiting, _ int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts = append(c.counts, waiting)
}

// More sessions than may be open at once take turns: those that have ended make
// room at once, not after the minute in which their JVM might still speak.
func TestSessionsTakeTurns(t *testing.T) {
	t.Parallel()
	b, root := startBus(t), t.TempDir()
	live := &crowded{}
	const n = 7
	for i := range n {
		publishAll(t, b, fakeBatches(fmt.Sprint("s", i), 4, 100+i)...)
	}
	in := startIngest(t, Options{Bus: b, Root: root, MaxSessions: 3, Live: live})
	drain(t, in)
	if got := in.active.Load(); got > 3 {
		t.Errorf("%d sessions open, the limit is 3", got)
	}
	must(t, in.Close(store.EndedClosed))
	for i := range n {
		checkRows(t, filepath.Join(root, fmt.Sprint("s", i)), fakeBatches("x", 4, 0))
	}
	live.mu.Lock()
	defer live.mu.Unlock()
	if c := live.counts; len(c) < 2 || c[0] != n-3 || c[len(c)-1] != 0 {
		t.Errorf("saw %v waiting, want %d first and 0 last", c, n-3)
	}
}

// One name under which many JVMs run keeps no other name out.
func TestNamesakesKeepNobodyOut(t *testing.T) {
	t.Parallel()
	b, root := startBus(t), t.TempDir()
	for i := range 4 {
		all := fakeBatches("many", 3, 100+i)
		for _, x := range all[:2] { // they go on
			x.Process = fmt.Sprint("p", i)
			publishAll(t, b, x)
		}
	}
	live := &crowded{}
	in := startIngest(t, Options{Bus: b, Root: root, MaxSessions: 2, Live: live})
	waitFor(t, func() bool { return in.active.Load() == 2 })
	waitFor(t, func() bool { // the others of the name wait, and the Crowd is called
		live.mu.Lock()
		defer live.mu.Unlock()
		return len(live.counts) > 0 && live.counts[0] == 1
	})
	publishAll(t, b, fakeBatches("other", 4, 7)...)
	waitFor(t, func() bool {
		m, err := store.ReadManifest(filepath.Join(root, "other"))
		return err == nil && m.Ended == store.EndedExit && m.Balance != nil
	})
	in.Kill()
}

// What a shadow of months remembers is bounded, and its sums leave nothing out.
func TestKnownIsBounded(t *testing.T) {
	const keep, n = 20, 500
	k := newKnown(keep)
	open := Progress{Folder: "open", Batches: 1}
	k.report(open)
	for i := range n {
		p := Progress{Folder: fmt.Sprint("f", i), Ended: store.EndedExit, Batches: 2, Repeated: 1,
			Received: store.Counts{Executions: 3, Creations: 4}, Stored: store.Counts{Executions: 3}, Lost: store.Lost{Events: 5, Batches: 6}}
		k.report(Progress{Folder: p.Folder})
		k.report(p)
		k.left(p.Folder)
		k.left(p.Folder)
		if len(k.order) > keep+keep/10+2 || len(k.progress) != len(k.order) {
			t.Fatalf("after %d sessions %d are remembered, %d of them in order", i+1, len(k.progress), len(k.order))
		}
	}
	list := k.list()
	if list[0].Folder != "open" || list[len(list)-1].Folder != fmt.Sprint("f", n-1) || !k.has("open") || k.has("f0") {
		t.Errorf("remembered are %v", k.order)
	}
	want := Totals{Sessions: n + 1, Running: 1, Received: store.Counts{Executions: 3 * n, Creations: 4 * n}, Stored: store.Counts{Executions: 3 * n},
		LostEvents: 5 * n, LostBatches: 6 * n, Batches: 2*n + 1, Repeated: n}
	got := k.totals()
	if got.NoLongerListed += uint64(len(list)); got.NoLongerListed != n+1 {
		t.Errorf("%d sessions are no longer listed", got.NoLongerListed)
	}
	got.NoLongerListed = 0
	if got != want {
		t.Errorf("sums %+v, want %+v", got, want)
	}
	k.report(Progress{Folder: fmt.Sprint("f", n-1)}) // it comes back
	for i := range 2 * keep {
		folder := fmt.Sprint("g", i)
		k.report(Progress{Folder: folder, Ended: store.EndedExit})
		k.left(folder)
	}
	if !k.has(fmt.Sprint("f", n-1)) {
		t.Error("a session that goes on is forgotten")
	}
}
