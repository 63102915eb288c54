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
	program := filepath.Join(t.TempDir(), "dlopen")
	if out, err := exec.Command("cc", "-Wall", "-Wextra", "-Werror", "-rdynamic", "-o", program, "testdata/dlopen.c", "-ldl").CombinedOutput(); err != nil {
		t.Fatalf("compile: %v\n%s", err, out)
	}
	if out, err := exec.Command(program, testjvm.Library(t)).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestSignalsOfGoThreads: a profiler's handler may have no stack of its own, and never runs on that of a
// goroutine. Two threads of the runtime run none (its monitor, and the one that starts others).
func TestSignalsOfGoThreads(t *testing.T) {
	const service, neverRan = 2, 4 // a thread that idles since it was started has run a time or two
	for _, jdk := range testjvm.JDKs(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			o := testjvm.Example(t, "sigterm")
			java := start(t, nil, o.Command(t, jdk, agentFlag(t, "bus=nats://127.0.0.1:1")).Java()...)
			java.waitLine(t, "ready")
			threads, open := 0, map[syscall.Signal]int{}
			for _, m := range masksOfAgent(t, java.Process.Pid) {
				threads++
				for s := syscall.Signal(1); s < 32; s++ {
					if m.blocked>>(s-1)&1 == 0 && m.ran > neverRan {
						open[s]++
					}
				}
			}
			if threads < 10 {
				t.Errorf("the agent has %d threads", threads)
			}
			for _, s := range []syscall.Signal{syscall.SIGPROF, syscall.SIGCHLD, syscall.SIGURG, syscall.SIGTERM, syscall.SIGVTALRM, syscall.SIGALRM, syscall.SIGUSR1} {
				if open[s] > service {
					t.Errorf("%v is open on %d threads that run, want at most %d", s, open[s], service)
				}
			}
			if err := java.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			java.end(t)
		})
	}
}

type mask struct {
	blocked uint64
	ran     int // stretches on a CPU
}

// masksOfAgent reads the mask of each of the agent's threads in a process.
func masksOfAgent(t *testing.T, pid int) (masks []mask) {
	t.Helper()
	folders, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		stretches, err := os.ReadFile(filepath.Join(folder, "schedstat")) // before the mask
		if err != nil {
			continue // ended
		}
		status, err := os.ReadFile(filepath.Join(folder, "status"))
		if err != nil || !strings.HasPrefix(string(status), "Name:\tstackagent\n") {
			continue
		}
		var m mask
		var cpu, wait uint64
		_, rest, _ := strings.Cut(string(status), "SigBlk:\t")
		_, err = fmt.Sscanf(rest, "%x", &m.blocked)
		if _, err2 := fmt.Sscan(string(stretches), &cpu, &wait, &m.ran); err != nil || err2 != nil {
			t.Fatalf("%s: %v, %v", folder, err, err2)
		}
		masks = append(masks, m)
	}
	return masks
}
