package e2e_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"stackagent/hpc/sched"
	"stackagent/internal/testjvm"
)

// guest is a program to which agents attach, see examples/attached.
type guest struct {
	*process
	pid    int // of the JVM, as we number it
	in     io.WriteCloser
	oracle testjvm.Oracle
	rounds int
}

func startGuest(t *testing.T, jdk testjvm.JDK, vm ...string) *guest {
	t.Helper()
	g := startGuestIn(t, nil, jdk, vm...)
	g.pid = g.Process.Pid
	return g
}

// startGuestLine starts a program that is talked to.
func startGuestLine(t *testing.T, line []string) *guest {
	t.Helper()
	g := &guest{process: &process{Cmd: exec.Command(line[0], line[1:]...)}}
	out, err1 := g.StdoutPipe()
	in, err2 := g.StdinPipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	g.in, g.stdout = in, bufio.NewReader(out)
	g.Stderr = &g.stderr
	if err := g.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Process.Kill() })
	return g
}

// startGuestIn starts it by a command that is put before java.
func startGuestIn(t *testing.T, wrap []string, jdk testjvm.JDK, vm ...string) *guest {
	t.Helper()
	o := testjvm.Example(t, "attached")
	g := startGuestLine(t, append(wrap, o.Command(t, jdk, vm...).Java()...))
	g.oracle = o
	g.waitLine(t, "ready")
	return g
}

// work lets the program do its work once more.
func (g *guest) work(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(g.in, "go\n"); err != nil {
		t.Fatalf("the program has ended: %v\n%s", err, g.stderr.String())
	}
	g.waitLine(t, "did")
	g.rounds++
}

// record attaches, lets the program work, and detaches by an interrupt.
func (g *guest) record(t *testing.T) testjvm.Profile {
	t.Helper()
	return g.recordAnd(t, func() {})
}

// recordAnd calls during before it detaches.
func (g *guest) recordAnd(t *testing.T, during func()) testjvm.Profile {
	t.Helper()
	return g.attached(t, func() {
		g.work(t)
		during()
	})
}

// attached attaches, calls during, and detaches by an interrupt.
func (g *guest) attached(t *testing.T, during func(), flags ...string) testjvm.Profile {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "session")
	cmd := exec.Command(testjvm.Shadow(t), append([]string{"attach", fmt.Sprint(g.pid), "-o", dir}, flags...)...)
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(patience, func() { _ = cmd.Process.Kill() }).Stop()
	said := bufio.NewReader(stderr)
	if line, err := said.ReadString('\n'); !strings.Contains(line, "attached to process") {
		t.Fatalf("shadow attach: %q, %v", line, err)
	}
	during()
	_ = cmd.Process.Signal(syscall.SIGINT)
	rest, _ := io.ReadAll(said)
	if err := cmd.Wait(); err != nil || !strings.Contains(string(rest), "Nothing was lost") {
		t.Errorf("shadow attach: %v\n%s", err, rest)
	}
	return testjvm.Profile{Dir: dir}
}

// end ends the program, whose output must be its own.
func (g *guest) end(t *testing.T) {
	t.Helper()
	g.in.Close()
	out, exit := g.process.end(t)
	const warm, each = 50 + 20 + 10 + 5, 85 + 25 + 14 + 15
	if want := fmt.Sprintf("done %d\n", warm+g.rounds*each); out != want || exit != 0 {
		t.Errorf("the program ended with %d and %q, want 0 and %q\n%s", exit, out, want, g.stderr.String())
	}
}

// Every execution of a round is counted, of classes and lambdas from before and
// after the agent attached, the first and the second time. In between, and
// afterwards, the program works without the agent.
func TestAttach(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			g := startGuest(t, jdk)
			for range 2 {
				p := g.record(t)
				for _, wrong := range g.oracle.Compare(p.Hotspots(t), nil) {
					t.Error(wrong)
				}
				if p.Stats(t).NotAvailable["created"] == "" {
					t.Error("the session does not say what could not be seen")
				}
				if _, err := os.Stat(filepath.Join(p.Dir, sched.Folder)); err != nil {
					t.Errorf("neither a scheduling record nor a word why there is none: %v", err)
				}
				g.work(t)
			}
			g.end(t)
		})
	}
}

