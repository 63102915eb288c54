package clock

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"stackagent/internal/testjvm"
)

// The CPU clock must agree with CLOCK_THREAD_CPUTIME_ID, the kernel's own
// account, alone and when the thread has to share its CPU. The median error is
// zero: the reading lies between two readings of the kernel's clock. What
// interrupts and the hypervisor took since the kernel was asked is allowed, as
// the kernel's own account tells it.
func TestCPUClockAgainstKernel(t *testing.T) {
	program := filepath.Join(t.TempDir(), "clock_test")
	out, err := exec.Command("cc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", program,
		"testdata/clock_test.c").CombinedOutput()
	if err != nil {
		t.Fatalf("compile: %v\n%s", err, out)
	}
	for _, rivals := range []int{0, 2, 8} {
		testjvm.OneGood(t, func(a *testjvm.Attempt) { agree(t, a, program, rivals) })
	}
}

func agree(t *testing.T, a *testjvm.Attempt, program string, rivals int) {
	t.Helper()
	out, err := exec.Command(program, fmt.Sprint(rivals)).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var kind, way string
	var p50, p99, p999, worst int64
	if _, err := fmt.Sscanf(string(out), "%s %s p50 %d p99 %d p999 %d max %d",
		&kind, &way, &p50, &p99, &p999, &worst); err != nil {
		t.Fatalf("output %q: %v", out, err)
	}
	t.Logf("%d rivals, %s: error in ns: median %d, p99 %d, p99.9 %d, largest %d", rivals, way, p50, p99, p999, worst)
	if p50 > 100 || p99 > 2000 {
		a.Errorf("%d rivals: median error %d ns, p99 %d ns; want at most 100 and 2000", rivals, p50, p99)
	}
}
