package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"stackagent/internal/testjvm"
	"stackagent/shadow/store"
)

// rings is the program of testdata/rings with arguments, in a heap of one size that is touched at once: what grows
// beside it is the threads' or the agent's.
func rings(t *testing.T, jdk testjvm.JDK, args ...string) []string {
	t.Helper()
	dir := filepath.Join(testjvm.Root(t), "e2e", "testdata", "rings")
	cmd := testjvm.Command{JDK: jdk, Classpath: testjvm.Compile(t, jdk, dir), Main: "Rings", Args: args,
		VM: []string{"-Xms128m", "-Xmx128m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC", "-Xss256k"}}
	return cmd.Java()
}

var saysExecuted = regexp.MustCompile(`^created (\d+) executed (\d+)\n$`)

// jobs is what the program itself has counted.
func jobs(t *testing.T, out string) int64 {
	t.Helper()
	m := saysExecuted.FindStringSubmatch(out)
	if m == nil || m[1] != m[2] {
		t.Fatalf("stdout %q", out)
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// closed checks that the session in dir accounts for every event and has n executed jobs, but for the lost ones, which it
// returns.
func closed(t *testing.T, dir string, n int64) (lost int64) {
	t.Helper()
	m := readManifest(t, dir)
	if m.Lost.Unaccounted != 0 || m.Ended != "exit" {
		t.Errorf("produced %+v, stored %+v, lost %+v, ended %q", m.Produced, m.Stored, m.Lost, m.Ended)
	}
	row := readableClass(t, dir, "Rings$Job")
	if missing := 2*n - row.Executions - row.Created; row.Executions > n || row.Created > n || missing > m.Lost.Events {
		t.Errorf("%d executed, %d created of %d, %d events lost", row.Executions, row.Created, n, m.Lost.Events)
	}
	if b := readStoreManifest(t, dir).Balance; b == nil || b.State != store.BalanceExact {
		t.Errorf("balance by thread: %+v", b)
	}
	return m.Lost.Events
}

// limitAddressSpace lets a process have so much more than it has.
func limitAddressSpace(t *testing.T, pid int, more uint64) {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.ParseUint(strings.Fields(string(b))[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	limit := pages*uint64(os.Getpagesize()) + more
	if err := unix.Prlimit(pid, unix.RLIMIT_AS, &unix.Rlimit{Cur: limit, Max: unix.RLIM_INFINITY}, nil); err != nil {
		t.Fatal(err)
	}
}

var saysPID = regexp.MustCompile(`(?m)^pid (\d+)$`)

// The address space ends before 100 threads begin: there is room for them, and none for a map of 64 rings. What has a
// ring all the same is recorded, and all else is counted as lost.
func TestTortureRingMemoryRefused(t *testing.T) {
	testjvm.Shared(t)
	for i, detail := range []string{"all", "auto"} {
		for k, more := range []uint64{56 << 20, 62 << 20} {
			if i+k >= roundsOf(1, 4) {
				continue
			}
			t.Run(fmt.Sprintf("%s %d MiB", detail, more>>20), func(t *testing.T) {
				eachJDK(t, func(t *testing.T, jdk testjvm.JDK) { ringMemoryRefused(t, jdk, detail, more) })
			})
		}
	}
}

func ringMemoryRefused(t *testing.T, jdk testjvm.JDK, detail string, more uint64) {
	const threads, tasks = 100, 20
	file, dir := filepath.Join(t.TempDir(), "go"), filepath.Join(t.TempDir(), "session")
	line := slices.Concat([]string{testjvm.Shadow(t), "run", "-q", "--detail", detail, "-o", dir, "--"},
		rings(t, jdk, "limited", strconv.Itoa(threads), strconv.Itoa(tasks), "0", file))
	p := start(t, []string{"MALLOC_ARENA_MAX=1"}, line...)
	waitFor(t, "the program waits", func() bool { return saysPID.MatchString(p.stderr.String()) })
	pid, err := strconv.Atoi(saysPID.FindStringSubmatch(p.stderr.String())[1])
	if err != nil {
		t.Fatal(err)
	}
	limitAddressSpace(t, pid, more)
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.says(t, "worked\n")
	if err := unix.Prlimit(pid, unix.RLIMIT_AS, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	out, exit := p.end(t)
	if n := jobs(t, out); exit != 0 || n != (threads+1)*tasks {
		t.Errorf("exit %d, %d jobs\n%s", exit, n, p.stderr.String())
	}
	t.Logf("%d events lost", closed(t, dir, (threads+1)*tasks))
}

var saysResident = regexp.MustCompile(`(?m)^resident (\S+) (\d+)$`)

// residentMarks are what a run of Rings says of its resident memory, bytes, in order.
func residentMarks(t *testing.T, said string) (list []int64) {
	t.Helper()
	for _, m := range saysResident.FindAllStringSubmatch(said, -1) {
		kib, err := strconv.ParseInt(m[2], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, kib<<10)
	}
	return list
}

// ringsRun runs Rings plainly and profiled, compares what the program says, and returns the marks of both and what
// the session lost.
func ringsRun(t *testing.T, jdk testjvm.JDK, detail string, args ...string) (plain, profiled []int64, lost int64) {
	t.Helper()
	line := rings(t, jdk, args...)
	without := finish(t, exec.Command(line[0], line[1:]...))
	dir := filepath.Join(t.TempDir(), "session")
	with := shadow(t, append([]string{"run", "-q", "--detail", detail, "-o", dir, "--"}, line...)...)
	if without.exit != 0 || with.exit != 0 || with.out != without.out {
		t.Fatalf("exit %d, %q; without the agent %d, %q\n%s", with.exit, with.out, without.exit, without.out, with.err)
	}
	return residentMarks(t, without.err), residentMarks(t, with.err), closed(t, dir, jobs(t, with.out))
}

const (
	agentMemory  = 64 << 20 // what the agent may take by itself
	threadMemory = 4 << 10  // and for each platform thread
	noiseMemory  = 24 << 20 // by which two runs of one JVM differ
)

// Threads that have filled their rings and then wait keep none of their pages.
func TestTortureMemoryOfIdleThreads(t *testing.T) {
	testjvm.Shared(t)
	threads, tasks := int64(roundsOf(120, 500)), "12000"
	each(t, oldestOrAll(t), func(t *testing.T, jdk testjvm.JDK) {
		plain, profiled, lost := ringsRun(t, jdk, "all", "idle", strconv.FormatInt(threads, 10), tasks, "1")
		grown, usual := profiled[len(profiled)-1]-profiled[0], plain[len(plain)-1]-plain[0]
		t.Logf("%d threads: %d MiB, without the agent %d MiB; %d events lost", threads, grown>>20, usual>>20, lost)
		if more := grown - usual; more > agentMemory+threads*threadMemory {
			t.Errorf("%d idle threads hold %d MiB more than without the agent", threads, more>>20)
		}
	})
}

// Very many threads whose class is summarised: each has histograms only while it works. In full they would find no
// memory otherwise, and lose what is neither summarised nor finds room in a ring.
func TestTortureMemoryOfManyThreads(t *testing.T) {
	testjvm.Shared(t)
	threads := int64(roundsOf(2500, 10000))
	each(t, oldestOrAll(t), func(t *testing.T, jdk testjvm.JDK) {
		plain, profiled, lost := ringsRun(t, jdk, "summary", "idle", strconv.FormatInt(threads, 10), "1500", "1")
		grown, usual := profiled[len(profiled)-1]-profiled[0], plain[len(plain)-1]-plain[0]
		t.Logf("%d threads: %d MiB, without the agent %d MiB; %d events lost", threads, grown>>20, usual>>20, lost)
		if more := grown - usual; more > agentMemory+threads*threadMemory {
			t.Errorf("%d idle threads hold %d MiB more than without the agent", threads, more>>20)
		}
		if lost != 0 {
			t.Errorf("%d events lost with detail=summary", lost)
		}
	})
}

// Threads that start and end leave nothing behind.
func TestTortureMemoryOfThreadChurn(t *testing.T) {
	testjvm.Shared(t)
	rounds := strconv.Itoa(roundsOf(20, 1000))
	each(t, newestOrAll(t), func(t *testing.T, jdk testjvm.JDK) {
		plain, profiled, lost := ringsRun(t, jdk, "all", "churn", "50", "1500", rounds)
		half := len(profiled) / 2
		first, last := slices.Max(profiled[1:half+1]), slices.Max(profiled[half+1:])
		t.Logf("MiB %v, without the agent %v; %d events lost", mib(profiled), mib(plain), lost)
		if last > first+noiseMemory {
			t.Errorf("resident memory grows from %d to %d MiB", first>>20, last>>20)
		}
	})
}

func mib(list []int64) []int64 {
	for i := range list {
		list[i] >>= 20
	}
	return list
}
