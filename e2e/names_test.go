package e2e_test

import (
	"encoding/json"
	"fmt"
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
				VM: []string{"-Djava.util.concurrent.ForkJoinPool.common.parallelism=2"}, Agent: []string{"--detail", v.detail}}.Profile(t)
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
			if v.detail == "summary" {
				return // summaries do not record the executor
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
// executor the line of the program that makes it; with the handlers as tasks, units are theirs.
func TestNamesInServer(t *testing.T) {
	testjvm.Shared(t)
	folder := filepath.Join(testjvm.Root(t), "examples", "httpserver")
	source := filepath.Join(folder, "Main.java")
	kinds := map[string]int{"pool": lineOf(t, source, "newFixedThreadPool"), "virtual": lineOf(t, source, "make.invoke(null)")}
	const n = 20
	for _, jdk := range testjvm.JDKs(t) {
		for kind, line := range kinds {
			if kind == "virtual" && jdk.Version < 21 {
				continue
			}
			t.Run(jdk.String()+"/"+kind, func(t *testing.T) {
				p := testjvm.Command{JDK: jdk, Classpath: testjvm.Compile(t, jdk, folder), Main: "Main", Args: []string{kind, fmt.Sprint(n)},
					Agent: []string{"--detail", "all", "--task", "com.sun.net.httpserver.HttpHandler#handle"}}.Profile(t)
				if p.Exit != 0 {
					t.Fatalf("the program ended with %d\n%s", p.Exit, p.Stderr)
				}
				rows := namedRows(t, p, "--units")
				if s := share(rows, func(r namedRow) string { return r.Class }, `^Main\b`); s < 0.9 {
					t.Errorf("%.0f %% of the work under the program's names: %v", 100*s, rows)
				}
				requests := int64(0)
				for _, r := range rows {
					if strings.HasPrefix(r.Class, "Main.lambda$main$") {
						requests += r.Executions
					}
				}
				if requests != 2*n {
					t.Errorf("%d requests, want %d: %v", requests, 2*n, rows)
				}
				rows = namedRows(t, p, "--units", "--by", "site")
				if s := share(rows, func(r namedRow) string { return r.Site }, `^sun\.net\.httpserver\.ServerImpl\$Dispatcher\.\w+:\d+$`); s < 0.9 {
					t.Errorf("%.0f %% of the work at the server's site: %v", 100*s, rows)
				}
				rows = namedRows(t, p, "--units", "--by", "executor")
				if s := share(rows, func(r namedRow) string { return r.Executor }, fmt.Sprintf(`\bMain\.java:%d\b`, line)); s < 0.9 {
					t.Errorf("%.0f %% of the work on the executor of line %d: %v", 100*s, line, rows)
				}
			})
		}
	}
}
