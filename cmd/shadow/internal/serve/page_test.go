package serve

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"stackagent/shadow/fleet/upload"
	"stackagent/shadow/store"
	"stackagent/shadow/store/objectstore"
)

// away is a store that takes nothing while err is set.
type away struct {
	objectstore.Store
	err error
}

func (a *away) PutIfAbsent(ctx context.Context, key string, content io.ReadSeeker, size int64) error {
	if a.err != nil {
		return a.err
	}
	return a.Store.PutIfAbsent(ctx, key, content, size)
}

// What fails of an object store is said until it works again.
func TestTroubles(t *testing.T) {
	folder, err := objectstore.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root, to := t.TempDir(), &away{Store: folder}
	w, err := store.OpenWriter(root, "a", "a")
	if err != nil {
		t.Fatal(err)
	}
	w.Manifest.WallUnixNs, w.Manifest.Ended = int64(2000*time.Second), store.EndedExit
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	now := time.Now().Add(time.Hour)
	clock := func() time.Time { return now }
	s := &serveLive{root: root, compacts: &compactor{store: to},
		uploader: upload.New(upload.Options{Root: root, Store: to, Logger: slog.New(slog.DiscardHandler), NoRollUps: true, Now: clock})}
	troubles := func(want ...string) {
		t.Helper()
		got := s.troubles(now)
		if len(got) != len(want) {
			t.Fatalf("%q, want %q", got, want)
		}
		for i := range want {
			if !strings.Contains(got[i], want[i]) {
				t.Errorf("%q lacks %q", got[i], want[i])
			}
		}
	}
	pass := func(fails bool) {
		t.Helper()
		if err := s.uploader.Pass(t.Context()); (err != nil) != fails {
			t.Fatal(err)
		}
	}
	troubles()
	to.err = errors.New("no answer")
	pass(true)
	now = now.Add(90 * time.Second)
	pass(true)
	s.compacts.last = errors.New("no list\nat all")
	troubles("has failed for 90.0 s. What it does not take stays in "+root, "no list; at all; it is tried again")
	to.err, s.compacts.last = nil, nil
	pass(false)
	troubles()
}
