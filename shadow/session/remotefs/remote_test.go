package remotefs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"stackagent/internal/sessionfs"
	"stackagent/internal/testobjects"
	"stackagent/shadow/store/objectstore"
)

func put(t *testing.T, s objectstore.Store, key string, content []byte) {
	t.Helper()
	if err := s.Put(t.Context(), key, bytes.NewReader(content), int64(len(content))); err != nil {
		t.Fatal(err)
	}
}

func newStore(t *testing.T) *objectstore.Counting {
	t.Helper()
	s, err := objectstore.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return objectstore.NewCounting(s)
}

func noise(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(b)
	return b
}

func TestFileSystem(t *testing.T) {
	s := newStore(t)
	names := []string{"sessions/date=2026-01-01/service=a/session=x/manifest.json", "sessions/date=2026-01-01/service=a/session=x/sched/record.json", "top"}
	for _, n := range names {
		put(t, s, n, []byte(n))
	}
	if err := fstest.TestFS(New(t.Context(), s), names...); err != nil {
		t.Error(err)
	}
}

// TestRanges: any range is what the object has there, whoever reads it at the same time.
func TestRanges(t *testing.T) {
	s := newStore(t)
	content := noise(5<<20 + 12345)
	put(t, s, "a", content)
	f, err := New(t.Context(), s).Open("a")
	if err != nil {
		t.Fatal(err)
	}
	at := f.(sessionfs.File)
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 2))
			for range 200 {
				off := r.Int64N(int64(len(content)) + 10)
				p := make([]byte, r.IntN(3*unit))
				n, err := at.ReadAt(p, off)
				want := content[min(off, int64(len(content))):]
				if len(want) > len(p) {
					want = want[:len(p)]
				}
				if !bytes.Equal(p[:n], want) || (n < len(p)) != errors.Is(err, io.EOF) {
					t.Errorf("%d bytes at %d: %d, %v", len(p), off, n, err)
					return
				}
			}
		})
	}
	all.Wait()
	if got, err := io.ReadAll(at); err != nil || !bytes.Equal(got, content) {
		t.Errorf("in order: %d bytes, %v", len(got), err)
	}
}

// TestCost: a footer costs one small request, a file read in order few large ones, what was read is not read again.
func TestCost(t *testing.T) {
	s := newStore(t)
	const size = 4 << 20
	put(t, s, "d/a", noise(size))
	fsys := New(t.Context(), s)
	f, err := fsys.Open("d/a")
	if err != nil {
		t.Fatal(err)
	}
	at := f.(sessionfs.File)
	cost := func(what string, gets, read int64, do func()) {
		t.Helper()
		before := s.Cost()
		do()
		after := s.Cost()
		if g, r := after.Gets-before.Gets, after.Read-before.Read; g != gets || r != read || after.Lists != 1 {
			t.Errorf("%s: %d requests, %d bytes, %d lists; want %d, %d, 1", what, g, r, after.Lists, gets, read)
		}
	}
	read := func(off int64, n int) func() {
		return func() {
			if _, err := at.ReadAt(make([]byte, n), off); err != nil {
				t.Error(err)
			}
		}
	}
	cost("the last 8 bytes", 1, unit, read(size-8, 8))
	cost("the footer", 0, 0, read(size-5000, 4992))
	cost("all", 7, size-unit, func() { _, _ = io.Copy(io.Discard, io.NewSectionReader(at, 0, size)) }) // 1, 2, 4, 8, 16, 16, 16 units
	cost("again", 0, 0, read(0, size))
	cost("what is not there", 0, 0, func() {
		if _, err := fsys.Open("d/b"); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	})
	if n := len(fsys.cache.units); n != size/unit {
		t.Errorf("%d units are kept", n)
	}
	put(t, s, "d/large", noise((cacheUnits+100)*unit))
	other := New(t.Context(), s)
	g, err := other.Open("d/large")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, g); err != nil || len(other.cache.units) != cacheUnits || other.cache.used.Len() != cacheUnits {
		t.Errorf("%v; %d units are kept, at most %d should be", err, len(other.cache.units), cacheUnits)
	}
}

