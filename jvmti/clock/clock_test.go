package clock

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"stackagent/internal/testjvm"
)

// The CPU clock must agree with the kernel's, CLOCK_THREAD_CPUTIME_ID, alone and when
// the thread shares its CPU. The median error is zero: the reading lies between two
// readings of the kernel's clock. The error may be as large as what interrupts and the
// hypervisor took since the last real reading, which the kernel's clock shows.
func TestCPUClockAgainstKernel(t *testing.T) {
	program := compile(t, "clock_test.c")
	for _, source := range []string{"page", "rseq", "syscall"} {
		t.Run(source, func(t *testing.T) {
			for _, rivals := range []int{0, 2, 8} {
				testjvm.OneGood(t, func(a *testjvm.Attempt) { agree(t, a, program, source, rivals) })
			}
		})
	}
}

func compile(t *testing.T, source string) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "program")
	out, err := exec.Command("cc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", program,
		filepath.Join("testdata", source)).CombinedOutput()
	if err != nil {
		t.Fatalf("compile: %v\n%s", err, out)
	}
	return program
}

// Other code may use the area for restartable sequences, too: see the program.
func TestRseqBesideOthers(t *testing.T) {
	out, err := exec.Command(compile(t, "rseq_test.c")).CombinedOutput()
	if e := (*exec.ExitError)(nil); errors.As(err, &e) && e.ExitCode() == notHere {
		t.Skip("restartable sequences (rseq) show no switches here: the C library has no area, or the kernel does not clear it; TestNoRseq checks that the clock then reports so")
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// Without the area the test at start says so, and nothing is written.
func TestNoRseq(t *testing.T) {
	cmd := exec.Command(compile(t, "rseq_test.c"))
	cmd.Env = append(os.Environ(), "GLIBC_TUNABLES=glibc.pthread.rseq=0")
	out, err := cmd.CombinedOutput()
	if e := (*exec.ExitError)(nil); !errors.As(err, &e) || e.ExitCode() != notHere {
		t.Fatalf("%v, want exit %d\n%s", err, notHere, out)
	}
}

// notHere is what the program exits with where the kernel or the C library does not have the source.
const notHere = 2

func agree(t *testing.T, a *testjvm.Attempt, program, source string, rivals int) {
	t.Helper()
	out, err := exec.Command(program, fmt.Sprint(rivals), source).CombinedOutput()
	if e := (*exec.ExitError)(nil); errors.As(err, &e) && e.ExitCode() == notHere {
		t.Skipf("the C library or the kernel lacks %s here; the program found out and opened no clock, and the other sources are checked", source)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var kind, way string
	var p50, p99, p999, worst int64
	if _, err := fmt.Sscanf(string(out), "%s %s p50 %d p99 %d p999 %d max %d",
		&kind, &way, &p50, &p99, &p999, &worst); err != nil {
		t.Fatalf("output %q: %v", out, err)
	}
	if source == "rseq" && way != source {
		t.Errorf("the CPU clock works by %s, want %s", way, source)
	}
	t.Logf("%d rivals, %s: error in ns: median %d, p99 %d, p99.9 %d, largest %d", rivals, way, p50, p99, p999, worst)
	if p50 > 100 || p99 > 2000 {
		a.Errorf("%d rivals: median error %d ns, p99 %d ns; want at most 100 and 2000", rivals, p50, p99)
	}
}
