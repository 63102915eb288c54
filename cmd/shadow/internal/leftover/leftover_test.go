package leftover

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"stackagent/internal/spool"
	"stackagent/internal/wire"
	"stackagent/shadow/collect/bus"
)

// leave makes a spool file with n batches for the bus at address.
func leave(t *testing.T, dir, session, address string, n int) string {
	t.Helper()
	if err := spool.Prepare(dir); err != nil {
		t.Fatal(err)
	}
	f, err := spool.Create(dir, spool.Meta{Session: session, Process: "1-a", Bus: address}, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for i := n; i > 0; i-- { // the order on the disk is not that of the numbers
		if _, err := f.Append(uint64(i), fmt.Appendf(nil, "batch %d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return f.Path()
}

func startBus(t *testing.T, maxBytes int64) *bus.Bus {
	t.Helper()
	b, err := bus.Start(bus.Options{Listen: "127.0.0.1:0", StoreDir: t.TempDir(), MaxBytes: maxBytes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// Files of this bus are delivered in order, once each, and deleted; others stay.
func TestSweep(t *testing.T) {
	b, dir := startBus(t, 0), filepath.Join(t.TempDir(), "spool")
	leave(t, dir, "mine", b.ClientURL(), 20)
	other := leave(t, dir, "other", "nats://127.0.0.1:1", 3)
	broken := filepath.Join(dir, "broken"+spool.Suffix)
	if err := os.WriteFile(broken, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	results, err := Sweep(t.Context(), b.JetStream(), b.ClientURL(), dir, filepath.Join(dir, "none"))
	if err != nil || len(results) != 1 || results[0].Batches != 20 || results[0].Session != "mine" {
		t.Fatalf("%+v, %v", results, err)
	}
	if left := spool.Files(dir); len(left) != 2 || left[0] != broken || left[1] != other {
		t.Errorf("left %v", left)
	}
	leave(t, dir, "mine", b.ClientURL(), 20) // delivered twice: known by their ids
	if _, err := Sweep(t.Context(), b.JetStream(), b.ClientURL(), dir); err != nil {
		t.Fatal(err)
	}
	s, err := b.JetStream().Stream(t.Context(), bus.Stream)
	if err != nil {
		t.Fatal(err)
	}
	if n := s.CachedInfo().State.Msgs; n != 20 {
		t.Fatalf("%d messages", n)
	}
	for i := uint64(1); i <= 20; i++ {
		m, err := s.GetMsg(t.Context(), i)
		if err != nil || string(m.Data) != fmt.Sprintf("batch %d", i) || m.Header.Get(wire.ProcessHeader) != "1-a" || m.Subject != wire.Subject("mine") {
			t.Errorf("message %d: %+v, %v", i, m, err)
		}
	}
}

// A folder with other buses' files only is not read again until something comes; what was no spool file may become one.
func TestSweepAgain(t *testing.T) {
	b, dir := startBus(t, 0), filepath.Join(t.TempDir(), "spool")
	leave(t, dir, "other", "nats://127.0.0.1:1", 3)
	var s Sweeper
	delivered := func() (n int) {
		t.Helper()
		results, err := s.Sweep(t.Context(), b.JetStream(), b.ClientURL(), dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			n += r.Batches
		}
		return n
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(dir, old, old); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if n := delivered(); n != 0 {
			t.Fatalf("%d batches of another bus's file delivered", n)
		}
	}
	if len(s.folders) != 1 {
		t.Errorf("%d folders remembered", len(s.folders))
	}
	mine := leave(t, dir, "mine", b.ClientURL(), 20)
	whole, err := os.ReadFile(mine)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mine, whole[:4], 0o600); err != nil {
		t.Fatal(err)
	}
	if n := delivered(); n != 0 {
		t.Fatalf("%d batches of a file that is not written yet", n)
	}
	if err := os.WriteFile(mine, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if n := delivered(); n != 20 {
		t.Errorf("%d of 20 batches delivered", n)
	}
}

// While the bus refuses, the file stays and nothing is lost.
func TestRefused(t *testing.T) {
	b, dir := startBus(t, 0), filepath.Join(t.TempDir(), "spool")
	path := leave(t, dir, "mine", b.ClientURL(), 3)
	if err := b.JetStream().DeleteStream(t.Context(), bus.Stream); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := Sweep(ctx, b.JetStream(), b.ClientURL(), dir); err == nil {
		t.Error("no error")
	}
	l, err := spool.Open(path)
	if err != nil || len(l.Batches) != 3 {
		t.Fatalf("the file: %v", err)
	}
	if _, err := spool.Open(path); !errors.Is(err, spool.ErrInUse) {
		t.Errorf("opened twice: %v", err)
	}
	l.Close()
}

func TestSameBus(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		given, address string
		want           bool
	}{
		{"nats://127.0.0.1:4222", "nats://127.0.0.1:4222", true},
		{"nats://localhost:4222", "nats://127.0.0.1:4222", true},
		{"nats://" + host + ":4222", "nats://0.0.0.0:4222", true},
		{"nats://a.example:4222,nats://127.0.0.1:4222", "nats://0.0.0.0:4222", true},
		{"nats://bus.example:4222", "nats://bus.example:4222", true},
		{"nats://n2.example:4222", "nats://n1.example:4222,nats://n2.example:4222", true},
		{"nats://127.0.0.1:4223", "nats://127.0.0.1:4222", false},
		{"nats://bus.example:4222", "nats://127.0.0.1:4222", false},
		{"nats://192.0.2.1:4222", "nats://127.0.0.1:4222", false},
		{"", "nats://127.0.0.1:4222", false},
		{"nats://127.0.0.1:4222", ":", false},
		{"::", "nats://127.0.0.1:4222", false},
	} {
		if got := SameBus(c.given, c.address); got != c.want {
			t.Errorf("SameBus(%q, %q) = %v", c.given, c.address, got)
		}
	}
}

// A file with a damaged batch is delivered as far as it is whole, and kept.
func TestDamagedIsKept(t *testing.T) {
	b, dir := startBus(t, 0), filepath.Join(t.TempDir(), "spool")
	path := leave(t, dir, "mine", b.ClientURL(), 9)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(data, []byte("batch 5"))
	data[at] ^= 1
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	results, err := Sweep(t.Context(), b.JetStream(), b.ClientURL(), dir)
	if err != nil || len(results) != 1 || results[0].Batches != 8 || results[0].Damaged != 1 || results[0].Kept != path+spool.KeptSuffix {
		t.Fatalf("%+v, %v", results, err)
	}
	if got, err := os.ReadFile(results[0].Kept); err != nil || !bytes.Equal(got, data) {
		t.Errorf("what is kept is not what was there: %v", err)
	}
	if results, err = Sweep(t.Context(), b.JetStream(), b.ClientURL(), dir); err != nil || len(results) != 0 {
		t.Errorf("delivered again: %+v, %v", results, err)
	}
}
