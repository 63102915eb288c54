package e2e_test

import (
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// A wrong option: one clear line on stderr, and the program runs without
// profiling; with strict=true the JVM does not start.
func TestWrongOptions(t *testing.T) {
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
