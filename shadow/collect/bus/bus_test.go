package bus

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"stackagent/internal/busauth"
	"stackagent/internal/wire"
)

func start(t *testing.T, o Options) *Bus {
	t.Helper()
	if o.StoreDir == "" {
		o.StoreDir = filepath.Join(t.TempDir(), "bus")
	}
	b, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// optionsOf are those of a client with what stands in a token file.
func optionsOf(t *testing.T, secret string) []nats.Option {
	t.Helper()
	var a busauth.Auth
	a.SetSecret(secret)
	list, err := a.Options()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestTokenIsRequired(t *testing.T) {
	b := start(t, Options{Listen: "127.0.0.1:0"})
	if len(b.Token()) < 32 || strings.Contains(b.ClientURL(), b.Token()) {
		t.Errorf("token %q, url %q", b.Token(), b.ClientURL())
	}
	if c, err := nats.Connect(b.ClientURL()); err == nil {
		c.Close()
		t.Error("connected without a token")
	}
	if c, err := nats.Connect(b.ClientURL(), nats.Token("guess")); err == nil {
		c.Close()
		t.Error("connected with a wrong token")
	}
	c, err := nats.Connect(b.ClientURL(), optionsOf(t, b.Token())...)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if other := start(t, Options{Listen: "127.0.0.1:-1"}); other.Token() == b.Token() {
		t.Error("two servers have the same token")
	}
}

func TestListenAddresses(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want error
	}{
		{Options{Listen: "0.0.0.0:0"}, ErrUnprotected},
		{Options{Listen: ":0"}, ErrUnprotected},
		{Options{Listen: "0.0.0.0:0", NoAuth: true}, ErrUnprotected},
		{Options{Listen: "example.org:0"}, ErrUnprotected},
		{Options{Listen: "0.0.0.0:0", Token: "secret"}, nil},
		{Options{Listen: "localhost:0", NoAuth: true}, nil},
		{Options{Listen: "[::1]:0"}, nil},
	} {
		c.o.StoreDir = t.TempDir()
		b, err := Start(c.o)
		if err == nil {
			b.Close()
		}
		if c.o.Listen[0] == '[' && err != nil && !errors.Is(err, ErrUnprotected) {
			continue // a machine without IPv6
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.o, err, c.want)
		}
	}
	for _, bad := range []string{"4222", "127.0.0.1:x", "127.0.0.1:70000", "127.0.0.1:-2"} {
		if b, err := Start(Options{Listen: bad, StoreDir: t.TempDir()}); err == nil {
			b.Close()
			t.Errorf("listening on %q", bad)
		}
	}
}

func TestPortInUse(t *testing.T) {
	b := start(t, Options{Listen: "127.0.0.1:0"})
	addr := strings.TrimPrefix(b.ClientURL(), "nats://")
	if c, err := Start(Options{Listen: addr, StoreDir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "cannot listen") {
		if err == nil {
			c.Close()
		}
		t.Errorf("second server on %s: %v", addr, err)
	}
}

// What was published and not acknowledged is there after a restart; a message
// id seen before is not taken twice.
func TestStreamSurvives(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bus")
	o := Options{Listen: "127.0.0.1:0", StoreDir: dir, MaxBytes: 1 << 30}
	b := start(t, o)
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder: %v, %v; want mode 0700", info, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for range 2 {
		if _, err := b.JetStream().Publish(ctx, wire.Subject("a.b"), []byte("x"), jetstream.WithMsgID("a.b/1")); err != nil {
			t.Fatal(err)
		}
	}
	b.Close()
	b = start(t, o)
	s, err := b.JetStream().Stream(ctx, Stream)
	if err != nil {
		t.Fatal(err)
	}
	info := s.CachedInfo()
	if info.State.Msgs != 1 {
		t.Errorf("%d messages, want 1", info.State.Msgs)
	}
	c := info.Config
	if c.Duplicates != duplicateWindow || c.Storage != jetstream.FileStorage || c.Discard != jetstream.DiscardNew || c.MaxBytes != o.MaxBytes {
		t.Errorf("stream: %+v", c)
	}
}

// However full the disk, the stream leaves half of what is free to the sessions.
func TestStreamFitsDisk(t *testing.T) {
	for free, want := range map[int64]int64{
		0: leastMaxBytes, leastMaxBytes: leastMaxBytes, 4 << 30: 2 << 30,
		2 * DefaultMaxBytes: DefaultMaxBytes, 1 << 40: DefaultMaxBytes,
	} {
		if got := fitting(free); got != want {
			t.Errorf("with %d bytes free: %d, want %d", free, got, want)
		}
	}
}

func TestFullStreamRefuses(t *testing.T) {
	b := start(t, Options{Listen: "127.0.0.1:0", MaxBytes: 64 << 10})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stored := 0
	for range 10 {
		_, err := b.JetStream().Publish(ctx, wire.Subject("s"), make([]byte, 16<<10))
		if err != nil {
			break
		}
		stored++
	}
	if stored == 0 || stored == 10 {
		t.Errorf("%d of 10 messages of 16 KiB fit into 64 KiB", stored)
	}
}

func TestJoin(t *testing.T) {
	seed, err := busauth.NewSeed()
	if err != nil {
		t.Fatal(err)
	}
	b := start(t, Options{Listen: "127.0.0.1:0", ShadowSeed: seed})
	j, err := Join(JoinOptions{URL: b.ClientURL(), Auth: busauth.Auth{Seed: seed}})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if _, err := j.JetStream().Stream(t.Context(), Stream); err != nil {
		t.Error(err)
	}
	if _, err := Join(JoinOptions{URL: b.ClientURL(), Auth: busauth.Auth{Token: "wrong"}}); err == nil {
		t.Error("joined with a wrong token")
	}
	if _, err := Join(JoinOptions{URL: b.ClientURL(), Auth: busauth.Auth{Seed: b.Token()}}); err == nil || !strings.Contains(err.Error(), "shadow.nk") {
		t.Errorf("joined with the key of an agent, or the error does not say what is wanted: %v", err)
	}
}

// ownAddress is an address of this machine beyond loopback, "" if it has none.
func ownAddress() string {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return ""
	}
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() {
			return n.IP.String()
		}
	}
	return ""
}
