// Package objectstoretest is what every object store has to promise, as tests.
package objectstoretest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"stackagent/shadow/store/objectstore"
)

// largeBytes is the size of an object that is uploaded in several parts.
const largeBytes = 40 << 20

// Run tests the stores that open gives, each of them empty.
func Run(t *testing.T, open func(t *testing.T) objectstore.Store) {
	t.Run("ranges", func(t *testing.T) { testRanges(t, open(t)) })
	t.Run("list", func(t *testing.T) { testList(t, open(t)) })
	t.Run("absent", func(t *testing.T) { testAbsent(t, open(t)) })
	t.Run("race", func(t *testing.T) { testRace(t, open(t)) })
	t.Run("hostile", func(t *testing.T) { testHostile(t, open(t)) })
	t.Run("large", func(t *testing.T) { testLarge(t, open(t)) })
	t.Run("ended", func(t *testing.T) { testEnded(t, open(t)) })
}

func put(t *testing.T, s objectstore.Store, key, content string) {
	t.Helper()
	if err := s.Put(t.Context(), key, strings.NewReader(content), int64(len(content))); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, s objectstore.Store, key string, offset, n int64) (string, objectstore.Object) {
	t.Helper()
	body, o, err := s.GetRange(t.Context(), key, offset, n)
	if err != nil {
		t.Fatalf("%s from %d: %v", key, offset, err)
	}
	b, err := io.ReadAll(body)
	if err := errors.Join(err, body.Close()); err != nil {
		t.Fatalf("%s from %d: %v", key, offset, err)
	}
	return string(b), o
}

func keys(t *testing.T, s objectstore.Store, prefix string) []string {
	t.Helper()
	var got []string
	for o, err := range s.List(t.Context(), prefix) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, o.Key)
	}
	return got
}

func testRanges(t *testing.T, s objectstore.Store) {
	put(t, s, "a/b", "0123456789")
	put(t, s, "empty", "")
	for _, c := range []struct {
		key       string
		offset, n int64
		want      string
		whole     int64
	}{
		{"a/b", 0, -1, "0123456789", 10}, {"a/b", 3, 4, "3456", 10}, {"a/b", 7, -1, "789", 10}, {"a/b", 8, 100, "89", 10},
		{"a/b", 0, 0, "", 10}, {"a/b", 10, 5, "", 10}, {"a/b", 99, -1, "", 10}, {"a/b", 0, 1, "0", 10},
		{"empty", 0, -1, "", 0}, {"empty", 0, 7, "", 0},
	} {
		got, o := get(t, s, c.key, c.offset, c.n)
		if got != c.want || o.Bytes != c.whole || o.Key != c.key || o.Modified.IsZero() {
			t.Errorf("%s from %d, %d bytes: %q of %+v, want %q", c.key, c.offset, c.n, got, o, c.want)
		}
	}
	put(t, s, "a/b", "new")
	if got, _ := get(t, s, "a/b", 0, -1); got != "new" {
		t.Errorf("replaced: %q", got)
	}
	for _, key := range []string{"a", "a/c", "none", "a/b/c"} {
		if _, _, err := s.GetRange(t.Context(), key, 0, -1); !errors.Is(err, objectstore.ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", key, err)
		}
		if err := s.Delete(t.Context(), key); err != nil {
			t.Errorf("delete %s: %v", key, err)
		}
	}
	if err := s.Delete(t.Context(), "a/b"); err != nil {
		t.Fatal(err)
	}
	if got := keys(t, s, ""); !slices.Equal(got, []string{"empty"}) {
		t.Errorf("after deleting: %v", got)
	}
}

func testList(t *testing.T, s objectstore.Store) {
	want := []string{"s/date=2026-01-01/a", "s/date=2026-01-01.x", "s/date=2026-01-01/b/c", "s/date=2026-01-02/a", "t", "s/é ü+%2F&"}
	for _, key := range want {
		put(t, s, key, key)
	}
	slices.Sort(want) // by bytes
	if got := keys(t, s, ""); !slices.Equal(got, want) {
		t.Errorf("all: %q, want %q", got, want)
	}
	for _, prefix := range []string{"s", "s/", "s/date=2026-01-01", "s/date=2026-01-01/", "s/date=2026-01-01/b", "x", "s/date=2026-01-0", "t/"} {
		var some []string
		for _, key := range want {
			if strings.HasPrefix(key, prefix) {
				some = append(some, key)
			}
		}
		if got := keys(t, s, prefix); !slices.Equal(got, some) {
			t.Errorf("prefix %s: %q, want %q", prefix, got, some)
		}
	}
	for o, err := range s.List(t.Context(), "") { // a caller may stop
		if err != nil || o.Bytes != int64(len(o.Key)) {
			t.Errorf("%+v: %v", o, err)
		}
		break
	}
}

