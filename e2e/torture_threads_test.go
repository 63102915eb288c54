package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"stackagent/internal/testjvm"
)

// crowd is a user of whom a few threads are too many: a program of its own at
// the limit, in a folder with what it needs.
type crowd struct {
	dir       string
	uid       int
	classpath string
	group     string // the cgroup whose pids.max is the limit, instead of the user's
}

// The users are of nobody else, as the limit counts a user's threads.
const firstCrowdUser = 61_200

var crowds int

func newCrowd(t *testing.T, jdk testjvm.JDK) *crowd {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can become somebody else, and is not bound by the limit itself")
	}
	crowds++
	c := &crowd{dir: testjvm.OpenFolder(t), uid: firstCrowdUser + (os.Getpid()*7+crowds)%3000}
	c.classpath = filepath.Join(c.dir, "classes")
	testjvm.CopyProgram(t, testjvm.Library(t), filepath.Join(c.dir, "libstackagent.so"))
	if err := os.CopyFS(c.classpath, os.DirFS(testjvm.Compile(t, jdk, "testdata/threads"))); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("chmod", "-R", "a+rX", c.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return c
}

// own gives the user a file of its own.
func (c *crowd) own(t *testing.T, name string, text []byte) (path string) {
	t.Helper()
	path = filepath.Join(c.dir, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, c.uid, c.uid); err != nil {
		t.Fatal(err)
	}
	return path
}

// agent is the option for an agent of this user.
func (c *crowd) agent(t *testing.T, settings ...string) string {
	t.Helper()
	spool := filepath.Join(c.dir, "spool")
	if err := os.MkdirAll(spool, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(spool, c.uid, c.uid); err != nil {
		t.Fatal(err)
	}
	return "-agentpath:" + filepath.Join(c.dir, "libstackagent.so") + "=" + strings.Join(append(settings, "spool="+spool), ",")
}

// run runs the program with at most limit threads of the user.
func (c *crowd) run(t *testing.T, jdk testjvm.JDK, limit int, vm []string, main string, args ...string) testjvm.Result {
	t.Helper()
	return testjvm.Command{
		JDK:  jdk,
		Wrap: c.limited(t, limit),
		// The JVM's own warnings of each thread that it does not get are in its log, on stdout.
		VM:        append([]string{"-Xlog:disable", "-Xmx128m", "-Xss256k", "-XX:+UseSerialGC"}, vm...),
		Classpath: c.classpath,
		Main:      main,
		Args:      args,
		Timeout:   2 * time.Minute,
	}.Plain(t)
}

var held = regexp.MustCompile(`(?m)^held (\d+)$`)

// A program takes every thread that the system gives and continues. The agent has
// its own threads from the start: the program ends as it does alone, and what it
// executed is counted.
func TestTortureNoThreadToBeHad(t *testing.T) {
	testjvm.Shared(t)
	for i, jdk := range testjvm.JDKsInTurn(t) {
		for k, limit := range []string{"user", "pids.max"} {
			if !torture() && i%2 != k { // one each
				continue
			}
			t.Run(jdk.String()+"/"+limit, func(t *testing.T) {
				c := newCrowd(t, jdk)
				if limit == "pids.max" {
					c.group = newGroup(t)
				}
				t.Parallel() // the program waits most of the time
				c.exhausted(t, jdk)
			})
		}
	}
}

// exhausted runs the program at a limit at which Java itself gets no thread,
// with the bus and without.
func (c *crowd) exhausted(t *testing.T, jdk testjvm.JDK) {
	t.Helper()
	const limit, rounds = 120, "1"
	plain := c.run(t, jdk, limit, nil, "Threads", rounds)
	if plain.Exit != 7 || strings.Count(plain.Stdout, "refused 5,") != 1 {
		t.Fatalf("alone: exit %d, stdout %q, stderr %q", plain.Exit, plain.Stdout, plain.Stderr)
	}
	addr, store := freeAddr(t), filepath.Join(t.TempDir(), "store")
	s := serve(t, addr, store)
	token, err := os.ReadFile(filepath.Join(store, "token"))
	if err != nil {
		t.Fatal(err)
	}
	file := c.own(t, "token", token)
	runs := 0
	for i := range roundsOf(1, 50) {
		name := fmt.Sprintf("crowd%d", i)
		up := c.run(t, jdk, limit, []string{c.agent(t, "bus=nats://"+addr, "tokenfile="+file, "session="+name)}, "Threads", rounds)
		sameEnd(t, plain, up)
		checkCrowd(t, filepath.Join(store, name), up)
		away := c.run(t, jdk, limit, []string{c.agent(t, "bus=nats://"+freeAddr(t))}, "Threads", rounds)
		sameEnd(t, plain, away)
		runs += 2
	}
	s.stop(t)
	t.Logf("%d runs with the agent ended as the program does alone, none was aborted", runs)
}

// newGroup makes a cgroup that can limit the tasks in it; the test's end removes it.
func newGroup(t *testing.T) (dir string) {
	t.Helper()
	why := []string{}
	for _, parent := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/pids"} { // version 2, version 1
		dir := filepath.Join(parent, fmt.Sprintf("stackagent-%d-%d", os.Getpid(), crowds))
		err := os.Mkdir(dir, 0o755)
		if err == nil {
			t.Cleanup(func() { _ = os.Remove(dir) })
			_, err = os.Stat(filepath.Join(dir, "pids.max"))
		}
		if err == nil {
			return dir
		}
		why = append(why, err.Error())
	}
	t.Skipf("no cgroup with a limit of tasks can be made here: %s", strings.Join(why, "; "))
	return ""
}

