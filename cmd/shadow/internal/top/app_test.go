package top

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/shadow/show/live"
)

const password = "0123456789abcdef"

// pageOf answers as a shadow does, with the sample.
func pageOf(fleet *live.Fleet, secret string) http.Handler {
	mux := http.NewServeMux()
	answer := func(v any) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if _, given, _ := r.BasicAuth(); given != secret {
				http.Error(w, "password required", http.StatusUnauthorized)
				return
			}
			_ = json.NewEncoder(w).Encode(v)
		}
	}
	mux.HandleFunc("GET "+livePath, answer(fleet))
	mux.HandleFunc("GET "+jvmPath("box-4711-17"), answer(sampleJVM()))
	return mux
}

// buffer is an output that is read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// await fails the test if what does not become part of the output.
func (b *buffer) await(t *testing.T, what string) {
	t.Helper()
	for range 500 {
		if strings.Contains(b.String(), what) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("no %q in %q", what, b.String())
}

// once runs top --once against a page.
func once(t *testing.T, address, jvm, format string) (string, error) {
	t.Helper()
	p, err := NewPage(address, password, "")
	if err != nil {
		return "", err
	}
	var out buffer
	env := console.Env{Out: &out, Err: &out, Now: time.Now}
	err = Run(t.Context(), env, Options{Page: p, JVM: jvm, Once: true, Format: format})
	return out.String(), err
}

func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func TestOnce(t *testing.T) {
	address := serve(t, pageOf(sampleFleet(), password))
	for _, c := range []struct{ jvm, format, want string }{
		{"", "table", "com.acme.Tax"}, {"4711", "table", "ComputeTaxForOrder$Job"}, {"box-4711", "table", "pid 4711"},
		{"store/box-4711-17", "table", "Running now"}, {"", "csv", "program,pid,finished_rate,queue_p99_ns,"},
		{"", "csv", "com.acme.Tax,4711,4998,23400000,2.21,0,1,running,,box,box-4711,box-4711-17"}, {"", "csv", "\nquiet,7,,,,0,0,starting,"},
		{"4711", "csv", "others,0.05,,,,,,,3,0,0"},
	} {
		out, err := once(t, address, c.jvm, c.format)
		if err != nil || !strings.Contains(out, c.want) {
			t.Errorf("%q as %s: %v, no %q in\n%s", c.jvm, c.format, err, c.want, out)
		}
	}
	var fleet live.Fleet
	if out, err := once(t, address, "", "json"); err != nil || json.Unmarshal([]byte(out), &fleet) != nil || fleet.JVMs[1].Program != hostile || strings.ContainsAny(out, "\x1b\u202e") {
		t.Errorf("%v: %s", err, out)
	}
	var jvm live.JVM
	if out, err := once(t, address, "4711", "json"); err != nil || json.Unmarshal([]byte(out), &jvm) != nil || jvm.Row.PID != 4711 || len(jvm.Series[0].Values) != 300 {
		t.Errorf("%v: %s", err, out)
	}
}

// TestOnlyJVM: where there is one, it is the one that is meant.
func TestOnlyJVM(t *testing.T) {
	address := serve(t, pageOf(&live.Fleet{JVMs: sampleFleet().JVMs[:1]}, password))
	if out, err := once(t, address, "", "table"); err != nil || !strings.Contains(out, "ComputeTaxForOrder$Job") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestRemedies(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + l.Addr().String()
	l.Close()
	fine := serve(t, pageOf(sampleFleet(), password))
	elsewhere := serve(t, http.RedirectHandler(fine+livePath, http.StatusFound))
	for _, c := range []struct{ name, address, jvm, want string }{
		{"no shadow", nobody, "", "no shadow serves a live page at " + nobody + ": start one with shadow serve"},
		{"another password", serve(t, pageOf(sampleFleet(), "another")), "", "give the file with --token-file"},
		{"an older shadow", serve(t, http.NotFoundHandler()), "", "it is no shadow, or an older one"},
		{"another server", serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) })), "", "is no live page of a shadow"},
		{"a hostile server", serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, hostile, 500) })), "", "refuses (500): evil?[2J?]0;x??"},
		{"a redirect keeps the password here", elsewhere, "", "refuses (302)"},
		{"no such process", fine, "99", "no JVM with process id 99: shadow attach 99 --bus URL, with the bus of that shadow, records it"},
		{"no such session", fine, hostile, "no live session evil?[2J"},
		{"no address", "ftp://x", "", "want http://HOST:PORT"},
		{"password in the address", "http://a:b@x", "", "--token-file"},
	} {
		_, err := once(t, c.address, c.jvm, "table")
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%s: %v, want %q in one line", c.name, err, c.want)
		}
	}
}