// A JVM with numbers of its own, as in a container: its threads are found in the
// record of the scheduler and in the counters by the numbers that it knows.
func TestAttachNumbers(t *testing.T) {
	testjvm.Shared(t)
	wrap := []string{"unshare", "--pid", "--fork", "--kill-child", "--mount-proc"}
	if out, err := exec.Command(wrap[0], append(wrap[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("a pid namespace takes root and unshare: %v: %s", err, out)
	}
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			g := startGuestIn(t, wrap, jdk)
			children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", g.Process.Pid, g.Process.Pid))
			if _, err2 := fmt.Sscan(string(children), &g.pid); err != nil || err2 != nil {
				t.Fatalf("the JVM that %v started: %q, %v %v", wrap, children, err, err2)
			}
			p := g.record(t)
			g.end(t)
			record, err := sched.Open(p.Dir)
			if err != nil || record == nil {
				t.Fatalf("scheduling record: %v, %v", record, err)
			}
			if record.Record().Source == sched.NoSource {
				needRecord(t, false)
			}
			checkNumbers(t, p, record.Record())
		})
	}
}

// checkNumbers: the numbers that threads have inside are in the record, and Java
// threads are found by them there and among the counters.
func checkNumbers(t *testing.T, p testjvm.Profile, r *sched.Record) {
	t.Helper()
	const launcher = 1 // the first process of a namespace; its first thread only waits for the next one
	first := false
	for _, th := range r.Threads {
		first = first || th.TID == launcher
	}
	if !first {
		t.Errorf("no thread of the record has the number 1, which the first one has: %+v", r.Threads)
	}
	g, _ := bottleOf(t, p)
	named := 0
	for _, b := range g.Threads {
		if strings.HasPrefix(b.Name, "pool-") {
			named++
		}
	}
	if named == 0 {
		t.Errorf("no Java thread has its name in the bottle: %+v", g.Threads)
	}
	var rows []struct {
		Thread   string
		Counters map[string]struct{ Value float64 }
	}
	if err := json.Unmarshal(p.Shadow(t, "threads", p.Dir, "--counters", "--format", "json"), &rows); err != nil {
		t.Fatal(err)
	}
	counted := 0
	for _, row := range rows { // the one at least that loads the agent; others may live too short
		if strings.Contains(row.Thread, "#") && row.Counters["context_switches"].Value > 0 {
			counted++
		}
	}
	if counted == 0 {
		t.Errorf("no Java thread has counters: %+v", rows)
	}
}

// What is refused, and why; the program continues.
func TestAttachRefused(t *testing.T) {
	testjvm.Shared(t)
	g := startGuest(t, testjvm.JDKs(t)[0])
	for _, c := range []struct {
		name string
		args []string
		exit int
		says string
	}{
		{"nothing to detach", []string{"detach", fmt.Sprint(g.Process.Pid)}, 1, "no agent records in it"},
		{"no JVM", []string{"attach", fmt.Sprint(os.Getpid())}, 1, "is no JVM"},
		{"no process", []string{"attach", "999999999"}, 1, "no such process"},
		{"no number", []string{"attach", "x"}, 2, "is not a process id"},
		{"two places", []string{"attach", "1", "--bus", "nats://127.0.0.1:1", "-o", "x"}, 2, "give one of them"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := start(t, nil, append([]string{testjvm.Shadow(t)}, c.args...)...)
			if _, exit := p.end(t); exit != c.exit || !strings.Contains(p.stderr.String(), c.says) {
				t.Errorf("exit %d, want %d, and %q on stderr:\n%s", exit, c.exit, c.says, p.stderr.String())
			}
		})
	}
	g.work(t)
	g.end(t)
}

// -Xcheck:jni has nothing to say about an agent that attaches and detaches, twice.
func TestAttachChecked(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			g := startGuest(t, jdk, "-Xcheck:jni")
			g.record(t)
			g.record(t)
			g.end(t) // it prints some warnings on stdout
			for _, word := range []string{"WARNING in native method", "FATAL ERROR"} {
				if strings.Contains(g.stderr.String(), word) {
					t.Errorf("%s:\n%s", word, g.stderr.String())
				}
			}
		})
	}
}

// resources are what a process holds.
func resources(t *testing.T, pid int) (threads, files int) {
	t.Helper()
	a, err1 := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	b, err2 := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	return len(a), len(b)
}

// After the first time neither threads nor open files become more.
func TestAttachOften(t *testing.T) {
	testjvm.Shared(t)
	if os.Getenv("STACKAGENT_E2E") != "full" {
		t.Skip("takes long: STACKAGENT_E2E=full")
	}
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			g := startGuest(t, jdk)
			g.record(t)
			threads, files := resources(t, g.Process.Pid)
			for range 10 {
				p := g.record(t)
				for _, wrong := range g.oracle.Compare(p.Hotspots(t), nil) {
					t.Error(wrong)
				}
			}
			const slack = 3 // of Go's runtime, which makes a thread when it wants one
			if n, f := resources(t, g.Process.Pid); n > threads+slack || f > files {
				t.Errorf("%d threads and %d open files, after the first time %d and %d", n, f, threads, files)
			}
			g.end(t)
		})
	}
}
