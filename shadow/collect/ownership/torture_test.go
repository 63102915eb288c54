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
	rows := int64(0)
	for end := time.Now().Add(3 * ttl / 2); time.Now().Before(end); {
		for i, value := range junk {
			put(t, kv, keys[i%len(keys)], value)
			rows++
			if _, err := other.Claim(t.Context(), []string{"s"}, 9); err != nil && !errors.Is(err, ErrUncertain) {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Millisecond)
		}
		if err := kv.Delete(t.Context(), sessionKey+"s"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
		if err := leases[0].Check(); errors.Is(err, ErrLost) {
			a.Errorf("the owner has lost its session")
			return
		}
	}
	if len(heldBy(other)) > 0 {
		a.Errorf("the session has gone to the other shadow")
	}
	if reported.Load() < rows {
		a.Errorf("reported %d rows, at least %d were written", reported.Load(), rows)
	}
	settled(t, kv, owner)
}

func put(t *testing.T, kv jetstream.KeyValue, key, value string) {
	t.Helper()
	if _, err := kv.PutString(t.Context(), key, value); err != nil {
		t.Fatal(err)
	}
}

// settled waits until the row is the owner's again, and renews it as for a takeover that was proved.
func settled(t *testing.T, kv jetstream.KeyValue, owner *Member) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		e, err := kv.Get(t.Context(), sessionKey+"s")
		if err == nil && string(e.Value()) == string(heldBy(owner)[0].value) {
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
