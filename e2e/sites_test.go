package e2e_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// sitesMethods are the methods of testdata/sites as handoverMethods are those of
// examples/handover.
var sitesMethods = map[string]string{
	"Argument": "Main$Derived.<init>", "Base": "Main$Derived.<init>", "Parent": "Main$Child.parent", "Thrown": "Main.refuse", "First": "Main.executeBoth",
	"Late": "Main.late", "InTask": "Main.lambda$inTask$0",
}

// TestSitesAfterThrow: the place of a call that throws is not that of what is
// made or handed over later, in the same method, its caller or a task; that of a
// call around others comes back after them; super(...) is no place, and
// new of the superclass is.
func TestSitesAfterThrow(t *testing.T) {
	testjvm.Shared(t)
	made, handedAt := marks(t, "e2e/testdata/sites", sitesMethods)
	made["Main$Thrown"], made["Main$First"] = made["Main$Second"], made["Main$Second"] // two of them have another method's mark
	handedAt["Main$AfterRejected"], handedAt["Main$AfterThrown"], handedAt["Main$AfterOther"] = "", "", ""
	for _, class := range []string{"Main$AfterInTask", "Main$AfterPicky", "Main$AfterLate"} {
		made[class], handedAt[class] = "", ""
	}
	for _, jdk := range testjvm.JDKs(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			dir := testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "e2e", "testdata", "sites"))
			cmd := testjvm.Command{JDK: jdk, Classpath: dir, Main: "Main", Agent: []string{"--detail", "all"}}
			p := cmd.Profile(t)
			if p.Exit != 0 {
				t.Fatalf("the program ended with %d\n%s", p.Exit, p.Stderr)
			}
			classes := readHanded(t, p.Dir, true)
			for class, want := range made {
				checkPlace(t, class+" made", classes[class], func(x *handedOver) map[string]bool { return x.making }, want)
			}
			for class, want := range handedAt {
				checkPlace(t, class+" handed over", classes[class], func(x *handedOver) map[string]bool { return x.sites }, want)
			}
		})
	}
}

// TestSitesOfParallelOperations: the tasks that the JDK makes for a parallel
// stream, or another operation of its own, have the place where the program calls
// that operation, on whatever thread they are made.
func TestSitesOfParallelOperations(t *testing.T) {
	testjvm.Shared(t)
	folder := filepath.Join(testjvm.Root(t), "e2e", "testdata", "parallel")
	text, err := os.ReadFile(filepath.Join(folder, "Main.java"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[int]string{} // by line
	for i, line := range strings.Split(string(text), "\n") {
		if m := regexp.MustCompile(`@executions ([\d?]+)`).FindStringSubmatch(line); m != nil {
			want[i+1] = m[1]
		}
	}
	for _, jdk := range testjvm.JDKs(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			p := testjvm.Command{JDK: jdk, Classpath: testjvm.Compile(t, jdk, folder), Main: "Main",
				VM: []string{"-Djava.util.concurrent.ForkJoinPool.common.parallelism=2"}, Agent: []string{"--detail", "all"}}.Profile(t)
			var rows []struct {
				Site       string `json:"site"`
				Executions int64  `json:"executions"`
			}
			if err := json.Unmarshal(p.Shadow(t, "hotspots", p.Dir, "--by", "site", "--format", "json"), &rows); err != nil {
				t.Fatal(err)
			}
			got := map[int]int64{}
			for _, r := range rows {
				if _, line, ok := strings.Cut(r.Site, ":"); ok {
					n, _ := strconv.Atoi(line)
					got[n] += r.Executions
				}
			}
			for line, n := range want {
				if n != "?" && fmt.Sprint(got[line]) != n || got[line] == 0 {
					t.Errorf("line %d: %d executions, want %s", line, got[line], n)
				}
			}
			if len(got) != len(want) {
				t.Errorf("places %v, want the %d lines %v", got, len(want), want)
			}
			if listed := executionsByLine(p.Tasks(t)); !maps.Equal(listed, got) {
				t.Errorf("the list of tasks has places %v, hotspots %v", listed, got)
			}
		})
	}
}

// executionsByLine counts the listed executions by where their tasks were handed
// over, or made.
func executionsByLine(rows []map[string]string) map[int]int64 {
	got := map[int]int64{}
	for _, r := range rows {
		if _, line, ok := strings.Cut(cmp.Or(r["submitted_at"], r["created_at"]), ":"); ok && r["execution"] != "" {
			n, _ := strconv.Atoi(line)
			got[n]++
		}
	}
	return got
}

// checkPlace compares the places of a class with the only one that it should
// have, "" for none.
func checkPlace(t *testing.T, what string, x *handedOver, of func(*handedOver) map[string]bool, want string) {
	t.Helper()
	if x == nil {
		t.Errorf("%s: not in the session", what)
		return
	}
	got := slices.Collect(maps.Keys(of(x)))
	if want == "" && len(got) == 0 || len(got) == 1 && got[0] == want {
		return
	}
	t.Errorf("%s at %q, want only %q", what, got, want)
}
