package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"stackagent/internal/testjvm"
)

// What goes wrong around a profiled program. In every case: the program's own
// output and exit code are unharmed, one clear line says what is wrong and what
// to do, and what had been stored can be read.

// victim is the program of testdata/faults with arguments.
func victim(t *testing.T, jdk testjvm.JDK, args ...string) testjvm.Command {
	t.Helper()
	dir := filepath.Join(testjvm.Root(t), "e2e", "testdata", "faults")
	return testjvm.Command{JDK: jdk, Classpath: testjvm.Compile(t, jdk, dir), Main: "Main", Args: args}
}

// eachJDK runs f on every JDK, outside the full run on one of them in turn.
func eachJDK(t *testing.T, f func(t *testing.T, jdk testjvm.JDK)) {
	t.Helper()
	each(t, testjvm.JDKsInTurn(t), f)
}

// each runs f on some JDKs.
func each(t *testing.T, jdks []testjvm.JDK, f func(t *testing.T, jdk testjvm.JDK)) {
	t.Helper()
	for _, jdk := range jdks {
		t.Run(jdk.String(), func(t *testing.T) { f(t, jdk) })
	}
}

// ended is how a command ended.
type ended struct {
	out, err string
	exit     int
}

// shadow runs the command to its end.
func shadow(t *testing.T, args ...string) ended {
	t.Helper()
	cmd := exec.Command(testjvm.Shadow(t), args...)
	return finish(t, cmd)
}

func finish(t *testing.T, cmd *exec.Cmd) ended {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	timer := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatalf("starting %v: %v", cmd.Args, err)
	}
	return ended{out.String(), errs.String(), testjvm.ExitCode(cmd.ProcessState)}
}

// oneLine checks that e is a failure reported in one line that names all of wants.
func (e ended) oneLine(t *testing.T, exit int, wants ...string) {
	t.Helper()
	if e.exit != exit || strings.Count(e.err, "\n") != 1 {
		t.Errorf("exit %d, want %d and one line: %q", e.exit, exit, e.err)
	}
	for _, want := range wants {
		if !strings.Contains(e.err, want) {
			t.Errorf("the line lacks %q: %q", want, e.err)
		}
	}
}

// manifest is what the tests look at.
type manifest struct {
	Session  string
	Ended    string
	Produced struct{ Executions, Creations int64 }
	Stored   struct{ Executions, Creations int64 }
	Lost     struct{ Events, Batches, Unaccounted int64 }
	JVM      struct{ PID int }
	Pieces   []struct{ Path string }
}

func readManifest(t *testing.T, dir string) manifest {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m manifest
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
	return m
}

// whole checks that the session in dir accounts for every event, jobs of them
// executions of Main$Job, and that its JVM exited cleanly.
func whole(t *testing.T, dir string, jobs int64) {
	t.Helper()
	m := readManifest(t, dir)
	produced, stored := m.Produced.Executions+m.Produced.Creations, m.Stored.Executions+m.Stored.Creations
	if produced != stored+m.Lost.Events || m.Lost.Unaccounted != 0 || m.Ended != "exit" {
		t.Errorf("%s: produced %d, stored %d, lost %+v, ended %q", dir, produced, stored, m.Lost, m.Ended)
	}
	got := readable(t, dir)
	missing := (jobs - got.Executions) + (jobs - got.Created)
	if got.Executions > jobs || got.Created > jobs || missing > m.Lost.Events || (m.Lost.Events == 0 && missing != 0) {
		t.Errorf("%s: %d jobs executed, %d created of %d; %d events lost", dir, got.Executions, got.Created, jobs, m.Lost.Events)
	}
}

// readable checks that `shadow stats` reads dir and returns the row of the jobs.
func readable(t *testing.T, dir string) testjvm.Row {
	t.Helper()
	return readableClass(t, dir, "Main$Job")
}

func readableClass(t *testing.T, dir, class string) testjvm.Row {
	t.Helper()
	p := testjvm.Profile{Dir: dir}
	p.Stats(t)
	for _, r := range p.Hotspots(t) {
		if r.Class == class {
			return r
		}
	}
	t.Errorf("%s: %s is not in the profile", dir, class)
	return testjvm.Row{}
}

