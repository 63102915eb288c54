package e2e_test

import (
	"encoding/json"
	"math"
	"path/filepath"
	"testing"

	"stackagent/internal/testjvm"
)

// utilization is what `shadow gc --format json` reports of it.
type utilization struct {
	FromNs float64 `json:"from_ns"`
	ToNs   float64 `json:"to_ns"`
	Pauses struct {
		TotalNs float64 `json:"total_ns"`
	}
	MMU []struct {
		WindowNs float64 `json:"window_ns"`
		Min      float64
		Pauses   float64 `json:"min_pauses"`
	}
	NotAvailable map[string]string `json:"not_available"`
}

// TestUtilization: the least utilization counts all that stopped the program, not only pauses of the collector: the same
// as that of the stops in the JVM's own log of safepoints.
func TestUtilization(t *testing.T) {
	testjvm.Alone(t, "on a busy machine a look at the JVM's counters is late")
	for _, jdk := range testjvm.JDKsInTurn(t) {
		for _, run := range []struct {
			program string
			args    []string
			vm      string
		}{{"safepoints", []string{"100", "1500", "200"}, testjvm.G1.Flag}, {"gcstalls", []string{"4", "1500", "96"}, testjvm.Z.Flag}} {
			t.Run(jdk.String()+"/"+run.program, func(t *testing.T) {
				testjvm.OneGood(t, func(a *testjvm.Attempt) {
					log := filepath.Join(t.TempDir(), "safepoints")
					cmd := testjvm.Command{JDK: jdk, Classpath: testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "examples", run.program)), Main: "Main",
						Args: run.args, VM: []string{run.vm, "-Xmx256m", "-Xlog:safepoint:file=" + log + ":tn"}}
					utilized(t, a, cmd.Profile(t), log)
				})
			})
		}
	}
}

func utilized(t *testing.T, a *testjvm.Attempt, p testjvm.Profile, log string) {
	t.Helper()
	var got utilization
	if err := json.Unmarshal(p.Shadow(t, "gc", p.Dir, "--format", "json"), &got); err != nil {
		t.Fatal(err)
	}
	if _, recorded := bottleOf(t, p); !recorded {
		if got.NotAvailable["safepoints"] == "" {
			t.Errorf("without a scheduling record: %+v", got)
		}
		return
	}
	stops := loggedStops(t, log)
	if got.Pauses.TotalNs > 0.5*timeStopped(stops, got.FromNs, got.ToNs) {
		a.Errorf("%.1f ms of pauses, in the log %.1f ms of stops: the test wants more than pauses", got.Pauses.TotalNs/1e6, timeStopped(stops, got.FromNs, got.ToNs)/1e6)
	}
	for _, u := range got.MMU {
		// Both ends of a window may have a stop of which the place is known to 20 ms.
		want, tolerance := leastUtilization(stops, got.FromNs, got.ToNs, u.WindowNs), math.Min(45e6/u.WindowNs, 1)
		if whole := got.ToNs - got.FromNs; u.WindowNs == whole {
			tolerance = 0.005
		}
		if math.Abs(u.Min-want) > tolerance {
			a.Errorf("window %.0f ms: at least %.3f, by the log %.3f", u.WindowNs/1e6, u.Min, want)
		}
		if u.Pauses < u.Min {
			t.Errorf("window %.0f ms: with pauses alone %.3f, with all stops %.3f", u.WindowNs/1e6, u.Pauses, u.Min)
		}
	}
}

func timeStopped(stops []logged, from, to float64) (sum float64) {
	for _, s := range stops {
		sum += math.Max(math.Min(s.to, to)-math.Max(s.from, from), 0)
	}
	return sum
}

// leastUtilization tries the windows that begin with a stop or end with one.
func leastUtilization(stops []logged, from, to, window float64) float64 {
	least := 1.0
	try := func(at float64) {
		at = math.Max(from, math.Min(at, to-window))
		least = math.Min(least, 1-timeStopped(stops, at, at+window)/window)
	}
	for _, s := range stops {
		try(s.from)
		try(s.to - window)
	}
	return least
}
