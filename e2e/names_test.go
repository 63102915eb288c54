package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// namedRow is a row of hotspots in JSON.
type namedRow struct {
	Class      string  `json:"class"`
	TaskClass  string  `json:"task_class"`
	Site       string  `json:"site"`
	Executor   string  `json:"executor"`
	Executions int64   `json:"executions"`
	Work       float64 `json:"work_ns"`
}

func namedRows(t *testing.T, p testjvm.Profile, args ...string) []namedRow {
	t.Helper()
	var rows []namedRow
	if err := json.Unmarshal(p.Shadow(t, append([]string{"hotspots", p.Dir, "--format", "json"}, args...)...), &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// share is the share of the work in the rows whose name matches.
func share(rows []namedRow, of func(namedRow) string, want string) float64 {
	some, all := 0.0, 0.0
	for _, r := range rows {
		all += r.Work
		if regexp.MustCompile(want).MatchString(of(r)) {
			some += r.Work
		}
	}
	return some / max(all, 1)
}

// lineOf finds the only line of a source file that holds a text.
func lineOf(t *testing.T, path, text string) int {
	t.Helper()
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for i, line := range strings.Split(string(source), "\n") {
		if strings.Contains(line, text) {
			if found > 0 {
				t.Fatalf("%s: lines %d and %d hold %q", path, found, i+1, text)
			}
			found = i + 1
		}
	}
	if found == 0 {
		t.Fatalf("%s: no line holds %q", path, text)
	}
	return found
}

// numbered is the name of a lambda's method: compilers number them differently.
var numbered = regexp.MustCompile(`lambda\$(\w+)\$\d+`)

// TestNamesOfUnits: what classes of the JDK run for the program bears the program's names: the
// names and lines are those of the source file, the counts those of its loops. Each row of
// --app is the program's, with units and without, however the executions are recorded.
func TestNamesOfUnits(t *testing.T) {
	testjvm.Shared(t)
	folder := filepath.Join(testjvm.Root(t), "examples", "orders")
	at := func(text string) int { return lineOf(t, filepath.Join(folder, "Main.java"), text) }
	const n = 30
	want := map[string]int64{
		fmt.Sprintf("Main.lambda$main (supplyAsync, Main.java:%d)", at("supplyAsync(")):       n,
		fmt.Sprintf("Main.lambda$main (thenApplyAsync, Main.java:%d)", at("thenApplyAsync(")): n,
		fmt.Sprintf("Main.ship (thenAcceptAsync, Main.java:%d)", at("thenAcceptAsync(")):      n,
		fmt.Sprintf("Main.lambda$main (collect, Main.java:%d)", at(".collect(")):              -1, // the JDK divides it
		fmt.Sprintf("Main$Taxes.lambda$of (Main.java:%d)", at("pool.submit(() -> { long t")):  1,
	}
	executors := []string{
		fmt.Sprintf("Main.java:%d (ThreadPoolExecutor, pool-1)", at("newFixedThreadPool(2)")),
		fmt.Sprintf("tax (ThreadPoolExecutor, Main.java:%d)", at(`new Thread(r, "tax")`)),
	}
	for _, v := range variants(t, 1, "auto", "all", "summary") {
		t.Run(v.String(), func(t *testing.T) {
			p := testjvm.Command{JDK: v.jdk, Classpath: testjvm.Compile(t, v.jdk, folder), Main: "Main", Args: []string{fmt.Sprint(n)},
				VM: []string{"-Djava.util.concurrent.ForkJoinPool.common.parallelism=2"}, Agent: []string{"--detail", v.detail}}.Session(t)
			if p.Exit != 0 {
				t.Fatalf("the program ended with %d\n%s", p.Exit, p.Stderr)
			}
			for _, args := range [][]string{{"--units"}, {"--units", "--app"}, {"--app"}} {
				rows := namedRows(t, p, args...)
				found := map[string]int64{}
				for _, r := range rows {
					found[numbered.ReplaceAllString(r.Class, "lambda$$$1")] = r.Executions
				}
				for name, count := range want {
					if got := found[name]; got != count && (count > 0 || got == 0) {
						t.Errorf("%v: %d of %s, want %d; rows %v", args, got, name, count, found)
					}
				}
				if s := share(rows, func(r namedRow) string { return r.Class }, `^Main\b`); s < 0.9 {
					t.Errorf("%v: %.0f %% of the work under the program's names: %v", args, 100*s, rows)
				}
			}
			rows := namedRows(t, p, "--units", "--by", "site")
			if s := share(rows, func(r namedRow) string { return r.Site }, `^Main\b.*:\d+$`); s < 0.9 {
				t.Errorf("%.0f %% of the work at the program's sites: %v", 100*s, rows)
			}
			rows = namedRows(t, p, "--units", "--by", "executor")
			for _, label := range executors {
				if share(rows, func(r namedRow) string { return r.Executor }, "^"+regexp.QuoteMeta(label)+"$") == 0 {
					t.Errorf("no executor %q in %v", label, rows)
				}
			}
		})
	}
}

// TestNamesInServer: the JDK's HTTP server submits the requests. Their site is its method, their
// executor the line of the program that makes it; with the handlers as tasks, units are theirs, and
// their site is where the program makes the handler, however the executions are recorded.
func TestNamesInServer(t *testing.T) {
	testjvm.Shared(t)
	folder := filepath.Join(testjvm.Root(t), "examples", "httpserver")
	source := filepath.Join(folder, "Main.java")
	kinds := map[string]int{"pool": lineOf(t, source, "newFixedThreadPool"), "virtual": lineOf(t, source, "make.invoke(null)")}
	handlers := []int{lineOf(t, source, `createContext("/quote"`), lineOf(t, source, `createContext("/order"`)}
	for _, jdk := range testjvm.JDKsInTurn(t) {
		for kind, line := range kinds {
			if kind == "virtual" && jdk.Version < 21 {
				continue
			}
			t.Run(jdk.String()+"/"+kind, func(t *testing.T) {
				p := serverProfile(t, jdk, folder, kind, "--detail", "all")
				rows := namedRows(t, p, "--units", "--by", "site")
				if s := share(rows, func(r namedRow) string { return r.Site }, `^sun\.net\.httpserver\.ServerImpl\$Dispatcher\.\w+:\d+$`); s < 0.9 {
					t.Errorf("%.0f %% of the work at the server's site: %v", 100*s, rows)
				}
				executor := fmt.Sprintf(`\bMain\.java:%d\b`, line)
				for _, detail := range []string{"all", "summary"} {
					p := serverProfile(t, jdk, folder, kind, "--detail", detail, "--task", "@httpserver")
					checkHandlers(t, p, detail, handlers)
					if detail == "summary" && kind == "virtual" {
						continue // which virtual thread did summarised work is not recorded
					}
					rows := namedRows(t, p, "--units", "--by", "executor")
					if s := share(rows, func(r namedRow) string { return r.Executor }, executor); s < 0.9 {
						t.Errorf("%s: %.0f %% of the work on the executor of line %d: %v", detail, 100*s, line, rows)
					}
				}
			})
		}
	}
}

// serverRequests is how many requests of each kind the clients of a server make.
const serverRequests = 20

func serverProfile(t *testing.T, jdk testjvm.JDK, folder, kind string, agent ...string) testjvm.Profile {
	t.Helper()
	p := testjvm.Command{JDK: jdk, Classpath: testjvm.Compile(t, jdk, folder), Main: "Main", Args: []string{kind, fmt.Sprint(serverRequests)}, Agent: agent}.Session(t)
	if p.Exit != 0 {
		t.Fatalf("the program ended with %d\n%s", p.Exit, p.Stderr)
	}
	return p
}

// checkHandlers compares the units of a server's handlers with the requests: by name, and by the line that makes each.
func checkHandlers(t *testing.T, p testjvm.Profile, detail string, lines []int) {
	t.Helper()
	rows := namedRows(t, p, "--units")
	if s := share(rows, func(r namedRow) string { return r.Class }, `^Main\b`); s < 0.9 {
		t.Errorf("%s: %.0f %% of the work under the program's names: %v", detail, 100*s, rows)
	}
	sites := namedRows(t, p, "--units", "--by", "site")
	if s := share(sites, func(r namedRow) string { return r.Site }, `^Main\.main:\d+$`); s < 0.9 {
		t.Errorf("%s: %.0f %% of the work at the program's sites: %v", detail, 100*s, sites)
	}
	for _, line := range lines {
		named, placed := int64(0), int64(0)
		for _, r := range rows {
			if strings.HasPrefix(r.Class, "Main.lambda$main$") && strings.HasSuffix(r.Class, fmt.Sprintf(" (Main.java:%d)", line)) {
				named += r.Executions
			}
		}
		for _, r := range sites {
			if r.Site == fmt.Sprintf("Main.main:%d", line) {
				placed += r.Executions
			}
		}
		if named != serverRequests || placed != serverRequests {
			t.Errorf("%s: handler of line %d: %d units by name and %d by site, want %d: %v, %v", detail, line, named, placed, serverRequests, rows, sites)
		}
	}
}

// TestNamesOfFunctions: a unit bears the function that the program gave to supplyAsync or runAsync, not a task that this
// calls, nor one that a stage runs behind it. The counts are the program's.
func TestNamesOfFunctions(t *testing.T) {
	testjvm.Shared(t)
	folder := filepath.Join(testjvm.Root(t), "e2e", "testdata", "steps")
	at := func(text string) int { return lineOf(t, filepath.Join(folder, "Main.java"), text) }
	want := map[string]int64{
		fmt.Sprintf("Main.lambda$main (supplyAsync, Main.java:%d)", at("return sink;")): 20,
		fmt.Sprintf("Main.lambda$main (supplyAsync, Main.java:%d)", at("await(known)")): 20,
		fmt.Sprintf("Main.lambda$main (Main.java:%d)", at("runAsync")):                  20,
	}
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			p := testjvm.Command{JDK: jdk, Classpath: testjvm.Compile(t, jdk, folder), Main: "Main"}.Session(t)
			if p.Exit != 0 {
				t.Fatalf("the program ended with %d\n%s", p.Exit, p.Stderr)
			}
			found := map[string]int64{}
			for _, r := range namedRows(t, p, "--units") {
				if r.Executions > 0 { // the others are tasks inside these units
					found[numbered.ReplaceAllString(r.Class, "lambda$$$1")] = r.Executions
				}
			}
			if !maps.Equal(found, want) {
				t.Errorf("units %v, want %v", found, want)
			}
		})
	}
}
