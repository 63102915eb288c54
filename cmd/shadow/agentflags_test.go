package main

import (
	"strings"
	"testing"
)

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