// A wrong option: one line that names it, and the program runs without
// profiling; with strict=true the JVM does not start.
func TestFaultOptions(t *testing.T) {
	testjvm.Shared(t)
	eachJDK(t, func(t *testing.T, jdk testjvm.JDK) {
		for wrong, names := range map[string]string{"colour=red": "options are", "metric=joy": "want one or more of"} {
			cmd := victim(t, jdk, "exit", "7")
			cmd.VM = []string{agentFlag(t, wrong)}
			res := cmd.Plain(t)
			if res.Exit != 7 || res.Stdout != "ran 100\n" {
				t.Errorf("%s: exit %d, stdout %q", wrong, res.Exit, res.Stdout)
			}
			if strings.Count(res.Stderr, "\n") != 1 || !strings.Contains(res.Stderr, wrong) || !strings.Contains(res.Stderr, names) {
				t.Errorf("%s: stderr %q", wrong, res.Stderr)
			}
			cmd.VM = []string{agentFlag(t, wrong, "strict=true")}
			if res := cmd.Plain(t); res.Exit == 0 || strings.Contains(res.Stdout, "ran") || !strings.Contains(res.Stderr, wrong) {
				t.Errorf("%s, strict: exit %d, stdout %q, stderr %q", wrong, res.Exit, res.Stdout, res.Stderr)
			}
		}
	})
	if e := shadow(t, "run", "--metric", "joy", "--", "java"); e.exit != 2 || !strings.Contains(e.err, `"joy" is not a metric`) {
		t.Errorf("run --metric joy: %+v", e)
	}
}