// TestReconnect: in a pipe, top goes on after the shadow's restart and says that it was away.
func TestReconnect(t *testing.T) {
	s := httptest.NewServer(pageOf(sampleFleet(), password))
	address := s.Listener.Addr().String()
	p, err := NewPage(s.URL, password, "")
	if err != nil {
		t.Fatal(err)
	}
	var out, errs buffer
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, console.Env{Out: &out, Err: &errs, Now: time.Now}, Options{Page: p, Format: "csv"})
	}()
	out.await(t, "com.acme.Tax")
	s.Close()
	errs.await(t, "RECONNECTING: no shadow serves a live page")
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	again := &httptest.Server{Listener: l, Config: &http.Server{Handler: pageOf(&live.Fleet{JVMs: []live.Row{sampleRow("com.acme.Back", 1)}}, password), ReadHeaderTimeout: time.Second}}
	again.Start()
	defer again.Close()
	out.await(t, "com.acme.Back")
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("interrupted: %v", err)
	}
	if n := strings.Count(errs.String(), "RECONNECTING"); n != 1 {
		t.Errorf("said %d times: %s", n, errs.String())
	}
	if n := strings.Count(out.String(), "program,pid"); n != 1 {
		t.Errorf("%d headers in\n%s", n, out.String())
	}
}

// TestKeys walks through the views as a user does.
func TestKeys(t *testing.T) {
	s := sampleState()
	press := func(keys ...key) {
		t.Helper()
		for _, k := range keys {
			if !s.press(k, 24) {
				t.Fatalf("%q quits", k)
			}
		}
	}
	press("s")
	if l := s.grid(); l.columns[s.sorts[fleetTitle]].Title != "pid" || l.rows[0].key != "box-4712-17" || s.selection(&l) != 0 {
		t.Errorf("sorted by pid: %+v", l.rows)
	}
	press(keyDown)
	if s.selected[fleetTitle] != "box-4711-17" {
		t.Errorf("selected %v", s.selected)
	}
	s.fleet.JVMs = s.fleet.JVMs[:1] // the row stays selected when others go
	press(keyEnter)
	if s.folder != "box-4711-17" || s.fleet != nil {
		t.Fatalf("enter opens %q", s.folder)
	}
	s.jvm = sampleJVM()
	press(keyRight, keyRight)
	if s.title() != "Running now" {
		t.Errorf("two to the right: %s", s.title())
	}
	press(keyLeft, keyLeft, keyLeft)
	if s.title() != "Findings" {
		t.Errorf("round to %s", s.title())
	}
	press(keyEnd, keyEnter)
	if !s.details || s.selected["Findings"] == "" {
		t.Error("enter shows no details")
	}
	press(keyBack)
	for range 30 {
		press("s") // goes round
	}
	press(keyBack)
	if s.folder != "" || s.details {
		t.Error("escape does not lead back")
	}
	if s.press(keyQuit, 24) {
		t.Error("q does not quit")
	}
}

// TestAnswers: an answer about what is no longer in view changes nothing; after an error
// the last figures stay.
func TestAnswers(t *testing.T) {
	a := &app{state: *sampleJVMState()}
	_ = a.apply(answer{folder: "", fleet: sampleFleet()})
	if a.fleet != nil {
		t.Error("an answer about the fleet shows in the view of a JVM")
	}
	if err := a.apply(answer{folder: a.folder, err: errors.New("away\nfor long")}); err == nil || a.trouble != "RECONNECTING: away; for long" || a.jvm == nil {
		t.Errorf("%q, %v", a.trouble, err)
	}
	if _ = a.apply(answer{folder: a.folder, err: errGone}); a.trouble != "ENDED: the session is stored as box-4711-17" || a.jvm == nil {
		t.Errorf("%q", a.trouble)
	}
	if _ = a.apply(answer{folder: a.folder, jvm: sampleJVM()}); a.trouble != "" {
		t.Errorf("%q", a.trouble)
	}
	last := sampleJVM()
	last.Row.Ended = "exit"
	if err := a.apply(answer{folder: a.folder, jvm: last}); !errors.Is(err, errGone) || a.trouble == "" || a.jvm != last {
		t.Errorf("ended: %v, %q", err, a.trouble)
	}
}
