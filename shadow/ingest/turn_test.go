package ingest

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"stackagent/shadow/store"
)

// Many sessions take turns with few consumers; each batch is stored once, and a quiet session needs little memory.
func TestTurns(t *testing.T) {
	b, root := startBus(t), t.TempDir()
	const sessions, batches, limit = 60, 6, 8
	names, want := make([]string, sessions), fakeBatches("x", batches, 0)
	for i := range names {
		names[i] = fmt.Sprintf("s%03d", i)
	}
	send := func(from, to int) {
		for i, name := range names {
			publishAll(t, b, asProcess("p", fakeBatches(name, batches, i+1)[from:to])...)
		}
	}
	send(0, 2)
	before := heap()
	in := startIngest(t, Options{Bus: b, Root: root, PartInterval: 20 * time.Millisecond, dense: limit})
	most := 0
	resting := func() bool {
		info, err := in.stream.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if in.opened.Load() > limit {
			most = max(most, info.State.Consumers)
		}
		if in.opened.Load() < sessions || info.State.Msgs > 0 || info.State.Consumers > 0 {
			return false
		}
		return len(in.Sessions()) == sessions
	}
	waitFor(t, resting)
	// What a manifest, an open writer and the goroutines need; batches and rows would be more.
	if each := (heap() - before) / sessions; each > 48<<10 {
		t.Errorf("a session at rest holds %d bytes", each)
	}
	send(2, 4)
	waitFor(t, resting)
	if most > 2*limit { // as long as they are few, each has a consumer; then they end
		t.Errorf("%d consumers at a time, want about %d", most, limit)
	}
	send(4, batches)
	drain(t, in)
	must(t, in.Close(store.EndedClosed))
	for _, name := range names {
		s := checkRows(t, filepath.Join(root, name), want)
		if m := s.Manifest; m.Lost.Batches != 0 || m.Lost.Events != 0 || m.Ended != store.EndedExit {
			t.Errorf("%s: ended %q, lost %+v", name, m.Ended, m.Lost)
		}
	}
	for _, p := range in.Sessions() {
		if p.Batches != batches {
			t.Errorf("%s: %d batches", p.Session, p.Batches)
		}
	}
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A shadow that dies in the turns of its sessions and one that comes after it: each batch is stored once.
func TestTurnsAndKill(t *testing.T) {
	t.Parallel()
	b, root := startBus(t), t.TempDir()
	o := Options{Bus: b, Root: root, PartInterval: 5 * time.Millisecond, dense: 3, TTL: testTTL}
	s := newShares(20, 12)
	for from := 0; from < 12; from += 4 {
		in := startIngest(t, o)
		for n := from; n < from+4; n++ {
			for _, batches := range s.all {
				publishAll(t, b, batches[n])
			}
		}
		waitFor(t, func() bool { return in.routed.Load() > 30 })
		in.Kill()
	}
	in := startIngest(t, o)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	must(t, in.Drain(ctx))
	must(t, in.Close(store.EndedClosed))
	for i := range s.all {
		checkRows(t, filepath.Join(root, fmt.Sprintf("s%02d", i)), fakeBatches("x", 12, 0))
	}
}
