package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"stackagent/internal/text"
	"stackagent/shadow/ingest"
	"stackagent/shadow/store"
)

const token = "0123456789abcdef"

// hostile are names that a JVM may send.
var hostile = []string{
	"<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "</td></table><h1>x", "javascript:alert(1)",
	"\x1b]0;x\a", "\u202egpj.exe", "\u009b2J", "a\nb\u2028c", "\xff\xfe", "{{.Token}}", "' onmouseover='x", "<!--", "]]>", "&lt;b&gt;",
}

// newServer serves sessions without a token, at a time of its own.
func newServer(sessions ...ingest.Progress) *Server {
	return New(Options{
		Sessions: func() []ingest.Progress { return sessions }, Totals: func() ingest.Totals { return ingest.Sum(sessions) }, Now: func() time.Time { return time.Unix(3, 0) },
		Note: func(string, ...any) {}, Store: "/store", Bus: "nats://127.0.0.1:4222",
	})
}

// ask sends a request to a server, changed by edit.
func ask(s *Server, method, target string, edit func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1:7077"+target, nil)
	if edit != nil {
		edit(r)
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

func get(s *Server, target string) *httptest.ResponseRecorder { return ask(s, "GET", target, nil) }

func TestHostileNames(t *testing.T) {
	var sessions []ingest.Progress
	for i, name := range hostile {
		ended := store.EndedRunning
		if i%2 == 0 {
			ended = name // a manifest says what it likes
		}
		sessions = append(sessions, ingest.Progress{Session: name, Folder: fmt.Sprintf("s%d", i), Ended: ended, LastBatch: time.Unix(1, 0),
			JVM: store.JVM{MainClass: name, Host: name}})
	}
	s := newServer(sessions...)
	s.o.Report = func(context.Context, string) error { return nil }
	w := get(s, "/")
	body := w.Body.String()
	if w.Code != 200 || strings.ContainsFunc(body, func(r rune) bool { return r != '\n' && text.Hidden(r) }) {
		t.Errorf("%d, hidden characters in %q", w.Code, body)
	}
	doc, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string]bool{"html": true, "head": true, "meta": true, "title": true, "link": true, "body": true, "h1": true, "p": true, "div": true,
		"table": true, "thead": true, "tbody": true, "tr": true, "th": true, "td": true, "span": true, "a": true, "code": true}
	rows := 0
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && !allowed[n.Data] {
			t.Errorf("a name became the element %s", n.Data)
		}
		if n.Type == html.CommentNode {
			t.Errorf("a name became the comment %q", n.Data)
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "href" && !strings.HasPrefix(a.Val, "/") {
				t.Errorf("attribute %s=%q", a.Key, a.Val)
			}
		}
		if n.Type == html.ElementNode && n.Data == "tr" {
			rows++
		}
	}
	if rows != len(hostile)+1 {
		t.Errorf("%d rows, want %d", rows, len(hostile)+1)
	}
	w = get(s, "/sessions.json")
	if strings.ContainsFunc(w.Body.String(), func(r rune) bool { return r != '\n' && text.Hidden(r) }) || strings.Contains(w.Body.String(), "<script>") {
		t.Errorf("JSON: %q", w.Body)
	}
	var got []Row
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || len(got) != len(hostile) || got[len(got)-1].Program != hostile[0] {
		t.Errorf("%v: %+v", err, got)
	}
	if strings.Contains(get(s, "/metrics").Body.String(), "alert") {
		t.Error("a name is in the metrics")
	}
}

func TestProbes(t *testing.T) {
	s := newServer()
	s.o.Token = token
	var ill error
	s.o.Healthy = func() error { return ill }
	anywhere := func(r *http.Request) { r.Host = "10.0.0.7:7077" }
	for _, target := range []string{"/livez", "/healthz"} {
		if w := ask(s, "GET", target, anywhere); w.Code != 200 || w.Body.String() != "ok\n" {
			t.Errorf("%s: %d %q", target, w.Code, w.Body)
		}
	}
	ill = errors.New("session secret: disk full")
	if w := ask(s, "GET", "/healthz", anywhere); w.Code != 503 || strings.Contains(w.Body.String(), "secret") {
		t.Errorf("ill: %d %q", w.Code, w.Body)
	}
	if w := ask(s, "GET", "/livez", anywhere); w.Code != 200 {
		t.Errorf("alive: %d", w.Code)
	}
	s.o.Token = ""
	if w := get(s, "/"); !strings.Contains(w.Body.String(), "disk full") {
		t.Errorf("the page does not show: %s", w.Body)
	}
}

