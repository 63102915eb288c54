package ingest

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"stackagent/internal/wire"
	"stackagent/shadow/collect/bus"
	"stackagent/shadow/store"
)

// Many sessions take turns with few consumers or none; each batch is stored once, and a quiet session needs little memory.
func TestTurns(t *testing.T) {
	t.Run("direct", func(t *testing.T) { testTurns(t, startBus(t)) })
	t.Run("consumers", func(t *testing.T) {
		b := startBus(t)
		noDirect(t, b)
		testTurns(t, b)
	})
}

// noDirect makes the stream one that only consumers can read.
func noDirect(t *testing.T, b *bus.Bus) {
	t.Helper()
	s, err := b.JetStream().Stream(t.Context(), bus.Stream)
	if err != nil {
		t.Fatal(err)
	}
	c := s.CachedInfo().Config
	c.AllowDirect = false
	if _, err := b.JetStream().UpdateStream(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

func testTurns(t *testing.T, b *bus.Bus) {
	root := t.TempDir()
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
	if in.direct {
		most = 0 // those of the beginning, when the sessions were few
	}
	send(2, 4)
	waitFor(t, resting)
	if in.direct && most > 0 {
		t.Errorf("%d consumers, want none", most)
	}
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

// Who may publish can give a message any headers, also those that the server adds when it is read directly. They delete no
// message of another session, and keep back none of their own.
func TestForgedPlaces(t *testing.T) {
	b, root := startBus(t), t.TempDir()
	const sessions = 6
	var all [][]*wire.Batch
	for i := range sessions {
		all = append(all, asProcess("p", fakeBatches(fmt.Sprintf("s%d", i), 4, i+1)))
		publishAll(t, b, all[i][:2]...)
	}
	forged := []nats.Header{
		{"Nats-Sequence": {"1"}, "Nats-Subject": {wire.Subject("s0")}, "Nats-Num-Pending": {"0"}},
		{"Nats-Sequence": {"x"}, "Status": {"204"}, "Description": {"EOB"}},
		{"Status": {"404"}}, {"Status": {"503"}},
	}
	for i, h := range forged {
		h.Set(wire.ProcessHeader, "p")
		must(t, b.Conn().PublishMsg(&nats.Msg{Subject: wire.Subject(fmt.Sprintf("s%d", i+1)), Header: h}))
	}
	in := startIngest(t, Options{Bus: b, Root: root, PartInterval: 5 * time.Millisecond, dense: 1})
	for i := range sessions {
		publishAll(t, b, all[i][2:]...)
	}
	drain(t, in)
	must(t, in.Close(store.EndedClosed))
	for i := range sessions {
		s := checkRows(t, filepath.Join(root, fmt.Sprintf("s%d", i)), fakeBatches("x", 4, 0))
		if s.Manifest.Lost.Batches != 0 {
			t.Errorf("s%d lost %+v", i, s.Manifest.Lost)
		}
	}
	if n := in.BadMessages(); n != uint64(len(forged)) {
		t.Errorf("%d messages refused, want %d", n, len(forged))
	}
}

// A session that was silent for long may have more waiting than fits into memory: of what is read directly, no more is held
// than of what a consumer brings.
func TestTurnOfManyMessages(t *testing.T) {
	b, root := startBus(t), t.TempDir()
	const batches = 3 * maxAckPending
	publishAll(t, b, asProcess("p", fakeBatches("long", batches, 1))...)
	publishAll(t, b, asProcess("p", fakeBatches("other", 2, 2))...)
	seen := &steps{stored: map[uint64]bool{}}
	in := startIngest(t, Options{Bus: b, Root: root, PartInterval: time.Hour, PartRows: 1 << 30, dense: 1, Live: seen})
	drain(t, in)
	must(t, in.Close(store.EndedClosed))
	s := checkRows(t, filepath.Join(root, "long"), fakeBatches("x", batches, 0))
	if s.Manifest.Lost.Batches != 0 {
		t.Errorf("lost %+v", s.Manifest.Lost)
	}
	if n := len(seen.stored); n < batches/maxAckPending {
		t.Errorf("stored in %d steps, want %d at least", n, batches/maxAckPending)
	}
}

// steps notes the sums of executions at which a session named long was stored.
type steps struct {
	mu     sync.Mutex
	stored map[uint64]bool
}

func (s *steps) Progress(p Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := p.Stored.Executions; p.Session == "long" && n > 0 {
		s.stored[n] = true
	}
}

func (s *steps) Problem(string, error) {}

// A shadow that has no time to close its sessions leaves them open, with all that came, and the next one goes on with them.
func TestNoTimeToClose(t *testing.T) {
	b, root := startBus(t), t.TempDir()
	const sessions = 40
	o := Options{Bus: b, Root: root, PartInterval: 5 * time.Millisecond, closePatience: 1}
	in := startIngest(t, o)
	s := newShares(sessions, 6)
	for _, x := range s.all {
		publishAll(t, b, x[:3]...)
	}
	drain(t, in)
	must(t, in.Close(store.EndedClosed))
	if n := in.LeftOpen(); n != sessions {
		t.Errorf("%d sessions left open, want %d", n, sessions)
	}
	for i := range s.all {
		if m, err := store.ReadManifest(filepath.Join(root, fmt.Sprintf("s%02d", i))); err != nil || m.Ended != store.EndedRunning || m.Sequences.Count() != 3 {
			t.Fatalf("s%02d: %v, %+v", i, err, m)
		}
	}
	o.closePatience = 0
	in = startIngest(t, o)
	for _, x := range s.all {
		publishAll(t, b, x[3:]...)
	}
	drain(t, in)
	must(t, in.Close(store.EndedClosed))
	for i := range s.all {
		if m := checkRows(t, filepath.Join(root, fmt.Sprintf("s%02d", i)), fakeBatches("x", 6, 0)).Manifest; m.Ended != store.EndedExit || in.LeftOpen() != 0 {
			t.Errorf("s%02d ended %q", i, m.Ended)
		}
	}
}

// Of thousands of failures only the first are named.
func TestFailures(t *testing.T) {
	var f failures
	for i := range 12 {
		f.add(fmt.Errorf("session %d: no", i))
	}
	if text := f.err().Error(); strings.Count(text, "\n") != 10 || !strings.HasSuffix(text, "and 2 sessions more") {
		t.Errorf("%s", text)
	}
}

// A session that somebody looks at does not wait for its turn.
func TestWatchedSession(t *testing.T) {
	b, root := startBus(t), t.TempDir()
	names, watched := []string{"a", "b", "c", "d"}, "c"
	in := startIngest(t, Options{Bus: b, Root: root, PartInterval: time.Hour, dense: 1, Follower: looker(watched)})
	at := func(batches uint64) func() bool {
		return func() bool {
			n := 0
			for _, p := range in.Sessions() {
				if p.Batches == batches {
					n++
				}
			}
			return n == len(names)
		}
	}
	batches := map[string][]*wire.Batch{}
	for _, name := range names {
		batches[name] = asProcess("p", fakeBatches(name, 6, 1))
		publishAll(t, b, batches[name][:2]...)
	}
	waitFor(t, at(2))
	waitFor(t, func() bool { return in.Totals().Resting == uint64(len(names)) })
	for _, name := range names {
		publishAll(t, b, batches[name][2:4]...)
	}
	waitFor(t, func() bool {
		for _, p := range in.Sessions() {
			if p.Session == watched {
				return p.Batches == 4
			}
		}
		return false
	})
	for _, p := range in.Sessions() {
		if p.Session != watched && p.Batches != 2 {
			t.Errorf("%s: %d batches, want 2: its turn is in hours", p.Session, p.Batches)
		}
	}
}

// looker looks at one session all the time.
type looker string

func (l looker) Begin(string, *store.Manifest, *store.Folder) {}
func (l looker) Batch(string, *wire.Batch, bool)              {}
func (l looker) Turns(time.Duration) map[string]bool          { return map[string]bool{string(l): true} }