// javaHome makes a folder with bin/java, a script, and perhaps a release file.
func javaHome(t *testing.T, script, release string) (java string) {
	t.Helper()
	home := t.TempDir()
	java = filepath.Join(home, "bin", "java")
	if err := os.Mkdir(filepath.Dir(java), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(java, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if release != "" {
		if err := os.WriteFile(filepath.Join(home, "release"), []byte(release), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return java
}

// No Java, or a wrong one.
func TestFaultJava(t *testing.T) {
	testjvm.Shared(t)
	dir := filepath.Join(t.TempDir(), "s")
	shadow(t, "run", "-o", dir, "--", "no-such-java").oneLine(t, 1, "no-such-java: no such command in PATH")
	shadow(t, "run", "-o", dir, "--", "/no/bin/java").oneLine(t, 1, "/no/bin/java: no such command")
	shadow(t, "run", "-o", dir, "--", javaHome(t, "echo started", "JAVA_VERSION=\"1.8.0_402\"\n")).
		oneLine(t, 1, "is Java 1.8.0_402", "needs 17 or newer", "shadow doctor")
	shadow(t, "run", "-o", dir, "--", javaHome(t, "echo started", "JAVA_VERSION=\"21\"\nLIBC=\"musl\"\n")).
		oneLine(t, 1, "built for musl")
	// Another kind of JVM, which does not know the option: its own message, its own exit code.
	e := shadow(t, "run", "-o", dir, "--", javaHome(t, "echo \"Unrecognized option: $1\" >&2; exit 3", ""))
	if e.exit != 3 || !strings.Contains(e.err, "Unrecognized option: -agentpath") || !strings.Contains(e.err, "no JVM connected") || !strings.Contains(e.err, "shadow doctor") {
		t.Errorf("a foreign JVM: %+v", e)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Errorf("%s is left behind", dir)
	}
}

// A program's exit code is shadow run's, whatever it is.
func TestFaultExitCode(t *testing.T) {
	testjvm.Shared(t)
	eachJDK(t, func(t *testing.T, jdk testjvm.JDK) {
		p := victim(t, jdk, "exit", "7").Profile(t)
		if p.Exit != 7 || p.Stdout != "ran 100\n" || p.Stderr != "" {
			t.Errorf("exit %d, stdout %q, stderr %q", p.Exit, p.Stdout, p.Stderr)
		}
		whole(t, p.Dir, 100)
	})
}

// A JVM whose heap is full cannot announce its end. What it recorded arrives all the same. A class that could not be
// loaded for want of a superclass does not count as lost.
func TestFaultHeapFull(t *testing.T) {
	testjvm.Shared(t)
	eachJDK(t, func(t *testing.T, jdk testjvm.JDK) {
		cmd := victim(t, jdk, "full")
		cmd.VM = []string{"-Xmx24m", "-XX:+UseG1GC"}
		p := cmd.Profile(t)
		if p.Exit != 1 || p.Stdout != "ran 100\n" || !strings.Contains(p.Stderr, "OutOfMemoryError") {
			t.Errorf("exit %d, stdout %q, stderr %q", p.Exit, p.Stdout, p.Stderr)
		}
		whole(t, p.Dir, 100)
		if refused := p.Stats(t).Refusals; len(refused) > 0 {
			t.Errorf("refused: %+v", refused)
		}
	})
}

// waiting starts `shadow run` with a program that waits; it returns the JVM's
// process id, and the session folder.
func waiting(t *testing.T, jdk testjvm.JDK) (p *process, pid int, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "session")
	line := append([]string{testjvm.Shadow(t), "run", "-o", dir, "--"}, victim(t, jdk, "wait").Java()...)
	p = start(t, nil, line...)
	p.waitLine(t, "ran 100")
	line2, err := p.stdout.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(line2, "ready %d", &pid); err != nil {
		t.Fatalf("%q: %v", line2, err)
	}
	return p, pid, dir
}

// Signals: to the program, and to shadow run, which passes them on.
func TestFaultSignals(t *testing.T) {
	testjvm.Shared(t)
	eachJDK(t, func(t *testing.T, jdk testjvm.JDK) {
		for _, c := range []struct {
			name    string
			program bool // to the program itself
			signal  syscall.Signal
		}{{"TERM to the program", true, syscall.SIGTERM}, {"INT to shadow run", false, syscall.SIGINT}, {"TERM to shadow run", false, syscall.SIGTERM}} {
			t.Run(c.name, func(t *testing.T) {
				p, pid, dir := waiting(t, jdk)
				if !c.program {
					pid = p.Process.Pid
				}
				if err := syscall.Kill(pid, c.signal); err != nil {
					t.Fatal(err)
				}
				out, exit := p.end(t)
				if want := 128 + int(c.signal); exit != want || out != "hook\n" {
					t.Errorf("exit %d, want %d; stdout %q\n%s", exit, want, out, p.stderr.String())
				}
				if !strings.Contains(p.stderr.String(), "Nothing was lost") {
					t.Errorf("stderr: %s", p.stderr.String())
				}
				whole(t, dir, 100)
			})
		}
	})
}

// A killed JVM can say nothing more: the session is closed, can be read, and says so.
func TestFaultKilled(t *testing.T) {
	testjvm.Shared(t)
	eachJDK(t, func(t *testing.T, jdk testjvm.JDK) {
		p, pid, dir := waiting(t, jdk)
		waitStoredMany(t, filepath.Join(dir, "*"), 100) // a batch goes out every second
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		_, exit := p.end(t)
		errs := p.stderr.String()
		if exit != 137 || !strings.Contains(errs, "signal 9") || !strings.Contains(errs, "did not exit cleanly") || strings.Contains(errs, "Nothing was lost") {
			t.Errorf("exit %d\n%s", exit, errs)
		}
		if m := readManifest(t, dir); m.Ended != "lost contact" {
			t.Errorf("ended %q, want lost contact", m.Ended)
		}
		if r := readable(t, dir); r.Executions != 100 {
			t.Errorf("%d jobs of the 100 before the last batch", r.Executions)
		}
		if e := shadow(t, "stats", dir); e.exit != 0 || !strings.Contains(e.out, "\nincomplete ") || !strings.Contains(e.out, "still running: not known") ||
			strings.Contains(e.out, "ended: cleanly") {
			t.Errorf("stats does not show that the session has no end: %+v", e)
		}
	})
}

// A JVM that starts another: one session each, in a folder of its own.
func TestFaultTwoJVMs(t *testing.T) {
	testjvm.Shared(t)
	eachJDK(t, func(t *testing.T, jdk testjvm.JDK) {
		p := victim(t, jdk, "child", "700").Profile(t)
		if p.Exit != 0 {
			t.Fatalf("exit %d\n%s", p.Exit, p.Stderr)
		}
		folders, _ := filepath.Glob(filepath.Join(p.Dir, "*", "manifest.json"))
		if len(folders) != 2 {
			t.Fatalf("sessions: %v, want 2", folders)
		}
		counts := map[int64]bool{}
		for _, f := range folders {
			n := readable(t, filepath.Dir(f)).Executions
			counts[n] = true
			whole(t, filepath.Dir(f), n)
		}
		if !counts[500] || !counts[700] {
			t.Errorf("jobs by session: %v, want 500 and 700", counts)
		}
		shadow(t, "stats", p.Dir).oneLine(t, 1, "it holds several, give one of them")
	})
}

// Two JVMs with one session name at one shadow at the same time do not mix.
func TestFaultNamesakes(t *testing.T) {
	testjvm.Shared(t)
	jdks := testjvm.JDKs(t)
	addr, store := freeAddr(t), filepath.Join(t.TempDir(), "store")
	s := serve(t, addr, store)
	flag := agentFlag(t, "bus=nats://"+addr, "tokenfile="+filepath.Join(store, "token"), "session=same")
	want := map[int]int64{} // by process id
	var all []*process
	for i, n := range []int64{200_000, 300_000, 400_000} {
		cmd := victim(t, jdks[i%len(jdks)], "run", strconv.FormatInt(n, 10))
		cmd.VM = []string{flag}
		p := start(t, nil, cmd.Java()...)
		want[p.Process.Pid] = n
		all = append(all, p)
	}
	for _, p := range all {
		if _, exit := p.end(t); exit != 0 {
			t.Errorf("exit %d: %s", exit, p.stderr.String())
		}
	}
	for _, folder := range []string{"same", "same-2", "same-3"} {
		waitEnded(t, filepath.Join(store, folder))
	}
	s.stop(t)
	for _, folder := range []string{"same", "same-2", "same-3"} {
		dir := filepath.Join(store, folder)
		m := readManifest(t, dir)
		if want[m.JVM.PID] == 0 || m.Session != "same" {
			t.Errorf("%s is of process %d", folder, m.JVM.PID)
		}
		whole(t, dir, want[m.JVM.PID])
		delete(want, m.JVM.PID)
	}
}

// Java threads that live on one OS thread (main and DestroyJavaVM) share its CPU
// time and counters; neither is counted twice.
func TestFaultSharedOSThread(t *testing.T) {
	testjvm.Shared(t)
	eachJDK(t, func(t *testing.T, jdk testjvm.JDK) {
		testjvm.OneGood(t, func(a *testjvm.Attempt) { checkShared(t, a, victim(t, jdk, "run", "50000").Profile(t)) })
	})
}

func checkShared(t *testing.T, a *testjvm.Attempt, p testjvm.Profile) {
	t.Helper()
	type row struct {
		Thread   string
		OSID     *int64 `json:"os_id"`
		CPUNs    *int64 `json:"cpu_ns"`
		Counters map[string]struct{ Value float64 }
	}
	var rows []row
	if err := json.Unmarshal([]byte(shadow(t, "threads", p.Dir, "--format", "json").out), &rows); err != nil {
		t.Fatal(err)
	}
	var first, second row
	counted := map[int64]string{}
	for _, r := range rows {
		switch {
		case strings.HasPrefix(r.Thread, "main#"):
			first = r
		case strings.HasPrefix(r.Thread, "DestroyJavaVM#"):
			second = r
		}
		if r.OSID != nil && len(r.Counters) > 0 {
			if other := counted[*r.OSID]; other != "" {
				t.Errorf("the counters of OS thread %d stand with %s and with %s", *r.OSID, other, r.Thread)
			}
			counted[*r.OSID] = r.Thread
		}
	}
	if first.OSID == nil || second.OSID == nil || *first.OSID != *second.OSID || first.CPUNs == nil || second.CPUNs == nil {
		t.Fatalf("main %+v, DestroyJavaVM %+v: want one OS thread and CPU times", first, second)
	}
	// main creates 50,000 jobs; DestroyJavaVM waits for the pool and ends the JVM.
	if *second.CPUNs > *first.CPUNs/2 {
		a.Errorf("DestroyJavaVM has %d ns of CPU time, main %d", *second.CPUNs, *first.CPUNs)
	}
}
