package e2e_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// stalls is what `shadow gc --format json` reports of waits for the collector.
type stalls struct {
	Stalls *struct {
		Count   int
		TotalNs float64 `json:"total_ns"`
		ReadyNs float64 `json:"runnable_ns"`
		PacedNs float64 `json:"paced_ns"`
	}
	MMU []struct {
		Min        float64
		WithStalls *float64 `json:"min_with_stalls"`
	}
	NotAvailable map[string]string `json:"not_available"`
}

var (
	stallLine = regexp.MustCompile(`(?:Allocation|Relocation) Stall \([^)]*\) ([0-9.]+)ms`)
	paceLine  = regexp.MustCompile(`\] Pacing +=? +([0-9.]+) s `)
)

// TestStalls: what one thread waits for a concurrent collector, as the collector's own log sums it up: ZGC's stalls, and
// Shenandoah's pacing. A speedup stack has it in gc, and not in synchronization.
func TestStalls(t *testing.T) {
	testjvm.Alone(t, "the wait for a processor after a stall is in the log, too")
	shenandoah := testjvm.Collector{Name: "Shenandoah", Flag: "-XX:+UseShenandoahGC"}
	for _, jdk := range testjvm.JDKsInTurn(t) {
		for _, gc := range []testjvm.Collector{testjvm.Z, shenandoah} {
			t.Run(jdk.String()+"/"+gc.Name, func(t *testing.T) {
				if r := (testjvm.Command{JDK: jdk, VM: []string{gc.Flag, "-version"}}).Plain(t); r.Exit != 0 {
					t.Skipf("this JDK has no %s", gc.Name)
				}
				testjvm.OneGood(t, func(a *testjvm.Attempt) { stalled(t, a, jdk, gc) })
			})
		}
	}
}

func stalled(t *testing.T, a *testjvm.Attempt, jdk testjvm.JDK, gc testjvm.Collector) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "gc.log")
	args := []string{"1", "3000", "300"}
	vm := []string{gc.Flag, "-Xmx640m", "-Xlog:gc*,gc+stats:file=" + log}
	if gc != testjvm.Z {
		args, vm[1] = []string{"1", "3000", "100"}, "-Xmx256m"
	}
	p := testjvm.Command{JDK: jdk, Classpath: testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "examples", "gcstalls")), Main: "Main", Args: args, VM: vm}.Profile(t)
	var got stalls
	if err := json.Unmarshal(p.Shadow(t, "gc", p.Dir, "--format", "json"), &got); err != nil {
		t.Fatal(err)
	}
	if _, recorded := bottleOf(t, p); !recorded || got.NotAvailable["stalls"] != "" {
		if got.Stalls != nil || got.NotAvailable["stalls"] == "" {
			t.Errorf("without a record of who ends waits: %+v", got)
		}
		return
	}
	if got.Stalls == nil {
		t.Fatalf("stalls are missing: %v", got.NotAvailable)
	}
	all, want := got.Stalls.TotalNs+got.Stalls.ReadyNs, loggedStalls(t, log)
	if gc != testjvm.Z {
		all = got.Stalls.PacedNs // the log does not say how long threads waited for the end of a collection
	}
	if want < 20e6 {
		a.Errorf("the collector's log has %.1f ms of stalls; the test wants at least 20", want/1e6)
		return
	}
	if math.Abs(all-want) > 0.05*want {
		a.Errorf("%.1f ms of stalls, by the collector's log %.1f ms", all/1e6, want/1e6)
	}
	for _, u := range got.MMU {
		if u.WithStalls == nil || *u.WithStalls > u.Min {
			t.Errorf("the utilization with stalls is above that without: %+v", got.MMU)
		}
	}
	if waits := waitedForCollector(t, p); waits != got.Stalls.TotalNs+got.Stalls.ReadyNs {
		t.Errorf("by shadow waits, threads waited for the collector for %.1f ms, by shadow gc for %.1f", waits/1e6, (got.Stalls.TotalNs+got.Stalls.ReadyNs)/1e6)
	}
	notSynchronization(t, a, p, got.Stalls.TotalNs)
}

// waitedForCollector is what shadow waits has as waits for the collector outside of pauses, in nanoseconds.
func waitedForCollector(t *testing.T, p testjvm.Profile) (ns float64) {
	t.Helper()
	var rows []struct {
		For, Class string
		WaitedNs   float64 `json:"waited_ns"`
	}
	if err := json.Unmarshal(p.Shadow(t, "waits", p.Dir, "--format", "json"), &rows); err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.For == "gc" && strings.HasPrefix(r.Class, "collector") {
			ns += r.WaitedNs
		}
	}
	return ns
}

// notSynchronization: the pool's only thread waits for no other thread of the program.
func notSynchronization(t *testing.T, a *testjvm.Attempt, p testjvm.Profile, waited float64) {
	t.Helper()
	var stack struct {
		Bars []struct {
			Components map[string]*float64
			StallsNs   float64 `json:"gc_stalls_ns"`
			Runs       []struct {
				DurationNs float64 `json:"duration_ns"`
			}
		}
	}
	if err := json.Unmarshal(p.Shadow(t, "stack", p.Dir, p.Dir, "--threads", "1", "--format", "json"), &stack); err != nil {
		t.Fatal(err)
	}
	b := stack.Bars[0]
	if s := b.Components["synchronization"]; s == nil || *s*b.Runs[0].DurationNs > 0.1*waited {
		a.Errorf("synchronization is %v of the run where threads waited %.1f ms for the collector", s, waited/1e6)
	}
	if b.StallsNs < 0.8*waited {
		a.Errorf("the stack has %.1f ms of stalls, the session %.1f ms", b.StallsNs/1e6, waited/1e6)
	}
}

// loggedStalls sums up the log, nanoseconds.
func loggedStalls(t *testing.T, log string) (sum float64) {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	add := func(digits []byte, unit float64) {
		x, err := strconv.ParseFloat(string(digits), 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += x * unit
	}
	for _, m := range stallLine.FindAllSubmatch(text, -1) {
		add(m[1], 1e6)
	}
	if all := paceLine.FindAllSubmatch(text, -1); len(all) > 0 {
		add(all[len(all)-1][1], 1e9)
	}
	return sum
}

// TestNoStalls: G1 makes threads wait in pauses only. The wait for the end of a pause is none outside of it, and none is
// what the JVM waits for at its end.
func TestNoStalls(t *testing.T) {
	testjvm.Alone(t, "a thread that gets no processor when a pause ends waits on")
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			testjvm.OneGood(t, func(a *testjvm.Attempt) {
				p := testjvm.Command{JDK: jdk, Classpath: testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "examples", "gcstalls")), Main: "Main",
					Args: []string{"4", "1200", "60"}, VM: []string{testjvm.G1.Flag, "-Xmx192m"}}.Session(t)
				var got stalls
				if err := json.Unmarshal(p.Shadow(t, "gc", p.Dir, "--format", "json"), &got); err != nil {
					t.Fatal(err)
				}
				if got.Stalls == nil {
					t.Skipf("stalls are not available: %v", got.NotAvailable)
				}
				if got.Stalls.TotalNs > 3e6 {
					a.Errorf("%d stalls, %.1f ms; G1 has none", got.Stalls.Count, got.Stalls.TotalNs/1e6)
				}
			})
		})
	}
}
