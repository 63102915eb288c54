package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"stackagent/shadow/experiment/suite"
)

func TestDocsAreGenerated(t *testing.T) {
	t.Chdir("../..")
	old, err := os.ReadFile("docs/suite.md")
	if err != nil {
		t.Fatal(err)
	}
	text, err := page(string(old))
	if err != nil {
		t.Fatal(err)
	}
	if text != string(old) {
		t.Error("docs/suite.md is not up to date: run scripts/go.sh run ./scripts/suite docs")
	}
}

func TestJudge(t *testing.T) {
	p := suite.Program{Iterations: 2, Check: regexp.MustCompile("^ok"),
		Marker: suite.Marker{Kind: suite.OutputMarker, Line: regexp.MustCompile(`^iteration \d+ took`)}}
	for _, c := range []struct{ name, out, want, wantErr string }{
		{"right", "hello\niteration 1 took 30 ms\niteration 2 took 20 ms\r\nok: 7 found\n", "30 20  ok: 7 found", ""},
		{"no result", "iteration 1 took 30 ms\niteration 2 took 20 ms\n", "", "no line of its output matches ^ok"},
		{"an iteration is missing", "iteration 1 took 30 ms\nok\n", "", "1 iterations in its output, want 2"},
		{"one too many", strings.Repeat("iteration 1 took 30 ms\n", 3) + "ok\n", "", "3 iterations in its output, want 2"},
		{"nothing", "", "", "no line of its output"},
	} {
		got, err := judge(p, c.out)
		if got != c.want || (err == nil) != (c.wantErr == "") || err != nil && !strings.Contains(err.Error(), c.wantErr) {
			t.Errorf("%s: got %q, %v; want %q, %q", c.name, got, err, c.want, c.wantErr)
		}
	}
}

func TestJavaWords(t *testing.T) {
	t.Setenv("JAVA_HOME", "/jdk")
	for java, want := range map[string]string{"": "/jdk/bin/java", "taskset -c 0 java": "taskset -c 0 /jdk/bin/java", "/x/java": "/x/java"} {
		if got := strings.Join((&runFlags{java: java}).javaWords(), " "); got != want {
			t.Errorf("%q: got %q, want %q", java, got, want)
		}
	}
}
