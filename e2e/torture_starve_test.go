package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"stackagent/internal/testjvm"
)

// starved is a run of testdata/starve: what it printed, and how long each of its threads was blocked.
type starved struct {
	out           string
	blocked, wall []time.Duration
}

var saysBlocked = regexp.MustCompile(`(?m)^blocked (-?\d+) of (\d+)$`)

// starve runs the program; attack is called when its threads wait to begin.
func starve(t *testing.T, jdk testjvm.JDK, attack func(p *process), vm ...string) starved {
	t.Helper()
	gate, open := newGate(t)
	dir := filepath.Join(testjvm.Root(t), "e2e", "testdata", "starve")
	threads := 2 * runtime.NumCPU()
	heap := fmt.Sprintf("%dm", threads*roundsOf(128, 1024))
	cmd := testjvm.Command{JDK: jdk, Classpath: testjvm.Compile(t, jdk, dir), Main: "Starve",
		Args: []string{strconv.Itoa(threads), strconv.Itoa(roundsOf(300_000, 3_000_000)), gate},
		// No collection and no page fault: either would block the program's threads, too.
		VM: append([]string{"-Xms" + heap, "-Xmx" + heap, "-XX:+AlwaysPreTouch", "-Xlog:disable", "-XX:+UnlockExperimentalVMOptions", "-XX:+UseEpsilonGC"}, vm...)}
	p := start(t, nil, cmd.Java()...)
	p.says(t, "ready\n")
	attack(p)
	open()
	r := starved{}
	var exit int
	if r.out, exit = p.end(t); exit != 0 {
		t.Fatalf("exit %d\n%s", exit, p.stderr.String())
	}
	for _, m := range saysBlocked.FindAllStringSubmatch(p.stderr.String(), -1) {
		blocked, err1 := strconv.ParseInt(m[1], 10, 64)
		wall, err2 := strconv.ParseInt(m[2], 10, 64)
		if err1 != nil || err2 != nil {
			t.Fatal(m)
		}
		r.blocked, r.wall = append(r.blocked, time.Duration(blocked)), append(r.wall, time.Duration(wall))
	}
	if len(r.blocked) != threads {
		t.Fatalf("%d threads of %d say how long they were blocked:\n%s", len(r.blocked), threads, p.stderr.String())
	}
	return r
}

// starveAgent lets the agent's threads, Go's and its own, have a processor only when nobody else wants one.
func starveAgent(t *testing.T, p *process) {
	t.Helper()
	folder := fmt.Sprintf("/proc/%d/task", p.Process.Pid)
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range entries {
		name, err := os.ReadFile(filepath.Join(folder, e.Name(), "comm"))
		tid, _ := strconv.Atoi(e.Name())
		if err != nil || strings.TrimSpace(string(name)) != "stackagent" {
			continue
		}
		if err := unix.SchedSetAttr(tid, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0); err != nil {
			t.Fatalf("SCHED_IDLE for thread %d: %v", tid, err)
		}
		n++
	}
	if n < 2 {
		t.Fatalf("%d threads of the agent found", n)
	}
}

// TestTortureStarvedAgent: the program's threads take all processors, and the agent's get what is left. No thread of
// the program waits for them for more than 20 ms in a second, and what is dropped is counted.
func TestTortureStarvedAgent(t *testing.T) {
	testjvm.Alone(t, "it fills the processors itself")
	for _, jdk := range newestOrAll(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			bus := serve(t, freeAddr(t), filepath.Join(t.TempDir(), "store"))
			tries := 0
			testjvm.OneGood(t, func(a *testjvm.Attempt) {
				tries++
				starvedAgent(t, a, jdk, bus, fmt.Sprint("starved", tries))
			})
			bus.stop(t)
		})
	}
}

func starvedAgent(t *testing.T, a *testjvm.Attempt, jdk testjvm.JDK, bus *server, session string) {
	t.Helper()
	plain := starve(t, jdk, func(*process) {})
	agent := agentFlag(t, "bus=nats://"+bus.addr, "tokenfile="+filepath.Join(bus.store, "token"), "session="+session, "detail=auto")
	profiled := starve(t, jdk, func(p *process) { starveAgent(t, p) }, agent)
	if plain.out != profiled.out {
		t.Errorf("stdout %q, without the agent %q", profiled.out, plain.out)
	}
	own := max(slices.Max(plain.blocked), 0)
	for i, blocked := range profiled.blocked {
		seconds := profiled.wall[i]/time.Second + 2 // of the clock, of which it may have seen parts
		if allowed := seconds*20*time.Millisecond + 2*own + 20*time.Millisecond; blocked > allowed {
			a.Errorf("a thread was blocked for %v of %v, want at most %v", blocked, profiled.wall[i], allowed)
		}
	}
	dir := filepath.Join(bus.store, session)
	waitEnded(t, dir)
	sameCounts(t, profiled.out, dir)
	m := readStoreManifest(t, dir)
	var named uint64
	for _, n := range m.Lost.ByReason {
		named += n
	}
	if named < m.Lost.Events {
		t.Errorf("%d events lost, of which reasons are given for %d: %v", m.Lost.Events, named, m.Lost.ByReason)
	}
	if h := m.Submissions; h == nil || h.Unaccounted != 0 || h.Produced != h.Stored+h.Summarised+h.Lost+h.InGaps {
		t.Errorf("the account of the submissions does not close: %+v", h)
	}
	t.Logf("blocked for %v of %v (alone at most %v); lost %v; submissions %+v", profiled.blocked, profiled.wall, own, m.Lost.ByReason, *m.Submissions)
}
