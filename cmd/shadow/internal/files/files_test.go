package files

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func words(w io.Writer) error {
	_, err := io.WriteString(w, "words")
	return err
}

// TestWriteFailures: what cannot be written is named with the reason and the remedy, without the temporary file, of
// which nothing is left.
func TestWriteFailures(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	closed := filepath.Join(dir, "closed")
	if err := os.Mkdir(closed, 0o500); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "missing", "x.svg"): "there is no folder " + filepath.Join(dir, "missing") + " (no such file or directory); make it, or choose another file",
		filepath.Join(file, "x.svg"):           file + " is not a folder (not a directory); choose another file",
		dir:                                    "it is a folder; name a file",
		filepath.Join(closed, "x.svg"):         closed + " cannot be written to (permission denied); choose another file",
	} {
		if strings.HasPrefix(path, closed) && os.Geteuid() == 0 {
			continue // root may write anywhere
		}
		err := Write(nil, path, words)
		if err == nil || err.Error() != "writing "+path+": "+want {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	full := failed("/full/x", fmt.Errorf("more: %w", unix.ENOSPC))
	if want := "writing /full/x: more: no space left on device; make space, or choose another file"; full.Error() != want {
		t.Errorf("%v, want %q", full, want)
	}
	if want, err := errors.New("no words"), Write(nil, file, func(io.Writer) error { return errors.New("no words") }); err == nil || err.Error() != want.Error() {
		t.Errorf("%v, want %v", err, want)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("left: %v, %v", entries, err)
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "old" {
		t.Errorf("the old file holds %q, %v", data, err)
	}
}

// TestWrite: the file appears under its name alone.
func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := Write(nil, path, words); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "words" {
		t.Errorf("%q, %v", data, err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestWriteSpares: what is there and is no file that the user can mean to replace stays.
func TestWriteSpares(t *testing.T) {
	dir := t.TempDir()
	target, link, pipe := filepath.Join(dir, "target"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	if err := errors.Join(os.WriteFile(target, []byte("old"), 0o600), os.Symlink("target", link), unix.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := Write(nil, link, words); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode().Type() != os.ModeSymlink {
		t.Errorf("the link: %v, %v", info, err)
	}
	if b, err := os.ReadFile(target); err != nil || string(b) != "words" {
		t.Errorf("behind the link: %q, %v", b, err)
	}
	read := make(chan string)
	go func() {
		b, _ := os.ReadFile(pipe)
		read <- string(b)
	}()
	if err := Write(nil, pipe, words); err != nil {
		t.Fatal(err)
	}
	if got := <-read; got != "words" {
		t.Errorf("through the pipe: %q", got)
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode().Type() != os.ModeNamedPipe {
		t.Errorf("the pipe: %v, %v", info, err)
	}
	var out strings.Builder
	if err := Write(&out, "-", words); err != nil || out.String() != "words" {
		t.Errorf("standard output: %q, %v", out.String(), err)
	}
}
