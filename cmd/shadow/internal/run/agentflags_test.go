package run

import (
	"reflect"
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
	if err := flags.Parse(args); err != nil || given.Check() != nil {
		t.Fatal(err, given.Check())
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
