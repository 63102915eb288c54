package jvmti_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What the table of waiting tasks tells of one is its own, and what it cannot
// tell apart it counts; with threads that use it at the same time.
func TestWaiting(t *testing.T) {
	for name, flags := range map[string][]string{
		"plain":   {"-O2"},
		"thread":  {"-O1", "-fsanitize=thread"},
		"address": {"-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"},
	} {
		t.Run(name, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "waiting")
			args := append([]string{"-std=gnu11", "-D_GNU_SOURCE", "-g", "-Wall", "-Wextra", "-Werror", "-pthread"}, flags...)
			args = append(args, strings.Fields(os.Getenv("CGO_CFLAGS"))...)
			args = append(args, "-o", program, "testdata/waiting_main.c", "waiting.c")
			if out, err := exec.Command("cc", args...).CombinedOutput(); err != nil {
				t.Fatalf("compile: %v\n%s", err, out)
			}
			if out, err := exec.Command(program).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		})
	}
}
