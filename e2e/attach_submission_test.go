package e2e_test

import (
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"stackagent/internal/testjvm"
	"stackagent/shadow/session"
)

// startAgain starts a program whose main method has run once, with every class
// loaded, and runs again for each line.
func startAgain(t *testing.T, jdk testjvm.JDK, program string, vm ...string) *guest {
	t.Helper()
	root := testjvm.Root(t)
	classes := testjvm.Compile(t, jdk, filepath.Join(root, program)) + ":" +
		testjvm.Compile(t, jdk, filepath.Join(root, "e2e", "testdata", "attach", "again"))
	line := append(append([]string{jdk.Tool("java")}, vm...), "-cp", classes, "Again", "Main")
	g := startGuestLine(t, line)
	g.pid = g.Process.Pid
	g.untilLine(t, "ready")
	return g
}

// untilLine gives what the program prints before that line.
func (g *guest) untilLine(t *testing.T, end string) string {
	t.Helper()
	var said strings.Builder
	for {
		line, err := g.stdout.ReadString('\n')
		if err != nil {
			t.Fatalf("the program ended before it printed %q: %v\n%s\n%s", end, err, said.String(), g.stderr.String())
		}
		if strings.TrimSpace(line) == end {
			return said.String()
		}
		said.WriteString(line)
	}
}

// again lets the program run once more; what it prints.
func (g *guest) again(t *testing.T) string {
	t.Helper()
	if _, err := io.WriteString(g.in, "go\n"); err != nil {
		t.Fatalf("the program has ended: %v\n%s", err, g.stderr.String())
	}
	return g.untilLine(t, "did")
}

// byOldLambda is submitted to an executor that is a lambda made before the agent attached.
const byOldLambda = "Main$ByLambda"

// TestAttachSubmissions: an agent that attaches when every class of the program is
// loaded sees each submission with its executor, flags, call site and queue time, as
// one that was there from the start does; twice.
func TestAttachSubmissions(t *testing.T) {
	testjvm.Shared(t)
	_, submittedAt := marks(t, "examples/submissions", submissionMethods)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			g := startAgain(t, jdk, "examples/submissions")
			for range 2 {
				said := ""
				p := g.attached(t, func() { said = g.again(t) }, "--detail", "all")
				p.Stdout = said
				classes := readSubmissions(t, p.Dir, true)
				for class, want := range wantSubmissions {
					got := classes[class]
					if got == nil {
						got = &submitted{}
					}
					if class == byOldLambda {
						continue
					}
					if !slices.Equal(got.submissions, want) {
						t.Errorf("%s: submitted %v, want %v", class, got.submissions, want)
					}
					if want := submittedAt[class]; want != "" && !got.sites[want] {
						t.Errorf("%s: submitted at %v, want %s", class, got.sites, want)
					}
				}
				checkQueues(t, p)
				checkPools(t, p.Dir, map[string]int{threadPool: 2, scheduler: 1, forkPool: 1, "Main$Sub": 1, "Main$Moody": 1, "java.util.Timer": 1})
			}
			g.close(t)
		})
	}
}

// close lets the program end.
func (g *guest) close(t *testing.T) {
	t.Helper()
	g.in.Close()
	if _, exit := g.process.end(t); exit != 0 {
		t.Errorf("the program ended with %d\n%s", exit, g.stderr.String())
	}
}

