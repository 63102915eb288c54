package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"stackagent/internal/spool"
)

// deliver keeps a file of which a batch is damaged, and exits with 1.
func TestDeliverKeepsDamaged(t *testing.T) {
	dir := t.TempDir()
	f, err := spool.Create(dir, spool.Meta{Session: "s", Process: "1-a", Bus: "nats://127.0.0.1:1"}, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(3) {
		if _, err := f.Append(i+1, fmt.Appendf(nil, "this is batch %d", i+1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	data[bytes.LastIndex(data, []byte("batch 2"))] ^= 4
	if err := os.WriteFile(f.Path(), data, 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, errs := shadow(t, nil, "deliver", "--store", filepath.Join(t.TempDir(), "store"), f.Path())
	kept := f.Path() + spool.KeptSuffix
	if code != 1 || !strings.Contains(errs, "was delivered in part: 1 batch is damaged") || !strings.Contains(errs, kept) {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if got, err := os.ReadFile(kept); err != nil || !bytes.Equal(got, data) {
		t.Errorf("the file is not kept as it was: %v", err)
	}
	if !strings.Contains(errs, "rejected 2 messages") && !strings.Contains(errs, "rejected 1 message,") {
		t.Errorf("what the shadow rejected is not reported: %s", errs)
	}
}

// A pipe where a trace should be is an error, at once.
func TestImportOfAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "tasks.csv")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan string, 1)
	go func() {
		code, _, errs := shadow(t, nil, "import", "tgp", pipe, "-o", filepath.Join(t.TempDir(), "s"))
		done <- fmt.Sprintf("%d: %s", code, errs)
	}()
	select {
	case got := <-done:
		if !strings.HasPrefix(got, "1: ") || !strings.Contains(got, "is not a regular file") {
			t.Error(got)
		}
	case <-time.After(time.Minute):
		t.Error("import waits for who writes into the pipe")
	}
}

// A report in a session's folder is as private as the session; elsewhere it has
// the permissions of the user's umask.
func TestReportIsPrivate(t *testing.T) {
	old := unix.Umask(0o022)
	defer unix.Umask(old)
	dir := makeSession(t, t.TempDir())
	elsewhere := filepath.Join(t.TempDir(), "r.html")
	for path, want := range map[string]os.FileMode{filepath.Join(dir, "report.html"): 0o600, elsewhere: 0o644} {
		if code, _, errs := shadow(t, nil, "report", dir, "-o", path); code != 0 {
			t.Fatalf("exit code %d: %s", code, errs)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
}
