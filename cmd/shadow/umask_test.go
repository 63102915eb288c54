package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"stackagent/cmd/shadow/internal/serve"
)

// Whatever the umask and the mode of a store that was there before: what a shadow makes in it is its user's alone.
func TestOpenUmask(t *testing.T) {
	old := unix.Umask(0)
	defer unix.Umask(old)
	dir := filepath.Join(t.TempDir(), "store")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	busURL, page, stop := startServe(t, dir)
	token, err := os.ReadFile(filepath.Join(dir, serve.TokenName))
	if err != nil {
		t.Fatal(err)
	}
	if err := send(busURL, string(token), "h", true); err != nil {
		t.Fatal(err)
	}
	session := ended(t, page, fmt.Sprintf("fake-%d", os.Getpid())).Folder
	seen := 0
	look := func() {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || path == dir {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return nil // a file of the bus that is gone by now
			}
			seen++
			if mode := info.Mode(); mode&0o077 != 0 {
				t.Errorf("%s has the mode %v", path, mode)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	look()
	if code, errs := stop(); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	look()
	if _, err := os.Stat(session); err != nil || seen < 10 {
		t.Errorf("%d files were looked at; the session: %v", seen, err)
	}
}
