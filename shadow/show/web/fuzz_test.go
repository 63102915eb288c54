package web

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/store"
)

// snapshot is what a store holds, without what is made for the page.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || made(d.Name()) {
			return err
		}
		b.WriteString(path)
		if d.Type().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			b.Write(content)
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// FuzzRequests: whatever is asked, the server neither panics nor fails, shows nothing without the password, reaches
// nothing outside of the store, and changes nothing without the token.
func FuzzRequests(f *testing.F) {
	for _, seed := range [][6]string{
		{"GET", "/", "localhost", "", "", ""}, {"HEAD", "/sessions.json", "evil.example", "x", "", ""},
		{"GET", "/sessions/done/data.json", "[::1]:1", token, "Accept-Encoding: gzip\nRange: bytes=1-", ""},
		{"GET", "/sessions/done/report.html", "localhost", token, "If-None-Match: *", ""}, {"POST", "/metrics", "127.0.0.1", token, "", ""},
		{"GET", "/sessions/%2e%2e%2f/report", "", "", "", ""}, {"GET", "/healthz", "10.0.0.1", "", "", ""},
		{"DELETE", "/sessions/done", "localhost", token, "X-CSRF-Token: x\nOrigin: http://localhost", ""},
		{"POST", "/sessions/done/label", "localhost", token, "Content-Type: application/json", `{"name":"x","note":"y"}`},
		{"GET", "/sessions/done/download", "localhost", token, "", ""}, {"GET", "/sessions/..%2f..%2fetc/download", "localhost", token, "", ""},
		{"GET", "/sessions.json?q=a+b&limit=3&after=1~x", "localhost", token, "", ""}, {"GET", "/jvm/run", "localhost", token, "", ""},
		{"GET", "/sessions/run/progress.json", "localhost", token, "Sec-Fetch-Site: cross-site", ""}, {"GET", "/assets/page.js?v=1", "localhost", token, "", ""},
		{"GET", "/live.json", "localhost", token, "", ""}, {"GET", "/live/run.json", "localhost", token, "", ""}, {"GET", "/state.json", "localhost", token, "", ""},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3], seed[4], []byte(seed[5]))
	}
	outside := f.TempDir()
	dir := filepath.Join(outside, "store")
	for _, folder := range []string{"done", "run"} {
		keep(f, dir, folder, 1)
	}
	if err := os.WriteFile(filepath.Join(outside, "precious"), []byte("outside-secret"), 0o600); err != nil {
		f.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "done", "link")); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, method, target, host, password, headers string, body []byte) {
		r, err := http.NewRequest(method, "http://h"+target, bytes.NewReader(body))
		if err != nil {
			t.Skip("not a request: ", err)
		}
		before := snapshot(t, outside)
		for _, secret := range []string{"", token} {
			r := r.Clone(r.Context())
			r.Body, r.Host, r.RemoteAddr = io.NopCloser(bytes.NewReader(body)), host, "192.0.2.1:1"
			for line := range strings.SplitSeq(headers, "\n") {
				if name, value, ok := strings.Cut(line, ": "); ok {
					r.Header.Add(name, value)
				}
			}
			r.SetBasicAuth("x", password)
			s := storeServer(dir, ingest.Progress{Session: "secret-name", Folder: "run", LastBatch: time.Now()},
				ingest.Progress{Session: "secret-name", Folder: "done", Ended: store.EndedExit})
			s.o.Token = secret
			s.o.Note = func(format string, args ...any) {
				if strings.HasPrefix(format, "the live page failed") {
					t.Errorf(format, args...)
				}
			}
			s.o.Data = func(_ context.Context, at string, w io.Writer, _ func(Progress)) error {
				if at != filepath.Join(dir, "done") && at != filepath.Join(dir, "run") {
					t.Errorf("a report in %q", at)
				}
				_, err := io.WriteString(w, `{"of":"secret-name"}`)
				return err
			}
			s.o.File = s.o.Data
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, r)
			answer := w.Body.String()
			switch allowed := secret == "" && loopbackHost(host) || secret != "" && password == secret; {
			case w.Code == http.StatusInternalServerError:
				t.Errorf("%q %q: %d %s", method, target, w.Code, answer)
			case strings.Contains(answer, "outside-secret"):
				t.Errorf("%q %q: what is outside of the store is shown", method, target)
			case !allowed && (strings.Contains(answer, "secret-name") || strings.Contains(answer, s.csrf)):
				t.Errorf("%q %q %q %q: the page is shown", method, target, host, password)
			case w.Header().Get("Content-Security-Policy") == "" || w.Header().Get("X-Content-Type-Options") != "nosniff":
				t.Errorf("%q %q: without its policy", method, target)
			}
		}
		if after := snapshot(t, outside); after != before {
			t.Errorf("%q %q changed the store:\n%s\nwas\n%s", method, target, after, before)
		}
	})
}

// FuzzChanges: a request with the token changes the label of a session or deletes an ended one, and nothing else.
func FuzzChanges(f *testing.F) {
	for _, seed := range [][3]string{
		{"DELETE", "done", ""}, {"DELETE", "run", ""}, {"DELETE", "..", ""}, {"DELETE", "%2e%2e", ""}, {"DELETE", "done/link", ""}, {"DELETE", "site", ""},
		{"POST", "done/label", `{"name":"x","note":"y"}`}, {"POST", "..%2fdone/label", `{"name":"x"}`}, {"POST", "done/label", `{"name":"\u001b"}`}, {"POST", "done%00/label", "{}"},
	} {
		f.Add(seed[0], seed[1], []byte(seed[2]))
	}
	f.Fuzz(func(t *testing.T, method, target string, body []byte) {
		r, err := http.NewRequest(method, "http://localhost/sessions/"+target, bytes.NewReader(body))
		if err != nil {
			t.Skip("not a request: ", err)
		}
		outside := t.TempDir()
		dir := filepath.Join(outside, "store")
		for _, folder := range []string{"done", "run"} {
			keep(t, dir, folder, 1)
		}
		for name, content := range map[string]string{"store/site/manifest.json": `{"name":"a page"}`, "store/token": "x", "precious": "x"} {
			path := filepath.Join(outside, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(outside, filepath.Join(dir, "done", "link")); err != nil {
			t.Fatal(err)
		}
		s := storeServer(dir, ingest.Progress{Session: "run", Folder: "run", LastBatch: time.Now()})
		r.RemoteAddr = "127.0.0.1:1"
		r.Header.Set(csrfHeader, s.csrf)
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		if w.Code == http.StatusInternalServerError {
			t.Errorf("%q %q: %s", method, target, w.Body)
		}
		label := filepath.Join(dir, "done", "label.json")
		if w.Code == http.StatusNoContent && method == http.MethodDelete {
			keep(t, dir, "done", 1) // it is the only one that can go
			if err := os.Symlink(outside, filepath.Join(dir, "done", "link")); err != nil {
				t.Fatal(err)
			}
		} else if w.Code == http.StatusNoContent {
			_ = os.Remove(label)
			_ = os.Remove(filepath.Join(dir, "run", "label.json"))
		}
		want := []string{"precious", "store", "store/done", "store/done/link", "store/done/manifest.json", "store/run", "store/run/manifest.json", "store/site", "store/site/manifest.json", "store/token"}
		var got []string
		err = filepath.WalkDir(outside, func(path string, _ fs.DirEntry, err error) error {
			if rel, _ := filepath.Rel(outside, path); rel != "." && !made(filepath.Base(path)) {
				got = append(got, rel)
			}
			return err
		})
		if err != nil || strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%q %q (%d): left %q, %v", method, target, w.Code, got, err)
		}
	})
}
