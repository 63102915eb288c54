package suite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// prepared is a program whose script counts how often it runs.
func prepared(t *testing.T, script string) Program {
	t.Helper()
	t.Setenv(cacheVariable, t.TempDir())
	p := Program{Name: "a", Dir: t.TempDir(), Prepare: []string{"./make.sh", "x y", "{name}"}}
	write(t, filepath.Join(p.Dir, "make.sh"), "#!/bin/sh\n"+script, 0o700)
	return p
}

func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

func TestReady(t *testing.T) {
	p := prepared(t, `echo "$PWD|$SUITE_NAME|$SUITE_FOLDER|$1|$2" >>"$SUITE_FOLDER/runs"`)
	runs := func(want int) string {
		t.Helper()
		folder, err := p.Ready(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(folder, "runs"))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "\n"); n != want {
			t.Errorf("prepared %d times, want %d", n, want)
		}
		line, _, _ := strings.Cut(string(text), "\n")
		if want := strings.Join([]string{p.Dir, "a", folder, "x y", "a"}, "|"); line != want {
			t.Errorf("the script saw %q, want %q", line, want)
		}
		return folder
	}
	runs(1)
	runs(1) // nothing has changed
	write(t, filepath.Join(p.Dir, "a", "Main.java"), "class Main {}", 0o600)
	runs(2)
	write(t, filepath.Join(p.Dir, "a", "Main.java"), "class Main { }", 0o600)
	runs(3)
	write(t, filepath.Join(p.Dir, "common", "lib.sh"), "", 0o600)
	runs(4)
	write(t, filepath.Join(p.Dir, "b", "Main.java"), "", 0o600) // of another program
	runs(4)
	p.Prepare = append(p.Prepare, "z")
	runs(5)
	script := filepath.Join(p.Dir, "make.sh")
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	write(t, script, string(text)+"\n# changed\n", 0o700)
	runs(6)
	p.Prepare[0] = "scripts/make.sh"
	write(t, filepath.Join(p.Dir, "scripts", "make.sh"), string(text), 0o700)
	runs(7)
	write(t, filepath.Join(p.Dir, "scripts", "beside.sh"), "", 0o600)
	runs(8)
}

func TestReadyFails(t *testing.T) {
	p := prepared(t, `echo progress; [ -e ok ] || { echo "no network" >&2; exit 3; }`)
	for range 2 { // a failure is not kept
		if _, err := p.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "preparing a: exit status 3\nprogress\nno network") {
			t.Errorf("got %v", err)
		}
	}
	write(t, filepath.Join(p.Dir, "ok"), "", 0o600)
	if _, err := p.Ready(t.Context()); err != nil {
		t.Errorf("after the cause is gone: %v", err)
	}
}

// Two that prepare the same program take turns, and one that waits can be stopped.
func TestReadyLocked(t *testing.T) {
	p := prepared(t, "true")
	folder, err := p.Folder()
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, lockFile), "", 0o600)
	unlock, err := lock(t.Context(), filepath.Join(folder, lockFile))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := p.Ready(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want that it waits until its time is over", err)
	}
	unlock()
	if _, err := p.Ready(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestReadyStops(t *testing.T) {
	p := prepared(t, "sleep 60 & wait")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if _, err := p.Ready(ctx); err == nil || time.Since(begin) > 20*time.Second {
		t.Errorf("got %v after %v", err, time.Since(begin))
	}
}