// Every line must be one that Prometheus reads.
func TestMetrics(t *testing.T) {
	s := newServer(
		ingest.Progress{Folder: "a", Received: store.Counts{Executions: 7, Creations: 5}, Stored: store.Counts{Executions: 6}, Lost: store.Lost{Events: 2, Batches: 1}, Batches: 3},
		ingest.Progress{Folder: "b", Ended: store.EndedExit, Received: store.Counts{Executions: 10}, Repeated: 4})
	text := get(s, "/metrics").Body.String()
	line := regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*(\{[a-zA-Z_]+="[^"\\]*"(, ?[a-zA-Z_]+="[^"\\]*")*\})? -?[0-9.e+-]+|# (HELP|TYPE) .*)$`)
	for l := range strings.Lines(strings.TrimSuffix(text, "\n")) {
		if !line.MatchString(strings.TrimSuffix(l, "\n")) {
			t.Errorf("no line of Prometheus: %q", l)
		}
	}
	for _, want := range []string{"stackagent_healthy 1", "stackagent_sessions_running 1", "stackagent_sessions_total 2", "stackagent_executions_received_total 17",
		"stackagent_creations_received_total 5", "stackagent_events_stored 6", "stackagent_events_lost 2", "stackagent_batches_lost 1",
		"stackagent_batches_received_total 3", "stackagent_batches_repeated_total 4"} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestRates(t *testing.T) {
	r := newRates()
	p := ingest.Progress{Folder: "a"}
	for i := range 20 {
		p.Received.Executions = uint64(i * 100)
		r.observe(time.Unix(int64(i), 0), []ingest.Progress{p})
		if got, ok := r.of("a"); ok != (i > 0) || ok && got != 100 {
			t.Fatalf("after %d samples: %v, %v", i+1, got, ok)
		}
	}
	for i := range 4 { // the old ones are forgotten
		r.observe(time.Unix(int64(20+i), 0), []ingest.Progress{p})
	}
	if got, _ := r.of("a"); got != 20 {
		t.Errorf("one busy interval of five: %v", got)
	}
	p.Ended = store.EndedExit
	r.observe(time.Unix(30, 0), []ingest.Progress{p})
	if _, ok := r.of("a"); ok || len(r.samples) != 0 {
		t.Error("an ended session is remembered")
	}
}

func TestReportOfSession(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range []string{"done", "busy", "linked"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
		manifest := filepath.Join(dir, folder, store.ManifestName)
		if err := os.WriteFile(manifest, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		// Older than any report: within one tick of the file system's clock a report is made again.
		past := time.Now().Add(-time.Minute)
		if err := os.Chtimes(manifest, past, past); err != nil {
			t.Fatal(err)
		}
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newServer(ingest.Progress{Folder: "done", Ended: store.EndedExit}, ingest.Progress{Folder: "busy"}, ingest.Progress{Folder: "linked", Ended: store.EndedExit})
	made := 0
	s.o.Store = dir
	s.o.Report = func(_ context.Context, at string) error {
		made++
		if filepath.Base(at) == "linked" {
			return os.Symlink(secret, filepath.Join(at, ReportName))
		}
		return os.WriteFile(filepath.Join(at, ReportName), []byte("<p>report"), 0o600)
	}
	for range 2 {
		w := get(s, "/sessions/done/report")
		if w.Code != 200 || w.Body.String() != "<p>report" || !strings.Contains(w.Header().Get("Content-Security-Policy"), "sha256-") {
			t.Fatalf("%d %q %v", w.Code, w.Body, w.Header())
		}
	}
	if made != 1 {
		t.Errorf("made %d times", made)
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "done", store.ManifestName), later, later); err != nil {
		t.Fatal(err)
	}
	if get(s, "/sessions/done/report"); made != 2 {
		t.Errorf("a session that went on: made %d times", made)
	}
	made = 0
	for _, target := range []string{"/sessions/busy/report", "/sessions/other/report", "/sessions/../report", "/sessions/%2e%2e/report", "/sessions/..%2fdone/report",
		"/sessions/done%2f/report", "/sessions/done%00/report", "/sessions//report", "/sessions/done/manifest.json", "/sessions/", "/sessions", "/store/", "/../etc/passwd",
		"/sessions/done/report/../../..", "//etc/passwd", "/sessions/" + strings.Repeat("a", 5000) + "/report"} {
		if w := get(s, target); w.Code != 404 && w.Code != 307 && w.Code != 301 {
			t.Errorf("%s: %d %q", target, w.Code, w.Body)
		}
	}
	if made != 0 {
		t.Error("a report was made for a name that is none")
	}
	if w := get(s, "/sessions/linked/report"); w.Code == 200 || strings.Contains(w.Body.String(), "secret") {
		t.Errorf("a link out of the store: %d %q", w.Code, w.Body)
	}
	s.building <- struct{}{}
	if w := get(s, "/sessions/done/report"); w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("while another is made: %d", w.Code)
	}
}

