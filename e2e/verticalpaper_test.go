package e2e_test

import (
	"cmp"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"stackagent/internal/testjvm"
)

// freshHeap are options of a JVM with a young generation that is used for the first time, that its program does not fill, and
// whose buffers for threads are small, as they count as used when they are taken.
var freshHeap = []string{"-XX:+UseSerialGC", "-Xms3g", "-Xmx3g", "-Xmn2200m", "-XX:TLABSize=512k", "-XX:-ResizeTLAB"}

// levels are samples of a monitor in time, with their ends.
type levels struct{ at, value []float64 }

func samplesOf(t *testing.T, p testjvm.Profile, monitor string) (l levels) {
	t.Helper()
	for _, row := range p.CSV(t, "vertical", p.Dir, "--samples", "--metric", "x="+monitor) {
		at, err := strconv.ParseFloat(row["to_ns"], 64)
		v, none := strconv.ParseFloat(row["value"], 64)
		if err != nil {
			t.Fatal(err)
		}
		if row["metric"] == "x" && none == nil {
			l.at, l.value = append(l.at, at), append(l.value, v)
		}
	}
	if len(l.at) == 0 {
		t.Fatalf("no samples of %s", monitor)
	}
	return l
}

// in are the sum of the values in a time, the last one before it (of none: the first in it) and the last one in it.
func (l levels) in(d dip) (sum, before, last float64) {
	before = math.NaN()
	for i, at := range l.at {
		switch {
		case at <= float64(d.from):
			before = l.value[i]
		case at <= float64(d.to):
			if math.IsNaN(before) {
				before = l.value[i]
			}
			sum, last = sum+l.value[i], l.value[i]
		}
	}
	return sum, before, last
}

// TestVerticalFreshHeap is section 4.4 of the paper: page faults go with the heap that is used for the first time, and there are
// none if the JVM has touched it before.
func TestVerticalFreshHeap(t *testing.T) {
	testjvm.Alone(t, "samples are compared, and a machine that stops moves what happens from one to the next")
	faultsPerMB := func(a *testjvm.Attempt, vm ...string) (r, perMB float64) {
		p, steps := verticalRun(t, planted{Name: "steps", VM: freshHeap}, vm...)
		faults, eden := samplesOf(t, p, "os.minor_faults"), samplesOf(t, p, "vm.heap.eden.used_bytes")
		var x, y []float64
		all, heap := 0.0, 0.0
		for _, d := range steps {
			n, _, _ := faults.in(d)
			_, before, last := eden.in(d)
			x, y = append(x, n), append(y, last-before)
			all, heap = all+n, heap+last-before
		}
		if len(steps) < 15 || heap < 900<<20 {
			a.Errorf("%d steps used %.0f MB of fresh heap, by the program 20 used 990", len(steps), heap/(1<<20))
		}
		return stat.Correlation(x, y, nil), all / (heap / (1 << 20))
	}
	testjvm.OneGood(t, func(a *testjvm.Attempt) {
		r, perMB := faultsPerMB(a)
		_, touched := faultsPerMB(a, "-XX:+AlwaysPreTouch")
		t.Logf("r = %.4f; %.1f page faults a MB, %.1f with -XX:+AlwaysPreTouch", r, perMB, touched)
		if !(r > 0.99) {
			a.Errorf("r = %v between page faults and newly used heap, in the paper above 0.99", r)
		}
		if perMB < 240 || perMB > 270 {
			a.Errorf("%.0f page faults a MB of fresh heap, which has 256 pages", perMB)
		}
		if touched > 10 {
			a.Errorf("%.0f page faults a MB with -XX:+AlwaysPreTouch, want none", touched)
		}
	})
}

// TestVerticalRise is section 4.1 of the paper: throughput rises while the JIT compiles, and not without it.
func TestVerticalRise(t *testing.T) {
	testjvm.Alone(t, "it measures throughput")
	if !full() {
		t.Skip("in the full run")
	}
	rise := planted{Name: "rise", VM: []string{"-XX:+UseSerialGC", "-Xms512m", "-Xmx512m", "-XX:+AlwaysPreTouch"}}
	testjvm.OneGood(t, func(a *testjvm.Attempt) {
		p, dips := verticalRun(t, rise)
		first := explainDip(t, p, ofOrders, dips[0])
		if firstMatches(first, "vm.jit.", "os.cpu_ns{kind=\"compiler\"}") == "" {
			a.Errorf("the rise is explained by %s, not by the JIT:\n%s", firstOf(first), first.Sentence)
		}
		known := printedNumbers(t, p.Stdout)
		if known["steady"] < 3*known["dips"] {
			a.Errorf("%.0f orders a second at first, %.0f later: no rise", known["dips"], known["steady"])
		}
		interpreted, _ := verticalRun(t, rise, "-Xint")
		if known := printedNumbers(t, interpreted.Stdout); known["steady"] > 1.5*known["dips"] {
			a.Errorf("-Xint: %.0f orders a second at first, %.0f later: it rises without the JIT", known["dips"], known["steady"])
		}
	})
}

