package jvmti_test

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestThrown: the table of exceptions for which somebody may ask.
func TestThrown(t *testing.T) {
	program := filepath.Join(t.TempDir(), "thrown")
	args := []string{"-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-fsanitize=address,undefined",
		"-fno-sanitize-recover=all", "-o", program, "testdata/thrown_main.c", "thrown.c"}
	if out, err := exec.Command("cc", args...).CombinedOutput(); err != nil {
		t.Fatalf("compile: %v\n%s", err, out)
	}
	if out, err := exec.Command(program).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
