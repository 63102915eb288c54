package testjvm

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// Collector is a garbage collector and the flag that chooses it.
type Collector struct{ Name, Flag string }

// The collectors that every supported JDK has.
var (
	Serial   = Collector{"Serial", "-XX:+UseSerialGC"}
	Parallel = Collector{"Parallel", "-XX:+UseParallelGC"}
	G1       = Collector{"G1", "-XX:+UseG1GC"}
	Z        = Collector{"Z", "-XX:+UseZGC"}
)

// Collectors lists them all.
var Collectors = []Collector{Serial, Parallel, G1, Z}

// Command is one run of a Java program.
type Command struct {
	JDK       JDK
	Wrap      []string // a command put before java
	VM        []string // options of the JVM
	Classpath string
	Main      string
	Args      []string
	Agent     []string // options of `shadow run`
	Env       []string // added to the environment
	Timeout   time.Duration
}

// Result is how a run ended.
type Result struct {
	Stdout, Stderr string
	Exit           int // 128+n when signal n ended it
	Wall           time.Duration
	CPU            time.Duration // of the command and all that it started and waited for
}

// Against a hang; on a machine that gives little time everything is late.
const defaultTimeout = 10 * time.Minute

// Java is the command line of the program itself.
func (c Command) Java() []string {
	line := append(slices.Clone(c.Wrap), c.JDK.Tool("java"))
	line = append(line, c.VM...)
	return append(append(line, "-cp", c.Classpath, c.Main), c.Args...)
}

// Plain runs the program without the agent.
func (c Command) Plain(t testing.TB) Result {
	t.Helper()
	return run(t, c.Java(), c.Env, c.Timeout)
}

// Profile runs the program by `shadow run` with its session in a new folder
// of the test. The scheduling records of its sessions must hold together.
func (c Command) Profile(t testing.TB) Profile {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "session")
	line := append([]string{Shadow(t), "run", "-o", dir, "--quiet"}, c.Agent...)
	line = append(append(line, "--"), c.Java()...)
	before := Stolen(t)
	p := Profile{Result: run(t, line, c.Env, c.Timeout), Dir: dir}
	p.Stolen = Stolen(t) - before
	p.checkScheduling(t)
	return p
}

// run runs line to its end. A run that takes too long is asked for a thread
// dump, killed, and fails the test.
func run(t testing.TB, line, env []string, timeout time.Duration) Result {
	t.Helper()
	if timeout == 0 {
		timeout = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Env = append(cleanEnv(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGQUIT) // the JVM prints its threads
		time.Sleep(500 * time.Millisecond)
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	cmd.WaitDelay = 5 * time.Second
	start := time.Now()
	err := cmd.Run()
	res := Result{Stdout: stdout.String(), Stderr: stderr.String(), Wall: time.Since(start)}
	if ctx.Err() != nil {
		t.Fatalf("%v did not end within %v\nstdout:\n%s\nstderr:\n%s", line, timeout, res.Stdout, res.Stderr)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("starting %v: %v", line, err)
	}
	res.Exit = ExitCode(cmd.ProcessState)
	res.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return res
}

// ExitCode is the code a shell would show: 128+n when signal n ended it.
func ExitCode(p *os.ProcessState) int {
	if ws, ok := p.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return p.ExitCode()
}

// cleanEnv is the environment without what changes a JVM or the agent.
func cleanEnv() []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := bytes.Cut([]byte(kv), []byte("="))
		switch string(name) {
		case "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS",
			"STACKAGENT_BUS_TOKEN", "STACKAGENT_AGENT":
		default:
			env = append(env, kv)
		}
	}
	return env
}

// Root is the top folder of the source tree: the folder of go.mod at or above the test's own folder.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod at or above the folder of the test")
		}
		dir = filepath.Dir(dir)
	}
}

// Shadow is the built command; a test that needs it fails without.
func Shadow(t testing.TB) string { t.Helper(); return built(t, "shadow") }

// Library is the built agent library.
func Library(t testing.TB) string { t.Helper(); return built(t, "libstackagent.so") }

func built(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(Root(t), "bin", name)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v: run `make` first", err)
	}
	return path
}
