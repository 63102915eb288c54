package plans

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

var version = Version{1, 2, 3}

func key(n int) Key { return Key([]byte(fmt.Sprintf("%016d", n))) }

func open(t *testing.T, folder string) *Store {
	t.Helper()
	s, err := Open(folder, version)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func folder(t *testing.T) string { return filepath.Join(t.TempDir(), "plans") }

// saved is a folder with a file of n entries.
func saved(t *testing.T, n int) string {
	dir := folder(t)
	s := open(t, dir)
	for i := range n {
		s.Put(key(i), fmt.Appendf(nil, "content %d", i))
	}
	if err := s.Save(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func file1(t *testing.T, dir string) string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(list) != 1 {
		t.Fatalf("files %v, %v, want one", list, err)
	}
	return list[0]
}

func TestEntriesAreFoundInTheNextRun(t *testing.T) {
	dir := saved(t, 1000)
	s := open(t, dir)
	for i := range 1000 {
		if got := string(s.Get(key(i))); got != fmt.Sprintf("content %d", i) {
			t.Fatalf("entry %d is %q", i, got)
		}
	}
	if s.Get(key(1000)) != nil {
		t.Error("an entry that nobody put was found")
	}
	other, err := Open(dir, Version{9})
	if err != nil || other.Get(key(1)) != nil {
		t.Errorf("another version got %q, %v", other.Get(key(1)), err)
	}
	if info, _ := os.Stat(file1(t, dir)); info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode is %v", info.Mode())
	}
}

func TestTwoJVMsSaveAtOnce(t *testing.T) {
	dir := folder(t)
	var wg sync.WaitGroup
	for jvm := range 8 {
		wg.Go(func() {
			s := open(t, dir)
			for i := range 50 {
				s.Put(key(100*jvm+i), []byte{1, byte(i)})
				for n := 1; n > 0; n, _ = s.Unsaved() {
					if err := s.Save(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	s := open(t, dir)
	for jvm := range 8 {
		for i := range 50 {
			if s.Get(key(100*jvm+i)) == nil {
				t.Fatalf("entry %d of JVM %d is lost", i, jvm)
			}
		}
	}
	file1(t, dir)
}

// Whatever a byte of the file becomes, an entry is the one that was put, or none.
func TestDamagedFile(t *testing.T) {
	dir := saved(t, 3)
	path := file1(t, dir)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string) {
		s := open(t, dir)
		for i := range 3 {
			if got := s.Get(key(i)); got != nil && string(got) != fmt.Sprintf("content %d", i) {
				t.Fatalf("%s: entry %d is %q", what, i, got)
			}
		}
	}
	for i := range whole {
		for _, with := range []byte{0, 0xFF, whole[i] + 1} {
			b := bytes.Clone(whole)
			b[i] = with
			write(t, path, b)
			check(fmt.Sprintf("byte %d is %d", i, with))
		}
		write(t, path, whole[:i])
		check(fmt.Sprintf("%d bytes", i))
	}
	write(t, path, whole[:len(whole)-1])
	s := open(t, dir)
	s.Put(key(7), []byte("new"))
	if err := s.Save(); err != nil {
		t.Fatal(err)
	}
	if s = open(t, dir); string(s.Get(key(7))) != "new" || s.Get(key(0)) == nil {
		t.Error("a damaged file was not replaced by what is left of it and the new entry")
	}
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFilesOfOthersAreNotUsed(t *testing.T) {
	t.Run("folder that others may enter", func(t *testing.T) {
		dir := saved(t, 1)
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir, version); err == nil {
			t.Error("it was used")
		}
	})
	t.Run("link to a folder", func(t *testing.T) {
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(saved(t, 1), link); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(link, version); err == nil {
			t.Error("it was used")
		}
	})
	for what, change := range map[string]func(path string) error{
		"file that others may read": func(path string) error { return os.Chmod(path, 0o644) },
		"link to a file": func(path string) error {
			if err := os.Rename(path, path+".away"); err != nil {
				return err
			}
			return os.Symlink(path+".away", path)
		},
		"folder instead of the file": func(path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.Mkdir(path, 0o700)
		},
		"too large": func(path string) error { return os.Truncate(path, MaxFileBytes+1) },
		"another user's": func(path string) error {
			if os.Geteuid() != 0 {
				return os.Remove(path) // only root can give a file away
			}
			return os.Chown(path, 12345, 12345)
		},
	} {
		t.Run(what, func(t *testing.T) {
			dir := saved(t, 1)
			if err := change(file1(t, dir)); err != nil {
				t.Fatal(err)
			}
			if open(t, dir).Get(key(0)) != nil {
				t.Error("it was used")
			}
		})
	}
}

func TestBounds(t *testing.T) {
	dir := folder(t)
	content := make([]byte, MaxEntryBytes)
	for run := range 8 { // each as much as one JVM may hold unsaved
		s := open(t, dir)
		for i := range 64 {
			s.Put(key(1000*run+i), content)
		}
		s.Put(key(1<<20), make([]byte, MaxEntryBytes+1))
		if err := s.Save(); err != nil {
			t.Fatal(err)
		}
		if open(t, dir).Get(key(1000*run)) == nil {
			t.Fatalf("the newest entries, of run %d, are not in the file", run)
		}
	}
	if info, _ := os.Stat(file1(t, dir)); info.Size() > MaxFileBytes {
		t.Errorf("the file has %d bytes", info.Size())
	}
	if open(t, dir).Get(key(1<<20)) != nil {
		t.Error("an entry beyond the bound was kept")
	}
	for v := range byte(2 * maxFiles) {
		s, err := Open(dir, Version{v})
		if err != nil {
			t.Fatal(err)
		}
		s.Put(key(1), []byte("x"))
		if err := s.Save(); err != nil {
			t.Fatal(err)
		}
	}
	if list, _ := os.ReadDir(dir); len(list) != maxFiles {
		t.Errorf("%d files, want %d", len(list), maxFiles)
	}
}

func TestDelta(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var d Differ
	for range 500 {
		old := make([]byte, r.IntN(3000))
		for i := range old {
			old[i] = byte(r.IntN(1 + r.IntN(256)))
		}
		changed := bytes.Clone(old)
		for range r.IntN(8) {
			at := r.IntN(len(changed) + 1)
			inserted := make([]byte, r.IntN(20))
			changed = append(changed[:at:at], append(inserted, changed[min(at+r.IntN(10), len(changed)):]...)...)
		}
		delta := d.Append(nil, old, changed)
		got, err := Apply(delta, old, len(changed))
		if err != nil || !bytes.Equal(got, changed) {
			t.Fatalf("%v: %d bytes became %d", err, len(old), len(got))
		}
		for n := range len(changed) {
			if _, err := Apply(delta, old, n); err == nil {
				t.Fatalf("a delta of %d bytes gave %d", len(changed), n)
			}
		}
	}
	old, changed := bytes.Repeat([]byte("0123456789abcdef"), 1000), []byte(nil)
	for i := range old {
		old[i] ^= byte(i / 16)
	}
	changed = append(append(append(changed, old[:8000]...), "between"...), old[8000:]...)
	if delta := d.Append(nil, old, changed); len(delta) > 40 {
		t.Errorf("the delta of seven new bytes has %d", len(delta))
	}
}

func FuzzApply(f *testing.F) {
	old := []byte("what was there before, long enough for a window")
	f.Add(new(Differ).Append(nil, old, []byte("what was there before, then long enough for a window")), 53)
	f.Add(binary.AppendUvarint(nil, 1<<63|1), 10)
	f.Fuzz(func(t *testing.T, delta []byte, n int) {
		if n < 0 || n > 1<<20 {
			return
		}
		if text, err := Apply(delta, old, n); err == nil && len(text) != n {
			t.Errorf("%d bytes, want %d", len(text), n)
		}
	})
}
