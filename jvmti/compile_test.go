package jvmti_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// checked are the flags for programs that end where C code does what it must not.
var checked = []string{"-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"}

// compile makes a program of C sources with the warnings of the agent's own build.
func compile(t testing.TB, flags []string, sources ...string) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "program")
	args := slices.Concat([]string{"-std=gnu11", "-D_GNU_SOURCE", "-g", "-Wall", "-Wextra", "-Werror", "-pthread"}, flags,
		strings.Fields(os.Getenv("CGO_CFLAGS")), []string{"-o", program}, sources, []string{"-ldl"})
	if out, err := exec.Command("cc", args...).CombinedOutput(); err != nil {
		t.Fatalf("compile: %v\n%s", err, out)
	}
	return program
}

// run ends the test if the program finds something or the sanitizers do.
func run(t *testing.T, program string) {
	t.Helper()
	if out, err := exec.Command(program).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
