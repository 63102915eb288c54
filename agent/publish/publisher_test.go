package publish

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"stackagent/internal/testnats"
)

func TestDelivers(t *testing.T) {
	b := startBus(t, server.Options{})
	b.stream(t)
	p, n := publisher(t, Config{URL: b.url})
	offer(t, p, 1, 200, 1000)
	flush(t, p)
	b.expect(t, 200)
	if s := p.Stats(); s.Acknowledged != 200 || s.Bytes != 200_000 || s.Resent != 0 || s.Rejected != 0 {
		t.Errorf("stats %+v", s)
	}
	if p.Away() || len(n.all()) != 0 {
		t.Errorf("away %v, notices %q", p.Away(), n.all())
	}
}

// No server at the start: one notice. When it starts, at first without a stream,
// everything that was offered meanwhile arrives, and there is one more notice.
func TestServerComesLater(t *testing.T) {
	port := testnats.FreePort(t)
	url := "nats://secret@" + (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}).String()
	p, n := publisher(t, Config{URL: url})
	offer(t, p, 1, 10, 100)
	until(t, "a notice", func() bool { return len(n.all()) == 1 })
	if !p.Away() {
		t.Error("not away")
	}
	b := startBus(t, server.Options{Port: port, Authorization: "secret"})
	until(t, "a connection to a server without a stream", func() bool { return b.NumClients() > 0 })
	offer(t, p, 11, 20, 100)
	b.stream(t)
	flush(t, p)
	b.expect(t, 20)
	lines := n.all()
	if len(lines) != 2 || !strings.Contains(lines[0], "cannot be reached") || !strings.Contains(lines[1], "again") {
		t.Errorf("notices %q", lines)
	}
	if strings.Contains(strings.Join(lines, ""), "secret") {
		t.Errorf("a notice holds the token: %q", lines)
	}
	if p.Away() {
		t.Error("still away")
	}
}

func TestNoStream(t *testing.T) {
	b := startBus(t, server.Options{})
	p, n := publisher(t, Config{URL: b.url})
	offer(t, p, 1, 3, 100)
	until(t, "a notice", func() bool { return len(n.all()) == 1 })
	if !strings.Contains(n.all()[0], "no stream") {
		t.Errorf("notices %q", n.all())
	}
	b.stream(t)
	flush(t, p)
	b.expect(t, 3)
}

// The server dies and restarts with the same store: nothing is lost, and nothing is
// stored twice.
func TestServerRestarts(t *testing.T) {
	b := startBus(t, server.Options{})
	b.stream(t)
	p, n := publisher(t, Config{URL: b.url})
	done, killed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 1; i <= 600; i++ {
			if i == 300 {
				<-killed
			}
			offer(t, p, i, i, 2000)
			time.Sleep(2 * time.Millisecond)
		}
	}()
	until(t, "100 batches", func() bool { return p.Stats().Acknowledged > 100 })
	b.kill()
	close(killed)
	until(t, "a notice", func() bool { return len(n.all()) == 1 })
	b = b.again(t)
	<-done
	flush(t, p)
	b.expect(t, 600)
	if lines := n.all(); len(lines) != 2 {
		t.Errorf("notices %q", lines)
	}
}

// slow passes bytes to the server, and holds the answers back.
type slow struct {
	net.Listener
	hold chan struct{} // closed: answers pass
}

func slowProxy(t *testing.T, to string) *slow {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &slow{Listener: l, hold: make(chan struct{})}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			up, err := net.Dial("tcp", to)
			if err != nil {
				c.Close()
				return
			}
			t.Cleanup(func() { c.Close(); up.Close() })
			go s.pass(up, c, false)
			go s.pass(c, up, true)
		}
	}()
	return s
}

// pass copies; answers (acknowledgements) wait for hold, the handshake does not.
func (s *slow) pass(to, from net.Conn, answers bool) {
	buf := make([]byte, 1<<16)
	for {
		n, err := from.Read(buf)
		if answers && strings.Contains(string(buf[:n]), "STACKAGENT") {
			<-s.hold
		}
		if _, werr := to.Write(buf[:n]); err != nil || werr != nil {
			to.Close()
			return
		}
	}
}

// Acknowledgements are late: at most InFlight batches are in flight, they are sent
// again after AckWait, and stored once.
func TestSlowAcknowledgements(t *testing.T) {
	b := startBus(t, server.Options{})
	b.stream(t)
	proxy := slowProxy(t, b.Addr().String())
	p, n := publisher(t, Config{URL: "nats://" + proxy.Addr().String(), InFlight: 4, AckWait: 300 * time.Millisecond})
	offer(t, p, 1, 20, 100)
	until(t, "batches sent again", func() bool { return p.Stats().Resent >= 5 })
	if got := len(b.stored(t)); got < 1 || got > 8 {
		t.Errorf("%d batches are stored with at most 4 in flight", got)
	}
	if got := p.Stats().Acknowledged; got != 0 {
		t.Errorf("%d acknowledged", got)
	}
	until(t, "a notice", func() bool { return len(n.all()) > 0 })
	if lines := n.all(); len(lines) != 1 || !strings.Contains(lines[0], "does not acknowledge") {
		t.Errorf("notices %q", lines)
	}
	close(proxy.hold)
	flush(t, p)
	b.expect(t, 20)
}

