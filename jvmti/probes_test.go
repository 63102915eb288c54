package jvmti_test

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
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

// Virtual threads that are collected while they wait are recorded, each once, or run at the end. It does not matter how much room there is
// in the ring of the carrier that finds them, nor that the drain sets this aside meanwhile.
func TestCollectedThreads(t *testing.T) {
	program := compileProbes(t, checked...)
	for _, ringBytes := range []string{"16384", "1048576"} {
		t.Run(ringBytes, func(t *testing.T) { run(t, program, "collected", ringBytes) })
	}
}

// A virtual thread that ends after its session does so as if it were still running.
func TestLateEnd(t *testing.T) { run(t, compileProbes(t, checked...), "late") }

// A carrier that is older than the session is known; what it carries is no work of its own, even if its CPU time is not known; a mount that has not
// ended is an execution of the carrier.
func TestMounts(t *testing.T) { run(t, compileProbes(t, checked...), "mounts") }

// Without a drain a thread waits at most 20 ms per second, and not at all for optional records.
func TestWaitsAreBounded(t *testing.T) {
	out, err := exec.Command(compileProbes(t, "-O2"), "starve").CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}

// CPU times of single executions lie between the kernel's readings inside and outside of them, alone and beside others, but
// for those that are marked as estimated: executions that were switched, or from which something was taken, while nobody
// knows how much of it before.
func TestCPUTimeOfSingleExecutions(t *testing.T) {
	program := compileProbes(t, "-O2")
	for _, source := range []string{"page", "rseq"} {
		for _, rivals := range []int{0, 2, 8} {
			t.Run(fmt.Sprint(source, "/", rivals), func(t *testing.T) {
				testjvm.OneGood(t, func(a *testjvm.Attempt) { boundCPUTimes(t, a, program, source, rivals) })
			})
		}
	}
}

// cpuErrors are counts of executions beyond 2.5, 5 and 20 µs.
type cpuErrors struct {
	what         string
	n, marked    int
	below, above [3]int
	least, most  int64
}

func boundCPUTimes(t *testing.T, a *testjvm.Attempt, program, source string, rivals int) {
	t.Helper()
	out, err := exec.Command(program, "cpu", source, fmt.Sprint(rivals)).CombinedOutput()
	if e := (*exec.ExitError)(nil); errors.As(err, &e) && e.ExitCode() == 2 {
		t.Skipf("this machine has no %s for the clock; the other source is checked, and system calls are exact", source)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 4 {
		t.Fatalf("output %q", out)
	}
	var readings, stayed int
	if _, err := fmt.Sscanf(lines[3], "readings %d of %d", &readings, &stayed); err != nil {
		t.Fatalf("%q: %v", lines[3], err)
	}
	if readings > stayed/5 {
		a.Errorf("the clock was read for %d of %d rare executions before which the thread was not switched, nearly all of them short", readings, stayed)
	}
	for _, line := range lines[:3] {
		var x cpuErrors
		if _, err := fmt.Sscanf(line, "%s %d below %d %d %d worst %d above %d %d %d worst %d marked %d", &x.what, &x.n, &x.below[0], &x.below[1], &x.below[2],
			&x.least, &x.above[0], &x.above[1], &x.above[2], &x.most, &x.marked); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if x.n < 4000 || x.marked > x.n/4 {
			a.Errorf("%s: %d of %d executions are only estimated", x.what, x.marked, x.n)
		}
		if off := x.below[0] + x.above[0]; off > x.n/1000 || x.below[2]+x.above[2] > 0 {
			a.Errorf("%s: %d of %d executions off by more than 2.5 µs without a mark, worst %d and %d ns", x.what, off, x.n, x.least, x.most)
		}
	}
}