func TestPanicIsNoted(t *testing.T) {
	s := newServer()
	var note string
	s.o.Note = func(format string, args ...any) { note = fmt.Sprintf(format, args...) }
	s.o.Sessions = func() []ingest.Progress { panic("boom") }
	if w := get(s, "/"); w.Code != 500 || strings.Contains(w.Body.String(), "boom") || !strings.Contains(note, "boom") {
		t.Errorf("%d %q, noted %q", w.Code, w.Body, note)
	}
}

func TestManySessions(t *testing.T) {
	s := newServer(make([]ingest.Progress, pageRows+7)...)
	if body := get(s, "/").Body.String(); !strings.Contains(body, "The newest 500 of 507 sessions") || strings.Count(body, "<tr>") != pageRows+1 {
		t.Error("the page has no bound")
	}
}

// Sessions that the shadow lists no more are not passed over.
func TestForgottenSessions(t *testing.T) {
	s := newServer(make([]ingest.Progress, 3)...)
	if body := get(s, "/").Body.String(); strings.Contains(body, "since the start") {
		t.Errorf("all are shown, but the page says\n%s", body)
	}
	s.o.Totals = func() ingest.Totals { return ingest.Totals{Sessions: 12345, NoLongerListed: 12342} }
	const want = `The newest 3 of 12,345 sessions since the start; <a href="/sessions.json">sessions.json</a> has 3, the store all.`
	if body := get(s, "/").Body.String(); !strings.Contains(body, want) {
		t.Errorf("want %q in\n%s", want, body)
	}
}

// FuzzRequest: every request gets one of the known answers, and none shows a session without the password.
func FuzzRequest(f *testing.F) {
	for _, seed := range [][4]string{{"GET", "/", "localhost", ""}, {"HEAD", "/sessions.json", "evil.example", "x"}, {"GET", "/sessions/done/report", "[::1]:1", token},
		{"POST", "/metrics", "127.0.0.1", token}, {"GET", "/sessions/%2e%2e%2f/report", "", ""}, {"GET", "/healthz", "10.0.0.1", ""}} {
		f.Add(seed[0], seed[1], seed[2], seed[3])
	}
	f.Fuzz(func(t *testing.T, method, target, host, password string) {
		r, err := http.NewRequest(method, "http://h"+target, nil)
		if err != nil {
			t.Skip("not a request: ", err)
		}
		r.Host, r.RemoteAddr = host, "192.0.2.1:1"
		r.SetBasicAuth("x", password)
		for _, secret := range []string{"", token} {
			s := newServer(ingest.Progress{Session: "secret-name", Folder: "done", Ended: store.EndedExit})
			s.o.Token = secret
			s.o.Note = func(format string, args ...any) {
				if strings.HasPrefix(format, "the live page failed") {
					t.Errorf(format, args...)
				}
			}
			s.o.Report = func(_ context.Context, dir string) error {
				if dir != "/store/done" {
					t.Errorf("a report in %q", dir)
				}
				return errors.New("none")
			}
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, r)
			allowed := secret == "" && loopbackHost(host) || secret != "" && password == secret
			if !allowed && strings.Contains(w.Body.String(), "secret-name") {
				t.Errorf("%q %q %q %q: the page is shown", method, target, host, password)
			}
		}
	})
}
