package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/run"
	"stackagent/internal/launch"
)

// endsWithin is how long a verb may take after a signal.
const endsWithin = time.Second

// words of the lines below that stand for a place where a verb waits.
const (
	silentStore = "{store}"  // an object store that takes connections and says nothing
	silentHost  = "{host}"   // the same as HOST:PORT
	folder      = "{folder}" // a new one
	frozenJVM   = "{jvm}"    // one that does not begin to listen
)

// blockingLines are, for each verb, arguments with which it would run for ever: it never gets its input, or nobody reads what
// it prints.
var blockingLines = map[string][]string{
	"attach": {frozenJVM, "-o", folder}, "detach": {frozenJVM},
	"serve": {"--nats", "nats://" + silentHost, "--store", folder}, "observe": {"--nats", "nats://" + silentHost, "--work", folder},
	"deliver": {"--nats", "nats://" + silentHost, folder + "/x"},
	"run":     {"-o", folder, "--", "sleep", "1000"}, "heap": {"-o", folder, "--", "sh", "-c", "trap '' TERM INT; sleep 1000"},
	"lbo":   {"-o", folder, "--collectors", "Serial", "--heaps", "64m", "--", "sh", "-c", "trap '' TERM INT; sleep 1000"},
	"scale": {"-o", folder, "--threads", "1", "--", "sh", "-c", "trap '' TERM INT; sleep 1000; : {threads}"},
	"top":   {"http://" + silentHost}, "mcp": {}, "diff": {silentStore, silentStore}, "check": {silentStore, "--fail-if", "queue_ns.p99 > 5ms"},
	"stack": {silentStore, silentStore}, "path": {silentStore}, "whatif": {silentStore, "--cpus", "4"}, "why": {silentStore}, "join": {folder, "-o", folder + "/whole"},
	"export": {silentStore, "--format", "pprof", "-o", folder + "/x"}, "report": {silentStore, "-o", folder + "/x.html"},
	"characterize": {"a=" + silentStore, "b=" + silentStore}, "vertical": {silentStore}, "warmup": {silentStore},
	"page-of": {"stats", silentStore}, "version": {}, "man": {}, "schema": {"stats"}, "licenses": {}, "doctor": {},
	"import": {folder + "/x.jfr"}, "import tgp": {folder + "/tasks.csv", "-o", folder},
	"tgp aggregate": {folder, "-o", folder + "/x"}, "tgp diagnose": {folder}, "tgp fine": {folder}, "tgp coarse": {folder},
	"sessions ls": {silentStore}, "sessions rm": {silentStore}, "sessions open": {silentStore}, "sessions label": {silentStore, "--name", "x"},
	"fleet add": {silentStore, folder}, "fleet versions": {silentStore, "--service", "x"},
	"fleet retain": {silentStore, "--detail", "1d"}, "help": {}, "completion bash": {}, "completion zsh": {}, "completion fish": {}, "completion powershell": {},
}

// blockingLine is what a verb without a line of its own waits for: a session, or a store of them.
var blockingLine = []string{silentStore}

// leaves are the commands that do something.
func leaves(cmd *cobra.Command) (names []string) {
	if cmd.HasParent() && cmd.Runnable() {
		names = append(names, strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" "))
	}
	for _, c := range cmd.Commands() {
		names = append(names, leaves(c)...)
	}
	return names
}

// Every verb ends within a second of a signal, wherever it waits, as if it had not caught the signal, and leaves no
// unfinished file.
func TestVerbsEnd(t *testing.T) {
	root := newRoot(console.Env{})
	root.InitDefaultHelpCmd()
	all, known := leaves(root), map[string]bool{}
	host := silentListener(t)
	lib := agentLibrary(t)
	atOnce := make(chan struct{}, 4)
	var group sync.WaitGroup
	for i, verb := range all {
		known[verb] = true
		if verb == "fleet" || verb == "sessions" || verb == "tgp" || verb == "completion" {
			continue // groups: they print their help
		}
		line, ok := blockingLines[verb]
		if !ok {
			line = blockingLine
		}
		sig := []unix.Signal{unix.SIGTERM, unix.SIGINT}[i%2]
		dir := filepath.Join(t.TempDir(), "new")
		group.Go(func() {
			atOnce <- struct{}{}
			defer func() { <-atOnce }()
			for try := 0; ; try++ {
				took, err := endOfVerb(t, verb, line, host, dir, lib, sig)
				if err == nil && took > endsWithin {
					err = fmt.Errorf("took %v to end", took)
				}
				if err == nil {
					return
				}
				if try == 1 { // this machine may have stood still once
					t.Errorf("shadow %s %s after %v: %v", verb, strings.Join(line, " "), sig, err)
					return
				}
				os.RemoveAll(dir)
			}
		})
	}
	group.Wait()
	for verb := range blockingLines {
		if !known[verb] {
			t.Errorf("there is no verb %q", verb)
		}
	}
}

