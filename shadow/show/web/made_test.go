package web

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/store"
)

// okMaker makes text.
func okMaker(text string) Maker {
	return func(_ context.Context, _ string, w io.Writer, _ func(Progress)) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

func TestDataOfSession(t *testing.T) {
	dir := t.TempDir()
	keep(t, dir, "done", 1)
	keep(t, dir, "busy", 2)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := storeServer(dir, ingest.Progress{Folder: "busy", LastBatch: time.Now()})
	made, flushed := 0, 0
	s.o.Flush = func(_ context.Context, folder string) error {
		if folder != "busy" {
			t.Errorf("flush of %s", folder)
		}
		flushed++
		return nil
	}
	s.o.Data = func(_ context.Context, at string, w io.Writer, _ func(Progress)) error {
		made++
		_, err := fmt.Fprintf(w, `{"of":%q}`, filepath.Base(at))
		return err
	}
	var tag string
	for range 2 {
		w := get(s, "/sessions/done/data.json")
		if w.Code != 200 || w.Body.String() != `{"of":"done"}` || w.Header().Get("Content-Type") != "application/json" {
			t.Fatalf("%d %q %v", w.Code, w.Body, w.Header())
		}
		tag = w.Header().Get("ETag")
	}
	if made != 1 || flushed != 0 {
		t.Errorf("made %d times, flushed %d times", made, flushed)
	}
	if w := ask(s, "GET", "/sessions/done/data.json", func(r *http.Request) { r.Header.Set("If-None-Match", tag) }); w.Code != http.StatusNotModified {
		t.Errorf("unchanged: %d", w.Code)
	}
	zipped := func(r *http.Request) { r.Header.Set("Accept-Encoding", "br, gzip;q=0.5") }
	w := ask(s, "GET", "/sessions/done/data.json", zipped)
	packed, err := gzip.NewReader(w.Body)
	if err != nil || w.Header().Get("Content-Encoding") != "gzip" || w.Header().Get("ETag") == tag {
		t.Fatalf("packed: %v %v", err, w.Header())
	}
	if b, err := io.ReadAll(packed); err != nil || string(b) != `{"of":"done"}` {
		t.Errorf("packed: %q %v", b, err)
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "done", store.ManifestName), later, later); err != nil {
		t.Fatal(err)
	}
	if get(s, "/sessions/done/data.json"); made != 2 {
		t.Errorf("a session that went on: made %d times", made)
	}
	if err := os.Chtimes(filepath.Join(dir, "done", store.ManifestName), time.Unix(9, 0), time.Unix(9, 0)); err != nil {
		t.Fatal(err)
	}
	s.o.Version = "newer"
	if get(s, "/sessions/done/data.json"); made != 3 {
		t.Errorf("another version: made %d times", made)
	}
	name := filepath.Join(dir, "done", DataName)
	if err := errors.Join(os.Remove(name), os.Symlink(secret, name)); err != nil {
		t.Fatal(err)
	}
	if w := get(s, "/sessions/done/data.json"); made != 4 || w.Body.String() != `{"of":"done"}` {
		t.Errorf("a link in its place: made %d times, %d %q", made, w.Code, w.Body)
	}
	if b, err := os.ReadFile(secret); err != nil || string(b) != "secret" {
		t.Errorf("what the link leads to is %q, %v", b, err)
	}
	// Of a running session it is made again after a while, with what was received until then.
	now := time.Now()
	s.o.Now = func() time.Time { return now }
	made = 0
	for range 3 {
		get(s, "/sessions/busy/data.json")
	}
	if now = now.Add(2 * keepTime); made != 1 || flushed != 1 {
		t.Errorf("a running session: made %d times, flushed %d times", made, flushed)
	}
	if get(s, "/sessions/busy/data.json"); made != 2 || flushed != 2 {
		t.Errorf("later: made %d times, flushed %d times", made, flushed)
	}
}

func TestNoSuchSession(t *testing.T) {
	dir := t.TempDir()
	keep(t, dir, "done", 1)
	s := storeServer(dir)
	s.o.Data = func(context.Context, string, io.Writer, func(Progress)) error {
		t.Error("a report is made for a name that is none")
		return nil
	}
	for _, what := range []string{"report", "data.json", "report.html", "progress.json", "download", "label", "manifest.json"} {
		for _, folder := range []string{"other", "..", "%2e%2e", "..%2fdone", "done%2f", "done%00", "", ".", "done%5c", ".bus", "%ff", strings.Repeat("a", 5000)} {
			target := "/sessions/" + folder + "/" + what
			if w := get(s, target); w.Code != 404 && w.Code != 307 && w.Code != 301 && w.Code != 405 {
				t.Errorf("%s: %d %q", target, w.Code, w.Body)
			}
		}
	}
	for _, target := range []string{"/sessions/", "/sessions", "/store/", "/../etc/passwd", "//etc/passwd", "/jvm/other", "/jvm/", "/assets/", "/assets/../page.go", "/sessions/done/report/../../.."} {
		if w := get(s, target); w.Code != 404 && w.Code != 307 && w.Code != 301 {
			t.Errorf("%s: %d %q", target, w.Code, w.Body)
		}
	}
}

