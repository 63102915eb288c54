package upload

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"stackagent/internal/checksum"
	"stackagent/shadow/analysis/summary/summarytest"
	"stackagent/shadow/store"
	"stackagent/shadow/store/objectstore"
)

// memory is a store whose operations fail as a test wants.
type memory struct {
	mu    sync.Mutex
	files map[string][]byte
	puts  []string
	ops   int
	fail  func(op int) (before, after bool) // before the operation; after it, so that its answer is lost
}

var errStore = errors.New("the store is away")

func newMemory() *memory { return &memory{files: map[string][]byte{}} }

func (m *memory) do(use func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ops++
	before, after := false, false
	if m.fail != nil {
		before, after = m.fail(m.ops)
	}
	if before {
		return errStore
	}
	if err := use(); err != nil || !after {
		return err
	}
	return errStore
}

func (m *memory) Put(_ context.Context, key string, content io.ReadSeeker, size int64) error {
	return m.do(func() error { return m.put(key, content, size) })
}

func (m *memory) put(key string, content io.ReadSeeker, size int64) error {
	data, err := io.ReadAll(content)
	if err == nil && int64(len(data)) != size {
		err = fmt.Errorf("%d bytes, not %d", len(data), size)
	}
	m.files[key] = data
	m.puts = append(m.puts, key)
	return err
}

func (m *memory) PutIfAbsent(_ context.Context, key string, content io.ReadSeeker, size int64) error {
	return m.do(func() error {
		if m.files[key] != nil {
			return objectstore.ErrExists
		}
		return m.put(key, content, size)
	})
}

func (m *memory) GetRange(_ context.Context, key string, offset, n int64) (body io.ReadCloser, o objectstore.Object, err error) {
	err = m.do(func() error {
		data, ok := m.files[key]
		if !ok {
			return objectstore.ErrNotFound
		}
		o = objectstore.Object{Key: key, Bytes: int64(len(data))}
		body = io.NopCloser(bytes.NewReader(data[offset:min(offset+n, o.Bytes)]))
		return nil
	})
	return body, o, err
}

func (m *memory) List(_ context.Context, prefix string) iter.Seq2[objectstore.Object, error] {
	return func(yield func(objectstore.Object, error) bool) {
		var list []objectstore.Object
		err := m.do(func() error {
			for _, key := range slices.Sorted(maps.Keys(m.files)) {
				if strings.HasPrefix(key, prefix) {
					list = append(list, objectstore.Object{Key: key, Bytes: int64(len(m.files[key]))})
				}
			}
			return nil
		})
		for _, o := range list {
			if !yield(o, nil) {
				return
			}
		}
		if err != nil {
			yield(objectstore.Object{}, err)
		}
	}
}

func (m *memory) Delete(_ context.Context, key string) error {
	return m.do(func() error { delete(m.files, key); return nil })
}

func (m *memory) String() string { return "memory" }

// visible checks that each session whose manifest is there is there whole, and counts them.
func (m *memory) visible(t *testing.T) int {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for key, data := range m.files {
		prefix, ok := strings.CutSuffix(key, store.ManifestName)
		if !ok {
			continue
		}
		n++
		x, err := store.ParseManifest(data)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range x.Files {
			if got, err := checksum.Of(bytes.NewReader(m.files[prefix+name])); err != nil || want.Check(got) != nil {
				t.Errorf("%s is visible without its file %s", prefix, name)
			}
		}
	}
	return n
}

// sessionIn makes an ended session in root.
func sessionIn(t *testing.T, root, name string, n int) string {
	t.Helper()
	dir := filepath.Join(root, name)
	if _, err := summarytest.Generate(dir, name, n, true); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, store.ManifestName)); err == nil {
		return dir
	}
	found, err := filepath.Glob(filepath.Join(dir, "*", store.ManifestName))
	if err != nil || len(found) != 1 {
		t.Fatalf("no session in %s (%v)", dir, err)
	}
	if err := os.Rename(filepath.Dir(found[0]), dir+"-x"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.RemoveAll(dir), os.Rename(dir+"-x", dir)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// uploader is one for which all sessions ended long ago.
func uploader(root string, to objectstore.Store, later time.Duration) *Uploader {
	return New(Options{Root: root, Store: to, Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return time.Now().Add(later) },
		Remove: func(_ context.Context, _ string, remove func() error) error { return remove() }})
}