// endOfVerb starts a verb, signals it when it waits, and gives the time that it takes to end.
func endOfVerb(t *testing.T, verb string, line []string, host, dir, lib string, sig unix.Signal) (time.Duration, error) {
	words := map[string]string{silentHost: host, folder: dir, silentStore: "s3://bucket/x?endpoint=http://" + host + "&region=eu-central-1&path-style=true"}
	args := strings.Fields(verb)
	for _, a := range line {
		if strings.Contains(a, frozenJVM) {
			jvm, end, err := standIn(dir)
			if err != nil {
				return 0, err
			}
			defer end()
			words[frozenJVM] = fmt.Sprint(jvm)
		}
		for word, value := range words {
			a = strings.ReplaceAll(a, word, value)
		}
		args = append(args, a)
	}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Dir = filepath.Dir(dir)
	cmd.Env = append(os.Environ(), commandVariable+"=1", "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", run.AgentVariable+"="+lib, "HOME="+filepath.Dir(dir))
	full, err := fullPipe()
	if err != nil {
		return 0, err
	}
	defer full[0].Close()
	in, keep, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer keep.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, full[1], full[1]
	err = cmd.Start()
	in.Close()
	full[1].Close()
	if err != nil {
		return 0, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }()
	if err := waits(cmd.Process.Pid, done); err != nil {
		return 0, err
	}
	began := time.Now()
	if err := cmd.Process.Signal(sig); err != nil {
		return 0, err
	}
	select {
	case <-done:
	case <-time.After(10 * endsWithin):
		return 0, fmt.Errorf("still runs after %v", 10*endsWithin)
	}
	took := time.Since(began)
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if code := status.ExitStatus(); status.Signal() != sig && code != 128+int(sig) && verb != "mcp" { // that serves until the end
		return took, fmt.Errorf("it has ended with %d, signal %v", code, status.Signal())
	}
	left, _ := filepath.Glob(dir + "*/.*")
	if left = slices.DeleteFunc(left, func(path string) bool { return filepath.Base(path) == ".lock" }); len(left) > 0 {
		return took, fmt.Errorf("it has left %v", left)
	}
	return took, nil
}

// waits waits until a process does nothing any more: none of its threads wants a CPU, and only timers had one.
func waits(pid int, done chan error) error {
	const calm, pause, little = 10, 20 * time.Millisecond, time.Millisecond
	before, same := time.Duration(0), 0
	for end := time.Now().Add(time.Minute); same < calm; time.Sleep(pause) {
		select {
		case err := <-done:
			return fmt.Errorf("it has ended before the signal: %v", err)
		default:
		}
		if time.Now().After(end) {
			return fmt.Errorf("it does not come to rest")
		}
		var used unix.Timespec
		if err := unix.ClockGettime(^int32(pid)<<3|2, &used); err != nil { // the clock of its processor time, see clock_getcpuclockid(3)
			return err
		}
		now := time.Duration(used.Nano())
		if same++; now-before > little || running(pid) {
			same = 0
		}
		before = now
	}
	return nil
}

// running reports whether a thread of a process has a CPU, or waits for one.
func running(pid int) bool {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid)) // the pattern is well-formed
	return slices.ContainsFunc(files, func(file string) bool {
		b, _ := os.ReadFile(file) // not there: it has ended
		return bytes.Contains(b, []byte(") R "))
	})
}

// silentListener takes connections and says nothing.
func silentListener(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { c.Close() })
		}
	}()
	return l.Addr().String()
}

// fullPipe is a pipe that takes nothing more.
func fullPipe() (ends [2]*os.File, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return ends, err
	}
	chunk := make([]byte, 4096)
	for err == nil {
		_, err = unix.Write(fds[1], chunk)
	}
	if err := unix.SetNonblock(fds[1], false); err != nil {
		return ends, err
	}
	return [2]*os.File{os.NewFile(uintptr(fds[0]), "full"), os.NewFile(uintptr(fds[1]), "full")}, nil
}

// standInVariable makes the tests' program look like a JVM with the agent from outside: it has the libraries and handles
// SIGQUIT, but never begins to listen.
const standInVariable = "SHADOW_TEST_STAND_IN"

// standIn starts one beside dir.
func standIn(dir string) (pid int, end func(), err error) {
	cmd := exec.Command(os.Args[0])
	cmd.Dir = filepath.Dir(dir)
	cmd.Env = append(os.Environ(), standInVariable+"="+filepath.Dir(dir))
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return 0, nil, err
	}
	end = func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	if _, err := out.Read(make([]byte, 1)); err != nil {
		end()
		return 0, nil, err
	}
	return cmd.Process.Pid, end, nil
}

func beStandIn(dir string) error {
	signal.Notify(make(chan os.Signal, 1), unix.SIGQUIT)
	for _, name := range []string{"libjvm.so", launch.LibraryName} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, make([]byte, 4096), 0o600); err != nil {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		if _, err := unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_READ, unix.MAP_PRIVATE); err != nil {
			return err
		}
	}
	fmt.Println()
	select {}
}
