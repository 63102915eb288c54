package e2e_test

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
	"stackagent/shadow/session"
)

// TestNamesOfExecutors: an executor of a class of the program bears the line that constructs it, not one of its own
// constructors; work without an executor bears the name of its threads, whatever that is. The counts are the program's.
func TestNamesOfExecutors(t *testing.T) {
	testjvm.Shared(t)
	folder := filepath.Join(testjvm.Root(t), "e2e", "testdata", "executors")
	want := map[string]int64{
		fmt.Sprintf("Main.java:%d (Main$Special, pool-1)", lineOf(t, filepath.Join(folder, "Main.java"), "= new Special()")): 20,
		"poller (own thread)":                     2,
		"Main$Ticker (own thread)":                2,
		"(own thread)":                            1,
		"<b>\x1b[31m\n (own thread)":              1,
		strings.Repeat("x", 60) + " (own thread)": 1,
		"main (no executor)":                      1,
	}
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			p := testjvm.Command{JDK: jdk, Classpath: testjvm.Compile(t, jdk, folder), Main: "Main"}.Session(t)
			if p.Exit != 0 {
				t.Fatalf("the program ended with %d\n%s", p.Exit, p.Stderr)
			}
			found := map[string]int64{}
			for _, r := range namedRows(t, p, "--units", "--by", "executor") {
				found[r.Executor] = r.Executions
			}
			for name, count := range want {
				if found[name] != count {
					t.Errorf("%d units of %q, want %d; rows %v", found[name], name, count, found)
				}
			}
			executorsGiven(t, p.Dir)
		})
	}
}

// executorsGiven compares what executors were given with what the program gave them.
func executorsGiven(t *testing.T, dir string) {
	s, err := session.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, e := range s.Executors() {
		if e.Maximum != 0 {
			found = append(found, fmt.Sprint(e.Class[strings.LastIndexAny(e.Class, ".$")+1:], " ", e.Core, " ", e.Maximum, " ", e.Queue[strings.LastIndexAny(e.Queue, ".$")+1:], " ", e.Bound, " ", e.RemovesCancelled, " ", e.AsyncMode))
		}
		if e.MadeIn == "" {
			t.Errorf("the row with what %s was given hides where it was made", e.Class)
		}
	}
	const any = math.MaxInt32
	want := []string{fmt.Sprint("Special 2 2 LinkedBlockingQueue ", any, " false false"), fmt.Sprint("ScheduledThreadPoolExecutor 3 ", any, " DelayedWorkQueue ", any, " true false"),
		"ThreadPoolExecutor 1 7 ArrayBlockingQueue 5 false false", "ForkJoinPool 0 4  0 false true"}
	if !slices.Equal(found, want) {
		t.Errorf("executors were given %q, want %q", found, want)
	}
}

// TestExecutorsOfSummarisedTasks: summarised work bears the executor whose worker ran it, whatever thread the factory
// made and however often a worker was replaced. The counts are the program's.
func TestExecutorsOfSummarisedTasks(t *testing.T) {
	testjvm.Shared(t)
	folder := filepath.Join(testjvm.Root(t), "e2e", "testdata", "workers")
	at := func(text string) int { return lineOf(t, filepath.Join(folder, "Main.java"), text) }
	want := map[string]int64{
		fmt.Sprintf("alpha (ThreadPoolExecutor, Main.java:%d)", at("first = ")):            300,
		fmt.Sprintf("Main.java:%d (ThreadPoolExecutor, pool-1)", at("second = ")):          200,
		fmt.Sprintf("Main.java:%d (ForkJoinPool, ForkJoinPool-1)", at("new ForkJoinPool")): 100,
	}
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			p := testjvm.Command{JDK: jdk, Classpath: testjvm.Compile(t, jdk, folder), Main: "Main", Agent: []string{"--detail", "summary"}}.Session(t)
			if p.Exit != 0 {
				t.Fatalf("the program ended with %d\n%s", p.Exit, p.Stderr)
			}
			found := map[string]int64{}
			for _, r := range namedRows(t, p, "--units", "--by", "executor", "--app") {
				found[r.Executor] = r.Executions
			}
			if !maps.Equal(found, want) {
				t.Errorf("units by executor %v, want %v", found, want)
			}
		})
	}
}
