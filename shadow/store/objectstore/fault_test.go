package objectstore

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	"stackagent/internal/testobjects"
)

func TestRetries(t *testing.T) {
	for name, wrong := range map[string]testobjects.Fault{
		"500": testobjects.Answer(500, "InternalError"), "503": testobjects.Answer(503, "SlowDown"),
		"429": testobjects.Answer(429, ""), "refused": testobjects.Refuse, "lost": testobjects.Lose,
	} {
		t.Run(name, func(t *testing.T) {
			s, f := newFake(t, "")
			f.Fail(testobjects.First(2, http.MethodPut, wrong))
			put(t, s, "a", "content")
			f.Fail(testobjects.First(2, http.MethodGet, wrong))
			if got, _ := get(t, s, "a", 2, 3); got != "nte" {
				t.Errorf("read %q", got)
			}
			f.Fail(testobjects.First(2, http.MethodGet, wrong))
			if got := keys(t, s, ""); len(got) != 1 {
				t.Errorf("listed %v", got)
			}
			f.Fail(testobjects.First(2, http.MethodPut, wrong))
			if err := s.PutIfAbsent(t.Context(), "b", strings.NewReader("x"), 1); err != nil {
				t.Errorf("put if absent: %v", err)
			}
			f.Fail(testobjects.First(2, http.MethodDelete, wrong))
			if err := s.Delete(t.Context(), "a"); err != nil {
				t.Errorf("delete: %v", err)
			}
		})
	}
}

func TestNoRetry(t *testing.T) {
	s, f := newFake(t, "")
	for _, c := range []struct {
		status int
		code   string
	}{{403, "AccessDenied"}, {400, "InvalidArgument"}, {405, "MethodNotAllowed"}} {
		f.Fail(testobjects.Always(testobjects.Answer(c.status, c.code)))
		before := f.Requests()
		err := s.Put(t.Context(), "a", strings.NewReader("x"), 1)
		if n := f.Requests() - before; n != 1 || err == nil || !strings.Contains(err.Error(), c.code) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%d: %d requests, %v", c.status, n, err)
		}
		if err := s.PutIfAbsent(t.Context(), "a", strings.NewReader("x"), 1); err == nil || errors.Is(err, ErrExists) {
			t.Errorf("%d: put if absent: %v", c.status, err)
		}
	}
}

func TestBounded(t *testing.T) {
	s, f := newFake(t, "&attempts=3")
	f.Fail(testobjects.Always(testobjects.Answer(503, "SlowDown")))
	if err := s.Put(t.Context(), "a", strings.NewReader("x"), 1); err == nil || f.Requests() != 3 {
		t.Errorf("%d requests, %v", f.Requests(), err)
	}
}

// TestLostAnswer: the store has written, the answer is lost, the next attempt is told that the object exists.
func TestLostAnswer(t *testing.T) {
	s, f := newFake(t, "")
	var told atomic.Int64
	lost := testobjects.First(1, http.MethodPut, testobjects.Lose)
	f.Fail(func(r *http.Request) testobjects.Fault {
		if wrong := lost(r); wrong != nil || r.Method != http.MethodPut {
			return wrong
		}
		return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			rec := httptest.NewRecorder()
			next.ServeHTTP(rec, r)
			if rec.Code == http.StatusPreconditionFailed {
				told.Add(1)
			}
			for k, v := range rec.Header() {
				w.Header()[k] = v
			}
			w.WriteHeader(rec.Code)
			_, _ = w.Write(rec.Body.Bytes())
		}
	})
	if err := s.PutIfAbsent(t.Context(), "m/1", strings.NewReader("mine"), 4); err != nil || told.Load() != 1 {
		t.Errorf("our own object is taken for somebody else's: %v; the store refused %d times, want 1", err, told.Load())
	}
	// The same content by somebody else is not ours: each round of a compactor has one winner.
	if err := s.PutIfAbsent(t.Context(), "m/1", strings.NewReader("mine"), 4); !errors.Is(err, ErrExists) {
		t.Errorf("another writer: %v", err)
	}
}

// TestLostAnswers: every answer to the write is lost, but the object can be looked at.
func TestLostAnswers(t *testing.T) {
	s, f := newFake(t, "&attempts=2")
	f.Fail(testobjects.First(2, http.MethodPut, testobjects.Lose))
	if err := s.PutIfAbsent(t.Context(), "m/1", strings.NewReader("mine"), 4); err != nil {
		t.Errorf("written, but the answer is %v", err)
	}
	f.Fail(testobjects.First(2, http.MethodPut, testobjects.Refuse))
	if err := s.PutIfAbsent(t.Context(), "m/2", strings.NewReader("mine"), 4); err == nil || errors.Is(err, ErrExists) {
		t.Errorf("not written, but the answer is %v", err)
	}
}

