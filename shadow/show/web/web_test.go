package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"stackagent/internal/text"
	"stackagent/shadow/collect/ingest"
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
	s.o.Data = func(context.Context, string, io.Writer, func(Progress)) error { return nil }
	for i, name := range hostile { // the shell has them in its title
		s.o.Sessions = func() []ingest.Progress {
			return []ingest.Progress{{Session: name, Folder: name, Ended: store.EndedExit}}
		}
		for _, target := range []string{"/sessions/" + url.PathEscape(name) + "/report", "/jvm/" + url.PathEscape(name)} {
			w := get(s, target)
			if w.Code == 404 && strings.ContainsAny(name, "/") {
				continue // no folder has such a name
			}
			if w.Code != 200 {
				t.Errorf("%d: %q: %d", i, name, w.Code)
			}
			checkShell(t, w.Body.String())
		}
	}
	s.o.Sessions = func() []ingest.Progress { return sessions }
	w := get(s, "/sessions.json")
	if strings.ContainsFunc(w.Body.String(), func(r rune) bool { return r != '\n' && text.Hidden(r) }) || strings.Contains(w.Body.String(), "<script>") {
		t.Errorf("JSON: %q", w.Body)
	}
	var got []Row
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || len(got) != len(hostile) || got[0].Program != hostile[0] {
		t.Errorf("%v: %+v", err, got)
	}
	for _, r := range got {
		if !strings.HasPrefix(r.Report, "/sessions/s") {
			t.Errorf("address %q", r.Report)
		}
	}
	if strings.Contains(get(s, "/metrics").Body.String(), "alert") {
		t.Error("a name is in the metrics")
	}
}

// checkShell parses a shell: a name in it is text and nothing else.
func checkShell(t *testing.T, body string) {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	scripts := 0
	for n := range doc.Descendants() {
		switch {
		case n.Type == html.CommentNode:
			t.Errorf("a name became the comment %q", n.Data)
		case n.Type != html.ElementNode:
			continue
		case n.Data == "script":
			scripts++
			if n.FirstChild != nil {
				t.Error("a script is in the page: its policy forbids that")
			}
		case !shellElements[n.Data]:
			t.Errorf("a name became the element %s", n.Data)
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" || (a.Key == "href" || a.Key == "src") && !strings.HasPrefix(a.Val, "/") {
				t.Errorf("attribute %s=%q", a.Key, a.Val)
			}
		}
	}
	if scripts != 1 {
		t.Errorf("%d scripts", scripts)
	}
	if title := regexp.MustCompile(`(?s)<title>(.*)</title>`).FindString(body); strings.ContainsFunc(title, text.Hidden) {
		t.Errorf("hidden characters in %q", title)
	}
}

var shellElements = map[string]bool{"html": true, "head": true, "meta": true, "title": true, "link": true, "body": true, "noscript": true, "p": true, "a": true}

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
	if w := get(s, "/state.json"); !strings.Contains(w.Body.String(), "disk full") {
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

func TestPanicIsNoted(t *testing.T) {
	s := newServer()
	var note string
	s.o.Note = func(format string, args ...any) { note = fmt.Sprintf(format, args...) }
	s.o.Sessions = func() []ingest.Progress { panic("boom") }
	if w := get(s, "/sessions.json"); w.Code != 500 || strings.Contains(w.Body.String(), "boom") || !strings.Contains(note, "boom") {
		t.Errorf("%d %q, noted %q", w.Code, w.Body, note)
	}
}
