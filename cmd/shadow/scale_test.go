package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/experiments"
	"stackagent/hpc"
	"stackagent/hpc/sched"
)

// TestScaleNumbers: numbers of threads and the places that take them belong
// together; what is wrong is named, with the remedy.
func TestScaleNumbers(t *testing.T) {
	for want, args := range map[string][]string{
		"no command given":                     {"--threads", "1,2"},
		"--threads 0: use numbers above 0":     {"--threads", "1,0", "--", "java", "{threads}"},
		"--threads -2: use numbers above 0":    {"--threads", "-2", "--", "java", "{threads}"},
		"--gc-threads 0: use numbers":          {"--gc-threads", "0", "--", "java"},
		"nothing varies: put {threads}":        {"--", "java"},
		"has no {threads}: put it in place of": {"--threads", "1,2", "--gc-threads", "1", "--", "java"},
		"the command has {threads}: give":      {"--gc-threads", "1", "--", "java", "-Dn={threads}"},
		"the command has {gcthreads}: give":    {"--threads", "1", "--", "java", "-XX:ParallelGCThreads={gcthreads}", "{threads}"},
	} {
		code, out, errs := shadow(t, nil, append([]string{"scale"}, args...)...)
		if code != console.ExitUsage || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%v: exit %d, want %q: %s%s", args, code, want, out, errs)
		}
	}
}

// TestScaleFolder: without -o the folder is named after the time; there is a
// session for each run, stack.json and figures.
func TestScaleFolder(t *testing.T) {
	if !slices.ContainsFunc(sched.Probe(), func(f hpc.Facility) bool { return f.Available == hpc.Yes }) {
		t.Skip("nobody sees the scheduler on this machine, and shadow doctor says why")
	}
	agent := agentLibrary(t)
	t.Chdir(t.TempDir())
	java, environ := fakeJava(t, "java"), []string{fakeVariable + "=exit 0"}
	flags := []string{"scale", "--agent", agent, "--others", "0", "--format", "json"}
	for _, c := range []struct {
		args      []string
		runs      []string // folders
		figures   []string
		bars      int
		collector int
	}{
		{[]string{"--threads", "1,2", "--", java, "{threads}"}, []string{"threads-1", "threads-2"}, []string{"stack.svg"}, 1, 0},
		{[]string{"--jvm", "a=-Da", "--jvm", "b=-Db", "--", java, "x"}, []string{"jvm-a", "jvm-b"}, []string{"application.svg"}, 0, 2},
		{[]string{"--gc-threads", "1,2", "--", java, "x"}, []string{"gcthreads-1", "gcthreads-2"}, []string{"application.svg"}, 0, 2},
	} {
		code, out, errs := shadow(t, environ, append(slices.Clone(flags), c.args...)...)
		if code != 0 {
			t.Fatalf("%v: exit %d: %s", c.args, code, errs)
		}
		folders, err := filepath.Glob("shadow-scale-*")
		if err != nil || len(folders) != 1 {
			t.Fatalf("folders %v, %v; want one that is named after the time", folders, err)
		}
		for _, run := range c.runs {
			checkSession(t, filepath.Join(folders[0], run, "run-1"))
		}
		for _, name := range append(c.figures, experiments.StackName) {
			if info, err := os.Stat(filepath.Join(folders[0], name)); err != nil || info.Size() == 0 {
				t.Errorf("%v: %v", c.args, err)
			}
		}
		var got experiments.StackJSON
		if err := json.Unmarshal([]byte(out), &got); err != nil || len(got.Bars) != c.bars || len(got.Collector) != c.collector {
			t.Errorf("%v: %v: %s", c.args, err, out)
		}
		if err := os.RemoveAll(folders[0]); err != nil {
			t.Fatal(err)
		}
	}
}