func TestConflict(t *testing.T) {
	s, f := newFake(t, "")
	f.Fail(testobjects.First(1, http.MethodPut, testobjects.Answer(409, "ConditionalRequestConflict")))
	if err := s.PutIfAbsent(t.Context(), "m/1", strings.NewReader("x"), 1); err != nil {
		t.Error(err)
	}
}

// TestCutBody: the rest of a cut answer is asked for, but only of the same object.
func TestCutBody(t *testing.T) {
	s, f := newFake(t, "")
	content := strings.Repeat("0123456789", 50_000)
	put(t, s, "a", content)
	f.Fail(testobjects.First(3, http.MethodGet, testobjects.Cut))
	if got, _ := get(t, s, "a", 0, -1); got != content {
		t.Errorf("%d bytes, want %d", len(got), len(content))
	}
	f.Fail(testobjects.First(2, http.MethodGet, testobjects.Cut))
	if got, _ := get(t, s, "a", 7, 400_001); got != content[7:400_008] {
		t.Errorf("range: %d bytes", len(got))
	}
	replaced := false
	f.Fail(func(r *http.Request) testobjects.Fault {
		if r.Method != http.MethodGet || replaced {
			return nil
		}
		return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			replaced = true
			defer put(t, s, "a", "another object")
			testobjects.Cut(w, r, next)
		}
	})
	body, _, err := s.GetRange(t.Context(), "a", 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = body.Close() }()
	if _, err := io.ReadAll(body); err == nil || !strings.Contains(err.Error(), "replaced") {
		t.Errorf("halves of two objects: %v", err)
	}
}

func TestSilence(t *testing.T) {
	s, f := newFake(t, "&timeout=100ms&attempts=2")
	put(t, s, "a", "content")
	f.Fail(testobjects.First(1, http.MethodGet, testobjects.Hang))
	if got, _ := get(t, s, "a", 0, -1); got != "content" {
		t.Errorf("read %q", got)
	}
	f.Fail(testobjects.Always(testobjects.Hang))
	if err := s.Put(t.Context(), "b", strings.NewReader("x"), 1); err == nil {
		t.Error("a silent store is waited for without an end")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.Put(ctx, "b", strings.NewReader("x"), 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want the end of the context", err)
	}
}

// TestCutUpload: an upload in parts that fails leaves nothing visible, and its parts are removed; those of a writer that
// died are removed later.
func TestCutUpload(t *testing.T) {
	s, f := newFake(t, "&attempts=1")
	content := bytes.Repeat([]byte("x"), partBytes+1)
	parts := func(r *http.Request) testobjects.Fault {
		if r.URL.Query().Get("partNumber") == "2" {
			return testobjects.Answer(500, "InternalError")
		}
		return nil
	}
	f.Fail(parts)
	fail := func() {
		t.Helper()
		if err := s.Put(t.Context(), "p/large", bytes.NewReader(content), int64(len(content))); err == nil {
			t.Fatal("the upload did not fail")
		}
		if got := keys(t, s, ""); len(got) != 0 {
			t.Errorf("visible: %v", got)
		}
	}
	fail()
	if n, err := s.CleanUploads(t.Context(), "", 0); n != 0 || err != nil {
		t.Errorf("a failed upload left %d behind: %v", n, err)
	}
	f.Fail(func(r *http.Request) testobjects.Fault {
		if r.Method == http.MethodDelete {
			return testobjects.Answer(403, "AccessDenied") // the same as dying before
		}
		return parts(r)
	})
	fail()
	f.Fail(nil)
	for _, c := range []struct {
		prefix string
		age    time.Duration
		want   int
	}{{"q/", 0, 0}, {"", time.Hour, 0}, {"p/", 0, 1}, {"", 0, 0}} {
		if n, err := s.CleanUploads(t.Context(), c.prefix, c.age); n != c.want || err != nil {
			t.Errorf("clean %q older than %s: %d, %v; want %d", c.prefix, c.age, n, err, c.want)
		}
	}
}

// TestProbe: a store that ignores the condition of a write is found out.
func TestProbe(t *testing.T) {
	s, f := newFake(t, "&attempts=1")
	if err := Probe(t.Context(), s); err != nil {
		t.Errorf("a good one: %v", err)
	}
	f.Fail(func(r *http.Request) testobjects.Fault {
		r.Header.Del("If-None-Match")
		return nil
	})
	if err := Probe(t.Context(), s); !errors.Is(err, ErrUnconditional) {
		t.Errorf("one without conditional writes: %v", err)
	}
	f.Fail(testobjects.Always(testobjects.Refuse))
	if err := Probe(t.Context(), s); err == nil || errors.Is(err, ErrUnconditional) {
		t.Errorf("one that does not answer: %v", err)
	}
	f.Fail(nil)
	if got := keys(t, s, ""); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
	if err := Probe(t.Context(), newFolder(t)); err != nil {
		t.Errorf("a folder: %v", err)
	}
}

func TestMain(m *testing.M) {
	minio.DefaultRetryUnit = 5 * time.Millisecond // the client's own back-off, which begins with 200 ms
	os.Exit(m.Run())
}