func once(t *testing.T, root string, to objectstore.Store, later time.Duration) error {
	t.Helper()
	u := uploader(root, to, later)
	defer func() {
		if u.lock != nil {
			u.lock.Close()
		}
	}()
	return u.Pass(t.Context())
}

// A session is visible when all of it is there, and goes from the disk only then.
func TestManifestLast(t *testing.T) {
	root, to := t.TempDir(), newMemory()
	dir := sessionIn(t, root, "a", 1000)
	if err := os.WriteFile(filepath.Join(dir, "beside.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := once(t, root, to, 0); err != nil || to.visible(t) != 0 {
		t.Fatalf("visible before it has settled (%v)", err)
	}
	if err := once(t, root, to, 2*DefaultSettle); err != nil {
		t.Fatal(err)
	}
	if last := to.puts[len(to.puts)-1]; to.visible(t) != 1 || !strings.HasSuffix(last, "/"+store.ManifestName) {
		t.Errorf("put last: %s", last)
	}
	if !slices.ContainsFunc(to.puts, func(s string) bool { return strings.HasSuffix(s, "/beside.json") }) {
		t.Error("a file beside the parts is missing")
	}
	puts := len(to.puts)
	if err := once(t, root, to, 2*DefaultSettle); err != nil || len(to.puts) != puts {
		t.Errorf("%v, %d puts for what is there already", err, len(to.puts)-puts)
	}
	if err := once(t, root, to, 2*DefaultKeep); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the copy on the disk is there still (%v)", err)
	}
	if to.visible(t) != 1 {
		t.Error("the session is not in the store")
	}
}

// The store goes away at each operation in turn, before it or before its answer comes; the next uploader goes on.
func TestCutAnywhere(t *testing.T) {
	for _, lost := range []bool{false, true} {
		for at := 1; ; at++ {
			root, to := t.TempDir(), newMemory()
			sessionIn(t, root, "a", 100)
			to.fail = func(op int) (bool, bool) { return op > at || op == at && !lost, op == at && lost }
			failed := once(t, root, to, 2*DefaultSettle)
			whole := to.visible(t)
			to.fail = nil
			if err := once(t, root, to, 2*DefaultSettle); err != nil {
				t.Fatalf("cut at %d: %v", at, err)
			}
			if n := to.visible(t); n != 1 {
				t.Fatalf("cut at %d: %d sessions are visible, want 1", at, n)
			}
			if failed == nil {
				if whole != 1 {
					t.Error("no failure, and no session")
				}
				break
			}
		}
	}
}

// Files that have gone from the store are put again before the copy on the disk goes.
func TestVerify(t *testing.T) {
	root, to := t.TempDir(), newMemory()
	dir := sessionIn(t, root, "a", 1000)
	if err := once(t, root, to, 2*DefaultSettle); err != nil {
		t.Fatal(err)
	}
	for key := range to.files {
		if strings.Contains(key, "executions") {
			delete(to.files, key)
		}
	}
	if err := once(t, root, to, 2*DefaultKeep); err == nil {
		t.Error("nothing is said of what has gone")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Fatal("the only copy is gone")
	}
	if err := once(t, root, to, 2*DefaultKeep); err != nil || to.visible(t) != 1 {
		t.Error(err)
	}
}

