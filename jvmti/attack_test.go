package jvmti_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// attacks are builds of testdata/attack_main.c with all C files of the agent.
var attacks = map[string]struct {
	flags []string
	env   string
}{
	"plain":   {[]string{"-O1"}, ""},
	"address": {checked, ""},
	"thread":  {[]string{"-O1", "-fsanitize=thread", "-include", "testdata/attack_strong.h"}, "TSAN_OPTIONS=suppressions=testdata/attack.supp:exitcode=66"},
}

// tortured reports whether the full form of the torture tests runs.
func tortured() bool { return os.Getenv("STACKAGENT_TORTURE") == "full" }

// Threads call the probes at random while an agent attaches and detaches and a drain reads: nothing is
// lost uncounted, and the sanitizers find nothing. A failure names the seed.
func TestTortureProbes(t *testing.T) {
	sources, err := filepath.Glob("*.c")
	if err != nil || len(sources) < 10 {
		t.Fatalf("the agent's C files: %v, %v", sources, err)
	}
	sources = slices.DeleteFunc(sources, func(name string) bool { return name == "life_go_threads.c" || name == "life_sigtable.c" }) // for the Go runtime
	seeds, seconds := 1, 2
	if tortured() {
		seeds, seconds = 30, 10
	}
	for name, a := range attacks {
		if name == "plain" && !tortured() {
			continue // the sanitizers see more
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := compile(t, append([]string{"-Wno-unused-parameter", "-DSA_PLENTY_BYTES=0", "-DSA_QUIET_ROUNDS=0"}, a.flags...), append([]string{"testdata/attack_main.c"}, sources...)...)
			for seed := 1; seed <= seeds; seed++ {
				attackOnce(t, a.env, program, fmt.Sprint(seed), fmt.Sprint(seconds))
			}
		})
	}
}

// attackOnce ends the test if the program finds something or the sanitizers do.
func attackOnce(t *testing.T, env string, line ...string) {
	t.Helper()
	cmd := exec.Command(line[0], line[1:]...)
	if env != "" {
		cmd.Env = append(os.Environ(), env)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%.6000s", strings.Join(line[1:], " "), err, out)
	}
	t.Logf("%s", out)
}
