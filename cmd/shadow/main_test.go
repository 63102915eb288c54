package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/run"
)

var update = flag.Bool("update", false, "write the golden files anew")

// fakeVariable makes this test program behave as a JVM with the agent.
const fakeVariable = "SHADOW_TEST_FAKE_JVM"

func TestMain(m *testing.M) {
	if mode := os.Getenv(fakeVariable); mode != "" {
		if err := fakeJVM(mode, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, "fake JVM:", err)
			os.Exit(99)
		}
		return
	}
	if dir := os.Getenv(standInVariable); dir != "" {
		if err := beStandIn(dir); err != nil {
			fmt.Fprintln(os.Stderr, "stand-in:", err)
			os.Exit(99)
		}
	}
	if os.Getenv(commandVariable) != "" {
		process()
	}
	os.Exit(m.Run())
}

// commandVariable makes the tests' program the command itself.
const commandVariable = "SHADOW_TEST_COMMAND"

// shadow runs the command in this process.
func shadow(t *testing.T, environ []string, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	env := console.Env{In: strings.NewReader(""), Out: &o, Err: &e, Environ: append(os.Environ(), environ...),
		Executable: func() (string, error) { return "/nowhere/shadow", nil },
		Now:        func() time.Time { return time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC) }}
	code = Run(context.Background(), args, env)
	checkPrinted(t, args, code, o.String())
	return code, o.String(), e.String()
}

