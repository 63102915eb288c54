package jvmti_test

import (
	"errors"
	"os/exec"
	"path/filepath"
	"testing"
)

// Counters are read from pages as the kernel's header says, and by the call
// where a page does not tell; the number of page faults is known.
func TestCounters(t *testing.T) {
	program := filepath.Join(t.TempDir(), "counters")
	args := []string{"-std=gnu11", "-D_GNU_SOURCE", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined",
		"-fno-sanitize-recover=all", "-o", program, "testdata/counters_main.c", "counters.c"}
	if out, err := exec.Command("cc", args...).CombinedOutput(); err != nil {
		t.Fatalf("compile: %v\n%s", err, out)
	}
	out, err := exec.Command(program).CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 77 {
		t.Skipf("no performance events for this user: %s", out)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
