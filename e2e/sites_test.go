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

// sitesMethods are the methods of testdata/sites as submissionMethods are those of
// examples/submissions.
var sitesMethods = map[string]string{
	"Argument": "Main$Derived.<init>", "Base": "Main$Derived.<init>", "Parent": "Main$Child.parent", "Thrown": "Main.refuse", "First": "Main.executeBoth",
	"Late": "Main.late", "InTask": "Main.lambda$inTask$0",
}

// TestSitesAfterThrow: the call site of a call that throws is not the site of what is
// made or submitted later in the same method, its caller or a task. A call around
// others has its site again after them. super(...) is no site; new of the
// superclass is. A later run has the same sites, with the plans that earlier ones kept.
func TestSitesAfterThrow(t *testing.T) {
	testjvm.Shared(t)
	made, submittedAt := marks(t, "e2e/testdata/sites", sitesMethods)
	made["Main$Thrown"], made["Main$First"] = made["Main$Second"], made["Main$Second"] // two of them have another method's mark
	submittedAt["Main$AfterRejected"], submittedAt["Main$AfterThrown"], submittedAt["Main$AfterOther"] = "", "", ""
	for _, class := range []string{"Main$AfterInTask", "Main$AfterPicky", "Main$AfterLate"} {
		made[class], submittedAt[class] = "", ""
	}
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			dir := testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "e2e", "testdata", "sites"))
			plans := filepath.Join(t.TempDir(), "plans")
			cmd := testjvm.Command{JDK: jdk, Classpath: dir, Main: "Main", Agent: []string{"--detail", "all", "--plans", plans}}
			// A JDK's own threads load some classes now or not at all, depending on when the program ends: a run may keep a plan more.
			// Then the next one does not. A plan that is not used is kept again, by each run.
			const most = 4
			kept := ""
			for n := 1; ; n++ {
				p := cmd.Profile(t)
				if p.Exit != 0 {
					t.Fatalf("the program ended with %d\n%s", p.Exit, p.Stderr)
				}
				classes := readSubmissions(t, p.Dir, true)
				for class, want := range made {
					checkSite(t, class+" made", classes[class], func(x *submitted) map[string]bool { return x.making }, want)
				}
				for class, want := range submittedAt {
					checkSite(t, class+" submitted", classes[class], func(x *submitted) map[string]bool { return x.sites }, want)
				}
				before := kept
				if kept = filesIn(t, plans); kept == before && n > 1 {
					break
				}
				if kept == "" || n == most {
					t.Fatalf("after run %d %q is kept, after the one before it was %q: not all of it was used", n, kept, before)
				}
			}
		})
	}
}

// filesIn lists the files of a folder with their ages.
func filesIn(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	list := ""
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		list += fmt.Sprintf("%s %d %v\n", e.Name(), info.Size(), info.ModTime())
	}
	return list
}

// TestSitesOfParallelOperations: the tasks that the JDK makes for a parallel
// stream, or another operation of its own, have the call site where the program calls
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
	for _, jdk := range testjvm.JDKsInTurn(t) {
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
				t.Errorf("sites %v, want the %d lines %v", got, len(want), want)
			}
			if listed := executionsByLine(p.Tasks(t)); !maps.Equal(listed, got) {
				t.Errorf("the list of tasks has sites %v, hotspots %v", listed, got)
			}
		})
	}
}

// executionsByLine counts the listed executions by where their tasks were
// submitted, or made.
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

// checkSite compares the sites of a class with the only one that it should
// have, "" for none.
func checkSite(t *testing.T, what string, x *submitted, of func(*submitted) map[string]bool, want string) {
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
