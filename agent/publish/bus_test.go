package publish

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"stackagent/internal/wire"
)

// bus is a real server in this process.
type bus struct {
	*server.Server
	url  string
	port int
	opt  server.Options
}

func startBus(t *testing.T, opt server.Options) *bus {
	t.Helper()
	opt.Host, opt.NoSigs, opt.NoLog, opt.JetStream = "127.0.0.1", true, true, true
	if opt.Port == 0 {
		opt.Port = server.RANDOM_PORT
	}
	if opt.StoreDir == "" {
		opt.StoreDir = t.TempDir()
	}
	s, err := server.NewServer(&opt)
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server does not start")
	}
	b := &bus{Server: s, url: s.ClientURL(), port: s.Addr().(*net.TCPAddr).Port, opt: opt}
	t.Cleanup(b.kill)
	return b
}

func (b *bus) kill() {
	b.Shutdown()
	b.WaitForShutdown()
}

// again starts a server on the same port and store.
func (b *bus) again(t *testing.T) *bus {
	t.Helper()
	opt := b.opt
	opt.Port = b.port
	return startBus(t, opt)
}

func connect(t testing.TB, url, token string) jetstream.JetStream {
	t.Helper()
	conn, err := nats.Connect(url, nats.Token(token))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

func soon(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// makeStream makes the stream as a shadow does.
func makeStream(t testing.TB, url, token string) {
	t.Helper()
	_, err := connect(t, url, token).CreateOrUpdateStream(soon(t), jetstream.StreamConfig{
		Name: "STACKAGENT", Subjects: []string{"stackagent.v1.batch.>"}, Duplicates: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (b *bus) stream(t *testing.T) {
	t.Helper()
	makeStream(t, b.url, b.opt.Authorization)
}

// stored reads all messages of the stream: sequence -> how often.
func (b *bus) stored(t *testing.T) map[string]int {
	t.Helper()
	js := connect(t, b.url, b.opt.Authorization)
	s, err := js.Stream(soon(t), "STACKAGENT")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for i := uint64(1); i <= s.CachedInfo().State.LastSeq; i++ {
		m, err := s.GetMsg(soon(t), i)
		if err != nil {
			t.Fatal(err)
		}
		if m.Subject == wire.Subject("junk") {
			continue
		}
		if m.Subject != wire.Subject("s1") {
			t.Fatalf("subject %q", m.Subject)
		}
		if id := m.Header.Get("Nats-Msg-Id"); len(id) != 32+1+8 || !strings.HasSuffix(id, "-"+string(m.Data[:8])) {
			t.Fatalf("message id %q of batch %s", id, m.Data[:8])
		}
		got[string(m.Data[:8])]++
	}
	return got
}

// expect checks that batches 1 to n are stored, each once.
func (b *bus) expect(t *testing.T, n int) {
	t.Helper()
	got := b.stored(t)
	for i := 1; i <= n; i++ {
		if c := got[seqText(i)]; c != 1 {
			t.Errorf("batch %d is stored %d times", i, c)
		}
	}
	if len(got) != n {
		t.Errorf("%d batches are stored, want %d", len(got), n)
	}
}

// seqText is a sequence number of eight digits that does not begin with 0.
func seqText(i int) string { return fmt.Sprint(base + i) }

const base = 10_000_000

// notices collects the notices of a Publisher.
type notices struct {
	mu    sync.Mutex
	lines []string
}

func (n *notices) add(line string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, line)
}

func (n *notices) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string(nil), n.lines...)
}

// until waits for a condition, with a limit far away.
func until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 2 min: %s", what)
		}
	}
}

func publisher(t *testing.T, cfg Config) (*Publisher, *notices) {
	t.Helper()
	n := &notices{}
	cfg.Session, cfg.Notice = "s1", n.add
	if cfg.Grace == 0 {
		cfg.Grace = 50 * time.Millisecond
	}
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Close()
		select {
		case <-p.finished:
		case <-time.After(time.Minute):
			t.Error("the goroutine does not end")
		}
	})
	return p, n
}

// offer gives batches from to to, of size bytes.
func offer(t *testing.T, p *Publisher, from, to, size int) {
	t.Helper()
	for i := from; i <= to; i++ {
		msg := make([]byte, max(size, 8))
		copy(msg, seqText(i))
		if err := p.Offer(uint64(base+i), msg, false); err != nil {
			t.Errorf("batch %d: %v", i, err) // also called off the test goroutine
			return
		}
	}
}

func flush(t *testing.T, p *Publisher) {
	t.Helper()
	if u, err := p.Flush(soon(t)); err != nil || u != (Undelivered{}) {
		t.Fatalf("flush: %v, %+v", err, u)
	}
}
