package launch

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func run(t *testing.T, in string, args ...string) (Result, string, string) {
	t.Helper()
	var out, errs bytes.Buffer
	p, err := Start(Command{Args: args, Env: os.Environ(), In: strings.NewReader(in), Out: &out, Err: &errs})
	if err != nil {
		t.Fatal(err)
	}
	res, err := p.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return res, out.String(), errs.String()
}

func TestResultAndStreams(t *testing.T) {
	res, out, errs := run(t, "typed", "sh", "-c", "cat; echo oops >&2; exit 7")
	if res.Code != 7 || res.Signal != 0 || out != "typed" || errs != "oops\n" {
		t.Errorf("%+v, %q, %q", res, out, errs)
	}
	res, _, _ = run(t, "", "sh", "-c", "kill -KILL $$")
	if res.Code != 137 || res.Signal != unix.SIGKILL || res.Wall <= 0 || res.Usage == nil || res.Usage.Minflt == 0 {
		t.Errorf("killed: %+v, want 137", res)
	}
}

// The kernel begins a child's peak of memory at that of its parent: a command
// that stays below it has no figure, not ours.
func TestPeakIsTheCommandsOwn(t *testing.T) {
	if res, _, _ := run(t, "", "true"); res.Usage == nil || res.Usage.Maxrss != 0 {
		t.Errorf("of true: %+v, want no peak", res.Usage)
	}
	const bytes = 256 << 20
	res, _, errs := run(t, "", "dd", "if=/dev/zero", "of=/dev/null", "bs=256M", "count=1")
	if res.Code != 0 || res.Usage.Maxrss*1024 < bytes || res.Usage.Maxrss*1024 > bytes+bytes/8 {
		t.Errorf("of dd with %d bytes: %d KiB, %s", bytes, res.Usage.Maxrss, errs)
	}
}

// A grandchild that holds the output for longer is no part of the command's time.
func TestWallOfTheCommand(t *testing.T) {
	began := time.Now()
	res, out, _ := run(t, "", "sh", "-c", "echo begin; (sleep 5; echo late) &")
	if res.Code != 0 || out != "begin\n" || res.Wall > outputDelay/2 || time.Since(began) < outputDelay {
		t.Errorf("%+v after %v, output %q: want less than %v", res, time.Since(began), out, outputDelay/2)
	}
}

// A script without an interpreter line runs as it does in a shell.
func TestScriptWithoutInterpreter(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("echo hello $1; exit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	res, out, _ := run(t, "", script, "you")
	if res.Code != 3 || out != "hello you\n" {
		t.Errorf("%+v, %q", res, out)
	}
}

func TestSignalsArePassedOn(t *testing.T) {
	if atTerminal() {
		t.Log("at a terminal: INT and QUIT are the terminal's")
	}
	for _, sig := range []unix.Signal{unix.SIGTERM, unix.SIGHUP, unix.SIGUSR1} {
		var out syncBuffer
		name := strings.TrimPrefix(unix.SignalName(sig), "SIG")
		p, err := Start(Command{Args: []string{"sh", "-c",
			"trap 'echo got; exit 9' " + name + "; echo ready; while :; do sleep 0.02; done"}, Env: os.Environ(), Out: &out})
		if err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(time.Minute); !strings.Contains(out.String(), "ready") && time.Now().Before(end); {
			time.Sleep(5 * time.Millisecond)
		}
		if err := unix.Kill(os.Getpid(), sig); err != nil { // to ourselves, as a supervisor would
			t.Fatal(err)
		}
		res, err := p.Wait()
		if err != nil || res.Code != 9 || !strings.HasSuffix(out.String(), "got\n") {
			t.Errorf("%v: %+v, %v, output %q", sig, res, err, out.String())
		}
	}
}

func TestNotStarted(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, want string }{
		{"no-such-command-here", "no-such-command-here: no such command in PATH"},
		{dir + "/missing", dir + "/missing: no such command"},
		{plain, plain + ": is not executable"},
	} {
		_, err := Start(Command{Args: []string{test.name}})
		var not *NotStartedError
		if !errors.As(err, &not) || err.Error() != test.want {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

func TestWithAgent(t *testing.T) {
	tests := []struct {
		name      string
		args, env []string
		library   string
		wantArgs  []string
		wantEnv   []string
	}{
		{"java itself", []string{"/usr/bin/java", "-jar", "a.jar"}, []string{"A=1"}, "/l.so",
			[]string{"/usr/bin/java", "-agentpath:/l.so=k=v", "-jar", "a.jar"}, []string{"A=1"}},
		{"a script", []string{"pmd", "check"}, []string{"A=1"}, "/l.so",
			[]string{"pmd", "check"}, []string{"A=1", "JAVA_TOOL_OPTIONS=-agentpath:/l.so=k=v"}},
		{"options already there", []string{"mvn"}, []string{"JAVA_TOOL_OPTIONS=-Xmx1g", "B=2"}, "/l.so",
			[]string{"mvn"}, []string{"B=2", "JAVA_TOOL_OPTIONS=-agentpath:/l.so=k=v -Xmx1g"}},
		{"a blank in the path", []string{"mvn"}, nil, "/my libs/l.so",
			[]string{"mvn"}, []string{`JAVA_TOOL_OPTIONS="-agentpath:/my libs/l.so=k=v"`}},
	}
	for _, test := range tests {
		args, env, err := WithAgent(test.args, test.env, test.library, "k=v")
		if err != nil || !reflect.DeepEqual(args, test.wantArgs) || !reflect.DeepEqual(env, test.wantEnv) {
			t.Errorf("%s: %q, %q, %v", test.name, args, env, err)
		}
	}
	if _, _, err := WithAgent([]string{"mvn"}, nil, `/it's "here".so`, "k=v"); err == nil {
		t.Error("a path that cannot be quoted is accepted")
	}
}

func TestCheckLibrary(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.so")
	if err := os.WriteFile(text, []byte("not a library"), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "missing.so"): "no such file",
		text:                             "is not a shared library",
		"/proc/self/exe":                 "is not a shared library|no symbols|does not export",
	} {
		_, err := CheckLibrary(path)
		var lib *LibraryError
		if !errors.As(err, &lib) || !containsOne(lib.Reason, want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler to build a library with")
	}
	build := func(name, source string) string {
		lib := filepath.Join(dir, name)
		cmd := exec.Command(cc, "-shared", "-fPIC", "-x", "c", "-o", lib, "-")
		cmd.Stdin = strings.NewReader(source)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return lib
	}
	good := build("good.so", "int Agent_OnLoad(void *vm, char *o, void *r) { return 0; }")
	if got, err := CheckLibrary(good); err != nil || got != good {
		t.Errorf("a good library: %q, %v", got, err)
	}
	if _, err := CheckLibrary(build("other.so", "int other(void) { return 0; }")); err == nil || !strings.Contains(err.Error(), "Agent_OnLoad") {
		t.Errorf("a library that is no agent: %v", err)
	}
	foreign := filepath.Join(dir, "foreign.so")
	b, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	b[18], b[19] = 8, 0 // e_machine: EM_MIPS
	if err := os.WriteFile(foreign, b, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := CheckLibrary(foreign); err == nil || !strings.Contains(err.Error(), "another machine (EM_MIPS") {
		t.Errorf("a library of another machine: %v", err)
	}
}

func containsOne(s, alternatives string) bool {
	for a := range strings.SplitSeq(alternatives, "|") {
		if strings.Contains(s, a) {
			return true
		}
	}
	return false
}