// TestNeighbours: reading a session asks nothing about the others beside it.
func TestNeighbours(t *testing.T) {
	s := newStore(t)
	for i := range 50 {
		for _, name := range []string{"manifest.json", "a", "sched/record.json", "sched/deep/x"} {
			put(t, s, fmt.Sprintf("sessions/session=%d/%s", i, name), []byte(name))
		}
	}
	before := s.Cost()
	listed := &listCounter{Counting: s}
	fsys := New(t.Context(), listed)
	const dir = "sessions/session=7"
	for name, want := range map[string]bool{dir: true, dir + "/manifest.json": true, dir + "/sched": true, dir + "/sched/record.json": true,
		dir + "/sched/deep/x": true, dir + "/none": false, dir + "/monitors/record.json": false, dir + "/a/b": false} {
		_, _ = fsys.Stat(dir) // the first thing that is asked
		if _, err := fs.Stat(fsys, name); (err == nil) != want || err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after := s.Cost(); after.Lists-before.Lists != 1 || after.Gets != before.Gets || listed.keys != 4 {
		t.Errorf("%d lists, %d requests, %d keys; want one list of 4 keys", after.Lists-before.Lists, after.Gets-before.Gets, listed.keys)
	}
	if _, err := New(t.Context(), s).Stat("sessions/session=7/a"); err != nil {
		t.Errorf("a file, first: %v", err)
	}
	if _, err := New(t.Context(), s).Stat("sessions/session=99"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing: %v", err)
	}
}

// listCounter counts the keys that are listed.
type listCounter struct {
	*objectstore.Counting
	keys int
}

func (l *listCounter) List(ctx context.Context, prefix string) iter.Seq2[objectstore.Object, error] {
	return func(yield func(objectstore.Object, error) bool) {
		for o, err := range l.Counting.List(ctx, prefix) {
			l.keys++
			if !yield(o, err) {
				return
			}
		}
	}
}

func TestReplaced(t *testing.T) {
	s := newStore(t)
	put(t, s, "a", noise(1000))
	fsys := New(t.Context(), s)
	f, err := fsys.Open("a")
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "a", noise(2000))
	if _, err := io.ReadAll(f); err == nil || !strings.Contains(err.Error(), "replaced") {
		t.Errorf("half an old object and half a new one: %v", err)
	}
	if err := s.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(f); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("deleted: %v", err)
	}
}

// TestUnreachable: a store that fails is not taken for an object that is damaged or missing, and is asked again.
func TestUnreachable(t *testing.T) {
	server := testobjects.Start(t)
	s, err := objectstore.Open(t.Context(), server.Address("p", "&attempts=1"))
	if err != nil {
		t.Fatal(err)
	}
	content := noise(3 * unit)
	put(t, s, "a", content)
	fsys := New(t.Context(), s)
	server.Fail(testobjects.Always(testobjects.Answer(http.StatusServiceUnavailable, "SlowDown")))
	if _, err := fsys.Open("a"); !errors.Is(err, sessionfs.ErrUnreachable) || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open: %v", err)
	}
	server.Fail(nil)
	f, err := fsys.Open("a")
	if err != nil {
		t.Fatal(err)
	}
	server.Fail(testobjects.Always(testobjects.Refuse))
	if _, err := io.ReadAll(f); !errors.Is(err, sessionfs.ErrUnreachable) {
		t.Errorf("read: %v", err)
	}
	server.Fail(nil)
	if got, err := io.ReadAll(f); err != nil || !slices.Equal(got, content) {
		t.Errorf("afterwards: %d bytes, %v", len(got), err)
	}
}

func TestMount(t *testing.T) {
	server := testobjects.Start(t)
	address := server.Address("p", "")
	s, err := objectstore.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "d/a", []byte("content"))
	dir, err := Mount(t.Context(), strings.Replace(address, "/p?", "/p/d?", 1))
	if err != nil || dir != "s3:/fleet/p/d" {
		t.Fatalf("%q, %v", dir, err)
	}
	if b, err := sessionfs.ReadFile(dir + "/a"); err != nil || string(b) != "content" {
		t.Errorf("%q, %v", b, err)
	}
	if again, err := Mount(t.Context(), "s3://fleet/p/"); err != nil || again != "s3:/fleet/p" {
		t.Errorf("without options: %q, %v", again, err)
	}
	if _, err := Mount(t.Context(), "s3://fleet/p?region=other"); err == nil {
		t.Error("one bucket with two sets of options")
	}
	if _, err := sessionfs.Open("s3:/other/a"); err == nil {
		t.Error("a bucket that is not open is read")
	}
	if cost := Cost(); cost.Gets != 1 {
		t.Errorf("cost %+v", cost)
	}
}
