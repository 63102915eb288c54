package ring

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// explorer compiles testdata/explore.c with a ring.h that change has been applied to.
func explorer(t *testing.T, change func(header []byte) []byte) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "testdata"), 0o700); err != nil {
		t.Fatal(err)
	}
	headers, err := filepath.Glob("*.h")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(headers, "testdata/explore.c") {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if name == "ring.h" {
			b = change(b)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "explore")
	line := []string{"-std=gnu11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", program, filepath.Join(dir, "testdata", "explore.c")}
	if out, err := exec.Command("cc", line...).CombinedOutput(); err != nil {
		t.Fatalf("compile: %v\n%s", err, out)
	}
	return program
}

// In the memory model of C11, no interleaving of the two threads of a small ring loses a record, reads a partial one,
// or is a data race.
func TestTortureModel(t *testing.T) {
	line := []string{explorer(t, func(b []byte) []byte { return b })}
	if os.Getenv("STACKAGENT_TORTURE") == "full" {
		line = append(line, "full")
	}
	out, err := exec.Command(line[0], line[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// The explorer finds a ring wrong if one word of its synchronisation is weakened.
func TestTortureModelFinds(t *testing.T) {
	for name, weaken := range map[string]string{
		"published is not released": `(atomic_store_explicit\(&r->published[^;]*)memory_order_release`,
		"published is not acquired": `(end = atomic_load_explicit\(&r->published[^;]*)memory_order_acquire`,
		"what is read not released": `(atomic_store_explicit\(&r->tail[^;]*)memory_order_release`,
		"what is read not acquired": `(tail_seen = atomic_load_explicit\(&r->tail[^;]*)memory_order_acquire`,
	} {
		t.Run(name, func(t *testing.T) {
			program := explorer(t, func(b []byte) []byte {
				re := regexp.MustCompile(weaken)
				if !re.Match(b) {
					t.Fatalf("ring.h has nothing like %s", weaken)
				}
				return re.ReplaceAll(b, []byte("${1}memory_order_relaxed"))
			})
			if out, err := exec.Command(program).CombinedOutput(); err == nil {
				t.Errorf("nothing was found: %s", out)
			}
		})
	}
}