// limited is how to run a command with at most limit threads.
func (c *crowd) limited(t *testing.T, limit int) []string {
	t.Helper()
	id := strconv.Itoa(c.uid)
	user := []string{"setpriv", "--reuid=" + id, "--regid=" + id, "--clear-groups"}
	if c.group == "" {
		return append(user, "prlimit", "--nproc="+strconv.Itoa(limit))
	}
	if err := os.WriteFile(filepath.Join(c.group, "pids.max"), []byte(strconv.Itoa(limit)), 0o600); err != nil {
		t.Fatal(err)
	}
	enter := []string{"sh", "-c", `echo $$ > "$0" && exec "$@"`, filepath.Join(c.group, "cgroup.procs")}
	return append(enter, user...)
}

// sameEnd compares what the program printed and how it ended.
func sameEnd(t *testing.T, plain, profiled testjvm.Result) {
	t.Helper()
	if profiled.Exit != plain.Exit || profiled.Stdout != plain.Stdout {
		t.Fatalf("exit %d, stdout %q; alone %d, %q\nstderr %s", profiled.Exit, profiled.Stdout, plain.Exit, plain.Stdout, profiled.Stderr)
	}
}

// checkCrowd compares the account with what the program counted itself.
func checkCrowd(t *testing.T, dir string, r testjvm.Result) {
	t.Helper()
	waitEnded(t, dir)
	p := testjvm.Profile{Dir: dir}
	holders := held.FindStringSubmatch(r.Stderr)
	if holders == nil {
		t.Fatalf("the program did not say how many threads it had: %q", r.Stderr)
	}
	for class, want := range map[string]string{"Threads$Job": "56000", "Threads$Holder": holders[1]} {
		row := readableClass(t, dir, class)
		if fmt.Sprint(row.Executions) != want {
			t.Errorf("%s executed %d times, the program says %s", class, row.Executions, want)
		}
	}
	if lost := p.Stats(t).Lost.Events; lost != 0 {
		t.Errorf("%d events lost", lost)
	}
}

// Where not even the agent's own threads are to be had at the start, it says so
// in one line and the program runs as it does alone; strict=true refuses.
func TestTortureNoThreadAtStart(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			c := newCrowd(t, jdk)
			few := c.fewThreads(t, jdk)
			plain := c.run(t, jdk, few, nil, "Threads", "0")
			profiled := c.run(t, jdk, few, []string{c.agent(t, "bus=nats://127.0.0.1:1")}, "Threads", "0")
			sameEnd(t, plain, profiled)
			const says = "stackagent: cannot start its threads (the limit of threads or memory is reached); "
			if want := says + "the program runs without profiling\n"; !strings.HasPrefix(profiled.Stderr, want) {
				t.Errorf("stderr %q, want first %q", profiled.Stderr, want)
			}
			strict := c.run(t, jdk, few, []string{c.agent(t, "bus=nats://127.0.0.1:1", "strict=true")}, "Threads", "0")
			if want := says + "strict=true: the JVM does not start\n"; strict.Exit != 1 || !strings.HasPrefix(strict.Stderr, want) {
				t.Errorf("strict: exit %d, stderr %q; want 1 and first %q", strict.Exit, strict.Stderr, want)
			}
		})
	}
}

var threadsNow = regexp.MustCompile(`(?m)^threads (\d+)$`)

// fewThreads is a limit at which the JVM itself runs the program, with not many more.
func (c *crowd) fewThreads(t *testing.T, jdk testjvm.JDK) int {
	t.Helper()
	r := c.run(t, jdk, 100, nil, "Threads", "0")
	found := threadsNow.FindStringSubmatch(r.Stderr)
	if found == nil {
		t.Fatalf("the program does not say how many threads the JVM has: %q", r.Stderr)
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return n + 5
}
