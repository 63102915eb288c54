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

// idleLimits is what may be used while nothing happens: CPU time in percent of a core, and how often the threads wake
// up per second. The aims for CPU time are 0.2 for a shadow and 0.1 for the agent's threads. It depends on what else
// the machine does, so the short form allows ten times the limit: that still finds a thread that spins.
type idleLimits struct{ cpu, wakeups float64 }

// idleProcesses are what the test measures, in the order of its limits.
var idleProcesses = []struct {
	what   string
	thread string // of threads with this name; "": of all
	limits idleLimits
}{
	{"shadow serve without a session", "", idleLimits{cpu: 0.6, wakeups: 200}},
	{"shadow serve with one sleeping JVM", "", idleLimits{cpu: 1.2, wakeups: 500}},
	{"the agent in it", threadsName, idleLimits{cpu: 0.2, wakeups: 50}},
}

const (
	threadsName = "stackagent" // the name that the agent gives its threads
	strangers   = 16           // spool files of other buses
)

// A shadow that nobody uses, one with a JVM that sleeps, and the agent in that JVM take next to no CPU time, by the
// kernel's account of their threads.
func TestTortureIdle(t *testing.T) {
	aloneInFull(t, "it measures processes that do nothing")
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
	before := idleSums(t, pids)
	begin := time.Now()
	time.Sleep(measure)
	after := idleSums(t, pids)
	took := time.Since(begin)

	for i, p := range idleProcesses {
		cpu := 100 * float64(after[i].cpu-before[i].cpu) / float64(took)
		wakeups := float64(after[i].wakeups-before[i].wakeups) / took.Seconds()
		t.Logf("%s: %.3f %% of a core and %.1f wake-ups a second in %v", p.what, cpu, wakeups, took.Round(time.Second))
		if wakeups > p.limits.wakeups {
			t.Errorf("%s wakes up %.1f times a second, at most %.0f is wanted", p.what, wakeups, p.limits.wakeups)
		}
		if most := p.limits.cpu * float64(roundsOf(10, 1)); cpu > most {
			t.Errorf("%s takes %.3f %% of a core, at most %.2f is wanted", p.what, cpu, most)
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

// idleSum is what threads have used so far.
type idleSum struct {
	cpu     time.Duration
	wakeups int64 // how often they waited and went on
}

// idleSums are the sums over the threads of each process of idleProcesses.
func idleSums(t *testing.T, pids []int) []idleSum {
	t.Helper()
	sums := make([]idleSum, len(pids))
	for i, pid := range pids {
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
		if err != nil || len(tasks) == 0 {
			t.Fatalf("threads of process %d: %v", pid, err)
		}
		n, name := 0, idleProcesses[i].thread
		for _, task := range tasks {
			comm, err := os.ReadFile(filepath.Join(task, "comm"))
			if err != nil || name != "" && strings.TrimSpace(string(comm)) != name {
				continue // it has just ended, or is another's
			}
			if x, ok := idleSumOf(t, task); ok {
				sums[i].cpu += x.cpu
				sums[i].wakeups += x.wakeups
				n++
			}
		}
		if n == 0 {
			t.Fatalf("process %d has no thread with the name %q", pid, name)
		}
	}
	return sums
}

// idleSumOf reads a thread's folder in /proc; false if the thread has just ended.
func idleSumOf(t *testing.T, task string) (x idleSum, ok bool) {
	t.Helper()
	stat, err := os.ReadFile(filepath.Join(task, "schedstat"))
	if err != nil {
		return x, false
	}
	status, err := os.ReadFile(filepath.Join(task, "status"))
	if err != nil {
		return x, false
	}
	ns, err := strconv.ParseInt(strings.Fields(string(stat))[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	_, switches, found := strings.Cut(string(status), "\nvoluntary_ctxt_switches:")
	if !found {
		t.Fatalf("%s/status has no voluntary_ctxt_switches", task)
	}
	if x.wakeups, err = strconv.ParseInt(strings.Fields(switches)[0], 10, 64); err != nil {
		t.Fatal(err)
	}
	x.cpu = time.Duration(ns)
	return x, true
}