// compare checks text against a golden file.
func compare(t *testing.T, name, got string) {
	t.Helper()
	path := golden(name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test -update writes it anew)\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

func TestGolden(t *testing.T) {
	dir := makeSession(t, t.TempDir())
	addCounters(t, dir)
	tests := []struct {
		name string
		args []string
	}{
		{"stats", []string{"stats", dir}},
		{"stats_json", []string{"stats", dir, "--format", "json"}},
		{"stats_csv", []string{"stats", dir, "--format", "csv"}},
		{"stats_app", []string{"stats", dir, "--app"}},
		{"hotspots", []string{"hotspots", dir}},
		{"hotspots_json", []string{"hotspots", dir, "--format", "json", "--top", "1"}},
		{"hotspots_csv", []string{"hotspots", dir, "--format", "csv"}},
		{"hotspots_app_count", []string{"hotspots", dir, "--app", "--sort", "count", "--top", "2"}},
		{"hotspots_thread", []string{"hotspots", dir, "--by", "thread"}},
		{"tasks", []string{"tasks", dir}},
		{"tasks_csv", []string{"tasks", dir, "--format", "csv"}},
		{"tasks_json_top", []string{"tasks", dir, "--format", "json", "--top", "1"}},
		{"tasks_class", []string{"tasks", dir, "--class", "com.acme.Main*"}},
		{"threads", []string{"threads", dir}},
		{"threads_json", []string{"threads", dir, "--format", "json"}},
		{"threads_csv", []string{"threads", dir, "--format", "csv"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			code, out, errs := shadow(t, nil, test.args...)
			if code != 0 {
				t.Fatalf("exit code %d: %s", code, errs)
			}
			text := out
			if errs != "" {
				text += "--- stderr\n" + errs
			}
			text = strings.ReplaceAll(text, dir, "DIR")
			if strings.ContainsRune(text, '\x1b') {
				t.Error("an escape sequence of a hostile name came through")
			}
			compare(t, test.name, text)
		})
	}
}

func TestWrongUsage(t *testing.T) {
	dir := makeSession(t, t.TempDir())
	tests := []struct {
		args []string
		want string
	}{
		{nil, "missing command"},
		{[]string{"frobnicate"}, "unknown command"},
		{[]string{"hotspot"}, "is it hotspots?"},
		{[]string{"heap"}, "no command given"},
		{[]string{"heap", "--collector", "CMS", "--", "java", "A"}, `no collector is called "CMS"; there are Serial, Parallel`},
		{[]string{"heap", "--from", "2", "--most", "1x", "--", "java", "A"}, `"1x" is no size`},
		{[]string{"heap", "--", "java", "-Xmx1g", "A"}, "the command sets its heap itself, with -Xmx1g: write -Xmx{heap}"},
		{[]string{"heap", "--check", "(", "--", "java", "A"}, "--check"},
		{[]string{"lbo"}, "no command given"},
		{[]string{"lbo", "--suite", "x.yaml", "--", "java"}, "there is a command and --suite"},
		{[]string{"lbo", "--heaps", "0.5x", "--", "java", "A"}, "--heaps 0.5x: use a size as 512m, or a multiple"},
		{[]string{"lbo", "--repeat", "0", "--", "java", "A"}, "--repeat 0"},
		{[]string{"lbo", "--small", "--", "java", "A"}, "are about the programs of a suite"},
		{[]string{"lbo", "--iteration", "x", "--", "java", "A"}, "--iteration x"},
		{[]string{"scale", "--jvm", "-Xint", "--threads", "1", "--", "java", "{threads}"}, "give a name and the options"},
		{[]string{"scale", "--jdk", dir, "--threads", "1", "--", "java", "{threads}"}, "there is no bin/java in it"},
		{[]string{"characterize", "--suite", "x", "--skip", "ARA"}, "--skip ARA: use some of"},
		{[]string{"report", dir, "-o", filepath.Join(dir, "x.JPG")}, "use FILE.html, FILE.svg"},
		{[]string{"diff", dir}, "want two sessions, or two lists with -- between them"},
		{[]string{"diff", dir, dir, dir}, "want two sessions, or two lists with -- between them"},
		{[]string{"diff", dir, "--"}, "a side has no session"},
		{[]string{"diff", dir, dir, "--by", "color"}, "--by color: use all, or a list of run, class"},
		{[]string{"diff", dir, "--", dir, "--by", "site"}, "--by comes after --: flags go before it"},
		{[]string{"check"}, "missing session folder"},
		{[]string{"check", dir}, "missing budgets: give --fail-if or --budget"},
		{[]string{"check", dir, "--fail-if", "queue_ns.p99"}, "this is a number, not a condition"},
		{[]string{"check", dir, "--fail-if", "queue_ns.p99 > 5"}, "has no unit: write one, as in 50ms"},
		{[]string{"attach", "x"}, "is not a process id"},
		{[]string{"detach"}, "missing process id: shadow detach PID; "},
		{[]string{"attach"}, "missing process id: shadow attach PID; "},
		{[]string{"attach", "1", "2"}, "want one process id, got 2 arguments"},
		{[]string{"attach", "1", "--duration", "soon"}, "--duration soon: want a time such as 1.5s, 200ms or 2m"},
		{[]string{"doctor", "all"}, `shadow doctor takes no arguments, got "all"`},
		{[]string{"import"}, "want one JFR recording"},
		{[]string{"completion"}, "missing shell: shadow completion bash, zsh, fish or powershell"},
		{[]string{"completion", "tcsh"}, `unknown command "tcsh"`},
		{[]string{"help", "frobnicate"}, "unknown command"},
		{[]string{"stats", dir, "--formt", "json"}, "unknown flag: --formt (did you mean format?)"},
		{[]string{"stats", dir, "--format"}, "--format needs a value: table|json|csv"},
		{[]string{"tasks", dir, "--top"}, "--top needs a value: a whole number"},
		{[]string{"tasks", dir, "--app=perhaps"}, "--app perhaps: want true or false"},
		{[]string{"gc", dir, "--from", "-1s"}, "--from -1s: want a time since the start of the session, 0 or more"},
		{[]string{"gc", dir, "--to", "-1s"}, "--to -1s: want a time since the start of the session, above 0"},
		{[]string{"gc", dir, "--to", "0s"}, "--to 0s: want a time since the start of the session, above 0"},
		{[]string{"bottle", dir, "--from", "2s", "--to", "1s"}, "--from 2s --to 1s: the end must be after the start"},
		{[]string{"path", dir, "--from", "-1ms"}, "--from -1ms: want a time"},
		{[]string{"whatif", dir, "--cpus", "4", "--from", "-1ms"}, "--from -1ms: want a time"},
		{[]string{"whatif", dir, "--cpus", "-4"}, "--cpus -4: want a number above 0"},
		{[]string{"whatif", dir, "--cpus", "many"}, "--cpus many: want a whole number"},
		{[]string{"stack", dir, "--threads", "a,b"}, "--threads a,b: want whole numbers with commas between them, such as 1,2,4"},
		{[]string{"stack", dir, "--region", "later"}, `--region: region "later": no such region: use whole`},
		{[]string{"deliver", "--wait", "-1s"}, "--wait -1s: want a time above 0"},
		{[]string{"version", "1"}, `shadow version takes no arguments, got "1"`},
		{[]string{"attach", "1", "--bus", "nats://127.0.0.1:1", "-o", dir}, "give one of them"},
		{[]string{"attach", "1", "--bus", "nats://127.0.0.1:1", "--switches", "perf"}, "the other side's"},
		{[]string{"attach", "1", "--strict"}, "unknown flag"},
		{[]string{"attach", "1", "--duration", "-1s"}, "want a time above 0"},
		{[]string{"run", "--repeat", "0", "--", "true"}, "--repeat 0"},
		{[]string{"stats", dir, "--check", "--units"}, "without --app, --class, --units"},
		{[]string{"stats"}, "missing session folder"},
		{[]string{"stats", dir, dir}, "want one session folder"},
		{[]string{"stats", dir, "--format", "yaml"}, "use one of table, json, csv"},
		{[]string{"stats", dir, "--nonsense"}, "unknown flag: --nonsense"},
		{[]string{"stats", dir, "--class", "[z-a"}, "bad class pattern"},
		{[]string{"hotspots", dir, "--format", "pprof"}, "name a file with -o"},
		{[]string{"hotspots", dir, "--by", "moon"}, "use class, site, executor, thread or context"},
		{[]string{"hotspots", dir, "--sort", "colour"}, "--sort colour: use work, self, wall, cpu, count, mean, p99, max, never, threw or queue"},
		{[]string{"hotspots", dir, "--top", "-1"}, "--top -1"},
		{[]string{"hotspots", dir, "--top", "many"}, "--top many: want a whole number"},
		{[]string{"tasks", dir, "--format", "tgp"}, "name a folder with -o"},
		{[]string{"tasks", dir, "--format", "parquet"}, "name a file with -o"},
		{[]string{"tasks", dir, "--class", "[z-a"}, "bad class pattern"},
		{[]string{"report"}, "missing session folder"},
		{[]string{"report", dir, dir}, "need a folder"},
		{[]string{"report", dir, "--figures", "pie"}, "--figures pie"},
		{[]string{"report", dir, "--figure-format", "bmp"}, "--figure-format bmp"},
		{[]string{"report", dir, "-o", "x.svg"}, "takes one figure"},
		{[]string{"run"}, "no command given"},
		{[]string{"run", "--metric", "wall+joy", "--", "true"}, `--metric wall+joy: "joy" is not a metric; want one or more of`},
		{[]string{"run", "--detail", "some", "--", "true"}, "--detail some"},
		{[]string{"run", "--overflow", "explode", "--", "true"}, "--overflow explode"},
		{[]string{"run", "--include", "a/b", "--", "true"}, "--include a/b: want globs"},
		{[]string{"serve", "extra"}, `shadow serve takes no arguments, got "extra"`},
		{[]string{"serve", "--http", "here"}, "want HOST:PORT"},
		{[]string{"serve", "--nats", "nats://x", "--listen", "127.0.0.1:1"}, "give one of them"},
		{[]string{"serve", "--otlp-interval", "5s"}, "are for --otlp URL"},
		{[]string{"serve", "--otlp", "otel.example:4318"}, "--otlp: want http://"},
		{[]string{"serve", "--otlp", "http://otel.example:4318", "--otlp-interval", "1ms"}, "want 1s to 1h"},
		{[]string{"serve", "--otlp", "http://otel.example:4318", "--otlp-header", "Key=hush"}, "sent without encryption"},
		{[]string{"serve", "--otlp", "http://127.0.0.1:4318", "--otlp-header", "hush"}, "want NAME=VALUE"},
		{[]string{"export", dir, "--format", "otlp"}, "name the URL of a receiver, or a file"},
		{[]string{"export", dir, "--format", "otlp", "-o", "http://user:hush@otel.example"}, "put credentials into a header"},
		{[]string{"export", dir, "--format", "otlp", "-o", "file", "--otlp-insecure"}, "are for a receiver"},
		{[]string{"export", dir, "--format", "otlp", "-o", "file", "--slowest", "-1"}, "use a number from 0"},
		{[]string{"export", dir, "--format", "perfetto", "-o", "file", "--slowest", "5"}, "are for --format otlp"},
		{[]string{"doctor", "--format", "parquet"}, "use one of"},
	}
	for _, test := range tests {
		code, out, errs := shadow(t, nil, test.args...)
		if code != 2 || !strings.Contains(errs, test.want) || out != "" {
			t.Errorf("%q: exit code %d, want 2 with %q\nstdout: %s\nstderr: %s", test.args, code, test.want, out, errs)
		}
		if strings.Contains(errs, "hush") {
			t.Errorf("%q: a secret is printed: %s", test.args, errs)
		}
		if !strings.Contains(errs, "--help'.\n") {
			t.Errorf("%q: no hint to the help: %s", test.args, errs)
		}
	}
}

func TestExplainedFailures(t *testing.T) {
	empty := t.TempDir()
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	lib := agentLibrary(t)
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"stats", empty + "/missing"}, "there is no "},
		{[]string{"stats", empty}, "not a session"},
		{[]string{"attach", "4194303"}, "process 4194303: no such process"},
		{[]string{"join", empty + "/missing", "-o", empty + "/whole"}, "missing: no such file or directory"},
		{[]string{"deliver", empty + "/missing"}, "shadow deliver takes the files in "},
		{[]string{"run", "--", "true"}, "libstackagent.so: no such file"},
		{[]string{"run", "--agent", filepath.Join(full, "file"), "--", "true"}, "is not a shared library"},
		{[]string{"run", "--agent", lib, "-o", full, "--", "true"}, "exists and is not empty"},
		{[]string{"run", "--agent", lib, "-o", filepath.Join(full, "file"), "--", "true"}, "is not a folder"},
		{[]string{"run", "--agent", lib, "-o", filepath.Join(empty, "s"), "--", "no-such-command-here"}, "no-such-command-here: no such command in PATH"},
		{[]string{"serve", "--store", empty, "--listen", "0.0.0.0:0"}, "beyond loopback and there is no token"},
		{[]string{"serve", "--store", empty, "--listen", "127.0.0.1:0", "--http", ":0"}, "beyond loopback and there is no token"},
		{[]string{"serve", "--store", empty, "--token-file", filepath.Join(full, "file")}, "holds no token"},
	}
	for _, test := range tests {
		code, out, errs := shadow(t, []string{run.AgentVariable + "="}, test.args...)
		if code != 1 || !strings.Contains(errs, test.want) || out != "" {
			t.Errorf("%q: exit code %d, want 1 with %q\nstdout: %s\nstderr: %s", test.args, code, test.want, out, errs)
		}
		if n := strings.Count(errs, "\n"); n != 1 {
			t.Errorf("%q: %d lines on stderr, want one: %s", test.args, n, errs)
		}
	}
	if _, err := os.Stat(filepath.Join(empty, "s")); err == nil {
		t.Error("the session folder of a run that did not start is left behind")
	}
}

