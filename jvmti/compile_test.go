package jvmti_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// checked are the flags for programs that end where C code does what it must not.
var checked = []string{"-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"}

// compile makes a program of C sources with the warnings of the agent's own build. Programs are kept in the user's
// cache, by the command that makes them and all C of this folder: most of a run without it is compiling.
func compile(t testing.TB, flags []string, sources ...string) (program string) {
	t.Helper()
	headers := slices.DeleteFunc(strings.Fields(os.Getenv("CGO_CFLAGS")), func(flag string) bool {
		return !strings.HasPrefix(flag, "-I") // else its -O2 would win over the test's own level
	})
	args := slices.Concat([]string{"-std=gnu11", "-D_GNU_SOURCE", "-g1", "-Wall", "-Wextra", "-Werror", "-pthread"}, flags,
		headers, sources, []string{"-ldl", "-lm"})
	cache := programs(t)
	program = filepath.Join(cache, programKey(t, args))
	if _, err := os.Stat(program); err == nil {
		return program
	}
	aside := filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command("cc", append(args, "-o", aside)...).CombinedOutput(); err != nil {
		t.Fatalf("compile: %v\n%s", err, out)
	}
	if err := os.Rename(aside, program); err != nil {
		return aside // the cache is on another file system
	}
	return program
}

// keptFor is how long a program stays in the cache.
const keptFor = 7 * 24 * time.Hour

// programs is the folder of compiled programs; it removes those older than keptFor.
func programs(t testing.TB) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	dir := filepath.Join(cache, "stackagent", "jvmti-test")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	old, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, path := range old {
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > keptFor {
			_ = os.Remove(path)
		}
	}
	return dir
}

// programKey names what a compiler makes of arguments and of the C files here.
func programKey(t testing.TB, args []string) string {
	t.Helper()
	version, err := exec.Command("cc", "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	key := sha256.New()
	fmt.Fprintf(key, "%s\x00%q", version, args)
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if ext := filepath.Ext(path); err != nil || d.IsDir() || ext != ".c" && ext != ".h" {
			return err
		}
		b, err := os.ReadFile(path)
		fmt.Fprintf(key, "%q %d\n%s", path, len(b), b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(key.Sum(nil)[:12])
}

// run ends the test if the program finds something or the sanitizers do.
func run(t *testing.T, program string, args ...string) {
	t.Helper()
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
