//go:build consumers

package consumers

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// root is the project's folder.
const root = "../.."

// absolute is a path of the project, which is needed.
func absolute(t *testing.T, path string) string {
	t.Helper()
	p, err := filepath.Abs(filepath.Join(root, path))
	if err == nil {
		_, err = os.Stat(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// repository is where make integrations puts the artifacts, as a property of Maven or Gradle.
func repository(t *testing.T) string {
	t.Helper()
	return "stackagent.repository=file://" + absolute(t, "build/integrations/repository")
}

// project copies a project of testdata: builds write into it.
func project(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", name))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// tool runs a command in dir with this project's shadow, and gives its output and whether it succeeded.
func tool(t *testing.T, dir string, words ...string) (string, bool) {
	t.Helper()
	if _, err := exec.LookPath(words[0]); err != nil {
		t.Skipf("%v: apt-get install %s", err, filepath.Base(words[0]))
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "STACKAGENT_HOME="+absolute(t, "."))
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

// maven builds a project. Artifacts go into a repository of these tests: the user's would keep those of a build before.
func maven(t *testing.T, dir string, words ...string) (string, bool) {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	local := filepath.Join(cache, "stackagent", "consumers", "m2")
	if err := os.RemoveAll(filepath.Join(local, "dev", "stackagent")); err != nil {
		t.Fatal(err)
	}
	t.Logf("Maven downloads what it needs into %s the first time", local)
	return tool(t, dir, append([]string{"mvn", "-B", "-Dmaven.repo.local=" + local, "-D" + repository(t)}, words...)...)
}

// cases are the test cases in the only JUnit XML of ours in a folder: the budget's name, and why it failed.
func cases(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "TEST-stackagent-*.xml"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%d JUnit files in %s, want 1 (%v)", len(files), dir, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var suite struct {
		Cases []struct {
			Name    string `xml:"name,attr"`
			Failure *struct {
				Message string `xml:"message,attr"`
			} `xml:"failure"`
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal(data, &suite); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, c := range suite.Cases {
		out[c.Name] = ""
		if c.Failure != nil {
			out[c.Name] = c.Failure.Message
		}
	}
	return out
}

// failures says what is wrong with the failures found.
func failures(t *testing.T, got map[string]string, number int, want map[string]string) {
	t.Helper()
	if len(got) != number {
		t.Errorf("%d budgets, want %d: %v", len(got), number, got)
	}
	for name, message := range got {
		if message != want[name] {
			t.Errorf("budget %q: failure %q, want %q", name, message, want[name])
		}
	}
	for name := range want {
		if _, there := got[name]; !there {
			t.Errorf("no budget %q", name)
		}
	}
}

const invoices = `com.acme.OrdersTest.invoices: class("com.acme.OrdersTest$Invoice").executions == 70`

// The budgets are annotations of tests; the tests are the session's iterations.
func TestMaven(t *testing.T) {
	dir := project(t, "maven")
	reports := filepath.Join(dir, "target", "surefire-reports")
	out, ok := maven(t, dir, "-Pprofiled", "verify")
	if !ok || !strings.Contains(out, "Tests run: 2, Failures: 0") || !strings.Contains(out, "3 budgets: 3 kept") {
		t.Fatalf("the budgets are kept, yet:\n%s", out)
	}
	failures(t, cases(t, reports), 3, nil)
	sessions, err := filepath.Glob(filepath.Join(dir, "target", "stackagent", "sessions", "jvm-*[0-9]"))
	if err != nil || len(sessions) != 1 {
		t.Fatalf("%d sessions (%v)", len(sessions), err)
	}
	warmup, ok := tool(t, dir, absolute(t, "bin/shadow"), "warmup", sessions[0], "--format", "json")
	if !ok || !strings.Contains(warmup, `"label": "com.acme.OrdersTest.orders()"`) || !strings.Contains(warmup, `"label": "com.acme.OrdersTest.invoices()"`) {
		t.Errorf("the tests are not the iterations:\n%s", warmup)
	}
	compareWith(t, dir, sessions[0], "com.acme.OrdersTest$Invoice")

	out, ok = maven(t, dir, "-Pprofiled", "-DargLine=-Dinvoices=71", "verify")
	if ok || !strings.Contains(out, "Tests run: 2, Failures: 0") || !strings.Contains(out, "stackagent: a budget is broken") {
		t.Fatalf("the tests pass and a budget is broken, yet:\n%s", out)
	}
	failures(t, cases(t, reports), 3, map[string]string{invoices: `class("com.acme.OrdersTest$Invoice").executions is 71`})
	if _, ok = maven(t, dir, "-Pprofiled", "-DargLine=-Dinvoices=70", "-Dstackagent.budgets=budgets.yaml", "-Dstackagent.baseline=baseline.yaml", "verify"); !ok {
		t.Error("the run of the baseline is not within 1 % of itself")
	}
	out, ok = maven(t, dir, "-Pprofiled", "-DargLine=-Dinvoices=71", "-Dstackagent.budgets=budgets.yaml", "-Dstackagent.baseline=baseline.yaml", "verify")
	if ok || !strings.Contains(out, "+1.4 % against 70") {
		t.Errorf("71 invoices are not within 1 %% of the baseline's 70, yet:\n%s", out)
	}
	summary, err := os.ReadFile(filepath.Join(dir, "target", "stackagent", "summary.md"))
	if err != nil || !strings.Contains(string(summary), "an invoice is written once") {
		t.Errorf("summary: %v\n%s", err, summary)
	}
}

// compareWith puts a budget and the session's baseline beside a project: the class may have 1 % more or fewer executions.
func compareWith(t *testing.T, dir, session, class string) {
	t.Helper()
	budget := "budgets:\n  - expr: within(class(\"" + class + "\").executions, 1%)\n"
	if err := os.WriteFile(filepath.Join(dir, "budgets.yaml"), []byte(budget), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, ok := tool(t, dir, absolute(t, "bin/shadow"), "check", session, "--budget", "budgets.yaml", "--write-baseline", "baseline.yaml"); !ok {
		t.Fatal(out)
	}
}

// Debian's Gradle is 4.4.1; a newer one can not be fetched from package registries.
func TestGradle(t *testing.T) {
	dir := project(t, "gradle")
	reports := filepath.Join(dir, "build", "test-results", "test")
	build := func(orders string) (string, bool) {
		return tool(t, dir, "gradle", "--no-daemon", "--console=plain", "-g", t.TempDir(), "-P"+repository(t), "-Dorders="+orders, "test")
	}
	out, ok := build("300")
	if !ok || !strings.Contains(out, "2 budgets: 2 kept") {
		t.Fatalf("the budgets are kept, yet:\n%s", out)
	}
	failures(t, cases(t, reports), 2, nil)
	out, ok = build("301")
	if ok || !strings.Contains(out, "stackagent: a budget is broken") {
		t.Fatalf("a budget is broken, yet:\n%s", out)
	}
	failures(t, cases(t, reports), 2, map[string]string{"each order is one task": `class("com.acme.OrdersTest$Order").executions is 301`})

	sessions, err := filepath.Glob(filepath.Join(dir, "build", "stackagent", "test", "sessions", "jvm-*[0-9]"))
	if err != nil || len(sessions) != 1 {
		t.Fatalf("%d sessions (%v)", len(sessions), err)
	}
	compareWith(t, dir, sessions[0], "com.acme.OrdersTest$Order")
	out, ok = build("310")
	if ok || !strings.Contains(out, "+3.0 % against 301") {
		t.Errorf("310 orders are not within 1 %% of the baseline's 301, yet:\n%s", out)
	}
	if out, ok = build("302"); !ok {
		t.Errorf("302 orders are within 1 %% of the baseline's 301, yet:\n%s", out)
	}
}

// Each benchmark has a known number of tasks per operation.
func TestJMH(t *testing.T) {
	dir := project(t, "jmh")
	if out, ok := maven(t, dir, "-q", "compile"); !ok {
		t.Fatal(out)
	}
	java := filepath.Join(os.Getenv("JAVA_HOME"), "bin", "java")
	out, ok := tool(t, dir, java, "-cp", "target/classes:target/lib/*", "org.openjdk.jmh.Main",
		"-prof", "dev.stackagent.jmh.StackagentProfiler:dir=sessions", "-rf", "json", "-rff", "results.json")
	if !ok {
		t.Fatal(out)
	}
	data, err := os.ReadFile(filepath.Join(dir, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	var results []struct {
		Benchmark string `json:"benchmark"`
		Secondary map[string]struct {
			Score any `json:"score"` // "NaN" of a text
		} `json:"secondaryMetrics"`
	}
	if err := json.Unmarshal(data, &results); err != nil {
		t.Fatal(err)
	}
	want := map[string]struct {
		class string
		tasks float64
	}{"com.acme.Tasks.jobs": {"com.acme.Tasks$Job", 20}, "com.acme.Tasks.batch": {"com.acme.Tasks$Job", 2}, "com.acme.Tasks.tree": {"com.acme.Tasks$Sum", 32}}
	if len(results) != len(want) {
		t.Errorf("%d benchmarks, want %d", len(results), len(want))
	}
	for _, r := range results {
		w := want[r.Benchmark]
		if got := r.Secondary["tasks."+w.class].Score; got != w.tasks {
			t.Errorf("%s: %v tasks per operation, want %g\n%s", r.Benchmark, got, w.tasks, out)
		}
		for _, figure := range []string{"cpu.", "rate.", "queue.p50.", "queue.p99."} {
			if got, isNumber := r.Secondary[figure+w.class].Score.(float64); !isNumber || got <= 0 {
				t.Errorf("%s: %s%s is %v", r.Benchmark, figure, w.class, r.Secondary[figure+w.class].Score)
			}
		}
	}
}
