package e2e_test

import (
	"encoding/json"
	"math"
	"path/filepath"
	"regexp"
	"testing"

	"stackagent/internal/testjvm"
)

// TestCollectionsStandstill: the time that the advice about collections rests on is what the JVM's own log of safepoints has
// of those for collections, with the time to reach them.
func TestCollectionsStandstill(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		for _, gc := range []string{"-XX:+UseParallelGC", "-XX:+UseG1GC"} {
			t.Run(jdk.String()+gc, func(t *testing.T) {
				testjvm.OneGood(t, func(a *testjvm.Attempt) { collectionsStandstill(t, a, jdk, gc) })
			})
		}
	}
}

func collectionsStandstill(t *testing.T, a *testjvm.Attempt, jdk testjvm.JDK, gc string) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "safepoints")
	c := testjvm.Example(t, "advice").Command(t, jdk)
	c.Args, c.VM = []string{"garbage-collection"}, append(c.VM, gc, "-Xmx128m", "-Xlog:safepoint:file="+log)
	p := c.Profile(t)
	_, recorded := bottleOf(t, p) // with a scheduling record the JVM's own counters are read
	var stats struct {
		Findings []struct {
			Rule     string
			Evidence struct {
				Stopped float64 `json:"stopped_ns"`
				Around  bool    `json:"with_reaching"`
			}
		}
	}
	if err := json.Unmarshal(p.Shadow(t, "stats", p.Dir, "--units", "--threshold", "gc-share=0", "--format", "json"), &stats); err != nil {
		t.Fatal(err)
	}
	want, all := loggedCollections(t, log)
	for _, f := range stats.Findings {
		if f.Rule != "garbage-collection" {
			continue
		}
		if f.Evidence.Around != recorded {
			t.Errorf("with the time around pauses: %v, with a record: %v", f.Evidence.Around, recorded)
		}
		if got := f.Evidence.Stopped; recorded && math.Abs(got-want) > 0.01*want+1e6 {
			a.Errorf("stopped for collections %.3f ms (with what it took to reach safepoints: %v), by the log %.3f of %.3f ms", got/1e6, f.Evidence.Around, want/1e6, all/1e6)
		}
		return
	}
	t.Errorf("no garbage-collection among %+v", stats.Findings)
}

var ofCollector = regexp.MustCompile(`^(Parallel|G1|CollectFor|GenCollect)`)

// loggedCollections sums up the safepoints of collections, and all of them, in nanoseconds.
func loggedCollections(t *testing.T, file string) (collections, all float64) {
	t.Helper()
	for _, x := range loggedStops(t, file) {
		if all += x.to - x.from; ofCollector.MatchString(x.what) {
			collections += x.to - x.from
		}
	}
	return collections, all
}
