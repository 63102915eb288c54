package e2e_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"stackagent/internal/testjvm"
)

// patience is how long a test waits for what must happen at last. It bounds no
// figure: on a busy machine everything is late.
const patience = 5 * time.Minute

// waitFor waits until ok, and ends the test if that does not happen.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// process is a running command whose end the test waits for.
type process struct {
	*exec.Cmd
	stdout *bufio.Reader
	stderr testjvm.Buffer
}

// says waits until text is on the process's stderr. If it never is, the test shows what is.
func (p *process) says(t *testing.T, text string) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Logf("stderr of %s:\n%s", filepath.Base(p.Path), p.stderr.String())
		}
	}()
	waitFor(t, "on stderr: "+text, func() bool { return strings.Contains(p.stderr.String(), text) })
}

// start starts line; the test's end kills what is left of it and its children.
func start(t *testing.T, env []string, line ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(line[0], line[1:]...)}
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdout = bufio.NewReader(out)
	p.Stderr = &p.stderr
	p.Env = append(os.Environ(), env...)
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.Start(); err != nil {
		t.Fatalf("starting %v: %v", line, err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-p.Process.Pid, syscall.SIGKILL) // usually gone already
	})
	return p
}

// waitLine waits for a line on stdout.
func (p *process) waitLine(t *testing.T, want string) {
	t.Helper()
	line, err := p.stdout.ReadString('\n')
	if err != nil || strings.TrimSpace(line) != want {
		t.Fatalf("first line %q (%v), want %q\n%s", line, err, want, p.stderr.String())
	}
}

// end waits for the exit and returns the rest of stdout.
func (p *process) end(t *testing.T) (rest string, exit int) {
	t.Helper()
	timer := time.AfterFunc(patience, func() { _ = p.Process.Kill() })
	defer timer.Stop()
	b, err := io.ReadAll(p.stdout)
	if err != nil {
		t.Fatalf("reading stdout: %v", err)
	}
	_ = p.Wait() // the exit code says it
	return string(b), testjvm.ExitCode(p.ProcessState)
}

// A signal to the command reaches the program; the task that it interrupts
// is counted as still running.
func TestSignal(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			o := testjvm.Example(t, "sigterm")
			dir := filepath.Join(t.TempDir(), "session")
			line := append([]string{testjvm.Shadow(t), "run", "-q", "-o", dir, "--"}, o.Command(t, jdk).Java()...)
			p := start(t, nil, line...)
			p.waitLine(t, "ready")
			if err := p.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			rest, exit := p.end(t)
			if exit != o.Exit || rest != "hook\n" {
				t.Errorf("exit %d, then %q; want %d, \"hook\"\n%s", exit, rest, o.Exit, p.stderr.String())
			}
			profile := testjvm.Profile{Dir: dir}
			for _, wrong := range o.Compare(profile.Hotspots(t), profile.Tasks(t)) {
				t.Error(wrong)
			}
		})
	}
}

// server is `shadow serve` on a store.
type server struct {
	*process
	addr, store string
}

func serve(t *testing.T, addr, store string, env ...string) *server {
	t.Helper()
	return serveWith(t, addr, store, []string{"--listen", addr}, env...)
}

