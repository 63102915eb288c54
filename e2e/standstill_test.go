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

// stopped is what `shadow gc --format json` reports of safepoints.
type stopped struct {
	Pauses struct {
		TotalNs float64 `json:"total_ns"`
	}
	Safepoints *struct {
		Count     float64
		StoppedNs float64 `json:"stopped_ns"`
		TimeNs    float64 `json:"time_ns"`
		ReachNs   float64 `json:"reach_ns"`
	}
	NotAvailable map[string]string `json:"not_available"`
}

// TestStandstill: what stood still, as the JVM's own log of safepoints sums it up. With ZGC that is many times
// what JVMTI calls pauses.
func TestStandstill(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		for _, gc := range []testjvm.Collector{testjvm.Z, testjvm.G1} {
			t.Run(jdk.String()+"/"+gc.Name, func(t *testing.T) {
				testjvm.OneGood(t, func(a *testjvm.Attempt) { standstill(t, a, jdk, gc) })
			})
		}
	}
}

func standstill(t *testing.T, a *testjvm.Attempt, jdk testjvm.JDK, gc testjvm.Collector) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "safepoints")
	cmd := testjvm.Command{JDK: jdk, Classpath: testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "examples", "gcstalls")), Main: "Main",
		Args: []string{"4", "1500", "96"}, VM: []string{gc.Flag, "-Xmx256m", "-Xlog:safepoint:file=" + log}}
	p := cmd.Profile(t)
	var got stopped
	if err := json.Unmarshal(p.Shadow(t, "gc", p.Dir, "--format", "json"), &got); err != nil {
		t.Fatal(err)
	}
	if _, recorded := bottleOf(t, p); !recorded {
		if got.Safepoints != nil || got.NotAvailable["safepoints"] == "" {
			t.Errorf("without a scheduling record: %+v", got)
		}
		return
	}
	s := got.Safepoints
	if s == nil {
		t.Fatalf("safepoints are missing: %v", got.NotAvailable)
	}
	want := loggedSafepoints(t, log)
	if want.Count < 20 {
		t.Fatalf("%v safepoints in the log; the test wants at least 20", want.Count)
	}
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > 0.01*want+1e6 {
			a.Errorf("%s: %.3f ms, by the log %.3f ms", what, got/1e6, want/1e6)
		}
	}
	near("stopped", s.StoppedNs, want.total)
	near("reaching safepoints", s.ReachNs, want.reach)
	near("at safepoints", s.TimeNs, want.total-want.reach)
	if math.Abs(s.Count-want.Count) > 3 { // at the JVM's begin and end
		a.Errorf("%v safepoints, %v in the log", s.Count, want.Count)
	}
	if got.Pauses.TotalNs > s.StoppedNs {
		a.Errorf("pauses %.3f ms of %.3f ms stopped", got.Pauses.TotalNs/1e6, s.StoppedNs/1e6)
	}
	if text := string(p.Shadow(t, "stats", p.Dir)); !strings.Contains(text, "safepoints stopped the program for") {
		t.Errorf("the summary does not say what stood still:\n%s", text)
	}
}

// safepointLog sums up the log of safepoints, nanoseconds.
type safepointLog struct{ Count, reach, total float64 }

func loggedSafepoints(t *testing.T, file string) (sum safepointLog) {
	t.Helper()
	for _, x := range loggedStops(t, file) {
		sum.Count, sum.reach, sum.total = sum.Count+1, sum.reach+x.reach, sum.total+x.to-x.from
	}
	return sum
}

// logged is a stop, in nanoseconds: reach until all threads had stopped; from and to of the JVM's monotonic clock, if the
// log has that.
type logged struct {
	what            string // it was for
	from, to, reach float64
}

var stopLine = regexp.MustCompile(`(?:\[(\d+)ns\])?.*Safepoint "([^"]*)".*Reaching safepoint: +(\d+) ns.* Total: +(\d+) ns`)

func loggedStops(t *testing.T, file string) (stops []logged) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range stopLine.FindAllStringSubmatch(string(b), -1) {
		at, err := strconv.ParseFloat("0"+m[1], 64)
		reach, err2 := strconv.ParseFloat(m[3], 64)
		total, err3 := strconv.ParseFloat(m[4], 64)
		if err != nil || err2 != nil || err3 != nil {
			t.Fatal(m[0])
		}
		stops = append(stops, logged{m[2], at - total, at, reach})
	}
	return stops
}

// TestNoStandstill: a JVM without counters of its own has no figure, and says why.
func TestNoStandstill(t *testing.T) {
	testjvm.Shared(t)
	jdk := testjvm.JDKs(t)[0]
	cmd := testjvm.Command{JDK: jdk, Classpath: testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "examples", "gcstalls")), Main: "Main",
		Args: []string{"1", "300", "8"}, VM: []string{"-XX:-UsePerfData", "-Xmx64m"}}
	p := cmd.Profile(t)
	var got stopped
	if err := json.Unmarshal(p.Shadow(t, "gc", p.Dir, "--format", "json"), &got); err != nil {
		t.Fatal(err)
	}
	if got.Safepoints != nil || got.NotAvailable["safepoints"] == "" {
		t.Errorf("%+v", got)
	}
}
