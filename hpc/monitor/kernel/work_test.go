package kernel

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// program is testdata/work.c, compiled once.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "work")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "work")
	out, err := exec.Command("cc", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", path, "testdata/work.c").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("cc: %w: %s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := program(); err == nil {
		os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// worker is a run of the program, which waits for a line before its work and after it.
type worker struct {
	t   testing.TB
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startWork(t testing.TB, args ...string) *worker {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return startCommand(t, exec.Command(path, args...))
}

func startCommand(t testing.TB, cmd *exec.Cmd) *worker {
	t.Helper()
	w := &worker{t: t, cmd: cmd}
	var err error
	if w.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	w.out = bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	w.line()
	return w
}

func (w *worker) pid() int { return w.cmd.Process.Pid }

func (w *worker) line() string {
	w.t.Helper()
	s, err := w.out.ReadString('\n')
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// start lets it begin.
func (w *worker) start() { fmt.Fprintln(w.in) }

// counted is what getrusage says of the work, once it is done.
func (w *worker) counted() (minor, major, cpuMicros int64) {
	w.t.Helper()
	if _, err := fmt.Sscan(w.line(), &minor, &major, &cpuMicros); err != nil {
		w.t.Fatal(err)
	}
	return minor, major, cpuMicros
}

// end lets it exit and waits for that.
func (w *worker) end() {
	w.t.Helper()
	w.in.Close()
	if err := w.cmd.Wait(); err != nil {
		w.t.Fatal(err)
	}
}