// serveWith starts a shadow on a bus that is there or that it starts at addr.
func serveWith(t *testing.T, addr, store string, flags []string, env ...string) *server {
	t.Helper()
	p := start(t, env, append([]string{testjvm.Shadow(t), "serve", "--http", "127.0.0.1:0", "--store", store}, flags...)...)
	waitFor(t, "shadow serve listens on "+addr, func() bool {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return &server{p, addr, store}
}

func (s *server) kill(t *testing.T) {
	t.Helper()
	if err := s.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.Wait() // killed
}

func (s *server) stop(t *testing.T) {
	t.Helper()
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if _, exit := s.end(t); exit != 0 {
		t.Errorf("shadow serve: exit %d\n%s", exit, s.stderr.String())
	}
}

// freeAddr is an address on which nothing listens. It is none of those that the
// kernel gives to connections, which could take it while a server is away.
func freeAddr(t *testing.T) string {
	t.Helper()
	const from, to = 12_000, 32_000
	for range 100 {
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", from+rand.IntN(to-from))); err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("no port is free")
	return ""
}

// agentFlag is the -agentpath option with settings; what the bus does not take
// goes with the test.
func agentFlag(t *testing.T, settings ...string) string {
	t.Helper()
	if !slices.ContainsFunc(settings, func(s string) bool { return strings.HasPrefix(s, "spool=") }) {
		settings = append(settings, "spool="+privateFolder(t))
	}
	return "-agentpath:" + testjvm.Library(t) + "=" + strings.Join(settings, ",")
}

// privateFolder is a new folder that the agent takes for its spool file.
func privateFolder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "spool")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// The shadow is killed in mid-run and comes back: the program notices nothing,
// and nothing is missing in the end, what was lost being counted.
func TestBusRestarts(t *testing.T) {
	testjvm.Shared(t)
	o := testjvm.Example(t, "million")
	o.Args = []string{"6000000"}
	jdk := testjvm.JDKs(t)[0]
	addr, store := freeAddr(t), filepath.Join(t.TempDir(), "store")
	s := serve(t, addr, store)
	cmd := o.Command(t, jdk, agentFlag(t, "bus=nats://"+addr, "tokenfile="+filepath.Join(store, "token"), "session=restarted"))
	java := start(t, nil, cmd.Java()...)
	waitStored(t, filepath.Join(store, "restarted"))
	s.kill(t)
	time.Sleep(200 * time.Millisecond)
	s = serve(t, addr, store)
	out, exit := java.end(t)
	if exit != 0 || out != "ran 6000000\n" {
		t.Errorf("exit %d, stdout %q\n%s", exit, out, java.stderr.String())
	}
	deliverKept(t, s, java.stderr.String())
	waitEnded(t, filepath.Join(store, "restarted"))
	s.stop(t)
	checkMillion(t, testjvm.Profile{Dir: filepath.Join(store, "restarted")}, 6_000_000)
}

var keptIn = regexp.MustCompile("`shadow deliver (\\S+)` stores them(.*)")

// deliverKept does as the agent says where its JVM, with a spool folder of its own, has
// ended before the bus was back.
func deliverKept(t *testing.T, s *server, said string) {
	t.Helper()
	kept := keptIn.FindStringSubmatch(said)
	if kept == nil {
		return
	}
	if kept[2] != "" {
		t.Errorf("a shadow does not look into a folder that it does not know: %q", kept[0])
	}
	if e := shadow(t, "deliver", "--nats", "nats://"+s.addr, "--token-file", filepath.Join(s.store, "token"), kept[1]); e.exit != 0 {
		t.Fatalf("shadow deliver: %+v", e)
	}
}

// waitEnded waits until the session says that its JVM has ended: what a killed
// shadow had fetched and not stored is delivered again only after a few seconds.
func waitEnded(t *testing.T, dir string) {
	t.Helper()
	waitFor(t, "the end of the session "+dir, func() bool {
		b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
		return err == nil && bytes.Contains(b, []byte(`"exit"`))
	})
}

// checkMillion checks executions stored + events lost = what the program did.
func checkMillion(t *testing.T, p testjvm.Profile, n int64) {
	t.Helper()
	lost := p.Stats(t).Lost.Events
	for _, r := range p.Hotspots(t) {
		if r.Class != "Main$Job" {
			continue
		}
		missing := (n - r.Executions) + (n - r.Created)
		if missing < 0 || missing > lost {
			t.Errorf("%d executions, %d created of %d, but only %d events counted as lost", r.Executions, r.Created, n, lost)
		}
		if lost == 0 {
			return
		}
		t.Logf("%d events lost, counted as such", lost)
		return
	}
	t.Error("Main$Job is not in the profile")
}
