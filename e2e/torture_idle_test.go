package e2e_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"stackagent/internal/spool"
	"stackagent/internal/testjvm"
)

// What may be used while nothing happens, in percent of a core. The aims are 0.2 for a shadow and 0.1 for the
// agent's threads; a test on a machine that others use measures more, and its short form more again.
type idleLimits struct{ alone, withJVM, agent float64 }

func limitsOfIdle() idleLimits {
	if torture() {
		return idleLimits{alone: 0.6, withJVM: 1.2, agent: 0.2}
	}
	return idleLimits{alone: 1, withJVM: 1.6, agent: 0.25}
}

const (
	threadsName = "stackagent" // the name that the agent gives its threads
	strangers   = 16           // spool files of other buses
)

// A shadow that nobody uses, one with a JVM that sleeps, and the agent in that JVM take next to no CPU time, by the
// kernel's account of their threads.
func TestTortureIdle(t *testing.T) {
	testjvm.Alone(t, "it measures processes that do nothing")
	settle, measure := 15*time.Second, time.Duration(roundsOf(6, 60))*time.Second
	shared := filepath.Join(t.TempDir(), "tmp")
	foreignSpool(t, shared)
	alone := serve(t, freeAddr(t), t.TempDir(), "TMPDIR="+shared)
	used := serve(t, freeAddr(t), t.TempDir(), "TMPDIR="+t.TempDir())
	jdk := testjvm.JDKs(t)[0]
	classes := testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "e2e", "testdata", "idle"))
	jvm := start(t, nil, jdk.Tool("java"), agentFlag(t, "bus=nats://"+used.addr, "tokenfile="+filepath.Join(used.store, "token"), "session=idle"),
		"-cp", classes, "Main")
	jvm.waitLine(t, "asleep")
	waitFor(t, "the session is stored", func() bool {
		_, err := os.Stat(filepath.Join(used.store, "idle", "manifest.json"))
		return err == nil
	})

	time.Sleep(settle) // what starts is not idle
	pids := []int{alone.Process.Pid, used.Process.Pid, jvm.Process.Pid}
	names := []string{"", "", threadsName}
	before := cpuTimes(t, pids, names)
	begin := time.Now()
	time.Sleep(measure)
	after := cpuTimes(t, pids, names)
	took := time.Since(begin)

	limits := limitsOfIdle()
	for i, c := range []struct {
		what  string
		limit float64
	}{{"shadow serve without a session", limits.alone}, {"shadow serve with one sleeping JVM", limits.withJVM}, {"the agent in it", limits.agent}} {
		percent := 100 * float64(after[i]-before[i]) / float64(took)
		t.Logf("%s: %.3f %% of a core in %v", c.what, percent, took.Round(time.Second))
		if percent > c.limit {
			t.Errorf("%s takes %.3f %% of a core, at most %.2f is wanted", c.what, percent, c.limit)
		}
	}

	if err := jvm.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if rest, exit := jvm.end(t); rest != "" || exit != 128+int(syscall.SIGTERM) {
		t.Errorf("the program ended with %d and %q\n%s", exit, rest, jvm.stderr.String())
	}
	waitEnded(t, filepath.Join(used.store, "idle"))
	used.stop(t)
	alone.stop(t)
}

// foreignSpool leaves spool files of another bus where a shadow with this folder for temporary files looks for those
// of its own.
func foreignSpool(t *testing.T, tmp string) {
	t.Helper()
	dir := filepath.Join(tmp, filepath.Base(spool.DefaultFolder()))
	if err := spool.Prepare(dir); err != nil {
		t.Fatal(err)
	}
	batch := bytes.Repeat([]byte("batch"), 10_000)
	for i := range strangers {
		f, err := spool.Create(dir, spool.Meta{Session: fmt.Sprintf("stranger-%d", i), Process: "1-a", Bus: "nats://192.0.2.1:4222"}, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Append(1, batch); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// cpuTimes sums the CPU time of the threads of processes so far; of those threads only that have the name, if there
// is one.
func cpuTimes(t *testing.T, pids []int, names []string) []time.Duration {
	t.Helper()
	sums := make([]time.Duration, len(pids))
	for i, pid := range pids {
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
		if err != nil || len(tasks) == 0 {
			t.Fatalf("threads of process %d: %v", pid, err)
		}
		n := 0
		for _, task := range tasks {
			comm, err := os.ReadFile(filepath.Join(task, "comm"))
			if err != nil || names[i] != "" && strings.TrimSpace(string(comm)) != names[i] {
				continue // it has just ended, or is another's
			}
			stat, err := os.ReadFile(filepath.Join(task, "schedstat"))
			if err != nil {
				continue
			}
			ns, err := strconv.ParseInt(strings.Fields(string(stat))[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			sums[i] += time.Duration(ns)
			n++
		}
		if n == 0 {
			t.Fatalf("process %d has no thread with the name %q", pid, names[i])
		}
	}
	return sums
}
