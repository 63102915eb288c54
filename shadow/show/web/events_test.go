package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/show/live"
)

// fakeLive is a live view of which the test says what it shows.
type fakeLive struct {
	fleets atomic.Int64 // how often it was asked
	jvms   atomic.Int64
	size   int // of a snapshot, about

	mu    sync.Mutex
	ended string
	gone  bool
}

func (f *fakeLive) Fleet() *live.Fleet {
	n := f.fleets.Add(1)
	return &live.Fleet{NowMs: float64(n), JVMs: []live.Row{{Session: strings.Repeat("s", f.size)}}}
}

func (f *fakeLive) JVM(folder string) *live.JVM {
	f.mu.Lock()
	defer f.mu.Unlock()
	if folder != "pool" || f.gone {
		return nil
	}
	return &live.JVM{NowNs: float64(f.jvms.Add(1)), Row: live.Row{Folder: folder, Ended: f.ended}}
}

func (f *fakeLive) WriteMetrics(w *bytes.Buffer, _ func(string) bool) {
	w.WriteString("live_metric 1\n")
}

func (f *fakeLive) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = "exit"
}

// liveServer serves f; each send of ticks is a second that passes for the event stream.
func liveServer(t *testing.T, f *fakeLive) (server *httptest.Server, s *Server, ticks chan time.Time) {
	t.Helper()
	s = New(Options{Live: f, Store: t.TempDir(), Sessions: func() []ingest.Progress { return nil }, Totals: func() ingest.Totals { return ingest.Totals{} }, Note: t.Logf, Now: time.Now})
	ticks = make(chan time.Time)
	s.hub.wait = func() (<-chan time.Time, func()) { return ticks, func() {} }
	server = httptest.NewUnstartedServer(s.Handler())
	server.Config.ReadTimeout, server.Config.WriteTimeout = requestTimeout, requestTimeout
	server.Start()
	t.Cleanup(server.Close)
	return server, s, ticks
}

// event is one of a stream.
type event struct{ id, name, data string }

// watcher reads events.
type watcher struct {
	t    *testing.T
	resp *http.Response
	r    *bufio.Reader
}

func watch(t *testing.T, server *httptest.Server, query, lastID string) *watcher {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/events?"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	resp, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	w := &watcher{t, resp, bufio.NewReader(resp.Body)}
	if resp.StatusCode == http.StatusOK {
		if line, _ := w.r.ReadString('\n'); line != "retry: 2000\n" {
			t.Fatalf("the stream begins with %q", line)
		}
		w.r.ReadString('\n')
	}
	return w
}

// next is the next event; ok is false at the end of the stream.
func (w *watcher) next() (e event, ok bool) {
	for {
		line, err := w.r.ReadString('\n')
		if err != nil {
			return e, false
		}
		line = strings.TrimSuffix(line, "\n")
		if line == "" {
			return e, true
		}
		switch field, value, _ := strings.Cut(line, ": "); field {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			e.data = value
		}
	}
}

func TestEventsSharedByAll(t *testing.T) {
	f := &fakeLive{}
	server, s, ticks := liveServer(t, f)
	const n = 20
	var all []*watcher
	for range n {
		all = append(all, watch(t, server, "fleet", ""))
	}
	for round := range 3 {
		for i, w := range all {
			e, ok := w.next()
			var fleet live.Fleet
			if err := json.Unmarshal([]byte(e.data), &fleet); !ok || err != nil || e.id == "" || len(fleet.JVMs) != 1 {
				t.Fatalf("browser %d: %+v, %v, %v", i, e, ok, err)
			}
			if round > 0 && fleet.NowMs != float64(round+1) {
				t.Errorf("browser %d, round %d: snapshot %v", i, round, fleet.NowMs)
			}
		}
		if round < 2 {
			ticks <- time.Now()
		}
	}
	if got := f.fleets.Load(); got != 3 {
		t.Errorf("%d snapshots were made for %d browsers and two seconds, want 3", got, n)
	}
	if all[0].resp.Header.Get("Content-Type") != "text/event-stream" || all[0].resp.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("headers: %v", all[0].resp.Header)
	}
	// Nobody is left: no more snapshots.
	for _, w := range all {
		w.resp.Body.Close()
	}
	waitFor(t, func() bool { s.hub.mu.Lock(); defer s.hub.mu.Unlock(); return s.hub.open == 0 })
	select {
	case ticks <- time.Now():
	case <-time.After(time.Second):
		t.Error("the hub waits for no second any more, before it has seen that nobody is left")
	}
	select {
	case ticks <- time.Now():
		t.Error("the hub goes on with nobody to see it")
	case <-time.After(50 * time.Millisecond):
	}
	// And again, as soon as somebody comes.
	w := watch(t, server, "fleet", "")
	if e, ok := w.next(); !ok || e.data == "" {
		t.Errorf("after a while without browsers: %+v", e)
	}
}

