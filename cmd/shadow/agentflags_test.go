package main

import (
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"stackagent/agent/options"
	"stackagent/internal/settings"
)

// TestAgentFlags: what is given on the command line arrives at the agent unchanged.
func TestAgentFlags(t *testing.T) {
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	given := addAgentFlags(flags, options.Run)
	args := []string{"--include", `a\`, "--include=b,c", "--detail", "all", "--detail", "summary", "--task", "a.B#c(Ld/E;)V",
		"--strict", "--sites=0", "--submissions=true", "--exclude", "", "--contexts", "all", "--metric", "wall+LLC-load-misses"}
	if err := flags.Parse(args); err != nil || given.check() != nil {
		t.Fatal(err, given.check())
	}
	text := options.String(given.settings())
	got, err := options.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	want := options.Default()
	want.Include, want.Detail, want.Tasks = []string{`a\`, "b,c"}, settings.DetailSummary, []string{"a.B#c(Ld/E;)V"}
	want.Strict, want.Sites, want.Contexts, want.Metrics = true, false, 1, []string{"wall", "LLC-load-misses"}
	want.Events = got.Events
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s\ngot  %+v\nwant %+v", text, got, want)
	}
}

// A --task that is no definition ends run and attach with 2, before anything starts; an example is in the line.
func TestTaskSyntax(t *testing.T) {
	for _, wrong := range []string{"garbage", "com.acme.Job.run", "com.acme.Job#process(Foo)V", "com.acme.Job#process()", "a..b#c", "#run"} {
		for _, args := range [][]string{{"run", "--task", wrong, "--", "java", "-version"}, {"attach", "--task", wrong, "1"}} {
			code, out, errs := shadow(t, nil, args...)
			first, _, _ := strings.Cut(errs, "\n")
			if code != 2 || out != "" || !strings.Contains(first, "--task "+wrong+": ") || !strings.Contains(first, "com.acme.Job#process(Lcom/acme/Ctx;)V") {
				t.Errorf("%q: exit code %d: %s", args, code, errs)
			}
		}
	}
}