func testAbsent(t *testing.T, s objectstore.Store) {
	if err := s.PutIfAbsent(t.Context(), "m/1", strings.NewReader("first"), 5); err != nil {
		t.Fatal(err)
	}
	if err := s.PutIfAbsent(t.Context(), "m/1", strings.NewReader("second"), 6); !errors.Is(err, objectstore.ErrExists) {
		t.Errorf("second: %v, want ErrExists", err)
	}
	if got, _ := get(t, s, "m/1", 0, -1); got != "first" {
		t.Errorf("the second writer changed it: %q", got)
	}
	if err := s.PutIfAbsent(t.Context(), "m/2", strings.NewReader("short"), 6); err == nil {
		t.Error("content shorter than its size is accepted")
	}
	if got := keys(t, s, "m/"); !slices.Equal(got, []string{"m/1"}) {
		t.Errorf("visible: %v", got)
	}
}

func testRace(t *testing.T, s objectstore.Store) {
	var won atomic.Int32
	var winner atomic.Value
	var all sync.WaitGroup
	for w := range 16 {
		all.Go(func() {
			content := fmt.Sprintf("writer %02d", w)
			switch err := s.PutIfAbsent(context.Background(), "m/1", strings.NewReader(content), int64(len(content))); {
			case err == nil:
				won.Add(1)
				winner.Store(content)
			case !errors.Is(err, objectstore.ErrExists):
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got, _ := get(t, s, "m/1", 0, -1); won.Load() != 1 || got != winner.Load() {
		t.Errorf("%d writers won, content %q, winner %v", won.Load(), got, winner.Load())
	}
}

func testHostile(t *testing.T, s objectstore.Store) {
	for _, key := range []string{"", "/", "/etc/passwd", "..", "../x", "a/../../x", "a//b", "a/", "./a", "a/.", "a\x00b", "a\nb", `a\b`, "a/\xff",
		strings.Repeat("a", 256), strings.Repeat("a/", 1024), ".uploads/x"} {
		_, _, err := s.GetRange(t.Context(), key, 0, -1)
		err1 := s.Put(t.Context(), key, strings.NewReader("x"), 1)
		err2 := s.PutIfAbsent(t.Context(), key, strings.NewReader("x"), 1)
		err3 := s.Delete(t.Context(), key)
		if err == nil || errors.Is(err, objectstore.ErrNotFound) || err1 == nil || err2 == nil || err3 == nil {
			t.Errorf("%.20q: get %v, put %v, put if absent %v, delete %v: want a refusal of each", key, err, err1, err2, err3)
		}
	}
	for _, prefix := range []string{"..", "/", "a//"} {
		for _, err := range s.List(t.Context(), prefix) {
			if err == nil {
				t.Errorf("%q is listed", prefix)
			}
		}
	}
	if _, _, err := s.GetRange(t.Context(), "a", -1, 1); err == nil {
		t.Error("a negative offset is accepted")
	}
}

func testLarge(t *testing.T, s objectstore.Store) {
	content := bytes.Repeat([]byte("0123456789abcdef"), largeBytes/16)
	if err := s.Put(t.Context(), "large", bytes.NewReader(content), int64(len(content))); err != nil {
		t.Fatal(err)
	}
	if got, o := get(t, s, "large", 0, -1); got != string(content) || o.Bytes != int64(len(content)) {
		t.Errorf("large object: %d bytes of %+v", len(got), o)
	}
	if got, _ := get(t, s, "large", 16<<20-3, 6); got != "def012" {
		t.Errorf("across parts: %q", got)
	}
}

func testEnded(t *testing.T, s objectstore.Store) {
	put(t, s, "a", "x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Put(ctx, "b", strings.NewReader("x"), 1); !errors.Is(err, context.Canceled) {
		t.Errorf("put: %v", err)
	}
	for _, err := range s.List(ctx, "") {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("list: %v", err)
		}
	}
	if got := keys(t, s, ""); !slices.Equal(got, []string{"a"}) {
		t.Errorf("visible: %v", got)
	}
}

// Bytes that Use reads and writes.
const (
	UseRead    = 10 + 7
	UseWritten = largeBytes + 1100*7
)

// Use does some of everything with a store, so that it can be counted.
func Use(t *testing.T, s objectstore.Store) {
	t.Helper()
	content := make([]byte, largeBytes)
	if err := s.Put(t.Context(), "large", bytes.NewReader(content), largeBytes); err != nil {
		t.Fatal(err)
	}
	for i := range 1100 { // more than a page of a listing
		if err := s.PutIfAbsent(t.Context(), fmt.Sprintf("small/%04d", i), strings.NewReader("content"), 7); err != nil {
			t.Fatal(err)
		}
	}
	get(t, s, "large", 1000, 10)
	get(t, s, "small/0000", 0, -1)
	if got := keys(t, s, "small/"); len(got) != 1100 {
		t.Errorf("%d keys", len(got))
	}
	if err := s.Delete(t.Context(), "large"); err != nil {
		t.Fatal(err)
	}
}

// Copy puts the files of a folder below a key.
func Copy(t *testing.T, s objectstore.Store, dir, key string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		return s.Put(t.Context(), path.Join(key, filepath.ToSlash(rel)), bytes.NewReader(content), int64(len(content)))
	})
	if err != nil {
		t.Fatal(err)
	}
}
