package ingest

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

func ofService(service string, list []*wire.Batch) []*wire.Batch {
	for _, b := range list {
		if b.Hello != nil {
			b.Hello.Labels.Service = service
		}
	}
	return list
}

// A service with many sessions is kept within its quota and keeps no other out; nothing of it is lost.
func TestQuotaIsFair(t *testing.T) {
	t.Parallel()
	b, root := startBus(t), t.TempDir()
	const noisy, quiet, batches = 14, 3, 4
	for i := range noisy {
		publishAll(t, b, ofService("noisy", fakeBatches(fmt.Sprintf("a%02d", i), batches, i+1))[:2]...)
	}
	for i := range quiet {
		publishAll(t, b, ofService("quiet", fakeBatches(fmt.Sprintf("z%02d", i), batches, 100+i))...)
	}
	in := startIngest(t, Options{Bus: b, Root: root, MaxSessions: 6, PartInterval: 10 * time.Millisecond, Quotas: []Quota{{Service: "noisy", Open: 2}, {Service: AnyService, Open: 3}}})
	waitFor(t, func() bool { // although the others came first and go on
		for i := range quiet {
			if m, err := store.ReadManifest(filepath.Join(root, fmt.Sprintf("z%02d", i))); err != nil || m.Balance == nil {
				return false
			}
		}
		return true
	})
	state := func() QuotaState {
		for _, s := range in.Quotas() {
			if s.Service == "noisy" {
				return s
			}
		}
		return QuotaState{}
	}
	waitFor(t, func() bool { s := state(); return s.Open == 2 && s.Waiting == noisy-2 })
	for i := range noisy { // they end, and make room for one another
		publishAll(t, b, ofService("noisy", fakeBatches(fmt.Sprintf("a%02d", i), batches, i+1))[2:]...)
	}
	waitFor(t, func() bool {
		if s := state(); s.Open > 2 {
			t.Fatalf("%d sessions of the service are open", s.Open)
		}
		return len(in.Sessions()) == noisy+quiet
	})
	drain(t, in)
	must(t, in.Close(store.EndedClosed))
	for i := range noisy {
		checkRows(t, filepath.Join(root, fmt.Sprintf("a%02d", i)), fakeBatches("x", batches, 0))
	}
}

// What a service sends beyond its bytes a second waits on the bus and is stored in the end; another's does not wait.
func TestQuotaOfBytes(t *testing.T) {
	t.Parallel()
	b, root := startBus(t), t.TempDir()
	const batches = 40
	noisy := ofService("noisy", fakeBatches("noisy", batches, 1))
	size := len(encode(t, noisy[1]))
	publishAll(t, b, noisy...)
	publishAll(t, b, ofService("quiet", fakeBatches("quiet", batches, 2))...)
	in := startIngest(t, Options{Bus: b, Root: root, PartInterval: 10 * time.Millisecond, Quotas: []Quota{{Service: "noisy", Bytes: int64(8 * size)}}})
	ended := func(name string) bool {
		m, err := store.ReadManifest(filepath.Join(root, name))
		return err == nil && m.Ended == store.EndedExit
	}
	waitFor(t, func() bool { return ended("quiet") })
	waitFor(t, func() bool { return ended("noisy") })
	if s := in.Quotas(); len(s) != 1 || s[0].Throttled == 0 {
		t.Errorf("quotas: %+v", s)
	}
	drain(t, in)
	must(t, in.Close(store.EndedClosed))
	for _, name := range []string{"noisy", "quiet"} {
		s := checkRows(t, filepath.Join(root, name), fakeBatches("x", batches, 0))
		if s.Manifest.Lost.Batches != 0 {
			t.Errorf("%s: lost %+v", name, s.Manifest.Lost)
		}
	}
}

func TestQuotaOfNewSessions(t *testing.T) {
	q := newQuotas([]Quota{{Service: "a", New: 1}})
	for i := range 9 {
		q.of[fmt.Sprint("a", i)], q.of[fmt.Sprint("b", i)] = "a", "b"
	}
	var names []string
	for name := range q.of {
		names = append(names, name)
	}
	q.mu.Lock()
	q.service("a")
	q.mu.Unlock()
	chosen, held := q.admit(names, map[string]int{"b": 4}, 100)
	if len(chosen) != burst+9 || held != 9-burst || chosen[0] != "a0" {
		t.Errorf("chosen %v, held %d", chosen, held)
	}
	if chosen, _ = q.admit(names, map[string]int{"a": 1, "b": 4}, 3); len(chosen) != 3 || chosen[0] != "a0" || chosen[1] != "a1" || chosen[2] != "b0" {
		t.Errorf("of services with fewer sessions first: %v", chosen)
	}
}
