package e2e_test

import (
	"maps"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// A wrong option: one clear line on stderr, and the program runs without
// profiling; with strict=true the JVM does not start.
func TestWrongOptions(t *testing.T) {
	testjvm.Shared(t)
	o := testjvm.Example(t, "reused")
	cases := []struct{ settings, names string }{
		{"colour=red", "colour"},
		{"metric=wall+sense", "sense"},
		{"detail=most", "detail"},
		{"overflow", "overflow"},
		{"bus=ftp://x", "bus"},
		{"task=noMethod", "task"},
		{"tokenfile=/does/not/exist", "/does/not/exist"},
		{"session=../../up", "session"},
		{"label=Team:x", "Team:x"},
	}
	jdk := testjvm.JDKs(t)[0]
	plain := o.Command(t, jdk).Plain(t)
	for _, c := range cases {
		t.Run(c.settings, func(t *testing.T) {
			res := o.Command(t, jdk, agentFlag(t, c.settings)).Plain(t)
			if res.Exit != 0 || res.Stdout != plain.Stdout {
				t.Errorf("exit %d, stdout %q", res.Exit, res.Stdout)
			}
			if strings.Count(res.Stderr, "\n") != 1 || !strings.Contains(res.Stderr, c.names) {
				t.Errorf("stderr is not one line that names %s: %q", c.names, res.Stderr)
			}
			res = o.Command(t, jdk, agentFlag(t, c.settings, "strict=true")).Plain(t)
			if res.Exit == 0 || strings.Contains(res.Stdout, "ran") {
				t.Errorf("strict=true: exit %d, stdout %q", res.Exit, res.Stdout)
			}
			if !strings.Contains(res.Stderr, c.names) {
				t.Errorf("strict=true: stderr does not name %s: %q", c.names, res.Stderr)
			}
		})
	}
}

// TestDefinitions: a definition of a task or a filter that matches nothing is reported, and a
// definition that names a static method.
func TestDefinitions(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		cmd := testjvm.Example(t, "custom").Command(t, jdk)
		cmd.Agent = []string{"--task", "Main$Request#process(I)V", "--task", "Main$Req*#proc*", // these two fit
			"--task", "Main$Request#process(J)V", "--task", "Main#main",
			"--include", "Ma*", "--include", "java.lang.*", // one fits; the other has no say about the platform's classes
			"--exclude", "*.InnocuousThread", "--exclude", "Mian$*"} // one fits
		want := map[string]string{"task= matches no method of the loaded classes": "Main$Request#process(J)V",
			"include= matches no class of the program that could have tasks": "java.lang.*",
			"exclude= matches no class that could have tasks":                "Mian$*",
			"a static method cannot be a task: name an instance method":      "Main.main([Ljava.lang.String;)V"}
		got := map[string]string{}
		for _, r := range cmd.Session(t).Stats(t).Refusals {
			got[r.Reason] = r.Sample
			if r.Count != 1 {
				t.Errorf("%s: %d, want 1", r.Reason, r.Count)
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("JDK %s: reported %q, want %q", jdk, got, want)
		}
	}
}
