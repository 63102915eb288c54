package kernel

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"stackagent/hpc/monitor"
)

// TestCalls counts calls that the program says it makes.
func TestCalls(t *testing.T) {
	const n = 50
	w := startWork(t, "calls", strconv.Itoa(n))
	source := openOrSkip(t, callGroup(), w.pid())
	s := newSums(t)
	s.read(source)
	w.start()
	w.counted()
	w.end()
	s.read(source) // the process is gone
	for name, want := range map[string]int64{
		`native.read.calls{of="file"}`: n, `native.read_bytes{of="file"}`: 500 * n,
		`native.read.calls{of="socket"}`: 3 * n, `native.read_bytes{of="socket"}`: 900 * n,
		`native.write.calls{of="file"}`: n, `native.write_bytes{of="file"}`: 1000 * n,
		`native.write.calls{of="socket"}`: 2 * n, `native.write_bytes{of="socket"}`: 500 * n,
		"native.sendfile.calls": n, "native.sendfile_bytes": 400 * n,
		"native.munmap_bytes": n << 20, "native.madvise.calls": n, "native.madvise_bytes": n << 16,
		"native.fsync.calls": 2 * n, "native.futex.waits": n, "native.futex.wakes": n, "native.sleep.calls": n,
		"native.poll.calls": n, "native.yield.calls": n,
	} {
		if got := s.of(name); got != want {
			t.Errorf("%s is %d, want %d", name, got, want)
		}
	}
	// The C library and the lines to and from this test make some more of these.
	for name, want := range map[string][2]int64{
		`native.read.calls{of="other"}`: {2 * n, 2*n + 9}, `native.read_bytes{of="other"}`: {100 * n, 100*n + 99},
		`native.write.calls{of="other"}`: {n, n + 9}, `native.write_bytes{of="other"}`: {100 * n, 100*n + 199},
		"native.mmap.calls": {n, n + 9}, "native.syscalls_failed": {2 * n, 2*n + 9}, "native.fsync_ns": {1, 60e9},
	} {
		if got := s.of(name); got < want[0] || got > want[1] {
			t.Errorf("%s is %d, want %d to %d", name, got, want[0], want[1])
		}
	}
	if all := s.of("native.syscalls"); all < 20*n {
		t.Errorf("%d calls in all", all)
	}
}

// TestCallsAgainstStrace runs the program under strace, which stops it for each call, while the group counts.
func TestCallsAgainstStrace(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	summary := filepath.Join(t.TempDir(), "summary")
	if out, err := exec.Command(strace, "-c", "-o", summary, "true").CombinedOutput(); err != nil {
		t.Skipf("strace is not permitted: %v: %s", err, out)
	}
	// The tracer is the child's child, so that the process that is waited for is the traced one.
	w := startCommand(t, exec.Command(strace, "-D", "-f", "-o", summary, path, "calls", "40"))
	source := openOrSkip(t, callGroup(), w.pid())
	s := newSums(t)
	s.read(source)
	w.start()
	w.counted()
	w.end()
	s.read(source)
	counted := straceCounts(t, summary, w.pid())
	for name, of := range map[string][]string{
		"native.fsync.calls": {"fsync", "fdatasync"}, "native.munmap.calls": {"munmap"}, "native.madvise.calls": {"madvise"},
		"native.sendfile.calls": {"sendfile"}, "native.yield.calls": {"sched_yield"}, "native.sleep.calls": {"clock_nanosleep"},
		"native.poll.calls": {"epoll_wait"}, "native.write.calls": {"write", "pwrite64", "sendto"}, "native.read.calls": {"read", "pread64", "recvfrom"},
	} {
		want := int64(0)
		for _, call := range of {
			want += counted[call]
		}
		var got int64
		for _, d := range s.declared {
			if monitor.Match(name, d.Name) {
				got += s.of(d.Name)
			}
		}
		if got != want || want == 0 {
			t.Errorf("%s is %d; strace has %d of %v", name, got, want, of)
		}
	}
}

// straceCounts counts calls after the line that says that the program is ready. The read that was waiting then returns while
// the group counts.
func straceCounts(t *testing.T, path string, pid int) map[string]int64 {
	t.Helper()
	var text []byte
	for range 100 { // the tracer ends after the process
		time.Sleep(20 * time.Millisecond)
		text, _ = os.ReadFile(path)
		if bytes.Contains(text, []byte("+++ exited")) {
			break
		}
	}
	call := regexp.MustCompile(`^(?:` + fmt.Sprint(pid) + `\s+)?(\w+)\(`)
	counts, ready := map[string]int64{}, false
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		m := call.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		if ready {
			counts[m[1]]++
		}
		ready = ready || strings.Contains(lines.Text(), `write(1, "ready\n"`)
	}
	return counts
}

// Every counter has a place of its own in the counters of a CPU.
func TestPlanOfCalls(t *testing.T) {
	kinds := allKinds()
	counters, table := planCalls(kinds)
	seen := map[int]string{}
	for _, c := range counters {
		if other, ok := seen[c.word]; ok || c.word >= cpuWords {
			t.Errorf("%s is counter %d, as %s", c.Name, c.word, other)
		}
		seen[c.word] = c.Name
	}
	numbers := map[int32]string{}
	for _, k := range kinds {
		for _, n := range k.numbers {
			if other, ok := numbers[n]; ok {
				t.Errorf("call %d is %s and %s", n, k.name, other)
			}
			numbers[n] = k.name
			if table[n] == 0 {
				t.Errorf("call %d of %s has no entry", n, k.name)
			}
		}
	}
}
