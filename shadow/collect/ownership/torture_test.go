package ownership

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"stackagent/internal/testjvm"
)

// TestTortureForeignRows: somebody writes over, and removes, the rows of a session that has an owner, and those of the
// shadows: by what the bus acknowledges, by half a row, by rows that name nobody or no store. The session keeps its
// owner, and the owner its session, as long as it lasts; each row is reported.
func TestTortureForeignRows(t *testing.T) {
	testjvm.OneGood(t, func(a *testjvm.Attempt) { foreignRows(t, a) }) // a shadow that gets no time loses its sessions, rightly
}

func foreignRows(t *testing.T, a *testjvm.Attempt) {
	t.Helper()
	js := startServer(t)
	ttl := 3 * time.Second * a.Scale
	var reported atomic.Int64
	member := func() *Member {
		m, err := Join(t.Context(), Options{JetStream: js, Home: openHome(t, t.TempDir()), Path: "/store", TTL: ttl, Foreign: func(_ string, err error) {
			reported.Add(1)
			if !errors.Is(err, ErrForeignRow) {
				t.Errorf("reported %v", err)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(m.End)
		return m
	}
	owner, other := member(), member()
	leases, err := owner.Claim(t.Context(), []string{"s"}, 9)
	if err != nil || len(leases) != 1 {
		t.Fatalf("%d leases, %v", len(leases), err)
	}
	kv, err := js.KeyValue(t.Context(), Bucket)
	if err != nil {
		t.Fatal(err)
	}
	keys := []string{sessionKey + "s", sessionKey + "s", shadowKey + owner.o.Home.ID, shadowKey + other.o.Home.ID}
	junk := []string{`{"stream":"STACKAGENT","seq":7}`, `{"owner":`, "", `{"owner":"00112233"}`, `{"owner":"0011223344556677","pieces":[]}`,
		`{"owner":"0011223344556677","pieces":[{"store":"../../x"}]}`,
		fmt.Sprintf(`{"owner":%q,"pieces":[{"store":"0011223344556677"}]}`, other.o.Home.ID)}
	ours := func(key string, m *Member) bool { // is the row its shadow's again?
		e, err := kv.Get(t.Context(), key)
		if err != nil || leases[0].Check() != nil {
			return false
		}
		h, err := heartbeatRow(e)
		return err == nil && h.Store == m.o.Home.Store
	}
	for end := time.Now().Add(3 * ttl / 2); time.Now().Before(end); {
		for i, value := range junk {
			before, key := reported.Load(), keys[i%len(keys)]
			put(t, kv, key, value)
			again := func() bool { return written(t, kv, owner, other) }
			switch key {
			case sessionKey + "s":
				put(t, kv, key, value) // the owner is about to write it
			case shadowKey + owner.o.Home.ID: // it proves its lease, which needs a row that is its own
				again = func() bool { return ours(key, owner) }
			default:
				again = func() bool { return ours(key, other) }
			}
			if _, err := other.Claim(t.Context(), []string{"s"}, 9); err != nil && !errors.Is(err, ErrUncertain) {
				t.Fatal(err)
			}
			if !await(t, a, leases[0], "row", again) || !await(t, a, leases[0], "report", func() bool { return reported.Load() > before }) {
				return
			}
		}
		if err := kv.Delete(t.Context(), sessionKey+"s"); err != nil {
			t.Fatal(err)
		}
		// Until the owner has written it again, the session is anybody's.
		if !await(t, a, leases[0], "row after it was removed", func() bool { return written(t, kv, owner, other) }) {
			return
		}
	}
	if len(heldBy(other)) > 0 {
		a.Errorf("the session has gone to the other shadow")
	}
	settled(t, kv, owner, other)
}

// await waits until something is true; false: the owner has lost its session before.
func await(t *testing.T, a *testjvm.Attempt, l *Lease, what string, ok func() bool) bool {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if errors.Is(l.Check(), ErrLost) {
			a.Errorf("the owner has lost its session")
			return false
		}
		if time.Now().After(end) {
			t.Fatalf("the %s does not come", what)
		}
	}
	return true
}

func put(t *testing.T, kv jetstream.KeyValue, key, value string) {
	t.Helper()
	if _, err := kv.PutString(t.Context(), key, value); err != nil {
		t.Fatal(err)
	}
}

// written reports whether the row is the owner's, and the other shadow knows that.
func written(t *testing.T, kv jetstream.KeyValue, owner, other *Member) bool {
	t.Helper()
	e, err := kv.Get(t.Context(), sessionKey+"s")
	held := heldBy(owner)
	return err == nil && len(held) == 1 && string(e.Value()) == string(held[0].value) && other.OwnedByOther("s")
}

// settled waits until the row is the owner's again, and renews it as for a takeover that was proved.
func settled(t *testing.T, kv jetstream.KeyValue, owner, other *Member) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if written(t, kv, owner, other) {
			if err := heldBy(owner)[0].renew(context.Background()); err != nil {
				t.Error(err)
			}
			return
		}
	}
	t.Error("the row does not become the owner's again")
}

func heldBy(m *Member) []*Lease {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Values(m.leases))
}
