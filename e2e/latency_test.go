package e2e_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// latencyRow is a row of shadow latency.
type latencyRow struct {
	Class, Kind, Window string
	Count, Summarised   int64
	Percentiles         map[string]float64
	MaxNs               float64 `json:"max_ns"`
	RelativeError       float64 `json:"relative_error"`
	NotAvailable        string  `json:"not_available"`
}

// TestLatency: of a million requests, however much of them is summarised, every one counts, and the percentiles
// are those that the program measured itself.
func TestLatency(t *testing.T) {
	testjvm.Alone(t, "its requests are timed by the program, too")
	const requests = 1_000_000
	for _, v := range variants(t, 1, "auto", "all", "summary") {
		t.Run(v.String(), func(t *testing.T) {
			classes := testjvm.Compile(t, v.jdk, filepath.Join(testjvm.Root(t), "e2e", "testdata", "latency"))
			testjvm.OneGood(t, func(a *testjvm.Attempt) {
				p := testjvm.Command{
					JDK: v.jdk, VM: []string{"-Xmx700m"}, Classpath: classes, Main: "Main", Args: []string{fmt.Sprint(requests)},
					Agent: []string{"--detail", v.detail},
				}.Session(t)
				if p.Exit != 0 {
					t.Fatalf("exit code %d\n%s", p.Exit, p.Stderr)
				}
				checkLatency(t, a, p, v.detail, requests)
			})
		})
	}
}

func checkLatency(t *testing.T, a *testjvm.Attempt, p testjvm.Profile, detail string, requests int64) {
	t.Helper()
	rows := latencyRows(t, p, "Main$Request")
	simple := rows["simple"]
	summarised := detail != "all"
	if simple.Count != requests || (simple.Summarised > 0) != summarised || (simple.RelativeError > 0) != summarised {
		a.Errorf("detail=%s: %d requests, %d summarised, error %g", detail, simple.Count, simple.Summarised, simple.RelativeError)
	}
	own := ownLatencies(t, p.Stdout)
	compareLatency(a, detail, simple, own["simple"])
	response := rows["response"]
	if response.NotAvailable != "" || response.Count != requests || response.RelativeError != simple.RelativeError {
		a.Errorf("detail=%s: response times of %d requests, error %g: %s", detail, response.Count, response.RelativeError, response.NotAvailable)
	}
	compareLatency(a, detail, response, own["response"])
	for _, window := range []string{"100ms", "whole"} {
		m := rows["metered"+window]
		if summarised && m.NotAvailable == "" {
			a.Errorf("metered latency of summaries: %+v", m)
		}
		if detail == "all" && (m.Count != requests || m.Percentiles["99"] < simple.Percentiles["99"]) {
			a.Errorf("metered latency, %s: %+v", window, m)
		}
	}
}

// latencyRows are the rows of a class by kind and window.
func latencyRows(t *testing.T, p testjvm.Profile, class string) map[string]latencyRow {
	t.Helper()
	var list []latencyRow
	if err := json.Unmarshal(p.Shadow(t, "latency", p.Dir, "--class", class, "--format", "json"), &list); err != nil {
		t.Fatal(err)
	}
	rows := map[string]latencyRow{}
	for _, r := range list {
		rows[r.Kind+r.Window] = r
	}
	return rows
}

// compareLatency compares p99, of which many requests have nearly the same latency, with 0.8 % and what the agent and
// the program do between their readings of the clock. Above it are those that waited for a processor, some of them
// between the two readings: p99.9 lies between the program's neighbouring percentiles.
func compareLatency(a *testjvm.Attempt, detail string, got latencyRow, own map[string]float64) {
	for p, bounds := range map[string][2]string{"99": {"99", "99"}, "99.9": {"99.8", "99.95"}} {
		least, greatest := own[bounds[0]], own[bounds[1]]
		const between = 500
		if n := got.Percentiles[p]; least == 0 || n < least*(1-0.008)-between || n > greatest*(1+0.008)+between {
			a.Errorf("detail=%s, %s: p%s is %g, the program measured %g to %g", detail, got.Kind, p, n, least, greatest)
		}
	}
	if got.MaxNs < 0.999*own["100"] {
		a.Errorf("detail=%s, %s: the greatest is %g, the program measured %g", detail, got.Kind, got.MaxNs, own["100"])
	}
}

// ownLatencies are what the program printed, by kind and percentile.
func ownLatencies(t *testing.T, stdout string) map[string]map[string]float64 {
	t.Helper()
	own := map[string]map[string]float64{"simple": {}, "response": {}}
	for line := range strings.Lines(stdout) {
		var kind string
		var share, ns float64
		if n, _ := fmt.Sscanf(line, "%s %g %g", &kind, &share, &ns); n == 3 && own[kind] != nil {
			own[kind][fmt.Sprint(share/100)] = ns
		}
	}
	if len(own["simple"]) != 7 || len(own["response"]) != 7 {
		t.Fatalf("the program printed %q", stdout)
	}
	return own
}

// TestLatencyNames: what shadow hotspots --units lists can be named, and all of it counts.
func TestLatencyNames(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		for _, name := range []string{"completable", "streams", "pool"} {
			t.Run(jdk.String()+"/"+name, func(t *testing.T) {
				p := testjvm.Example(t, name).Command(t, jdk).Session(t)
				named := 0
				for _, unit := range p.Units(t) {
					if unit.Executions == 0 {
						continue
					}
					named++
					rows := latencyRows(t, p, unit.Class)
					if simple := rows["simple"]; simple.Class != unit.Class || simple.Count != unit.Executions {
						t.Errorf("%d units of %s, latency of %d: %+v", unit.Executions, unit.Class, simple.Count, simple)
					}
					if response := rows["response"]; response.NotAvailable != "" || response.Count == 0 || response.MaxNs < rows["simple"].MaxNs && response.Count == unit.Executions {
						t.Errorf("response of %s: %+v", unit.Class, response)
					}
				}
				if named < 2 {
					t.Errorf("%d units have names", named)
				}
			})
		}
	}
}