// agentLibrary builds something that passes for the agent.
func agentLibrary(t *testing.T) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler to build a library with")
	}
	lib := filepath.Join(t.TempDir(), "libstackagent.so")
	cmd := exec.Command(cc, "-shared", "-fPIC", "-x", "c", "-o", lib, "-")
	cmd.Stdin = strings.NewReader("int Agent_OnLoad(void *vm, char *o, void *r) { return 0; }")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return lib
}

func TestHelpAndVersion(t *testing.T) {
	code, out, _ := shadow(t, nil, "--version")
	if code != 0 || !strings.HasPrefix(out, "shadow ") {
		t.Errorf("--version: %d, %q", code, out)
	}
	if code, same, errs := shadow(t, nil, "version"); code != 0 || same != out || errs != "" {
		t.Errorf("version: %d, %q%s, want %q", code, same, errs, out)
	}
	for _, verb := range []string{"run", "serve", "join", "deliver", "attach", "detach", "stats", "tasks", "hotspots", "threads", "report",
		"bottle", "stack", "scale", "gc", "doctor"} {
		code, out, errs := shadow(t, nil, verb, "--help")
		if code != 0 || !strings.Contains(out, "Examples:") || errs != "" {
			t.Errorf("%s --help: %d, %s%s", verb, code, out, errs)
		}
	}
	if code, out, _ := shadow(t, nil, "completion", "bash"); code != 0 || !strings.Contains(out, "__start_shadow") {
		t.Errorf("completion bash: %d", code)
	}
}
