package catalog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stackagent/shadow/store"
)

func keep(t testing.TB, dir, folder string, started int64) {
	t.Helper()
	w, err := store.OpenWriter(dir, folder, "job")
	if err != nil {
		t.Fatal(err)
	}
	w.Manifest.WallUnixNs, w.Manifest.Ended = started*int64(time.Second), store.EndedExit
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func foldersOf(t *testing.T, c *Catalog) string {
	t.Helper()
	c.Look()
	list, err := c.List()
	if err != nil {
		t.Fatal(err)
	}
	all := make([]string, len(list))
	for i, e := range list {
		all[i] = e.Folder
	}
	return strings.Join(all, " ")
}

// What changes in the store is seen; what does not is not read again.
func TestList(t *testing.T) {
	dir := t.TempDir()
	keep(t, dir, "a", 1)
	keep(t, dir, "b", 2)
	c := New(dir)
	if got := foldersOf(t, c); got != "b a" {
		t.Fatalf("sessions %q", got)
	}
	keep(t, dir, "c", 3)
	if list, err := c.List(); err != nil || len(list) != 2 {
		t.Errorf("before the next look: %d sessions, %v", len(list), err)
	}
	if e := c.known["a"].entry; e.Session != "job" || e.Ended != store.EndedExit || e.Bytes != 0 {
		t.Errorf("found %+v", e)
	}
	// A manifest of the same size and time is not read again: it is what it was.
	path := filepath.Join(dir, "a", store.ManifestName)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(path, []byte(strings.Repeat("x", int(info.Size()))), 0o600), os.Chtimes(path, info.ModTime(), info.ModTime())); err != nil {
		t.Fatal(err)
	}
	if got := foldersOf(t, c); got != "c b a" || c.known["a"].entry.Damaged != "" {
		t.Errorf("sessions %q, a is %+v", got, c.known["a"].entry)
	}
	if err := os.Chtimes(path, info.ModTime().Add(time.Second), info.ModTime().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if got := foldersOf(t, c); got != "c b" { // neither its manifest nor another file is a session's
		t.Errorf("sessions %q", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "b", store.ManifestName), []byte(`{"format":"stackagent session","version":99}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "c")); err != nil {
		t.Fatal(err)
	}
	if got := foldersOf(t, c); got != "b" || !strings.Contains(c.known["b"].entry.Damaged, "newer version") {
		t.Errorf("sessions %q, b is %+v", got, c.known["b"].entry)
	}
	if len(c.known) != 2 { // a is remembered as none
		t.Errorf("%d folders are remembered", len(c.known))
	}
	if _, err := New(filepath.Join(dir, "nothing")).List(); err == nil {
		t.Error("a store that is not there is listed")
	}
}

func TestLabel(t *testing.T) {
	dir := t.TempDir()
	keep(t, dir, "a", 1)
	if err := os.MkdirAll(filepath.Join(dir, "notes"), 0o700); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	c := New(dir)
	foldersOf(t, c)
	want := Label{Name: "before <b>", Note: "it's \"slow\" \u00e9"}
	if err := SetLabel(root, "a", want); err != nil {
		t.Fatal(err)
	}
	foldersOf(t, c)
	if e := c.known["a"].entry; e.Label != want || e.Session != "job" {
		t.Errorf("label %+v", e.Label)
	}
	for _, bad := range []Label{{Name: strings.Repeat("x", MaxName+1)}, {Note: strings.Repeat("x", MaxNote+1)}, {Name: "a\x1bb"}, {Note: "\u202e"}, {Name: "\xff"}, {Name: "a\nb"}} {
		if err := SetLabel(root, "a", bad); !errors.Is(err, ErrLabel) {
			t.Errorf("%.20q: %v", bad, err)
		}
	}
	if err := SetLabel(root, "notes", want); !errors.Is(err, store.ErrNoSession) {
		t.Errorf("a folder that is no session: %v", err)
	}
	if got := ReadLabel(filepath.Join(dir, "a")); got != want {
		t.Errorf("after refusals: %+v", got)
	}
	for _, content := range []string{"", "x", `{"name":"a\u001bb"}`, `{"name":"` + strings.Repeat("x", maxLabel) + `"}`, "[]"} {
		if err := os.WriteFile(filepath.Join(dir, "a", LabelName), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := ReadLabel(filepath.Join(dir, "a")); got != (Label{}) {
			t.Errorf("%.30q: %+v", content, got)
		}
	}
	for range 2 {
		if err := SetLabel(root, "a", Label{}); err != nil {
			t.Errorf("no label: %v", err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "a", "*label*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func FuzzCursor(f *testing.F) {
	for _, s := range []string{"", "12~a", "~", "-5~", "9223372036854775807~x~y", "x~y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ParseCursor(s)
		if err != nil || s == "" {
			return
		}
		if again, err := ParseCursor(c.String()); err != nil || !again.started.Equal(c.started) || again.folder != c.folder {
			t.Errorf("%q: %v, then %v (%v)", s, c, again, err)
		}
		if c.Before(c.started, c.folder) {
			t.Errorf("%q stands before itself", s)
		}
	})
}

func BenchmarkThousands(b *testing.B) {
	dir := b.TempDir()
	for i := range 2000 {
		keep(b, dir, fmt.Sprint("s", i), int64(i))
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			_, _ = New(dir).List()
		}
	})
	b.Run("again", func(b *testing.B) {
		c := New(dir)
		for b.Loop() {
			c.Look()
			_, _ = c.List()
		}
	})
}
