package e2e_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"stackagent/internal/attach"
	"stackagent/internal/testjvm"
)

// codeLengths asks a JVM, by a tool interface of its own, how long the code of
// each method is that it would execute now. Hidden classes are left out: what is
// added to the lambdas made while the agent is there stays (docs/attach.md).
func codeLengths(t *testing.T, library string, pid int) map[string]string {
	t.Helper()
	p, err := attach.Inspect(pid, "")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "lengths")
	if err := p.Load(t.Context(), library, file); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lengths := map[string]string{}
	for line := range strings.Lines(string(text)) {
		method, length, ok := cutLast(strings.TrimSpace(line), " ")
		if !ok {
			t.Fatalf("line %q", line)
		}
		if class, _, _ := strings.Cut(method, ";"); !strings.Contains(class, ".") { // the mark of a hidden class's name
			lengths[method] = length
		}
	}
	return lengths
}

// TestDetachRestores: while the agent is attached the methods of tasks are longer.
// Once it has detached, every method of the JVM is as long as in a JVM that never had
// it, whether its class was loaded before the agent attached or after.
func TestDetachRestores(t *testing.T) {
	testjvm.Shared(t)
	library := compileAgent(t, testjvm.JDKs(t)[0], filepath.Join("testdata", "attach", "lengths.c"))
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			plain := startGuest(t, jdk)
			plain.work(t)
			want := codeLengths(t, library, plain.Process.Pid)
			plain.end(t)

			g := startGuest(t, jdk)
			old := codeLengths(t, library, g.Process.Pid)
			for range 2 {
				var during map[string]string
				g.recordAnd(t, func() { during = codeLengths(t, library, g.Process.Pid) })
				for _, method := range []string{"LMain$Old;run()V", "LMain$Sub;run()V", "LMain$Fresh;run()V", "LMain$Fresh;<init>()V",
					"Ljava/util/concurrent/FutureTask;run()V", "Ljava/lang/Thread;run()V",
					"Ljava/util/concurrent/ThreadPoolExecutor;execute(Ljava/lang/Runnable;)V", // submits
					"LMain;early()V", "LMain$FreshPlaces;work()V"} { // call sites in old and new classes
					if want[method] == "" || during[method] == want[method] {
						t.Errorf("%s is %q bytes long with the agent, %q without", method, during[method], want[method])
					}
				}
				after := codeLengths(t, library, g.Process.Pid)
				if n := compareLengths(t, after, old) + compareLengths(t, after, want); n < 5000 {
					t.Errorf("only %d methods compared", n)
				}
			}
			g.work(t)
			g.end(t)
		})
	}
}

// cost is the CPU time of an empty execution in nanoseconds, as the program
// measures it, the least of 15 rounds of a million.
func (g *guest) cost(t *testing.T) float64 {
	t.Helper()
	if _, err := io.WriteString(g.in, "time\n"); err != nil {
		t.Fatalf("the program has ended: %v\n%s", err, g.stderr.String())
	}
	line, err := g.stdout.ReadString('\n')
	picoseconds, err2 := strconv.ParseFloat(strings.TrimSpace(line), 64)
	if err != nil || err2 != nil {
		t.Fatalf("%q: %v", line, errors.Join(err, err2))
	}
	return picoseconds / 1000
}

// TestDetachSpeed: an execution costs what it did before the agent attached. Less
// than an eighth of what the agent adds may be left, because the compiler may compile
// the method differently the second time.
func TestDetachSpeed(t *testing.T) {
	testjvm.Alone(t, "it compares costs of nanoseconds")
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			g := startGuest(t, jdk)
			before := g.cost(t)
			for range 2 {
				testjvm.OneGood(t, func(a *testjvm.Attempt) {
					with := 0.0
					g.attached(t, func() { with = g.cost(t) })
					after := g.cost(t)
					t.Logf("an execution: %.2f ns before, %.2f with the agent, %.2f after it", before, with, after)
					if after > before+(with-before)/8 || with < 2*before {
						a.Errorf("an execution: %.2f ns before, %.2f with the agent, %.2f after it", before, with, after)
					}
					before = min(before, after)
				})
			}
			g.end(t)
		})
	}
}

// compareLengths returns the number of methods in both.
func compareLengths(t *testing.T, got, want map[string]string) (both int) {
	t.Helper()
	for method, n := range want {
		if got[method] == "" {
			continue
		}
		both++
		if got[method] != n {
			t.Errorf("%s is %s bytes long, want %s", method, got[method], n)
		}
	}
	return both
}
