package e2e_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"stackagent/internal/testjvm"
)

// The probes are public methods of a class that every class can see. Whatever reflection passes them, from whatever
// thread and inside whatever task, the program behaves as without the agent, and its own tasks are counted exactly.
func TestTortureProbes(t *testing.T) {
	testjvm.Shared(t)
	everything := []string{"--metric", "wall+cpu+bytecodes+alloc", "--construction", "--contexts", "all", "--detail", "all"}
	opened := []string{"--add-opens", "java.base/java.util=ALL-UNNAMED"} // not java.lang: see docs/internals/security.md
	forms := map[string][]string{"default": nil, "everything": everything}
	if torture() {
		forms["summary"] = []string{"--detail", "summary"}
	}
	for _, jdk := range testjvm.JDKsInTurn(t) {
		for name, agent := range forms {
			t.Run(jdk.String()+"/"+name, func(t *testing.T) {
				cmd := testjvm.Command{JDK: jdk, VM: append(slices.Clone(opened), "-XX:-CreateCoredumpOnCrash", "-XX:ErrorFile=/dev/null"),
					Classpath: testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "e2e", "testdata", "fuzzprobes")),
					Main:      "Main", Args: []string{strconv.Itoa(roundsOf(1, 30))}}
				plain := cmd.Plain(t)
				cmd.Agent = agent
				p := cmd.Profile(t)
				if p.Stdout != plain.Stdout || p.Exit != plain.Exit || plain.Exit != 0 {
					t.Fatalf("exit %d, printed %q; without the agent exit %d, %q\n%.3000s", p.Exit, p.Stdout, plain.Exit, plain.Stdout, p.Stderr)
				}
				checkFuzzed(t, p)
			})
		}
	}
}

// checkFuzzed compares the tasks that were not passed to the probes with the program's own count of them, and the
// time they took with its own clock: a token that somebody makes up ends none of them.
func checkFuzzed(t *testing.T, p testjvm.Profile) {
	t.Helper()
	var want int64
	if _, err := fmt.Sscanf(p.Stdout, "own %d", &want); err != nil {
		t.Fatalf("%q: %v", p.Stdout, err)
	}
	var methods, ns int64
	if _, err := fmt.Sscanf(p.Stderr, "methods %d ns %d", &methods, &ns); err != nil {
		t.Fatalf("%q: %v", p.Stderr, err)
	}
	if methods < 30 {
		t.Errorf("only %d methods of the probes were found", methods)
	}
	rows := p.Hotspots(t)
	i := slices.IndexFunc(rows, func(r testjvm.Row) bool { return r.Class == "Main$Own" })
	if i < 0 {
		t.Fatal("no class Main$Own")
	}
	if r := rows[i]; r.Created != want || r.Executions != want || r.NeverExecuted != 0 {
		t.Errorf("Main$Own: %d created, %d executions, %d never executed; want %d, %d, 0", r.Created, r.Executions, r.NeverExecuted, want, want)
	}
	if wall := rows[i].Metrics["wall_ns"].Sum; wall < float64(ns)*0.99 {
		t.Errorf("executions took %.0f ns, the program measured %d", wall, ns)
	}
	if s := p.Stats(t); s.Lost.Events != 0 || s.Lost.Batches != 0 {
		t.Errorf("lost: %+v", s.Lost)
	}
}
