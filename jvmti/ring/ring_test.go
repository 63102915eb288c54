package ring

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// The ring is lock-free code in C; it is tested where the sanitizers can see it.
func TestRing(t *testing.T) {
	for name, flags := range map[string][]string{
		"plain":   {"-O2"},
		"thread":  {"-O1", "-fsanitize=thread"},
		"address": {"-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover"},
	} {
		t.Run(name, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "ring_test")
			args := append([]string{"-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", program,
				"testdata/ring_test.c"}, flags...)
			if out, err := exec.Command("cc", args...).CombinedOutput(); err != nil {
				t.Fatalf("compile: %v\n%s", err, out)
			}
			if out, err := exec.Command(program).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		})
	}
}