func TestBufferFull(t *testing.T) {
	port := testnats.FreePort(t)
	p, _ := publisher(t, Config{URL: (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}).String(), MaxBytes: 10_000})
	offer(t, p, 1, 7, 1000) // 7 * (1000+256)
	over := []byte(seqText(8) + strings.Repeat("x", 992))
	if err := p.Offer(base+8, over, false); !errors.Is(err, ErrFull) {
		t.Fatalf("eighth batch: %v", err)
	}
	if err := p.Offer(base+8, over, true); err != nil {
		t.Fatalf("eighth batch by force: %v", err)
	}
	short, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := p.Room(short, 1000); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("room: %v", err)
	}
	u, err := p.Flush(short)
	if !errors.Is(err, context.DeadlineExceeded) || u.Batches != 8 || u.First != base+1 || u.Last != base+8 || u.Bytes != 8*1256 {
		t.Errorf("flush: %v, %+v", err, u)
	}
	b := startBus(t, server.Options{Port: port})
	b.stream(t)
	if err := p.Room(soon(t), 1000); err != nil {
		t.Errorf("room: %v", err)
	}
	flush(t, p)
	b.expect(t, 8)
}

// One batch is taken even if it alone is more than the limit.
func TestHugeBatchIntoEmptyBuffer(t *testing.T) {
	p, _ := publisher(t, Config{URL: "127.0.0.1:1", MaxBytes: 100})
	offer(t, p, 1, 1, 1000)
	if err := p.Offer(base+2, make([]byte, 10), false); !errors.Is(err, ErrFull) {
		t.Errorf("second: %v", err)
	}
}

// A batch that the server will never take does not block those after it.
func TestTooLargeForServer(t *testing.T) {
	b := startBus(t, server.Options{MaxPayload: 2000})
	b.stream(t)
	p, n := publisher(t, Config{URL: b.url})
	offer(t, p, 2, 2, 5000)
	offer(t, p, 3, 3, 6000)
	offer(t, p, 1, 1, 100)
	flush(t, p)
	b.expect(t, 1)
	if s := p.Stats(); s.Rejected != 2 || s.Acknowledged != 1 {
		t.Errorf("stats %+v", s)
	}
	if lines := n.all(); len(lines) != 1 || !strings.Contains(lines[0], "max_payload") {
		t.Errorf("notices %q", lines)
	}
}

// A wrong token is an outage like any other: a restarted shadow may accept it.
func TestWrongToken(t *testing.T) {
	b := startBus(t, server.Options{Authorization: "right"})
	b.stream(t)
	p, n := publisher(t, Config{URL: b.url, Auth: Auth{Token: "wrong"}})
	offer(t, p, 1, 1, 100)
	until(t, "a notice", func() bool { return len(n.all()) == 1 })
	if !strings.Contains(n.all()[0], "credentials") {
		t.Errorf("notices %q", n.all())
	}
	b.kill()
	opt := b.opt
	opt.Authorization, opt.Port = "wrong", b.port
	b = startBus(t, opt)
	flush(t, p)
	b.expect(t, 1)
}

func TestClosed(t *testing.T) {
	p, _ := publisher(t, Config{URL: "127.0.0.1:1"})
	offer(t, p, 1, 1, 100)
	waited := make(chan error)
	go func() {
		_, err := p.Flush(context.Background())
		waited <- err
	}()
	p.Close()
	p.Close()
	if err := <-waited; !errors.Is(err, ErrClosed) {
		t.Errorf("flush: %v", err)
	}
	if err := p.Offer(base+2, []byte("x"), true); !errors.Is(err, ErrClosed) {
		t.Errorf("offer: %v", err)
	}
}

func TestPanicEndsPublishingOnly(t *testing.T) {
	b := startBus(t, server.Options{})
	var lines []string
	p, err := New(Config{URL: b.url, Session: "s1", Grace: time.Nanosecond, Notice: func(s string) {
		lines = append(lines, s)
		if len(lines) == 1 {
			panic("boom")
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Offer(1, []byte("no stream: leads to a notice"), false); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.finished:
	case <-time.After(time.Minute):
		t.Fatal("still running")
	}
	if len(lines) != 2 || !strings.Contains(lines[1], "boom") {
		t.Errorf("notices %q", lines)
	}
	if err := p.Offer(2, []byte("x"), false); !errors.Is(err, ErrClosed) {
		t.Errorf("offer: %v", err)
	}
}

func TestConfigErrors(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	junk := filepath.Join(t.TempDir(), "junk")
	if err := os.WriteFile(junk, []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		cfg  Config
		want string
	}{
		{Config{Session: "a b"}, "session"},
		{Config{Session: "a", URL: "http://h:1"}, `scheme "http"`},
		{Config{Session: "a", URL: "nats://"}, "want nats://HOST:PORT"},
		{Config{Session: "a", URL: "nats://h:1,"}, "want nats://HOST:PORT"},
		{Config{Session: "a", URL: "nats://geheim@h:xx"}, `"h:xx"`},
		{Config{Session: "a", Auth: Auth{CredsFile: none}}, "creds"},
		{Config{Session: "a", Auth: Auth{TLSCA: none}}, "none"},
		{Config{Session: "a", Auth: Auth{TLSCA: junk}}, "junk"},
		{Config{Session: "a", Auth: Auth{TLSCert: junk}}, "go together"},
		{Config{Session: "a", Auth: Auth{TLSCert: junk, TLSKey: junk}}, "certificate"},
	}
	for _, c := range cases {
		p, err := New(c.cfg)
		if err == nil {
			p.Close()
			t.Errorf("%+v is taken", c.cfg)
			continue
		}
		if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%+v: %q does not say %q", c.cfg, err, c.want)
		}
	}
}

func TestBackoff(t *testing.T) {
	for failures, want := range map[int]time.Duration{0: firstBackoff, 1: firstBackoff, 2: 2 * firstBackoff, 3: 4 * firstBackoff, 99: lastBackoff} {
		if got := backoff(failures); got != want {
			t.Errorf("after %d failures %v, want %v", failures, got, want)
		}
	}
}
