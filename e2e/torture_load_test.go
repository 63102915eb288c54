package e2e_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"stackagent/hpc"
	"stackagent/internal/testjvm"
)

// warnings are the lines of a JVM's check of JNI calls.
func warnings(out string) (list []string) {
	for line := range strings.Lines(out) {
		if strings.Contains(line, "WARNING") || strings.Contains(line, "FATAL") {
			list = append(list, strings.TrimSpace(line))
		}
	}
	return list
}

// -Xcheck:jni warns of nothing that it does not warn of without us, whichever of two agents is in front. The other one
// retransforms, and sees the classes that ours retransforms.
func TestTortureCheckedInFront(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			agent := jar(t, testjvm.Compile(t, jdk, "testdata/premain"),
				"Premain-Class: early.Agent\nCan-Retransform-Classes: true\n")
			java, main := []string{jdk.Tool("java"), "-Xcheck:jni"}, []string{"-cp", agent, "early.Main"}
			other, ours := "-javaagent:"+agent, agentFlag(t, "bus=nats://127.0.0.1:1")
			run := func(options ...string) (out string, warned []string) {
				p := start(t, nil, append(append(java[:2:2], options...), main...)...)
				out, exit := p.end(t)
				if exit != 0 {
					t.Fatalf("%q: exit %d\n%s", options, exit, p.stderr.String())
				}
				return out, append(warnings(out), warnings(p.stderr.String())...)
			}
			want, wantWarned := run(other)
			for _, options := range [][]string{{other, ours}, {ours, other}} {
				out, warned := run(options...)
				if len(warned) > len(wantWarned) {
					t.Errorf("%q: %d warnings, without us %d, the first is %q", options, len(warned), len(wantWarned), warned[0])
				} else if out != want {
					t.Errorf("%q: %q, without us %q", options, out, want)
				}
			}
		})
	}
}

// A program with more threads than there are descriptors for counters: the session is whole, its scheduling record too,
// and it says of how many threads there are counters.
func TestTortureFewDescriptors(t *testing.T) {
	testjvm.Shared(t)
	jdks := testjvm.JDKs(t)
	jdk := jdks[len(jdks)-1]
	classes := testjvm.Compile(t, jdk, "testdata/descriptors")
	dir := filepath.Join(t.TempDir(), "session")
	line := []string{"sh", "-c", `ulimit -n 320; exec "$@"`, "sh", testjvm.Shadow(t), "run", "-o", dir, "--",
		jdk.Tool("java"), "-cp", classes, "Many", "150"}
	p := start(t, nil, line...)
	out, exit := p.end(t)
	if exit != 0 || out != "150\n" || strings.Contains(p.stderr.String(), "too many open files") {
		t.Fatalf("exit %d, %q\n%s", exit, out, p.stderr.String())
	}
	profile := testjvm.Profile{Dir: dir}
	if s := profile.Stats(t); s.Lost.Events != 0 || s.Lost.Batches != 0 {
		t.Errorf("%d events and %d batches are lost", s.Lost.Events, s.Lost.Batches)
	}
	file, err := hpc.ReadFile(dir)
	if err != nil || file == nil {
		t.Fatal(file, err)
	}
	if len(file.NotAvailable) == len(hpc.AllEvents()) {
		t.Skipf("this machine allows no event counters: %v", file.NotAvailable)
	}
	if len(file.Threads) == 0 || len(file.Threads)+file.Unopened < 150 {
		t.Errorf("%d threads are counted and %d are not, of more than 150", len(file.Threads), file.Unopened)
	}
	want := file.Partial()
	if !strings.Contains(want, "descriptor limit") {
		t.Errorf("why some threads are not counted: %q", want)
	}
	report := filepath.Join(t.TempDir(), "report.html")
	for _, verb := range [][]string{{"stats", dir}, {"report", dir, "-o", report}} {
		text, err := exec.Command(testjvm.Shadow(t), verb...).CombinedOutput()
		if err != nil {
			t.Errorf("%v: %v\n%s", verb, err, text)
		}
		if page, err := os.ReadFile(report); err == nil {
			text = append(text, page...)
		}
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("shadow %v does not say %q", verb[0], want)
		}
	}
}

// goThreads is how many threads the library makes for Go's runtime before the program runs (jvmti/life_go_threads.c).
const goThreads = 20

// agentThreads are the threads of the agent in a process, by their numbers, and whether they were ever used: one that only
// waits has left its processor once. The JVM's thread that loads the library has its name meanwhile.
type agentThreads map[string]bool

func (a agentThreads) look(pid int) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	for _, task := range tasks {
		name, err := os.ReadFile(filepath.Join(task, "comm"))
		if err != nil {
			continue
		}
		if strings.TrimSpace(string(name)) != threadsName {
			delete(a, task)
			continue
		}
		status, _ := os.ReadFile(filepath.Join(task, "status"))
		_, after, _ := strings.Cut(string(status), "\nvoluntary_ctxt_switches:")
		first, _, _ := strings.Cut(after, "\n")
		times, _ := strconv.Atoi(strings.TrimSpace(first))
		a[task] = a[task] || times > 1
	}
}

// watchThreads looks until seen is called.
func watchThreads(pid int) (seen func() (all, used int)) {
	stop, result := make(chan struct{}), make(chan agentThreads)
	go func() {
		a := agentThreads{}
		for {
			a.look(pid)
			select {
			case <-stop:
				result <- a
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return func() (all, used int) {
		close(stop)
		a := <-result
		for _, u := range a {
			if u {
				used++
			}
		}
		return len(a), used
	}
}

// The threads that are made before the program runs are enough: with a dead bus while many threads load classes, and
// when agents attach and detach.
func TestTortureAgentThreads(t *testing.T) {
	testjvm.Shared(t)
	jdks := testjvm.JDKs(t)
	jdk := jdks[len(jdks)-1]
	check := func(t *testing.T, most func() (int, int)) {
		t.Helper()
		all, used := most()
		t.Logf("%d threads, %d used", all, used)
		if all != goThreads {
			t.Errorf("%d threads of the agent, want the %d that were made first", all, goThreads)
		}
	}
	t.Run("dead bus", func(t *testing.T) {
		classes := testjvm.Compile(t, jdk, "testdata/strange")
		p := start(t, []string{"TMPDIR=" + t.TempDir()}, jdk.Tool("java"), agentFlag(t, "bus=nats://localhost:1,buffer=1MiB,spool=64MiB,detail=all"),
			"-cp", classes, "Main", "loaders", strconv.Itoa(roundsOf(300, 3000)))
		most := watchThreads(p.Process.Pid)
		_, exit := p.end(t)
		check(t, most)
		if exit != 0 {
			t.Errorf("exit %d\n%s", exit, p.stderr.String())
		}
	})
	t.Run("come and go", func(t *testing.T) {
		g := startGuest(t, jdk)
		most := watchThreads(g.Process.Pid)
		for range roundsOf(2, 20) {
			g.record(t)
		}
		check(t, most)
		g.end(t)
	})
}