// Sessions of one name from two disks have two names in the store, also when the first has gone from its disk.
func TestNamesakes(t *testing.T) {
	to := newMemory()
	for range 2 {
		root := t.TempDir()
		sessionIn(t, root, "a", 10)
		if err := once(t, root, to, 2*DefaultSettle); err != nil {
			t.Fatal(err)
		}
	}
	if n := to.visible(t); n != 2 {
		t.Errorf("%d sessions, want 2", n)
	}
}

// What comes late changes the manifest: the session is put again, and does not go from the disk before.
func TestLate(t *testing.T) {
	root, to := t.TempDir(), newMemory()
	dir := sessionIn(t, root, "a", 10)
	if err := once(t, root, to, 2*DefaultSettle); err != nil {
		t.Fatal(err)
	}
	w, err := store.OpenWriter(root, "a", "a")
	if err != nil {
		t.Fatal(err)
	}
	w.Note("late")
	if err := w.CommitManifest(); err != nil {
		t.Fatal(err)
	}
	if err := once(t, root, to, 2*DefaultKeep); err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(filepath.Join(dir, store.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	key := to.puts[len(to.puts)-1]
	if !bytes.Equal(to.files[key], manifest) {
		t.Error("the store has the manifest of before")
	}
}

// A file that was damaged on the disk does not get into the store.
func TestDamaged(t *testing.T) {
	root, to := t.TempDir(), newMemory()
	dir := sessionIn(t, root, "a", 1000)
	found, err := filepath.Glob(filepath.Join(dir, "executions-*"))
	if err != nil || len(found) == 0 {
		t.Fatal(err)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(found[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := once(t, root, to, 2*DefaultSettle); !errors.Is(err, checksum.ErrMismatch) || to.visible(t) != 0 {
		t.Errorf("%v; visible: %d", err, to.visible(t))
	}
}

// A session that is deleted goes from both places, and from the disk only when it is gone from the store.
func TestDelete(t *testing.T) {
	root, to := t.TempDir(), newMemory()
	sessionIn(t, root, "a", 10)
	u := uploader(root, to, 2*DefaultSettle)
	if err := u.Pass(t.Context()); err != nil || to.visible(t) != 1 {
		t.Fatal(err)
	}
	removed := 0
	remove := func(fromStore func() error) error {
		err := fromStore()
		if err == nil {
			removed++
		}
		return err
	}
	to.fail = func(int) (bool, bool) { return true, false }
	if err := u.Delete(t.Context(), "a", remove); err == nil || removed != 0 {
		t.Errorf("%v, %d removed", err, removed)
	}
	to.fail = nil
	if err := u.Delete(t.Context(), "a", remove); err != nil || removed != 1 {
		t.Errorf("%v, %d removed", err, removed)
	}
	for key := range to.files {
		if strings.HasPrefix(key, objectstore.SessionsPrefix) {
			t.Errorf("left: %s", key)
		}
	}
}

// A session that the store has lost is put again; if another one has its name by then, under another.
func TestSessionAgain(t *testing.T) {
	root, to := t.TempDir(), newMemory()
	sessionIn(t, root, "a", 10)
	session := func(root string) bool {
		t.Helper()
		put, err := Session(t.Context(), Options{Root: root, Store: to, Logger: slog.New(slog.DiscardHandler)}, "a")
		if err != nil {
			t.Fatal(err)
		}
		return put
	}
	if !session(root) || session(root) || to.visible(t) != 1 {
		t.Fatal("it is not put once")
	}
	clear(to.files)
	if !session(root) || session(root) || to.visible(t) != 1 {
		t.Error("it is not put again")
	}
	clear(to.files)
	other := t.TempDir()
	sessionIn(t, other, "a", 20)
	if !session(other) || !session(root) || session(other) || session(root) || to.visible(t) != 2 {
		t.Error("two sessions have one name")
	}
	for key := range to.files {
		if strings.HasSuffix(key, "/"+claimName) {
			continue
		}
		delete(to.files, key)
	}
	if !session(root) || !session(other) || session(other) || session(root) || to.visible(t) != 2 {
		t.Error("two sessions whose claims are left have one name")
	}
}
