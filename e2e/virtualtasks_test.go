package e2e_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// A virtual thread is one task, and each mount an execution on its carrier. What a ForkJoinPool wraps around that is no task, though it
// wraps the program's tasks in the same way.
func TestVirtualThreadsAreOneTask(t *testing.T) {
	testjvm.Shared(t)
	withVirtualThreads(t, func(t *testing.T, jdk testjvm.JDK) {
		const n = 1000
		classes := testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "e2e", "testdata", "adapters"))
		for _, detail := range []string{"auto", "all"} {
			p := testjvm.Command{JDK: jdk, Classpath: classes, Main: "Main", Args: []string{strconv.Itoa(n)}, Agent: []string{"--detail", detail}}.Session(t)
			want := map[string]int64{
				"Main$Pooled": 2 * n,
				"Main$Body":   n,
				"java.util.concurrent.ForkJoinTask$RunnableExecuteAction": n,
				"java.util.concurrent.ForkJoinTask$AdaptedRunnableAction": n,
				"java.lang.VirtualThread":                                 n,
			}
			if failed := p.Stats(t).Tasks.Failed; failed != 0 {
				t.Errorf("%s: %d constructions failed", detail, failed)
			}
			for _, r := range p.Hotspots(t) {
				if of, ok := want[r.Class]; ok {
					if r.Executions != of || r.Created != of {
						t.Errorf("%s, %s: %d created, %d executed, want %d", detail, r.Class, r.Created, r.Executions, of)
					}
					delete(want, r.Class)
				}
				if strings.Contains(r.Class, "VThreadContinuation") {
					t.Errorf("%s: %s is listed, %d created, %d executed", detail, r.Class, r.Created, r.Executions)
				}
				if strings.HasSuffix(r.Class, ".runContinuation") && (r.Created != 0 || r.Executions != 2*n) {
					t.Errorf("%s: %s, %d created, %d executed, want 0 and %d", detail, r.Class, r.Created, r.Executions, 2*n)
				}
			}
			if len(want) > 0 {
				t.Errorf("%s: not listed: %v", detail, want)
			}
		}
	})
}

// A mount that has not ended when the program does is a running execution of its carrier.
func TestMountedAtTheEnd(t *testing.T) {
	testjvm.Shared(t)
	withVirtualThreads(t, func(t *testing.T, jdk testjvm.JDK) {
		const n = 10
		classes := testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "e2e", "testdata", "mounted"))
		for _, detail := range []string{"auto", "all"} {
			// With one carrier the others would wait for the one that never ends.
			p := testjvm.Command{JDK: jdk, VM: []string{"-Djdk.virtualThreadScheduler.parallelism=2"}, Classpath: classes, Main: "Main",
				Args: []string{strconv.Itoa(n)}, Agent: []string{"--detail", detail}}.Session(t)
			ended, running := 0, 0
			for _, row := range p.Tasks(t) {
				if !strings.HasSuffix(row["class"], ".runContinuation") {
					continue
				}
				if row["state"] == "running" {
					running++
				} else {
					ended++
				}
			}
			if ended != n || running != 1 {
				t.Errorf("%s: %d mounts ended and %d running, want %d and 1", detail, ended, running, n)
			}
		}
	})
}
