package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// treeOf lists the files below dir.
func treeOf(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && path != dir {
			rel, _ := filepath.Rel(dir, path)
			all = append(all, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestDelete(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	write := func(name, content string) {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range []string{"good", "kept"} {
		w, err := OpenWriter(dir, folder, folder)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	write("good/sched/record.json", "{}")
	if err := os.WriteFile(filepath.Join(outside, "precious"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Symlink(outside, filepath.Join(dir, "good", "link")), os.Symlink(filepath.Join(dir, "kept"), filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	write("damaged/manifest.json", `{"format":"stackagent session","version":3`)
	write("damaged/executions-1-2.parquet", "x")
	write("site/manifest.json", `{"name":"a web page"}`)
	write("half/manifest.json", `{"name":`)
	write("notes/todo.txt", "x")
	write("file", "x")
	write(".deleted-0123456789abcdef/manifest.json", "x")
	if err := os.MkdirAll(filepath.Join(dir, "pipe", ManifestName), 0o700); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	before := treeOf(t, dir)
	for _, folder := range []string{"site", "half", "notes", "file", "link", "pipe", "nothing", "", ".", "..", "../x", "good/sched", "/etc", ".deleted-0123456789abcdef"} {
		if err := Delete(root, folder); err == nil {
			t.Errorf("%q is deleted", folder)
		}
	}
	if got := treeOf(t, dir); !slices.Equal(got, before) {
		t.Fatalf("left %q of %q", got, before)
	}
	folder, err := OpenFolder(filepath.Join(dir, "good"))
	if err != nil {
		t.Fatal(err)
	}
	if err := Delete(root, "good"); !errors.Is(err, ErrInUse) {
		t.Errorf("while somebody reads it: %v", err)
	}
	folder.Close()
	for _, folder := range []string{"good", "damaged"} {
		if err := Delete(root, folder); err != nil {
			t.Errorf("%s: %v", folder, err)
		}
	}
	if err := Sweep(root); err != nil {
		t.Error(err)
	}
	want := []string{"file", "half", "half/manifest.json", "kept", "kept/manifest.json", "link", "notes", "notes/todo.txt", "pipe", "pipe/manifest.json", "site", "site/manifest.json"}
	if got := treeOf(t, dir); !slices.Equal(got, want) {
		t.Errorf("left %q, want %q", got, want)
	}
	if got := treeOf(t, outside); len(got) != 1 {
		t.Errorf("a link led out of the store: %q is left there", got)
	}
}
