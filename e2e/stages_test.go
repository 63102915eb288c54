package e2e_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// stageCounts are the executions of a class and how many of them ended by an exception.
type stageCounts struct{ ran, threw int64 }

// TestFailedStages: an execution of a CompletableFuture's stage whose function throws has ended by that exception; one
// whose source has failed, and one in which others' functions throw, has not. The program counts both itself.
func TestFailedStages(t *testing.T) {
	testjvm.Shared(t)
	for _, v := range variants(t, 0, "auto", "all", "summary", "all --submissions=false --sites=false") {
		t.Run(v.String(), func(t *testing.T) {
			agent := strings.Fields("--detail " + v.detail)
			p := testjvm.Command{JDK: v.jdk, Classpath: testjvm.Compile(t, v.jdk, filepath.Join(testjvm.Root(t), "e2e", "testdata", "stages")), Main: "Main",
				Args: []string{"6", fmt.Sprint(unaskedStages)}, Agent: agent}.Session(t)
			if p.Exit != 0 {
				t.Fatalf("%v: exit code %d\n%s", agent, p.Exit, p.Stderr)
			}
			checkStages(t, p, agent)
			if agent[1] != "summary" && len(agent) == 2 {
				checkUnaskedStages(t, p, agent)
			}
		})
	}
}

const unaskedStages = 5

// checkUnaskedStages: the program asks for the exceptions of all the other stages that executors got.
func checkUnaskedStages(t *testing.T, p testjvm.Profile, agent []string) {
	t.Helper()
	said := ""
	for _, f := range p.Advice(t) {
		if f.Rule == "swallowed-exceptions" && strings.HasPrefix(f.Class, "java.util.concurrent.CompletableFuture$") {
			said += f.Text
		}
	}
	if want := fmt.Sprintf("%d units of java.util.concurrent.CompletableFuture$AsyncSupply ended", unaskedStages); !strings.HasPrefix(said, want) ||
		strings.Count(said, "future kept") != 1 || !strings.Contains(said, "nobody asked for it") {
		t.Errorf("%v: of the exceptions that nobody asks for: %q", agent, said)
	}
}

func checkStages(t *testing.T, p testjvm.Profile, agent []string) {
	t.Helper()
	own, threw := map[string]stageCounts{}, int64(0)
	for line := range strings.Lines(p.Stdout) {
		var class string
		var c stageCounts
		if n, _ := fmt.Sscanf(line, "stage %s %d %d", &class, &c.ran, &c.threw); n == 3 {
			own[class] = c
			threw += c.threw
		}
	}
	if len(own) != 17 || threw == 0 {
		t.Fatalf("the program printed %q", p.Stdout)
	}
	if n := p.Stats(t).Tasks.Threw; n != threw {
		t.Errorf("%v: %d executions ended by an exception, the program counts %d", agent, n, threw)
	}
	for _, r := range p.Hotspots(t) {
		want, ok := own[r.Class]
		if !ok {
			continue
		}
		delete(own, r.Class)
		if got := (stageCounts{r.Executions, r.Threw}); got != want {
			t.Errorf("%v: of %s {executions, ended by an exception} are %v, the program counts %v", agent, r.Class, got, want)
		}
	}
	if len(own) > 0 {
		t.Errorf("%v: nothing is said of %v", agent, own)
	}
}
