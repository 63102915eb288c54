package publish

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// A bus that takes batches and acknowledges none does not get all of the memory: while
// the file has room, no batch is refused, and the notice that it is full follows.
func TestSpoolSlowBus(t *testing.T) {
	b := startBus(t, server.Options{})
	b.stream(t)
	proxy := slowProxy(t, b.Addr().String())
	p, n := publisher(t, Config{URL: "nats://" + proxy.Addr().String(), MaxBytes: 16_000, AckWait: time.Hour,
		Spool: Spool{Folder: filepath.Join(t.TempDir(), "spool"), MaxBytes: 50_000}})
	i := 0
	until(t, "memory and file are full", func() bool {
		msg := make([]byte, 1000)
		copy(msg, seqText(i+1))
		if p.Offer(uint64(base+i+1), msg, false) == nil {
			i++
			until(t, "the batch has left the head, others wait for the file, or no more are sent", func() bool {
				p.mu.Lock()
				defer p.mu.Unlock()
				waiting := 0
				for _, m := range slices.Concat(p.head, p.tail) {
					waiting += m.bytes()
				}
				return len(p.head) == 0 || len(p.inFile)+len(p.tail) > 0 || p.bytes-waiting > p.flying
			})
			return false
		}
		return strings.Contains(strings.Join(n.all(), ""), "is full")
	})
	if i < 50 || i > 66 {
		t.Errorf("%d batches of 1000 bytes in 16,000 bytes of memory and 50,000 of a file", i)
	}
	close(proxy.hold)
	flush(t, p)
	b.expect(t, i)
}

// The tail moves to the head only as far as the head's share of the memory goes: what is in the head
// cannot go to the file any more.
func TestShortcutBounded(t *testing.T) {
	q := newQueue(16_000)
	for i := range 12 {
		q.push(message{seq: uint64(i + 1), data: make([]byte, 1000)}, true)
	}
	var order []string
	for len(q.open) > 0 {
		if head := len(q.head) * 1256; head > q.headMax+1256 {
			t.Errorf("%d bytes in the head", head)
		}
		m, ok := q.pop()
		if !ok {
			t.Fatalf("nothing to send, %d batches left", len(q.open))
		}
		order = append(order, fmt.Sprint(m.seq))
		q.forget(m)
	}
	if got := strings.Join(order, " "); got != "1 2 3 4 5 6 7 8 9 10 11 12" {
		t.Errorf("order %s", got)
	}
}
