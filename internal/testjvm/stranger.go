package testjvm

import (
	"io"
	"os"
	"testing"
)

// OpenFolder makes a folder that every user may write in, as t.TempDir is closed
// to others; it goes with the test.
func OpenFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "stackagent-test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

// CopyProgram copies a file to where every user may execute it.
func CopyProgram(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
