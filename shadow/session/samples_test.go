package session

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestCompleters: the agent keeps the stacks on which these methods are.
func TestCompleters(t *testing.T) {
	source, err := os.ReadFile(filepath.Join("..", "..", "jvmti", "life_samples.c"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(source), "completers[] = {")
	if !found {
		t.Fatal("the agent has no list of them")
	}
	list, _, _ = strings.Cut(list, "};")
	got := map[string]string{}
	for _, m := range regexp.MustCompile(`\{"L(\S+);", "(\S+)"\}`).FindAllStringSubmatch(list, -1) {
		got[strings.ReplaceAll(m[1], "/", ".")] = m[2]
	}
	if !maps.Equal(got, completers) {
		t.Errorf("the agent has %v, the analysis %v", got, completers)
	}
}

// TestStage: a stage that runs where a program's method completes its future is told apart from one at the end of the task that computes it.
func TestStage(t *testing.T) {
	site := func(class, method string) *Site { return &Site{Class: class, Method: method} }
	stage, post := site("app.Main", "parse"), site("java.util.concurrent.CompletableFuture", "postComplete")
	for _, c := range []struct {
		name         string
		frames       []*Site
		function, by string
	}{
		{"completed by the program", []*Site{site("java.lang.Thread", "sleep"), stage, post, site("java.util.concurrent.CompletableFuture", "complete"), site("app.Reply", "run")}, "parse", "run"},
		{"completed at the end of a task", []*Site{stage, post, site("java.util.concurrent.CompletableFuture$AsyncSupply", "run"), nil}, "parse", ""},
		{"no stage", []*Site{stage, site("app.Reply", "run")}, "", ""},
		{"nothing of the program in it", []*Site{site("java.lang.Thread", "sleep"), post, site("app.Reply", "run")}, "", ""},
	} {
		function, by := Stage(c.frames)
		if name(function) != c.function || name(by) != c.by {
			t.Errorf("%s: %q by %q", c.name, name(function), name(by))
		}
	}
}

func name(f *Site) string {
	if f == nil {
		return ""
	}
	return f.Method
}
