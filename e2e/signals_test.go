package e2e_test

import (
	"os/exec"
	"path/filepath"
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
