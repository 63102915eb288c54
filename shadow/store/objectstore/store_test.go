package objectstore

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/testobjects"
)

// newFake is a store in a server in this process.
func newFake(t *testing.T, options string) (*S3, *testobjects.Server) {
	t.Helper()
	server := testobjects.Start(t)
	s, err := Open(t.Context(), server.Address("team/a", options))
	if err != nil {
		t.Fatal(err)
	}
	return s.(*S3), server
}

func newFolder(t *testing.T) *Folder {
	t.Helper()
	f, err := OpenFolder(filepath.Join(t.TempDir(), "store"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func put(t *testing.T, s Store, key, content string) {
	t.Helper()
	if err := s.Put(t.Context(), key, strings.NewReader(content), int64(len(content))); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, s Store, key string, offset, n int64) (string, Object) {
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

func keys(t *testing.T, s Store, prefix string) []string {
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

// TestFolderLinks: no link leads out of a folder, and what is no file is no object.
func TestFolderLinks(t *testing.T) {
	s := newFolder(t)
	outside := t.TempDir()
	err := errors.Join(os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600),
		os.Symlink(outside, filepath.Join(s.String(), "out")), os.Symlink("inside", filepath.Join(s.String(), "link")))
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "inside", "x")
	for _, key := range []string{"out/secret", "link"} {
		if body, _, err := s.GetRange(t.Context(), key, 0, -1); err == nil {
			_ = body.Close()
			t.Errorf("%s is read through a link", key)
		}
	}
	if err := s.Put(t.Context(), "out/new", strings.NewReader("x"), 1); err == nil {
		t.Error("written through a link")
	}
	if got := keys(t, s, ""); !slices.Equal(got, []string{"inside"}) {
		t.Errorf("listed: %v", got)
	}
}

func FuzzKey(f *testing.F) {
	for _, key := range []string{"a/b", "../x", "a//b", ".uploads/x", "a/.."} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		if CheckKey(key) == nil && (!filepath.IsLocal(key) || filepath.Clean(key) != key) {
			t.Errorf("%q is accepted", key)
		}
	})
}
