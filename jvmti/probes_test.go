package jvmti_test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// compileProbes makes a program of everything that runs in the threads of a JVM. The test replaces the JVM and the C
// library's memory functions.
func compileProbes(t *testing.T, flags ...string) string {
	t.Helper()
	for _, name := range strings.Fields("mmap mprotect aligned_alloc calloc malloc pthread_setspecific") {
		flags = append(flags, "-Wl,--wrap="+name)
	}
	return compile(t, append(flags, "-Wno-unused-parameter"), probeSources(t)...)
}

// probeSources are the files of three rooms, and what they need of the others; testdata/probes_main.c has the rest.
func probeSources(t *testing.T) []string {
	t.Helper()
	list := []string{"testdata/probes_main.c", "life_threads.c", "class_unloaded.c"}
	for _, room := range []string{"state", "probe", "drain"} {
		files, err := filepath.Glob(room + "_*.c")
		if err != nil || len(files) == 0 {
			t.Fatalf("the C files of room %s: %v, %v", room, files, err)
		}
		list = append(list, files...)
	}
	return slices.DeleteFunc(list, func(name string) bool { return name == "state_events.c" || name == "state_allocated.c" })
}

// If memory is refused, each event that a probe sees is still recorded, summarised or counted as lost.
func TestProbesWithoutMemory(t *testing.T) {
	for name, flags := range map[string][]string{
		"plain":   {"-O2"},
		"address": append([]string{"-fno-sanitize=leak"}, checked...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, compileProbes(t, flags...))
		})
	}
}

// Without a drain a thread waits at most 20 ms per second, and not at all for optional records.
func TestWaitsAreBounded(t *testing.T) {
	out, err := exec.Command(compileProbes(t, "-O2"), "starve").CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}
