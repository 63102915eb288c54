package e2e_test

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// inside is what the agent has read of one monitor.
type inside struct {
	store.InsideMonitor
	values []float64 // in the order of time, changes only
}

func (x *inside) last() float64 {
	if len(x.values) == 0 {
		return math.NaN()
	}
	return x.values[len(x.values)-1]
}

func insideOf(t *testing.T, dir string) map[string]*inside {
	t.Helper()
	s, err := session.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	monitors, err := s.InsideMonitors()
	if err != nil {
		t.Fatal(err)
	}
	byID, all := map[uint32]*inside{}, map[string]*inside{}
	for id, m := range monitors {
		byID[id] = &inside{InsideMonitor: m}
		all[m.Name] = byID[id]
	}
	at := map[uint32]int64{}
	err = s.InsideSamples(func(r *store.InsideSample) {
		if r.AtNs < at[r.Monitor] {
			t.Errorf("a value of monitor %d at %d comes after one at %d", r.Monitor, r.AtNs, at[r.Monitor])
		}
		at[r.Monitor] = r.AtNs
		if x := byID[r.Monitor]; x != nil && (len(x.values) == 0 || x.last() != r.Value) {
			x.values = append(x.values, r.Value)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestInsideMonitors: what the agent reads of a program whose source says what there is to read. The program's output and
// exit are those without the agent, although one of its MBeans throws and another never answers.
func TestInsideMonitors(t *testing.T) {
	testjvm.Alone(t, "a busy machine starts the thread that asks MBeans after the program's end")
	for _, jdk := range testjvm.JDKsInTurn(t) {
		cmd := testjvm.Command{JDK: jdk, Classpath: testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "examples", "monitors")), Main: "Main"}
		for _, spec := range []string{"Main#level", "Main#ratio", "Main#atomic", "Main$Cache#hits", "Main$Lazy#n", "Main#nothing", "calls:Main#step", "calls:Main$Cache#<init>",
			"returns:Main#size", "returns:Main#name", "jmx:com.acme:type=Pool,*/*", "jmx:java.lang:type=Runtime/SpecVersion", "inside"} {
			cmd.Agent = append(cmd.Agent, "--monitor", spec)
		}
		profile := cmd.Session(t)
		if want := "1160\n"; profile.Stdout != want {
			t.Errorf("%v: the program writes %q, want %q", jdk, profile.Stdout, want)
		}
		all := insideOf(t, profile.Dir)
		for name, want := range map[string]float64{
			"app.field.Main.level": 20, "app.field.Main.ratio": 5, "app.field.Main.atomic": 60, "app.field.Main$Cache.hits": 1160,
			`app.calls{method="Main.step"}`: 2 * 123_456, `app.calls{method="Main$Cache.<init>"}`: 3, `app.returns{method="Main.size"}`: 200,
			`app.jmx.com.acme.Active{name="tax",type="Pool"}`: 20,
		} {
			x := all[name]
			if x == nil || x.last() != want || x.Why != "" {
				t.Errorf("%v: %s: %+v, want %v at the end", jdk, name, x, want)
			}
		}
		// A round takes five samples; a machine that stalls misses a few.
		if x := all["app.field.Main.level"]; x != nil {
			if len(x.values) < 15 {
				t.Errorf("%v: the level had the values %v", jdk, x.values)
			}
			for i := 1; i < len(x.values); i++ {
				if x.values[i] <= x.values[i-1] {
					t.Errorf("%v: the level had the values %v", jdk, x.values)
				}
			}
		}
		for name, why := range map[string]string{
			"app.field.Main$Lazy.n": "no class of this name was loaded", "app.field.Main.nothing": "no such field", `app.returns{method="Main.name"}`: "returns no number",
			`app.jmx.com.acme.Broken{name="tax",type="Pool"}`: "throws java.lang.IllegalStateException", `app.jmx.com.acme.Hanging{name="tax",type="Pool"}`: "did not answer",
		} {
			if x := all[name]; x == nil || len(x.values) > 0 || !strings.Contains(x.Why, why) {
				t.Errorf("%v: %s: %+v, want no values and why: %s", jdk, name, x, why)
			}
		}
		if x := all["vm.code_cache.used_bytes{segment=\"non-nmethods\"}"]; x == nil || x.last() < 1<<19 {
			t.Errorf("%v: code cache: %+v", jdk, x)
		}
	}
}

// TestRegistries: the meters of Micrometer and Dropwizard that a program has made, at the end of it.
func TestRegistries(t *testing.T) {
	testjvm.Shared(t)
	if !full() {
		t.Skip("the libraries are fetched for the full run")
	}
	classpath := fetchedRegistries(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		cmd := testjvm.Command{JDK: jdk, Main: "Meters", Agent: []string{"--monitors", "registries"}}
		cmd.Classpath = testjvm.Compile(t, testjvm.JDKs(t)[0], filepath.Join(testjvm.Root(t), "e2e", "testdata", "registries"), "-cp", classpath) + ":" + classpath
		all := insideOf(t, cmd.Session(t).Dir)
		for name, want := range map[string]float64{
			`app.micrometer.orders{region="eu"}`: 400, "app.micrometer.queue.depth": 200, "app.micrometer.request.count": 200, "app.micrometer.request.total_ns": 6e8,
			"app.micrometer.size.count": 200, "app.micrometer.size.total": 20_000,
			"app.dropwizard.open": 150, "app.dropwizard.marks": 600, "app.dropwizard.t.count": 200, "app.dropwizard.level": 200,
		} {
			if x := all[name]; x == nil || x.last() != want {
				t.Errorf("%v: %s: %s, want %v at the end", jdk, name, fmt.Sprintf("%+v", x), want)
			}
		}
	}
}

// fetchedRegistries returns the class path of the libraries. Without a network the test is skipped, but not in CI.
func fetchedRegistries(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(testjvm.Root(t), "build", "real", "registries")
	jars, _ := filepath.Glob(filepath.Join(dir, "*.jar"))
	if len(jars) == 0 {
		pom := filepath.Join(testjvm.Root(t), "e2e", "testdata", "registries", "pom.xml")
		out, err := exec.Command("mvn", "-q", "-B", "-f", pom, "dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+dir).CombinedOutput()
		if err != nil && os.Getenv("CI") == "" {
			t.Skipf("Maven could not fetch the libraries: %v\n%s", err, out)
		}
		if err != nil {
			t.Fatalf("Maven could not fetch the libraries: %v\n%s", err, out)
		}
		jars, _ = filepath.Glob(filepath.Join(dir, "*.jar"))
	}
	return strings.Join(jars, ":")
}
