package web

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"stackagent/internal/busauth"
)

// serveOn runs a server as shadow serve does, and gives its address.
func serveOn(t *testing.T, s *Server) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}

// A report that takes longer than a request may is sent all the same: while it is made, the server must not take the
// end of the time for the client's going away.
func TestLongReport(t *testing.T) {
	if testing.Short() {
		t.Skip("takes as long as the server gives a request")
	}
	t.Parallel()
	dir := t.TempDir()
	keep(t, dir, "a", 1)
	s := storeServer(dir)
	s.o.Data = func(ctx context.Context, _ string, w io.Writer, _ func(Progress)) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(requestTimeout + time.Second):
		}
		_, err := io.WriteString(w, "{}")
		return err
	}
	r, err := http.Get(serveOn(t, s) + "/sessions/a/data.json")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if b, err := io.ReadAll(r.Body); err != nil || r.StatusCode != 200 || string(b) != "{}" {
		t.Errorf("%d %q %v", r.StatusCode, b, err)
	}
}

// Streams have a limit of their own: other requests are answered however many there are. A stream outlives the time of
// a request.
func TestStreamsLeaveRoom(t *testing.T) {
	if testing.Short() {
		t.Skip("takes as long as the server gives a request")
	}
	t.Parallel()
	s := storeServer(t.TempDir())
	s.o.Now = time.Now
	mux := http.NewServeMux()
	mux.HandleFunc("GET /stream", func(w http.ResponseWriter, r *http.Request) {
		st, closed, ok := s.openStream(w)
		if !ok {
			return
		}
		defer closed()
		for st.send([]byte(": x\n\n")) == nil {
			select {
			case <-r.Context().Done():
				return
			case <-time.After(500 * time.Millisecond):
			}
		}
	})
	mux.Handle("/", s.Handler())
	server := newHTTPServer(mux)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	server.BaseContext = func(net.Listener) context.Context { return ctx }
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	defer cancel()
	base := "http://" + l.Addr().String()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	var first *bufio.Reader
	refused := 0
	for i := range maxStreams + 3 {
		r, err := client.Get(base + "/stream")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		if i == 0 {
			first = bufio.NewReader(r.Body)
		}
		if r.StatusCode == http.StatusServiceUnavailable && r.Header.Get("Retry-After") != "" {
			refused++
		}
	}
	if refused != 3 || len(s.streams) != maxStreams {
		t.Errorf("%d streams are refused, %d open", refused, len(s.streams))
	}
	r, err := client.Get(base + "/sessions.json")
	if err != nil || r.StatusCode != 200 {
		t.Fatalf("another request: %v", err)
	}
	r.Body.Close()
	for begin := time.Now(); time.Since(begin) < requestTimeout+2*time.Second; {
		if line, err := first.ReadString('\n'); err != nil {
			t.Fatalf("the first stream ends after %v: %q %v", time.Since(begin), line, err)
		}
	}
}

// The kernel says whose process asks: this user's may change something.
func TestOwnProcessMayChange(t *testing.T) {
	dir := t.TempDir()
	keep(t, dir, "a", 1)
	s := storeServer(dir)
	s.o.Peer = busauth.CheckUser
	base := serveOn(t, s)
	r, err := http.NewRequest(http.MethodDelete, base+"/sessions/a", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set(csrfHeader, s.csrf)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if b, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != http.StatusNoContent {
		t.Errorf("%d %s %v", answer.StatusCode, b, err)
	}
}

// A body that is too large is not read.
func TestLargeRequests(t *testing.T) {
	dir := t.TempDir()
	keep(t, dir, "a", 1)
	s := storeServer(dir)
	base := serveOn(t, s)
	for target, size := range map[string]int{"/sessions/a/label": 1 << 20, "/sessions.json": 1 << 20} {
		r, err := http.NewRequest(http.MethodPost, base+target, strings.NewReader(strings.Repeat(" ", size)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(csrfHeader, s.csrf)
		answer, err := http.DefaultClient.Do(r)
		if err != nil { // the server may cut the connection instead
			continue
		}
		answer.Body.Close()
		if answer.StatusCode < 400 || answer.StatusCode >= 500 {
			t.Errorf("%s: %d", target, answer.StatusCode)
		}
	}
	r, err := http.NewRequest(http.MethodGet, base+"/sessions.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Large", strings.Repeat("x", 2*maxHeaderBytes))
	answer, err := http.DefaultClient.Do(r)
	if err == nil {
		answer.Body.Close()
		if answer.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("a large head: %d", answer.StatusCode)
		}
	}
}
