package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"stackagent/internal/testjvm"
)

// chargedThread is a row of shadow threads.
type chargedThread struct {
	Thread string
	CPUNs  *float64 `json:"cpu_ns"`
	Times  *struct {
		RunningNs float64  `json:"running_ns"`
		CPUNs     *float64 `json:"cpu_ns"`
	}
}

// TestRunningIsCharged: no thread ran for longer than the kernel charged it with, nor for much longer than it had used by the agent's
// last reading, at the JVM's end. The kernel charges the thread that happens to end last with freeing the memory, here some 60 ms.
func TestRunningIsCharged(t *testing.T) {
	testjvm.Shared(t)
	const exact, afterReading = 1e6, 25e6
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	var major, minor int
	if _, err2 := fmt.Sscanf(string(release), "%d.%d", &major, &minor); err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	reported := major > 6 || major == 6 && minor >= 16 // the kernel reports a thread's end before it frees the memory
	for _, jdk := range testjvm.JDKsInTurn(t) {
		classes := testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "examples", "losses"))
		for _, shape := range []string{"unslept", "driver", "permits"} {
			t.Run(jdk.String()+"/"+shape, func(t *testing.T) {
				p := testjvm.Command{JDK: jdk, Classpath: classes, Main: "Main", Args: []string{shape},
					VM: []string{"-Xms600m", "-Xmx600m", "-XX:+AlwaysPreTouch"}}.Session(t)
				_, recorded := bottleOf(t, p)
				needRecord(t, recorded)
				var all []chargedThread
				ask(t, p, &all, "threads", p.Dir, "--format", "json")
				compared := 0
				for _, x := range all {
					if x.Times == nil {
						continue
					}
					ran := x.Times.RunningNs
					if charged := x.Times.CPUNs; charged != nil && ran > *charged+exact {
						t.Errorf("%s ran for %.1f ms, and was charged with %.1f", x.Thread, ran/1e6, *charged/1e6)
					}
					if x.CPUNs != nil {
						if compared++; reported && ran > *x.CPUNs+afterReading {
							t.Errorf("%s ran for %.1f ms, and had used %.1f near its end", x.Thread, ran/1e6, *x.CPUNs/1e6)
						}
					}
				}
				if compared < 10 {
					t.Errorf("%d threads were compared", compared)
				}
			})
		}
	}
}
