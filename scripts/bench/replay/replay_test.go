package replay

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"stackagent/internal/wire"
	"stackagent/shadow/collect/bus"
	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/store"
)

// A batch is what a reader accepts, and its tasks lie before its clock reading.
func TestBatch(t *testing.T) {
	m := newMaker(3)
	at := int64(time.Hour)
	m.now = func() int64 { at += int64(time.Second); return at }
	for range 3 {
		b := m.batch(100, false)
		data, err := wire.Encode(b, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := wire.Decode(data, wire.DefaultLimits()); err != nil {
			t.Fatal(err)
		}
		for i := range b.Executions {
			x, c, s := &b.Executions[i], &b.Creations[i], &b.Submissions[i]
			if c.At > s.At || s.At > x.Start || x.Start > x.End || x.End > b.Clock.Ticks || int64(c.At) < at-int64(time.Second) {
				t.Fatalf("task %d of the batch at %d: created %d, submitted %d, from %d to %d", i, at, c.At, s.At, x.Start, x.End)
			}
		}
	}
}

// All that the clients send is stored.
func TestSend(t *testing.T) {
	b, err := bus.Start(bus.Options{Listen: "127.0.0.1:0", StoreDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(b.Token()), 0o600); err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	in, err := ingest.Start(context.Background(), ingest.Options{Bus: b, Root: root})
	if err != nil {
		t.Fatal(err)
	}
	sent, err := Send(t.Context(), JVMs{URL: b.ClientURL(), TokenFile: token, N: 2, Events: 2000, For: 1500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if err := in.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := in.Close(store.EndedClosed); err != nil {
		t.Fatal(err)
	}
	stored := uint64(0)
	for _, p := range in.Sessions() {
		if p.Ended != store.EndedExit || p.Lost.Events != 0 {
			t.Errorf("%+v", p)
		}
		stored += p.Stored.Sum()
	}
	if want := uint64(2 * 3000); sent.Events != want || stored != want || sent.Batches < 4 {
		t.Errorf("%+v sent, %d stored, want %d events", sent, stored, want)
	}
}
