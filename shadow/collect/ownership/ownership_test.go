package ownership

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"stackagent/internal/testjvm"
)

func startServer(t *testing.T) jetstream.JetStream {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server does not start")
	}
	c, err := nats.Connect(s.ClientURL(), nats.Timeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	js, err := jetstream.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

func openHome(t *testing.T, root string) *Home {
	t.Helper()
	h, err := OpenHome(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

func join(t *testing.T, js jetstream.JetStream, h *Home, ttl time.Duration) *Member {
	t.Helper()
	m, err := Join(t.Context(), Options{JetStream: js, Home: h, Path: "/store", TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.End)
	return m
}

func names(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("s%d", i)
	}
	return list
}

// claimAll claims until every session has an owner, and gives the owners.
func claimAll(t *testing.T, sessions []string, members ...*Member) map[string]*Member {
	t.Helper()
	owner := map[string]*Member{}
	var mu sync.Mutex
	for end := time.Now().Add(time.Minute); len(owner) < len(sessions); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d of %d sessions have an owner", len(owner), len(sessions))
		}
		var wg sync.WaitGroup
		for _, m := range members {
			wg.Go(func() {
				got, err := m.Claim(context.Background(), sessions, 1000)
				if err != nil && !errors.Is(err, ErrUncertain) {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				for _, l := range got {
					if owner[l.Session] != nil {
						t.Errorf("%s has two owners", l.Session)
					}
					owner[l.Session] = m
				}
			})
		}
		wg.Wait()
	}
	return owner
}

// Shadows that claim at the same time share evenly, and each session has one owner.
func TestClaimIsFair(t *testing.T) {
	testjvm.OneGood(t, func(a *testjvm.Attempt) { claimIsFair(t, a) })
}

func claimIsFair(t *testing.T, a *testjvm.Attempt) {
	t.Helper()
	js := startServer(t)
	var members []*Member
	for range 3 {
		members = append(members, join(t, js, openHome(t, t.TempDir()), 5*time.Second))
	}
	counts := map[*Member]int{}
	for _, m := range claimAll(t, names(30), members...) {
		counts[m]++
	}
	for _, m := range members {
		if n := counts[m]; n < 6 || n > 14 {
			a.Errorf("a shadow has %d of 30 sessions: %v", n, counts)
		}
	}
}

// A dead shadow's sessions are free after the TTL, not before; those of one of the same store that said goodbye, at once.
func TestTakeOver(t *testing.T) {
	testjvm.OneGood(t, func(a *testjvm.Attempt) { takeOver(t, a) })
}

func takeOver(t *testing.T, a *testjvm.Attempt) {
	t.Helper()
	js, shared := startServer(t), t.TempDir()
	ttl := time.Second * a.Scale
	dead, gone := join(t, js, openHome(t, t.TempDir()), ttl), join(t, js, openHome(t, shared), ttl)
	claimAll(t, []string{"a"}, dead)
	claimAll(t, []string{"b"}, gone)
	last := join(t, js, openHome(t, shared), ttl)
	dead.End()
	gone.Leave()
	began := time.Now()
	claimAll(t, []string{"b"}, last)
	if took := time.Since(began); took > ttl*3/4 {
		a.Errorf("the session of a shadow that said goodbye waited %v", took)
	}
	claimAll(t, []string{"a"}, last)
	if took := time.Since(began); took < ttl/2 || took > 5*ttl {
		a.Errorf("the session of a dead shadow was taken after %v; the TTL is %v", took, ttl)
	}
	l := last.leases["a"]
	if len(l.Elsewhere) != 1 || len(last.leases["b"].Elsewhere) != 0 {
		a.Errorf("elsewhere: %v and %v", l.Elsewhere, last.leases["b"].Elsewhere)
	}
}

// A shadow whose heartbeats do not arrive does not trust its leases; when they
// arrive again, it trusts those that nobody took.
func TestUncertain(t *testing.T) {
	testjvm.OneGood(t, func(a *testjvm.Attempt) { uncertain(t, a) })
}

func uncertain(t *testing.T, a *testjvm.Attempt) {
	t.Helper()
	js := startServer(t)
	ttl := time.Second * a.Scale
	m := join(t, js, openHome(t, t.TempDir()), ttl)
	claimAll(t, names(2), m)
	kept, taken := m.leases["s0"], m.leases["s1"]
	m.End()
	time.Sleep(ttl)
	if err := kept.Check(); !errors.Is(err, ErrUncertain) {
		t.Fatalf("after the TTL without a heartbeat: %v", err)
	}
	if _, err := m.Claim(t.Context(), names(3), 9); !errors.Is(err, ErrUncertain) {
		t.Errorf("claiming: %v", err)
	}
	claimAll(t, []string{"s1"}, join(t, js, openHome(t, t.TempDir()), ttl))
	if err := m.renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := kept.Check(); err != nil {
		a.Errorf("the session that nobody took: %v", err)
	}
	if err := taken.Check(); !errors.Is(err, ErrLost) {
		t.Errorf("the session that was taken: %v", err)
	}
}

func TestHome(t *testing.T) {
	root := t.TempDir()
	a, b := openHome(t, root), openHome(t, root)
	if a.ID == b.ID || a.Store != b.Store || openHome(t, t.TempDir()).Store == a.Store {
		t.Errorf("ids %s %s, stores %s %s", a.ID, b.ID, a.Store, b.Store)
	}
	if err := Remove(root); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(root, HomeName)); err != nil {
		t.Errorf("removed under a shadow that uses it: %v", err)
	}
	a.Close()
	if c := openHome(t, root); c.ID != a.ID {
		t.Errorf("the next shadow has id %s, want that of the one that ended, %s", c.ID, a.ID)
	}
	hostile := t.TempDir()
	if err := os.MkdirAll(filepath.Join(hostile, HomeName), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(hostile, HomeName, storeIDFile), []byte("../../etc"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenHome(hostile); err == nil {
		t.Error("took what is no id")
	}
}

func TestFence(t *testing.T) {
	h := openHome(t, t.TempDir())
	write := func(e Epoch) error { return h.Fence("job", e).Do(func() error { return nil }) }
	for _, c := range []struct {
		e    Epoch
		want error
	}{
		{Epoch{1, 5}, nil}, {Epoch{1, 5}, nil}, {Epoch{1, 4}, ErrLost}, {Epoch{1, 9}, nil}, {Epoch{1, 5}, ErrLost},
		{Epoch{2, 1}, nil}, {Epoch{1, 99}, ErrLost},
	} {
		if err := write(c.e); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.e, err, c.want)
		}
	}
	err := h.Fence("job", Epoch{2, 1}).Do(func() error { return write(Epoch{2, 2}) })
	if !errors.Is(err, ErrBusyFolder) {
		t.Errorf("two writers at once: %v", err)
	}
	if err := h.Fence("job", Epoch{}).Close(func() error { return nil }); err != nil {
		t.Error(err)
	}
}