// firstMatches is the first of the causes and its group, if its name begins with one of the prefixes.
func firstMatches(e explained, prefixes ...string) string {
	if len(e.Causes) == 0 {
		return ""
	}
	for _, prefix := range prefixes {
		if strings.HasPrefix(e.Causes[0].Monitor, prefix) {
			return e.Causes[0].Monitor
		}
	}
	return ""
}

// TestVerticalPeriod is section 4.5: a timer's task is named for dips that come back.
func TestVerticalPeriod(t *testing.T) {
	testjvm.Alone(t, "it measures throughput")
	if !full() {
		t.Skip("in the full run")
	}
	testjvm.OneGood(t, func(a *testjvm.Attempt) {
		p, dips := verticalRun(t, planted{Name: "period", VM: []string{"-XX:+UseSerialGC", "-Xms512m", "-Xmx512m", "-XX:+AlwaysPreTouch"}})
		e := explainDip(t, p, ofOrders, dips[len(dips)/2])
		named := firstMatches(e, "app.tasks.", "vm.monitor.")
		if named == "" || !strings.Contains(named+strings.Join(e.Causes[0].Group, " "), "Reindex") {
			a.Errorf("the timer's task Reindex is not in what is named first: %s with %s", firstOf(e), groupOf(e))
		}
	})
}

// TestVerticalContention is table 4: locks by class.
func TestVerticalContention(t *testing.T) {
	testjvm.Alone(t, "it measures waits")
	if !full() {
		t.Skip("in the full run")
	}
	p, _ := verticalRun(t, planted{Name: "lock", VM: []string{"-XX:+UseSerialGC", "-Xms512m", "-Xmx512m"}})
	var rows []struct {
		For, Class string
		WaitedNs   float64 `json:"waited_ns"`
	}
	ask(t, p, &rows, "waits", p.Dir, "--format", "json")
	most, class := 0.0, ""
	for _, r := range rows {
		if r.For == "monitor" && r.WaitedNs > most {
			most, class = r.WaitedNs, r.Class
		}
	}
	if class != "InProgram$Locked$Ledger" || most < 1e9 {
		t.Errorf("threads waited most for %q, %.0f ms: Ledger is held for most of 1.2 s while two threads want it", cmp.Or(class, "none"), most/1e6)
	}
}

// TestVerticalH2: a real program. H2 locks a table while it builds an index, and writers wait.
func TestVerticalH2(t *testing.T) {
	testjvm.Alone(t, "it measures throughput")
	if !full() {
		t.Skip("in the full run")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	lib := filepath.Join(cache, "stackagent", "suite", "h2", "lib")
	if jars, _ := filepath.Glob(filepath.Join(lib, "h2-*.jar")); len(jars) == 0 {
		t.Skip("H2 is not there: make suite-check PROGRAMS=h2 fetches it")
	}
	jdk := testjvm.JDKs(t)[0]
	classes := testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "suite", "h2-index"), "-cp", lib+"/*")
	testjvm.OneGood(t, func(a *testjvm.Attempt) {
		p := testjvm.Command{JDK: jdk, VM: []string{"-XX:+UseSerialGC", "-Xms1g", "-Xmx1g"}, Classpath: lib + "/*:" + classes, Main: "Main",
			Args: []string{"2", "2", "800"}, Agent: []string{"--monitors=all"}}.Session(t)
		e := explainDip(t, p, "task_throughput", dipsOf(t, "h2-index", p)[0])
		if named := firstMatches(e, "lib.object_wait_ns", "vm.monitor.wait_ns"); named == "" || !strings.Contains(named+strings.Join(e.Causes[0].Group, " "), "MVTable") {
			a.Errorf("writers wait for the lock of an MVTable; named first is %s with %s", firstOf(e), groupOf(e))
		}
	})
}
