package attach

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// statOf is the stat line of the process that the test makes up.
func statOf(state string) string {
	return "77 (java) " + state + strings.Repeat(" 1", 18) + " 1000 5 6 7\n"
}

// madeUp is a process in this state, whose sockets and files are in folders of the test.
func madeUp(t *testing.T, state, status string) (p *Process, set func(file, text string)) {
	t.Helper()
	root := process(t, status, someMaps, "java")
	set = func(file, text string) {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	set(filepath.Join(root, "77", "stat"), statOf(state))
	p, err := inspect(root, 77, "libagent.so")
	if err != nil {
		t.Fatal(err)
	}
	p.UID, p.GID, p.Root, p.cgroups = os.Geteuid(), os.Getegid(), t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(p.Root, "tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	return p, set
}

// Who is stopped gets nothing that it could find when it continues, and the error says what to do.
func TestStandstill(t *testing.T) {
	for _, c := range []struct{ state, cgroup, file, text, want string }{
		{state: "T", want: "kill -CONT 77"},
		{state: "t", want: "by a debugger (process 99)"},
		{"S", "0::/pod/java\n", "pod/java/cgroup.events", "populated 1\nfrozen 1\n", "pod/java/cgroup.events"},
		{"D", "4:freezer:/box\n0::/\n", "freezer/box/freezer.state", "FROZEN\n", "freezer/box/freezer.state"},
	} {
		p, set := madeUp(t, c.state, someStatus+"TracerPid:\t99\n")
		if c.cgroup != "" {
			set(p.dir.Path("cgroup"), c.cgroup)
			set(filepath.Join(p.cgroups, c.file), c.text)
		}
		if err := p.wake(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.state, err, c.want)
		}
		if left, _ := os.ReadDir(filepath.Join(p.Root, "tmp")); len(left) > 0 {
			t.Errorf("%s: left %v", c.state, left)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := p.Standstill(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: given up: %v", c.state, err)
		}
		set(p.dir.Path("stat"), statOf("R"))
		if c.file != "" {
			set(filepath.Join(p.cgroups, c.file), "frozen 0\nTHAWED\n")
		}
		if err := p.Standstill(t.Context()); err != nil {
			t.Errorf("%s: running again: %v", c.state, err)
		}
	}
}

// The file that wakes a JVM stays only where it would print its threads without it.
func TestTriggerStays(t *testing.T) {
	for _, c := range []struct {
		state, pending string
		stays          bool
	}{{"T", "0000000000000004", true}, {"T", "0000000000000000", false}, {"S", "0000000000000004", false}} {
		p, set := madeUp(t, c.state, someStatus+"ShdPnd:\t"+c.pending+"\n")
		file := filepath.Join(p.Root, "tmp", ".attach_pid77")
		set(file, "")
		p.removeTrigger(file)
		if _, err := os.Stat(file); (err == nil) != c.stays {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// A request to load the agent is not carried out by a JVM that was stopped before it read it; one to remove it is, and the
// error says so.
func TestStoppedRequest(t *testing.T) {
	for _, late := range []bool{false, true} {
		p, set := madeUp(t, "T", someStatus)
		l, err := net.Listen("unix", p.socket())
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		_, err = p.execute(t.Context(), late, version1, "load", "/a.so", "true", "x")
		if err == nil || Pending(err) != late || !strings.Contains(err.Error(), "kill -CONT") {
			t.Errorf("late %v: %v", late, err)
		}
		set(p.dir.Path("stat"), statOf("S"))
		conn, err := l.Accept() // it continues
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 100)
		n, _ := conn.Read(b)
		conn.Close()
		if whole := strings.Count(string(b[:n]), "\x00") == 5; whole != late {
			t.Errorf("late %v: it reads %q", late, b[:n])
		}
	}
}

// A JVM that runs gets the whole request, and its answer is read.
func TestTakenRequest(t *testing.T) {
	p, _ := madeUp(t, "S", someStatus)
	l, err := net.Listen("unix", p.socket())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		b, read := make([]byte, 100), ""
		for strings.Count(read, "\x00") < 5 {
			n, err := conn.Read(b)
			if err != nil {
				return
			}
			read += string(b[:n])
		}
		_, _ = conn.Write([]byte("0\nreturn code: 0\n"))
	}()
	if text, err := p.execute(t.Context(), false, version1, "load", "/a.so", "true", "x"); err != nil || loadResult(text) != nil {
		t.Errorf("%q, %v", text, err)
	}
}
