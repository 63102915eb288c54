package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/summary"
)

// TestStatsMetric: of one metric and no other, in each format; the sums are
// those of workSession: 0 to 7 bytes, one of the eight executions not measured.
func TestStatsMetric(t *testing.T) {
	dir := workSession(t)
	code, out, errs := shadow(t, nil, "stats", dir, "--metric", "alloc", "--format", "csv")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != 0 || len(lines) != 3 || !strings.HasPrefix(lines[1], "alloc_bytes,7,25,") || !strings.HasPrefix(lines[2], "self_alloc_bytes,7,") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	code, out, errs = shadow(t, nil, "stats", dir, "--metric", "page-faults", "--format", "json")
	var s struct {
		Metrics map[string]struct{ Sum int64 }
	}
	if err := json.Unmarshal([]byte(out), &s); err != nil || code != 0 || len(s.Metrics) != 2 || s.Metrics["page_faults"].Sum != 7000+25 {
		t.Errorf("exit code %d, %v: %s%s", code, err, out, errs)
	}
	code, out, _ = shadow(t, nil, "stats", dir, "--metric", "bytecodes")
	if code != 0 || !strings.Contains(out, "self bytecodes") || strings.Contains(out, "alloc bytes") || strings.Contains(out, "\nwall time") {
		t.Errorf("exit code %d: %s", code, out)
	}
}

// TestReportMetric: figures and tables are of the metric asked for.
func TestReportMetric(t *testing.T) {
	dir, to := workSession(t), t.TempDir()
	code, _, errs := shadow(t, nil, "report", dir, "--metric", "alloc", "-o", to)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	for file, want := range map[string]string{"report.html": `"measures":[{"key":"self_alloc_bytes"`, "cdf.svg": "self alloc bytes per ", "box.svg": "self alloc bytes per ", "cdf-wall.svg": "wall time per "} {
		if b, err := os.ReadFile(filepath.Join(to, file)); err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s does not say %q: %v", file, want, err)
		}
	}
}

// TestShowBy: the class with the most bytes comes before that with the most CPU
// time, also in units of work; what units do not have is shown of executions.
func TestShowBy(t *testing.T) {
	alloc := granularity.MetricOf(2, true)
	row := func(class string, cpu, bytes units.Ns) granularity.Hotspot {
		return granularity.Hotspot{Class: class, Executions: 1, Work: cpu, Metrics: granularity.Metrics{
			granularity.SelfCPU: {Count: 1, Sum: cpu}, alloc: {Name: "self_alloc_bytes", Unit: "bytes", Count: 1, Sum: bytes}}}
	}
	sum := func() *summary.Summary {
		return &summary.Summary{Rows: []granularity.Hotspot{row("a.Busy", 900, 1024), row("a.Greedy", 100, 3072)}, Metrics: granularity.Metrics{
			granularity.SelfCPU: {Count: 2, Sum: 1000}, alloc: {Name: "self_alloc_bytes", Unit: "bytes", Count: 2, Sum: 4096}}}
	}
	s := sum()
	s.InUnits = sum()
	if err := s.ShowBy("alloc", false); err != nil || s.Rows[0].Class != "a.Greedy" || s.InUnits.Rows[0].Class != "a.Greedy" || s.Shown() != alloc || len(s.Metrics) != 2 {
		t.Errorf("%v: %v", err, s.Rows)
	}
	delete(s.InUnits.Metrics, alloc)
	if err := s.ShowBy("alloc", false); err != nil || s.InUnits != nil {
		t.Errorf("%v: units without the metric stay", err)
	}
	if s := sum(); s.Shown() != granularity.SelfCPU {
		t.Errorf("without a choice shown by %v", s.Shown())
	}
}

// TestMetricNotThere: the error names what there is and how to get what is not.
func TestMetricNotThere(t *testing.T) {
	dir := workSession(t)
	for _, verb := range [][]string{{"stats", dir}, {"report", dir, "-o", filepath.Join(t.TempDir(), "r.html")}, {"hotspots", dir}} {
		code, _, errs := shadow(t, nil, append(verb, "--metric", "cycles")...)
		if code != console.ExitUsage || !strings.Contains(errs, "alloc_bytes, page_faults, bytecodes") || !strings.Contains(errs, "shadow run --metric wall+cpu+cycles") {
			t.Errorf("%s: exit code %d: %s", verb[0], code, errs)
		}
	}
	if code, _, errs := shadow(t, nil, "stats", dir, "--metric", "init"); code != console.ExitUsage || !strings.Contains(errs, "--construction") {
		t.Errorf("init: exit code %d: %s", code, errs)
	}
}
