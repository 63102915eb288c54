package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"stackagent/internal/sessionfs"
)

// Links and pipes laid into a store must not lead what is written, or what is
// read, elsewhere, nor stop anybody.
func TestNoLinks(t *testing.T) {
	root, elsewhere := t.TempDir(), t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(root, "linked")); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenWriter(root, "linked", "s"); err == nil || !strings.Contains(err.Error(), "no folder of its own") {
		t.Errorf("a session folder that is a link: %v", err)
	}
	if entries, _ := os.ReadDir(elsewhere); len(entries) > 0 {
		t.Errorf("written elsewhere: %v", entries)
	}
	victim := filepath.Join(elsewhere, "victim")
	if err := os.WriteFile(victim, []byte("as it was"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := openWriter(t, root)
	for _, name := range []string{ManifestName, PartName(Executions, 1, 1)} {
		if err := os.Symlink(victim, filepath.Join(w.Dir(), tmpPrefix+name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(sample(1, 1, 3)); err == nil {
		t.Error("written through a link")
	}
	if b, err := os.ReadFile(victim); err != nil || string(b) != "as it was" {
		t.Errorf("the file elsewhere: %q, %v", b, err)
	}
}

func TestPipesDoNotStopAReader(t *testing.T) {
	root := t.TempDir()
	w := openWriter(t, root)
	commit(t, w, sample(1, 1, 3))
	for _, kind := range []string{"pipe", "link", "folder"} {
		for _, name := range []string{ManifestName, PartName(Executions, 2, 2)} {
			path := filepath.Join(w.Dir(), name)
			aside := path + ".aside"
			if err := os.Rename(path, aside); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			var err error
			switch kind {
			case "pipe":
				err = syscall.Mkfifo(path, 0o600)
			case "link":
				err = os.Symlink("/dev/zero", path)
			default:
				err = os.Mkdir(path, 0o700)
			}
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() {
				_, err := ReadManifest(w.Dir())
				if folder, ferr := OpenFolder(w.Dir()); ferr == nil {
					_, ferr = folder.ReadExecutions(func(*ExecutionColumns) error { return nil })
					err = errors.Join(err, ferr)
				}
				done <- err
			}()
			select {
			case err := <-done:
				if name == ManifestName && !errors.Is(err, sessionfs.ErrNotRegular) {
					t.Errorf("%s %s: %v", kind, name, err)
				}
			case <-time.After(time.Minute):
				t.Fatalf("%s %s: the reader waits for ever", kind, name)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if name == ManifestName {
				if err := os.Rename(aside, path); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// What is stored is for its owner only.
func TestModes(t *testing.T) {
	root := t.TempDir()
	old := syscall.Umask(0)
	w := openWriter(t, root)
	commit(t, w, sample(1, 1, 3))
	syscall.Umask(old)
	err := filepath.Walk(w.Dir(), func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
