package e2e_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"stackagent/internal/testjvm"
)

// TestSignalsOfLoading: the Go runtime's signal handlers are gone before the
// library is loaded, so that a JVM that runs already never meets them.
func TestSignalsOfLoading(t *testing.T) {
	program := filepath.Join(t.TempDir(), "dlopen")
	if out, err := exec.Command("cc", "-Wall", "-Wextra", "-Werror", "-o", program, "testdata/dlopen.c", "-ldl").CombinedOutput(); err != nil {
		t.Fatalf("compile: %v\n%s", err, out)
	}
	if out, err := exec.Command(program, testjvm.Library(t)).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
