package jvmti_test

import (
	"os/exec"
	"strings"
	"testing"
)

// compileProbes makes a program of everything that runs in the threads of a JVM, with tests in place of the JVM and
// of what the C library gives memory with.
func compileProbes(t *testing.T, flags ...string) string {
	t.Helper()
	for _, name := range strings.Fields("mmap mprotect aligned_alloc calloc malloc pthread_setspecific") {
		flags = append(flags, "-Wl,--wrap="+name)
	}
	return compile(t, append(flags, "-Wno-unused-parameter"), append([]string{"testdata/probes_main.c"}, strings.Fields(
		"probe_execute.c probe_create.c probe_submit.c probe_construct.c probe_mount.c life_threads.c state_os_threads.c drain_rings.c drain_await.c state_cells.c state_contexts.c state_work.c state_counters.c state_exceptions.c state_queued_tasks.c drain_running.c state_news.c state_threads.c state_vthreads.c state_slabs.c class_unloaded.c")...)...)
}

// Whatever memory is refused, each event that a probe sees is recorded, summarised or counted as lost.
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

// Where nobody drains a thread waits 20 ms a second and no longer, and not at all for what only embellishes.
func TestWaitsAreBounded(t *testing.T) {
	out, err := exec.Command(compileProbes(t, "-O2"), "starve").CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}
