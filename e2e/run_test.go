package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stackagent/internal/testjvm"
)

// A command that is no java: the JVM that it starts is profiled by way of the
// environment; its exit code and output come through.
func TestScript(t *testing.T) {
	testjvm.Shared(t)
	jdk := testjvm.JDKs(t)[0]
	o := testjvm.Example(t, "exit")
	dir := filepath.Join(t.TempDir(), "session")
	java := strings.Join(o.Command(t, jdk).Java(), " ")
	p := start(t, nil, testjvm.Shadow(t), "run", "-q", "-o", dir, "--", "sh", "-c", java+"; code=$?; echo after; exit $code")
	out, exit := p.end(t)
	if want := strings.Join(o.Stdout, "\n") + "\nafter\n"; exit != o.Exit || out != want {
		t.Errorf("exit %d, stdout %q, want %d, %q\n%s", exit, out, o.Exit, want, p.stderr.String())
	}
	for _, wrong := range o.Compare(testjvm.Profile{Dir: dir}.Hotspots(t), nil) {
		t.Error(wrong)
	}
}

// A command that starts several JVMs: a session each.
func TestSeveralJVMs(t *testing.T) {
	testjvm.Shared(t)
	jdk := testjvm.JDKs(t)[0]
	o := testjvm.Example(t, "reused")
	dir := filepath.Join(t.TempDir(), "sessions")
	java := strings.Join(o.Command(t, jdk).Java(), " ")
	p := start(t, nil, testjvm.Shadow(t), "run", "-q", "-o", dir, "--", "sh", "-c", java+" && "+java)
	if _, exit := p.end(t); exit != 0 {
		t.Fatalf("exit %d\n%s", exit, p.stderr.String())
	}
	sessions, err := filepath.Glob(filepath.Join(dir, "*", "manifest.json"))
	if err != nil || len(sessions) != 2 {
		t.Fatalf("%d sessions in %s, want 2 (%v)", len(sessions), dir, err)
	}
	for _, manifest := range sessions {
		for _, wrong := range o.Compare(testjvm.Profile{Dir: filepath.Dir(manifest)}.Hotspots(t), nil) {
			t.Errorf("%s: %s", manifest, wrong)
		}
	}
}

// A command that does not exist, and one that starts no JVM.
func TestRunFailures(t *testing.T) {
	testjvm.Shared(t)
	for _, c := range []struct {
		name string
		line []string
		exit int
		says string
	}{
		{"no such command", []string{"/no/such/java"}, 1, "/no/such/java"},
		{"no JVM", []string{"true"}, 0, "no JVM"},
		{"its own code", []string{"sh", "-c", "exit 7"}, 7, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			line := append([]string{testjvm.Shadow(t), "run", "-o", filepath.Join(t.TempDir(), "s"), "--"}, c.line...)
			p := start(t, nil, line...)
			_, exit := p.end(t)
			if exit != c.exit || !strings.Contains(p.stderr.String(), c.says) {
				t.Errorf("exit %d, want %d, and %q on stderr:\n%s", exit, c.exit, c.says, p.stderr.String())
			}
		})
	}
}

// TestSoakRuns repeats a run of many tasks for STACKAGENT_SOAK_RUNS (a duration),
// on every JDK and collector: every run must be counted whole.
func TestSoakRuns(t *testing.T) {
	testjvm.Shared(t)
	length := soakLength(t, "STACKAGENT_SOAK_RUNS")
	o := testjvm.Example(t, "million")
	o.Args = []string{"5000000"}
	jdks := testjvm.JDKs(t)
	runs := 0
	for end := time.Now().Add(length); time.Now().Before(end); runs++ {
		jdk := jdks[runs%len(jdks)]
		gc := testjvm.Collectors[runs%len(testjvm.Collectors)]
		p := o.Command(t, jdk, gc.Flag).Profile(t)
		if p.Exit != 0 || p.Stdout != "ran 5000000\n" {
			t.Fatalf("run %d, %v, %s: exit %d, stdout %q\n%s", runs, jdk, gc.Name, p.Exit, p.Stdout, p.Stderr)
		}
		checkMillion(t, p, 5_000_000)
		if err := os.RemoveAll(p.Dir); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d runs of 5,000,000 tasks", runs)
}
