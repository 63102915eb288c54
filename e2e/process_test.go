package e2e_test

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"stackagent/internal/testjvm"
)

// process is a running command whose end the test waits for.
type process struct {
	*exec.Cmd
	stdout *bufio.Reader
	stderr bytes.Buffer
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

// end waits for the exit within a minute and returns the rest of stdout.
func (p *process) end(t *testing.T) (rest string, exit int) {
	t.Helper()
	timer := time.AfterFunc(time.Minute, func() { _ = p.Process.Kill() })
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
	for _, jdk := range testjvm.JDKs(t) {
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
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			return &server{p, addr, store}
		}
		if time.Now().After(deadline) {
			t.Fatalf("shadow serve does not listen on %s\n%s", addr, p.stderr.String())
		}
	}
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

func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
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
	o := testjvm.Example(t, "million")
	o.Args = []string{"6000000"}
	jdk := testjvm.JDKs(t)[0]
	addr, store := freeAddr(t), filepath.Join(t.TempDir(), "store")
	s := serve(t, addr, store)
	cmd := o.Command(t, jdk, agentFlag(t, "bus=nats://"+addr, "tokenfile="+filepath.Join(store, "token"), "session=restarted"))
	java := start(t, nil, cmd.Java()...)
	time.Sleep(700 * time.Millisecond) // into the tasks, which take seconds
	s.kill(t)
	time.Sleep(200 * time.Millisecond)
	s = serve(t, addr, store)
	out, exit := java.end(t)
	if exit != 0 || out != "ran 6000000\n" {
		t.Errorf("exit %d, stdout %q\n%s", exit, out, java.stderr.String())
	}
	waitEnded(t, filepath.Join(store, "restarted"))
	s.stop(t)
	checkMillion(t, testjvm.Profile{Dir: filepath.Join(store, "restarted")}, 6_000_000)
}

// waitEnded waits until the session says that its JVM has ended: what a killed
// shadow had fetched and not stored comes again only after some seconds.
func waitEnded(t *testing.T, dir string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
		if err == nil && bytes.Contains(b, []byte(`"exit"`)) {
			return
		}
	}
	t.Errorf("%s: the session did not end in time", dir)
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

// The shadow dies for good: the program runs on to its end.
func TestBusDies(t *testing.T) {
	o := testjvm.Example(t, "million")
	o.Args = []string{"4000000"}
	jdks := testjvm.JDKs(t)
	addr, store := freeAddr(t), filepath.Join(t.TempDir(), "store")
	s := serve(t, addr, store)
	cmd := o.Command(t, jdks[len(jdks)-1], agentFlag(t, "bus=nats://"+addr, "tokenfile="+filepath.Join(store, "token")))
	java := start(t, nil, cmd.Java()...)
	time.Sleep(700 * time.Millisecond)
	s.kill(t)
	began := time.Now()
	if out, exit := java.end(t); exit != 0 || out != "ran 4000000\n" {
		t.Errorf("exit %d, stdout %q\n%s", exit, out, java.stderr.String())
	}
	if took := time.Since(began); took > 40*time.Second {
		t.Errorf("the program took %v to end without the bus", took)
	}
}

// No bus at all: the program runs as ever, and one line says why there is no profile.
func TestNoBus(t *testing.T) {
	o := testjvm.Example(t, "pool")
	for _, jdk := range testjvm.JDKs(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			plain := o.Command(t, jdk).Plain(t)
			res := o.Command(t, jdk, agentFlag(t, "bus=nats://"+freeAddr(t))).Plain(t)
			if res.Exit != 0 || res.Stdout != plain.Stdout {
				t.Errorf("exit %d, stdout %q", res.Exit, res.Stdout)
			}
			lines := strings.Split(strings.TrimSpace(res.Stderr), "\n")
			if len(lines) == 0 || !strings.Contains(lines[0], "bus") {
				t.Errorf("stderr does not tell of the bus: %q", res.Stderr)
			}
			if len(lines) > 2 { // that it is away; at the end, that records were lost
				t.Errorf("stderr is a chatter: %q", res.Stderr)
			}
			if res.Wall > plain.Wall+15*time.Second {
				t.Errorf("%v without a bus, %v without the agent", res.Wall, plain.Wall)
			}
		})
	}
}