// While a report is made, the others who want it wait for it, its progress can be read, and reports of other sessions
// have to wait. When nobody waits any more, it ends.
func TestReportsTakeTurns(t *testing.T) {
	dir := t.TempDir()
	keep(t, dir, "a", 1)
	keep(t, dir, "b", 2)
	s := storeServer(dir)
	started, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	s.o.Data = func(ctx context.Context, _ string, w io.Writer, progress func(Progress)) error {
		progress(Progress{What: "reading", Done: 5, Total: 10})
		started <- struct{}{}
		select {
		case <-ctx.Done():
			ended <- ctx.Err()
			return ctx.Err()
		case <-goOn:
		}
		_, err := io.WriteString(w, "{}")
		return err
	}
	state := func(folder string) (state string, p Progress) {
		var answer struct {
			State string
			Progress
		}
		if err := json.Unmarshal(get(s, "/sessions/"+folder+"/progress.json").Body.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		return answer.State, answer.Progress
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if w := get(s, "/sessions/a/data.json"); w.Code != 200 || w.Body.String() != "{}" {
				t.Errorf("%d %q", w.Code, w.Body)
			}
		})
	}
	<-started
	if st, p := state("a"); st != "making" || p.Done != 5 || p.Total != 10 || p.What != "reading" {
		t.Errorf("a: %s %+v", st, p)
	}
	if st, _ := state("b"); st != "waiting" {
		t.Errorf("b: %s", st)
	}
	if w := get(s, "/sessions/b/data.json"); w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("another one: %d", w.Code)
	}
	waiting := func(n int) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.job != nil && s.job.waiters == n
	}
	for !waiting(3) {
		time.Sleep(time.Millisecond)
	}
	goOn <- struct{}{}
	wg.Wait()
	if st, _ := state("b"); st != "idle" {
		t.Errorf("b at the end: %s", st)
	}

	ctx, cancel := context.WithCancel(context.Background())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		s.Handler().ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "http://127.0.0.1/sessions/b/data.json", nil).WithContext(ctx))
	}()
	<-started
	cancel()
	<-gone
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("nobody waits: %v", err)
	}
	for over := false; !over; time.Sleep(time.Millisecond) {
		s.mu.Lock()
		over = s.job == nil
		s.mu.Unlock()
	}
	if left, err := filepath.Glob(filepath.Join(dir, "b", "*page*")); len(left) > 0 || err != nil {
		t.Errorf("left: %v %v", left, err)
	}
}

func TestFailedReport(t *testing.T) {
	dir := t.TempDir()
	keep(t, dir, "a", 1)
	s := storeServer(dir)
	noted := ""
	s.o.Note = func(format string, args ...any) { noted += fmt.Sprintf(format, args...) }
	s.o.Data = func(_ context.Context, _ string, w io.Writer, _ func(Progress)) error {
		return errors.Join(okMaker("{")(nil, "", w, nil), errors.New("part 7 is damaged"))
	}
	w := get(s, "/sessions/a/data.json")
	if w.Code != 503 || w.Header().Get("Retry-After") != "" || !strings.Contains(w.Body.String(), "part 7") || !strings.Contains(noted, "part 7") {
		t.Errorf("%d %q, noted %q", w.Code, w.Body, noted)
	}
	if body := get(s, "/sessions/a/progress.json").Body.String(); !strings.Contains(body, "failed") || !strings.Contains(body, "part 7") {
		t.Errorf("progress %s", body)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "a", "*page*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	s.o.File = okMaker("<p>a")
	w = get(s, "/sessions/a/report.html")
	if w.Body.String() != "<p>a" || w.Header().Get("Content-Disposition") != "attachment; filename=a.html" {
		t.Errorf("%v %q", w.Header(), w.Body)
	}
}

func TestAcceptsGzip(t *testing.T) {
	for accept, want := range map[string]bool{"": false, "gzip": true, "br, gzip": true, "gzip;q=0": false, "gzip; q=0.0": false, "gzip;q=0.1": true, "xgzip": false, "deflate": false} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Accept-Encoding", accept)
		if got := acceptsGzip(r); got != want {
			t.Errorf("%q: %v", accept, got)
		}
	}
}
