package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"stackagent/internal/testjvm"
)

// TestSignalsOfLoading: while the library is loaded no handler of a signal is set,
// so that a JVM that runs already never meets those of the Go runtime.
func TestSignalsOfLoading(t *testing.T) {
	testjvm.Shared(t)
	program := filepath.Join(t.TempDir(), "dlopen")
	if out, err := exec.Command("cc", "-Wall", "-Wextra", "-Werror", "-rdynamic", "-o", program, "testdata/dlopen.c", "-ldl").CombinedOutput(); err != nil {
		t.Fatalf("compile: %v\n%s", err, out)
	}
	if out, err := exec.Command(program, testjvm.Library(t)).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestSignalsOfGoThreads: a profiler's handler may have no stack of its own, and never runs on that of a
// goroutine, as the agent's threads take no signal.
func TestSignalsOfGoThreads(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			o := testjvm.Example(t, "sigterm")
			java := start(t, nil, o.Command(t, jdk, agentFlag(t, "bus=nats://127.0.0.1:1")).Java()...)
			java.waitLine(t, "ready")
			masks := masksOfAgent(t, java.Process.Pid)
			if len(masks) < 10 {
				t.Errorf("the agent has %d threads", len(masks))
			}
			for _, s := range []syscall.Signal{syscall.SIGPROF, syscall.SIGCHLD, syscall.SIGURG, syscall.SIGSTKFLT, syscall.SIGTERM,
				syscall.SIGVTALRM, syscall.SIGALRM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGQUIT, syscall.SIGIO} {
				open := 0
				for _, blocked := range masks {
					open += int(^blocked >> (s - 1) & 1)
				}
				if open > 0 {
					t.Errorf("%v is open on %d of %d threads", s, open, len(masks))
				}
			}
			if err := java.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			java.end(t)
		})
	}
}

// masksOfAgent are the signals that each of the agent's threads in a process blocks.
func masksOfAgent(t *testing.T, pid int) (masks []uint64) {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		status, err := os.ReadFile(file)
		if err != nil || !strings.HasPrefix(string(status), "Name:\tstackagent\n") {
			continue // ended, or another
		}
		_, rest, _ := strings.Cut(string(status), "SigBlk:\t")
		var blocked uint64
		if _, err := fmt.Sscanf(rest, "%x", &blocked); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		masks = append(masks, blocked)
	}
	return masks
}
