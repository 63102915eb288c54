package ingest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"stackagent/shadow/store"
)

// remover removes a folder and counts.
func remover(root, folder string, calls *int) func() error {
	return func() error {
		*calls++
		return os.RemoveAll(filepath.Join(root, folder))
	}
}

// A flush stores what has come of a session at once, however seldom parts are stored.
func TestFlush(t *testing.T) {
	b, root := startBus(t), t.TempDir()
	in := startIngest(t, Options{Bus: b, Root: root, PartInterval: time.Hour})
	defer in.Kill()
	all := fakeBatches("job", 10, 7)
	publishAll(t, b, all[:4]...)
	stored := func() uint64 {
		must(t, in.Flush(context.Background(), "job"))
		m, err := store.ReadManifest(filepath.Join(root, "job"))
		if err != nil {
			return 0
		}
		return m.Stored.Executions
	}
	waitFor(t, func() bool { return stored() == 4*perBatch })
	publishAll(t, b, all[4:6]...)
	waitFor(t, func() bool { return stored() == 6*perBatch })
	checkRows(t, filepath.Join(root, "job"), all[:6])
	must(t, in.Flush(context.Background(), "another"))
	publishAll(t, b, all[6:]...)
	drain(t, in)
	must(t, in.Close(store.EndedClosed))
	checkRows(t, filepath.Join(root, "job"), all)
}

// A running session is not removed. An ended one is, and the shadow forgets it; what comes late begins another folder.
func TestRemove(t *testing.T) {
	b, root := startBus(t), t.TempDir()
	in := startIngest(t, Options{Bus: b, Root: root, PartInterval: 5 * time.Millisecond})
	all := fakeBatches("job", 10, 7)
	publishAll(t, b, all[:9]...)
	drain(t, in)
	calls := 0
	remove := remover(root, "job", &calls)
	if err := in.Remove(context.Background(), "job", remove); !errors.Is(err, ErrOpen) || calls != 0 {
		t.Fatalf("a running session: %v, %d calls", err, calls)
	}
	publishAll(t, b, all[9])
	waitFor(t, func() bool {
		err := in.Remove(context.Background(), "job", remove)
		if err != nil && !errors.Is(err, ErrOpen) {
			t.Fatal(err)
		}
		return err == nil
	})
	if calls != 1 || len(in.Sessions()) != 0 || len(foldersOf(t, root)) != 0 {
		t.Errorf("%d calls, sessions %v, folders %v", calls, in.Sessions(), foldersOf(t, root))
	}
	if got := in.Totals(); got.Sessions != 1 || got.Received.Executions != 10*perBatch {
		t.Errorf("totals %+v", got)
	}
	late := fakeBatches("job", 12, 7)[10:]
	publishAll(t, b, late...)
	drain(t, in)
	must(t, in.Close(store.EndedClosed))
	if m, err := store.ReadManifest(filepath.Join(root, "job")); err != nil || m.Stored.Executions != 2*perBatch || m.Lost.Batches != 10 {
		t.Errorf("what came late: %v %+v", err, m)
	}
}

// A session of before, which this shadow has not seen, is removed too; names that lead elsewhere are refused.
func TestRemoveStored(t *testing.T) {
	b, root := startBus(t), t.TempDir()
	in := startIngest(t, Options{Bus: b, Root: root})
	publishAll(t, b, fakeBatches("job", 3, 7)...)
	drain(t, in)
	must(t, in.Close(store.EndedClosed))
	in = startIngest(t, Options{Bus: b, Root: root})
	defer in.Kill()
	calls := 0
	for _, bad := range []string{"", ".", "..", "a/b", "../x", "/etc"} {
		if err := in.Remove(context.Background(), bad, remover(root, "job", &calls)); !errors.Is(err, store.ErrBadName) || calls != 0 {
			t.Errorf("%q: %v, %d calls", bad, err, calls)
		}
	}
	must(t, in.Remove(context.Background(), "job", remover(root, "job", &calls)))
	if calls != 1 || len(foldersOf(t, root)) != 0 {
		t.Errorf("%d calls, folders %v", calls, foldersOf(t, root))
	}
	failed := errors.New("disk")
	if err := in.Remove(context.Background(), "job", func() error { return failed }); !errors.Is(err, failed) {
		t.Errorf("it fails: %v", err)
	}
}
