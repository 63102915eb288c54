package ingest

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// The agent sends its list of refusals when it has changed: a batch without
// one does not take it back.
func TestRefusalsStay(t *testing.T) {
	var m store.Manifest
	describe(&m, &wire.Batch{Refusals: []wire.Refusal{{Reason: "too large", Count: 2, Sample: "a.B"}}}, true)
	describe(&m, &wire.Batch{}, true)
	if len(m.Refusals) != 1 || m.Refusals[0].Count != 2 {
		t.Fatalf("refusals %+v, want the two of the first batch", m.Refusals)
	}
	describe(&m, &wire.Batch{Refusals: []wire.Refusal{{Reason: "too large", Count: 3}}}, true)
	if len(m.Refusals) != 1 || m.Refusals[0].Count != 3 {
		t.Fatalf("refusals %+v, want three", m.Refusals)
	}
}

// A session whose folder was taken away cannot be stored; the others are.
func TestOneStuckSessionHoldsUpNoOther(t *testing.T) {
	b, root := startBus(t), t.TempDir()
	live := &problems{}
	in := startIngest(t, Options{Bus: b, Root: root, PartInterval: 5 * time.Millisecond, Live: live})
	bad, good := fakeBatches("bad", 60, 1), fakeBatches("good", 20, 2)
	publishAll(t, b, bad[:3]...)
	dir := filepath.Join(root, "bad")
	waitFor(t, func() bool {
		m, err := store.ReadManifest(dir)
		return err == nil && m.Sequences.Has(3)
	})
	must(t, os.RemoveAll(dir))
	publishAll(t, b, bad[3])
	waitFor(t, func() bool { return len(live.list()) > 0 })
	publishAll(t, b, bad[4:40]...) // more than wait for a worker
	publishAll(t, b, good...)
	waitFor(t, func() bool {
		m, err := store.ReadManifest(filepath.Join(root, "good"))
		return err == nil && m.Ended == store.EndedExit
	})
	if err := in.Close(store.EndedClosed); err == nil {
		t.Error("closing says nothing of the session that could not be stored")
	}
	checkRows(t, filepath.Join(root, "good"), good)
}