func waitFor(t *testing.T, what func() bool) {
	t.Helper()
	for range 500 {
		if what() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("it does not happen")
}

// A browser that takes nothing is dropped and holds nobody up.
func TestSlowBrowser(t *testing.T) {
	f := &fakeLive{size: 4 << 20} // no buffer of a connection holds that
	server, s, ticks := liveServer(t, f)
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /events?fleet HTTP/1.1\r\nHost: localhost\r\n\r\n")
	waitFor(t, func() bool { s.hub.mu.Lock(); defer s.hub.mu.Unlock(); return s.hub.open == 1 })
	good := watch(t, server, "fleet", "")
	good.next()
	for range eventQueue + 2 {
		ticks <- time.Now()
		if _, ok := good.next(); !ok {
			t.Fatal("a browser that reads is dropped, too")
		}
	}
	waitFor(t, func() bool { s.hub.mu.Lock(); defer s.hub.mu.Unlock(); return s.hub.open == 1 })
}

func TestEventsEnd(t *testing.T) {
	f := &fakeLive{}
	server, s, ticks := liveServer(t, f)
	w := watch(t, server, "jvm=pool", "")
	if e, ok := w.next(); !ok || !strings.Contains(e.data, `"folder":"pool"`) {
		t.Fatalf("%+v", e)
	}
	f.end()
	ticks <- time.Now()
	if e, ok := w.next(); !ok || e.name != "" || !strings.Contains(e.data, `"ended":"exit"`) {
		t.Errorf("the last snapshot: %+v", e)
	}
	if e, ok := w.next(); !ok || e.name != "end" || e.data != "{}" {
		t.Errorf("then: %+v", e)
	}
	if e, ok := w.next(); ok {
		t.Errorf("after the end: %+v", e)
	}
	// Who comes later, or has seen it, learns the same.
	w = watch(t, server, "jvm=pool", fmt.Sprintf("%s-%d", s.hub.boot, 1000))
	w.next()
	if e, _ := w.next(); e.name != "end" {
		t.Errorf("coming later: %+v", e)
	}
}

// A JVM that is no longer known ends its stream.
func TestEventsForgotten(t *testing.T) {
	f := &fakeLive{}
	server, _, ticks := liveServer(t, f)
	w := watch(t, server, "jvm=pool", "")
	w.next()
	f.mu.Lock()
	f.gone = true
	f.mu.Unlock()
	ticks <- time.Now()
	if e, ok := w.next(); !ok || e.name != "end" {
		t.Errorf("%+v, %v", e, ok)
	}
}

// The same shadow does not repeat a snapshot; another one begins anew whatever the browser has.
func TestEventsAgain(t *testing.T) {
	f := &fakeLive{}
	server, s, ticks := liveServer(t, f)
	first, _ := watch(t, server, "fleet", "").next()
	again := watch(t, server, "fleet", first.id)
	got := make(chan event)
	go func() {
		e, _ := again.next()
		got <- e
	}()
	waitFor(t, func() bool { s.hub.mu.Lock(); defer s.hub.mu.Unlock(); return s.hub.open == 2 })
	select {
	case e := <-got:
		t.Errorf("it has this one: %+v", e)
	case <-time.After(50 * time.Millisecond):
	}
	ticks <- time.Now()
	if e := <-got; e.id == first.id || e.id == "" {
		t.Errorf("the next one: %+v", e)
	}
	for _, id := range []string{"restarted-999999", "", "-", "x-y", s.hub.boot + "-99999999999999999999", strings.Repeat("9", 500)} {
		if e, ok := watch(t, server, "fleet", id).next(); !ok || e.data == "" {
			t.Errorf("with the id %.20q: %+v", id, e)
		}
	}
}

func TestEventsLimit(t *testing.T) {
	server, s, _ := liveServer(t, &fakeLive{})
	for range maxStreams {
		watch(t, server, "fleet", "")
	}
	w := watch(t, server, "fleet", "")
	if w.resp.StatusCode != http.StatusServiceUnavailable || w.resp.Header.Get("Retry-After") == "" {
		t.Errorf("one too many: %v", w.resp.Status)
	}
	waitFor(t, func() bool { s.hub.mu.Lock(); defer s.hub.mu.Unlock(); return s.hub.open == maxStreams })
}

func TestEventsRefused(t *testing.T) {
	server, s, _ := liveServer(t, &fakeLive{})
	for _, query := range []string{"", "fleet&jvm=pool", "jvm=", "jvm=other", "jvm=../pool", "x=1", "jvm=" + strings.Repeat("a", 2000)} {
		if w := watch(t, server, query, ""); w.resp.StatusCode != http.StatusNotFound {
			t.Errorf("%.30q: %v", query, w.resp.Status)
		}
	}
	waitFor(t, func() bool { return len(s.streams) == 0 })
	s.hub.mu.Lock()
	if s.hub.open != 0 || len(s.hub.feeds) != 0 {
		t.Errorf("left: %d open, %d feeds", s.hub.open, len(s.hub.feeds))
	}
	s.hub.mu.Unlock()
	req := httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/events?fleet", nil)
	req.Host = "evil.example"
	rec := httptest.NewRecorder()
	s.Handler().ServeHTTP(rec, req)
	if rec.Code != http.StatusForbidden {
		t.Errorf("as another host: %d", rec.Code)
	}
}

func TestLiveJSON(t *testing.T) {
	server, _, _ := liveServer(t, &fakeLive{})
	for path, want := range map[string]int{"/live.json": 200, "/live/pool.json": 200, "/live/other.json": 404, "/live/pool": 404, "/live/.json": 404} {
		resp, err := server.Client().Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		err = json.NewDecoder(resp.Body).Decode(&v)
		resp.Body.Close()
		if resp.StatusCode != want || want == 200 && (err != nil || resp.Header.Get("Content-Type") != "application/json") {
			t.Errorf("%s: %v, %v", path, resp.Status, err)
		}
	}
	resp, err := server.Client().Get(server.URL + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var b bytes.Buffer
	b.ReadFrom(resp.Body)
	if !strings.Contains(b.String(), "stackagent_sessions_running") || !strings.Contains(b.String(), "live_metric 1") {
		t.Errorf("metrics: %s", b.String())
	}
}

// Without live figures there is nothing to watch.
func TestNoLive(t *testing.T) {
	s := newServer()
	for _, path := range []string{"/events?fleet", "/live.json", "/live/pool.json"} {
		if w := get(s, path); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}
