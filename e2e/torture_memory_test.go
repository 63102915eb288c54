package e2e_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
	"stackagent/shadow/store"
)

// What the agent may add to what is resident, whatever the program does.
const (
	mostResidentKB      = 64 << 10
	mostResidentVirtual = 200 // bytes a virtual thread that is alive
)

// memoryRun is a run of testdata/parked or testdata/churn: its output, and what it said was resident, in KiB.
type memoryRun struct {
	out      string
	resident map[string][]int64
}

// readMemory takes the lines "resident WHEN KIB" out of the output.
func readMemory(t *testing.T, r testjvm.Result) memoryRun {
	t.Helper()
	if r.Exit != 0 {
		t.Fatalf("exit %d: %s", r.Exit, r.Stderr)
	}
	run := memoryRun{resident: map[string][]int64{}}
	for line := range strings.Lines(r.Stdout) {
		f := strings.Fields(line)
		if len(f) != 3 || f[0] != "resident" {
			run.out += line
			continue
		}
		n, err := strconv.ParseInt(f[2], 10, 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		run.resident[f[1]] = append(run.resident[f[1]], n)
	}
	return run
}

// grown is the growth of the resident memory from the first sample named before to the nth named when.
func (r memoryRun) grown(before, when string, n int) int64 {
	return r.resident[when][n] - r.resident[before][0]
}

// memoryTest runs testdata/parked or testdata/churn without and with the agent.
func memoryTest(t *testing.T, jdk testjvm.JDK, heap, main string, args ...string) (plain, with memoryRun, p testjvm.Profile) {
	t.Helper()
	c := testjvm.Command{JDK: jdk, Main: main, Args: args,
		Classpath: testjvm.Compile(t, jdk, filepath.Join("testdata", strings.ToLower(main))),
		VM: []string{"-Xms" + heap, "-Xmx" + heap, "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC", "-XX:MaxMetaspaceSize=48m",
			"-XX:ReservedCodeCacheSize=64m", "-Djdk.trackAllThreads=false"}}
	plain = readMemory(t, c.Plain(t))
	p = c.Profile(t)
	with = readMemory(t, p.Result)
	if with.out != plain.out {
		t.Errorf("the program says %q, without the agent %q", with.out, plain.out)
	}
	return plain, with, p
}

// withVirtualThreads runs f on each JDK that has them.
func withVirtualThreads(t *testing.T, f func(t *testing.T, jdk testjvm.JDK)) {
	eachJDK(t, func(t *testing.T, jdk testjvm.JDK) {
		if jdk.Version < 21 {
			t.Skip("needs JDK 21: virtual threads")
		}
		f(t, jdk)
	})
}

// all checks that the session is whole, that it knows of n executions of the class and that nothing is lost.
func all(t *testing.T, p testjvm.Profile, class string, n int64) {
	t.Helper()
	s := p.Stats(t)
	if s.Lost.Events != 0 || s.Lost.Batches != 0 {
		t.Errorf("lost %+v", s.Lost)
	}
	if m := readStoreManifest(t, p.Dir); m.Ended != store.EndedExit || m.Balance == nil || m.Balance.State != store.BalanceExact {
		t.Errorf("ended %q, balance %+v", m.Ended, m.Balance)
	}
	for _, row := range p.Hotspots(t) {
		if row.Class == class {
			if row.Executions != n || row.Created != n || row.NeverExecuted != 0 {
				t.Errorf("%s: %d executions of %d created, %d never executed, want %d", class, row.Executions, row.Created, row.NeverExecuted, n)
			}
			return
		}
	}
	t.Errorf("no %s in the session", class)
}

// Virtual threads that wait take little memory, which goes back when they end;
// those that still wait when the program ends are all reported.
func TestTortureMemoryVirtual(t *testing.T) {
	testjvm.Shared(t)
	withVirtualThreads(t, func(t *testing.T, jdk testjvm.JDK) {
		t.Run("left", func(t *testing.T) {
			n, heap := roundsOf(85000, 500000), "640m"
			if torture() {
				heap = "3g"
			}
			plain, with, p := memoryTest(t, jdk, heap, "Parked", "left", strconv.Itoa(n), "1")
			checkGrowth(t, "while they wait", plain, with, "waiting", 0, n)
			all(t, p, "Parked$Waiter", int64(n))
		})
		t.Run("dropped", func(t *testing.T) {
			n, rounds := 30000, roundsOf(12, 60)
			plain, with, p := memoryTest(t, jdk, "512m", "Parked", "dropped", strconv.Itoa(n), strconv.Itoa(rounds))
			// Up to a quarter more contexts than live threads, or 65,536, are of threads that have been collected. What
			// else varies from run to run is the JVM's own memory.
			more, most := with.grown("begin", "end", 0)-plain.grown("begin", "end", 0), int64(mostResidentKB+noiseMemory>>10)
			t.Logf("after %d were collected: %d KiB more than without the agent", n*rounds, more)
			if more > most {
				t.Errorf("after %d were collected: %d KiB more than without the agent, want at most %d", n*rounds, more, most)
			}
			all(t, p, "Parked$Dropped", int64(n*rounds))
		})
		for _, mode := range []string{"start", "submit"} {
			t.Run(mode, func(t *testing.T) {
				if !torture() {
					t.Skip("runs only with STACKAGENT_TORTURE=full")
				}
				n, rounds := 200000, 5
				plain, with, p := memoryTest(t, jdk, "1500m", "Parked", mode, strconv.Itoa(n), strconv.Itoa(rounds))
				for i := range rounds {
					checkGrowth(t, "while they wait", plain, with, "waiting", i, n)
					checkGrowth(t, "when they have ended", plain, with, "ended", i, 0)
				}
				all(t, p, "Parked$Waiter", int64(n*rounds))
			})
		}
	})
}

// checkGrowth compares what grew since the beginning with what grew without the agent.
func checkGrowth(t *testing.T, what string, plain, with memoryRun, when string, nth, alive int) {
	t.Helper()
	more := with.grown("begin", when, nth) - plain.grown("begin", when, nth)
	most := mostResidentKB + int64(alive)*mostResidentVirtual>>10
	t.Logf("%s %d: %d KiB more than without the agent", what, nth, more)
	if more > most {
		t.Errorf("%s %d: %d KiB more than without the agent, at most %d", what, nth, more, most)
	}
}

// Task classes that are unloaded leave nothing behind.
func TestTortureMemoryClasses(t *testing.T) {
	testjvm.Shared(t)
	each(t, newestOrAll(t), func(t *testing.T, jdk testjvm.JDK) {
		for _, mode := range []string{"hidden", "loader"} {
			t.Run(mode, func(t *testing.T) {
				if mode == "loader" && !torture() {
					t.Skip("runs only with STACKAGENT_TORTURE=full")
				}
				n := roundsOf(40000, 150000)
				plain, with, p := memoryTest(t, jdk, "256m", "Churn", mode, strconv.Itoa(n))
				more := with.grown("fifth", "end", 0) - plain.grown("fifth", "end", 0)
				t.Logf("%d KiB more than without the agent for %d classes", more, n*4/5)
				if more > 16<<10 {
					t.Errorf("%d KiB more than without the agent for %d classes", more, n*4/5)
				}
				executions := int64(0)
				for _, row := range p.Hotspots(t) {
					if strings.HasPrefix(row.Class, "Churn$Task") {
						executions += row.Executions
					}
				}
				if s := p.Stats(t); executions != int64(n) || s.Lost.Events != 0 {
					t.Errorf("%d executions, want %d; lost %+v", executions, n, s.Lost)
				}
			})
		}
	})
}
