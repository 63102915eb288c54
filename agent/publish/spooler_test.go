package publish

import (
	"bytes"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"stackagent/internal/spool"
	"stackagent/internal/testnats"
)

// spooling is a publisher whose memory holds about ten batches of 1000 bytes.
func spooling(t *testing.T, port int, max int64) (*Publisher, *notices, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "spool")
	p, n := publisher(t, Config{URL: (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}).String(),
		MaxBytes: 16_000, Spool: Spool{Folder: dir, MaxBytes: max}})
	return p, n, dir
}

// offerAll offers batches and waits while there is no room.
func offerAll(t *testing.T, p *Publisher, from, to, size int) {
	t.Helper()
	for i := from; i <= to; i++ {
		msg := make([]byte, size)
		copy(msg, seqText(i))
		until(t, "room for a batch", func() bool { return p.Offer(uint64(base+i), msg, false) == nil })
	}
}

// fill offers batches of 1000 bytes until memory and the file are full, and returns how many were taken.
func fill(t *testing.T, p *Publisher, n *notices) (taken int) {
	t.Helper()
	until(t, "everything full", func() bool {
		msg := make([]byte, 1000)
		copy(msg, seqText(taken+1))
		if p.Offer(uint64(base+taken+1), msg, false) == nil {
			taken++
			return false
		}
		return strings.Contains(strings.Join(n.all(), ""), "is full")
	})
	return taken
}

func keep(t *testing.T, p *Publisher) Kept {
	t.Helper()
	k, err := p.Keep()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Batches beyond the memory wait in the file and arrive in order when the bus starts;
// then there is no file any more.
func TestSpoolOutage(t *testing.T) {
	port := testnats.FreePort(t)
	p, n, dir := spooling(t, port, 1<<20)
	offerAll(t, p, 1, 400, 1000)
	until(t, "batches in the file", func() bool { return p.Stats().Spooled > 380 })
	p.mu.Lock()
	memory := p.bytes
	p.mu.Unlock()
	if memory > 16_000 {
		t.Errorf("%d bytes of memory", memory)
	}
	b := startBus(t, server.Options{Port: port})
	b.stream(t)
	offerAll(t, p, 401, 600, 1000)
	flush(t, p)
	b.expect(t, 600)
	if k := keep(t, p); k != (Kept{}) {
		t.Errorf("kept %+v", k)
	}
	if left := spool.Files(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if lines := n.all(); len(lines) != 2 {
		t.Errorf("notices %q", lines)
	}
}

// Memory and file are full: Offer refuses, with one notice; with the bus there is room again.
func TestSpoolFull(t *testing.T) {
	port := testnats.FreePort(t)
	p, n, _ := spooling(t, port, 50_000)
	i := fill(t, p, n)
	if i < 50 || i > 66 {
		t.Errorf("%d batches of 1000 bytes in 16,000 bytes of memory and 50,000 of a file", i)
	}
	b := startBus(t, server.Options{Port: port})
	b.stream(t)
	offerAll(t, p, i+1, i+50, 1000)
	flush(t, p)
	b.expect(t, i+50)
}

// A bus that stays away: everything is in the file in the end, whole.
func TestSpoolKeep(t *testing.T) {
	for _, count := range []int{1, 5, 100} {
		p, _, dir := spooling(t, testnats.FreePort(t), 1<<20)
		offerAll(t, p, 1, count, 1000)
		k := keep(t, p)
		if k.Batches != count || k.Lost != 0 || filepath.Dir(k.Path) != dir {
			t.Fatalf("kept %+v of %d", k, count)
		}
		expectLeft(t, k.Path, count)
	}
}

func expectLeft(t *testing.T, path string, count int) {
	t.Helper()
	l, err := spool.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if l.Meta.Session != "s1" || l.Meta.PID != os.Getpid() || len(l.Batches) != count {
		t.Errorf("%+v, %d batches, want %d", l.Meta, len(l.Batches), count)
	}
	for i, r := range l.Batches {
		data, err := l.Read(r)
		if err != nil || !bytes.HasPrefix(data, []byte(seqText(i+1))) || r.Seq() != uint64(base+i+1) {
			t.Errorf("batch %d: %d, %.8s, %v", i+1, r.Seq(), data, err)
		}
	}
}

// A full file still takes what memory holds when the JVM ends.
func TestSpoolKeepBeyondBound(t *testing.T) {
	p, n, _ := spooling(t, testnats.FreePort(t), 20_000)
	i := fill(t, p, n)
	k := keep(t, p)
	if k.Batches != i || k.Lost != 0 {
		t.Errorf("kept %+v of %d", k, i)
	}
	expectLeft(t, k.Path, i)
}

// TestSpoolRefused: without a file, what is not delivered is counted as lost, with the reason.
func TestSpoolRefused(t *testing.T) {
	occupied := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(occupied, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p, n := publisher(t, Config{URL: "127.0.0.1:1", MaxBytes: 16_000, Spool: Spool{Folder: occupied, MaxBytes: 1 << 20}})
	offerAll(t, p, 1, 10, 1000)
	until(t, "a notice", func() bool { return strings.Contains(strings.Join(n.all(), ""), "spool=off") })
	k, err := p.Keep()
	if err == nil || k.Lost != 10 || k.Batches != 0 {
		t.Errorf("%+v, %v", k, err)
	}
	off, _ := publisher(t, Config{URL: "127.0.0.1:1", MaxBytes: 16_000})
	offer(t, off, 1, 12, 1000)
	if err := off.Offer(base+13, make([]byte, 1000), false); !errors.Is(err, ErrFull) {
		t.Errorf("without a file: %v", err)
	}
	if k, err := off.Keep(); err != nil || k.Lost != 12 {
		t.Errorf("%+v, %v", k, err)
	}
}

// A batch that the disk returns damaged is lost, with a notice; the others arrive.
func TestSpoolDamaged(t *testing.T) {
	port := testnats.FreePort(t)
	p, n, dir := spooling(t, port, 1<<20)
	offerAll(t, p, 1, 100, 1000)
	until(t, "batches in the file", func() bool { return p.Stats().Spooled > 80 })
	f, err := os.OpenFile(spool.Files(dir)[0], os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte("damage"), 50_000); err != nil {
		t.Fatal(err)
	}
	b := startBus(t, server.Options{Port: port})
	b.stream(t)
	flush(t, p)
	if got := len(b.stored(t)); got != 99 || p.Stats().Damaged != 1 {
		t.Errorf("%d batches stored, %+v", got, p.Stats())
	}
	if lines := strings.Join(n.all(), "\n"); !strings.Contains(lines, "a batch is lost") {
		t.Errorf("notices %q", lines)
	}
}