// checkPools holds how many executors of each class got something.
func checkPools(t *testing.T, dir string, want map[string]int) {
	t.Helper()
	s, err := session.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	seen, got := map[uint32]bool{}, map[string]int{}
	err = s.Submissions(func(c *session.SubmissionChunk) error {
		for _, id := range c.Executor {
			if e := s.ExecutorByID(id); e != nil && !seen[id] {
				seen[id] = true
				got[e.Class]++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for class, n := range want {
		if got[class] != n {
			t.Errorf("%d executors of class %s, want %d", got[class], class, n)
		}
	}
}

// TestAttachQueues: the classes of the tasks were loaded before the agent attached,
// so what it knows of waiting tasks is in a table. A task that is submitted twice
// before it runs has no queue time, and is counted. Of many that wait at once, those
// that can be distinguished have the right queue time, and the rest is counted.
func TestAttachQueues(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			g := startAgain(t, jdk, filepath.Join("e2e", "testdata", "attach", "queues"))
			var said string
			p := g.attached(t, func() { said = g.again(t) }, "--detail", "all")
			g.close(t)
			var least, most int64 // ns that each of the many waited
			if n, err := fmt.Sscanf(said, "waited %d %d\n", &least, &most); n != 2 {
				t.Fatalf("the program printed %q: %v", said, err)
			}
			var known, executed = map[string]int{}, map[string]int{}
			for _, row := range p.Tasks(t) {
				if row["start_ns"] == "" {
					continue
				}
				class := row["class"]
				executed[class]++
				if row["queue_ns"] == "" {
					continue
				}
				known[class]++
				const slack = 100_000 // as in checkQueues
				if q := number(t, row, "queue_ns"); class == "Main$Waiting" && (q < least-slack || q > most+slack) {
					t.Errorf("queued for %d ns, the program saw %d to %d", q, least, most)
				}
			}
			const many, again = 20_000, 100 // see Main
			if executed["Main$Twice"] != 2 || known["Main$Twice"] != 0 {
				t.Errorf("submitted twice: %d executions, %d with a queue time; want 2, 0", executed["Main$Twice"], known["Main$Twice"])
			}
			if executed["Main$Reused"] != again || known["Main$Reused"] != again {
				t.Errorf("submitted again and again: %d executions, %d with a queue time; want %d", executed["Main$Reused"], known["Main$Reused"], again)
			}
			const twice = 2
			missing := 0
			for _, r := range p.Stats(t).Refusals {
				if strings.HasPrefix(r.Reason, "queue time unknown") {
					missing += int(r.Count)
				}
			}
			if n := known["Main$Waiting"]; executed["Main$Waiting"] != many || n < many*99/100 || many-n != missing-twice {
				t.Errorf("many: %d executions, %d with a queue time, %d reported without; want %d", executed["Main$Waiting"], n, missing-twice, many)
			}
		})
	}
}

// TestAttachAcross: the agent attaches, detaches and attaches again while tasks wait
// and threads are submitting. The second session knows nothing of the first: each task
// has one identity, none has another's, and a queue time is that of a submission in
// this session, or missing.
func TestAttachAcross(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			classes := testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "e2e", "testdata", "attach", "across"))
			g := startGuestLine(t, []string{jdk.Tool("java"), "-cp", classes, "Main"})
			g.pid = g.Process.Pid
			g.untilLine(t, "ready")
			g.attached(t, func() { g.again(t) }, "--detail", "all")
			g.again(t)
			p := g.attached(t, func() { g.again(t) }, "--detail", "all")
			g.close(t)
			checkAcross(t, p)
		})
	}
}

// checkAcross checks the second session of testdata/attach/across.
func checkAcross(t *testing.T, p testjvm.Profile) {
	t.Helper()
	const each, kept = 50, 20_000_000 - 100_000 // tasks of a class; ns that those of Kept were kept waiting at least, less what clocks differ
	want := map[string]struct{ executions, tasks, queued int }{
		"Main$Old": {each, each, 0}, "Main$Queued": {each, each, 0}, "Main$QueuedCall": {each, each, 0},
		"Main$QueuedFork": {each, each, 0}, "Main$Reused": {each, each, 0}, "Main$Between": {each, each, 0},
		"Main$Kept": {2 * each, each, 2 * each}, "Main$Late": {each, each, each},
	}
	classOf := map[string]string{} // of a task
	executed, tasks, queued := map[string]int{}, map[string]int{}, map[string]int{}
	for _, row := range p.Tasks(t) {
		class, id := row["class"], row["task_id"]
		if id == "0" || classOf[id] != "" && classOf[id] != class {
			t.Errorf("a task of %s has the number %s, as one of %s", class, id, classOf[id])
		}
		if row["start_ns"] == "" {
			continue
		}
		if classOf[id] == "" {
			classOf[id] = class
			tasks[class]++
		}
		executed[class]++
		if row["queue_ns"] == "" {
			continue
		}
		queued[class]++
		if q := number(t, row, "queue_ns"); class == "Main$Kept" && q < kept {
			t.Errorf("queued for %d ns, it was %d at least", q, kept)
		}
	}
	for class, w := range want {
		if executed[class] != w.executions || tasks[class] != w.tasks || queued[class] != w.queued {
			t.Errorf("%s: %d executions of %d tasks, %d with a queue time; want %+v", class, executed[class], tasks[class], queued[class], w)
		}
	}
	if n := executed["Main$Restless"]; n == 0 || tasks["Main$Restless"] != n || queued["Main$Restless"] != 0 {
		t.Errorf("Main$Restless: %d executions of %d tasks, %d with a queue time; want one of each, and none", n, tasks["Main$Restless"], queued["Main$Restless"])
	}
}

// TestAttachInterrupted: an interrupt while the agent attaches leaves no agent in the
// JVM; the next one can attach.
func TestAttachInterrupted(t *testing.T) {
	testjvm.Shared(t)
	g := startGuest(t, testjvm.JDKs(t)[0])
	for _, after := range []time.Duration{100, 300, 600} {
		cmd := exec.Command(testjvm.Shadow(t), "attach", fmt.Sprint(g.pid), "-o", filepath.Join(t.TempDir(), "session"))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(after * time.Millisecond)
		_ = cmd.Process.Signal(syscall.SIGINT)
		_ = cmd.Wait() // it fails, or has recorded what there was
	}
	p := g.record(t)
	for _, wrong := range g.oracle.Compare(p.Hotspots(t), nil) {
		t.Error(wrong)
	}
	g.end(t)
}
