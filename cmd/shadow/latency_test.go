package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackagent/cmd/shadow/internal/times"
	"stackagent/internal/histogram"
	"stackagent/shadow/show/gcreport"
)

// latencies runs shadow latency and returns its rows by kind and window.
func latencies(t *testing.T, args ...string) map[string]times.LatencyRow {
	t.Helper()
	code, out, errs := shadow(t, nil, append([]string{"latency", "--format", "json"}, args...)...)
	if code != 0 {
		t.Fatalf("%q: exit code %d\n%s", args, code, errs)
	}
	var list []times.LatencyRow
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatalf("%v in\n%s", err, out)
	}
	rows := map[string]times.LatencyRow{}
	for _, r := range list {
		rows[strings.TrimSuffix(r.Kind+" "+r.Window, " ")] = r
	}
	return rows
}

// TestLatencySummarised: of 1,005 executions 1,000 are summarised, 990 of 1 ms and 10 of 20 ms: all count, with
// their error, and metered latency is refused with the remedy.
func TestLatencySummarised(t *testing.T) {
	dir := makeSummarised(t, t.TempDir())
	rows := latencies(t, dir, "--class", "com.acme.Job")
	simple := rows["simple"]
	if simple.Count != 1005 || simple.Summarised != 1000 || simple.RelativeError != histogram.RelativeError || simple.Class != "com.acme.Job" {
		t.Errorf("simple: %+v", simple)
	}
	for p, want := range map[string]float64{"50": ms, "90": ms, "99.9": 20 * ms} {
		if got := float64(simple.Percentiles[p]); math.Abs(got-want) > want*simple.RelativeError {
			t.Errorf("p%s is %g, want %g", p, got, want)
		}
	}
	for _, kind := range []string{"response", "metered 100ms", "metered whole"} {
		if r := rows[kind]; r.NotAvailable == "" || r.Count != 0 || len(r.Percentiles) != 0 || r.MaxNs != nil {
			t.Errorf("%s: %+v", kind, r)
		}
	}
	code, out, errs := shadow(t, nil, "latency", dir, "--class", "com.acme.Job", "--metered", "100ms")
	if code != 1 || out != "" || !strings.Contains(errs, "detail=all, or use --metered none") {
		t.Errorf("metered latency of summaries: exit code %d\n%s%s", code, out, errs)
	}
	if rows := latencies(t, dir, "--class", "com.acme.Job", "--metered", "none"); len(rows) != 2 {
		t.Errorf("%d rows without metered latency", len(rows))
	}
	code, out, errs = shadow(t, nil, "latency", dir, "--class", "com.acme.Job")
	if code != 0 || !strings.Contains(out, "~1.00 ms") || !strings.Contains(errs, "±0.8 %") || !strings.Contains(errs, "response of s1 not available: ") {
		t.Errorf("table: exit code %d\n%s%s", code, out, errs)
	}
	gcAgrees(t, dir, simple)
}

// gcAgrees: shadow gc --class and shadow latency have the same figures.
func gcAgrees(t *testing.T, dir string, want times.LatencyRow) {
	t.Helper()
	_, out, errs := shadow(t, nil, "gc", dir, "--class", want.Class, "--format", "json")
	var r gcreport.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil || len(r.Latency) == 0 {
		t.Fatalf("shadow gc: %v\n%s%s", err, out, errs)
	}
	got := r.Latency[0]
	if int64(got.Count) != want.Count || got.RelativeError != want.RelativeError || got.MaxNs != *want.MaxNs {
		t.Errorf("shadow gc: %+v, shadow latency: %+v", got, want)
	}
	for _, p := range []string{"50", "90", "99", "99.9", "99.99"} {
		if got.Quantiles["p"+p] != want.Percentiles[p] {
			t.Errorf("p%s: %d in shadow gc, %d in shadow latency", p, got.Quantiles["p"+p], want.Percentiles[p])
		}
	}
	if (want.Summarised > 0) != (r.NotAvailable["metered latency"] != "") {
		t.Errorf("not available: %v", r.NotAvailable)
	}
}

// TestLatencyRecorded: executions recorded one by one are exact, and several sessions stand side by side.
func TestLatencyRecorded(t *testing.T) {
	root := t.TempDir()
	dir := makeSession(t, root)
	simple := latencies(t, dir, "--class", "com.acme.*")["simple"]
	if simple.RelativeError != 0 || simple.Summarised != 0 || simple.Count == 0 || simple.Percentiles["99.999"] != *simple.MaxNs {
		t.Errorf("simple: %+v", simple)
	}
	gcAgrees(t, dir, latencies(t, dir, "--class", "com.acme.Job")["simple"])
	code, out, errs := shadow(t, nil, "latency", dir, dir, "--class", "com.acme.Job", "--format", "csv", "--metered", "1ms")
	if want := "session,class,kind,window,count,p50_ns,p90_ns,p99_ns,p99.9_ns,p99.99_ns,p99.999_ns,max_ns,summarised,relative_error,not_available,timed,mean_ns,configuration\n"; code != 0 || !strings.HasPrefix(out, want) || strings.Count(out, "\n") != 7 {
		t.Errorf("two sessions: exit code %d\n%s%s", code, out, errs)
	}
	for _, ending := range []string{"svg", "png", "pdf"} {
		file := filepath.Join(root, "l."+ending)
		if code, _, errs := shadow(t, nil, "latency", dir, "--class", "com.acme.Job", "-o", file); code != 0 {
			t.Errorf("%s: exit code %d\n%s", file, code, errs)
		}
		data, err := os.ReadFile(file)
		if err != nil || len(data) < 1000 {
			t.Errorf("%s: %v, %d bytes", file, err, len(data))
		}
		if ending == "svg" && !bytes.Contains(data, []byte("99")) {
			t.Errorf("no percentiles in %s", data)
		}
	}
}

func TestLatencyWrong(t *testing.T) {
	dir := makeSession(t, t.TempDir())
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{nil, 2, "missing session folder"},
		{[]string{dir}, 2, "missing --class"},
		{[]string{dir, "--class", "["}, 2, "bad class pattern"},
		{[]string{dir, "--class", "x", "--metered", "soon"}, 2, "use times as 100ms, whole, or none"},
		{[]string{dir, "--class", "x", "--metered", "-1ms"}, 2, "use times"},
		{[]string{dir, "--class", "x", "--metered", ""}, 2, "use times"},
		{[]string{dir, "--class", "x", "-o", "l.txt"}, 2, "name a file that ends in"},
		{[]string{dir, "--class", "none.Such"}, 1, "matches none.Such; shadow hotspots"},
		{[]string{dir + "x", "--class", "x"}, 1, ""},
	} {
		code, _, errs := shadow(t, nil, append([]string{"latency"}, c.args...)...)
		if code != c.code || !strings.Contains(errs, c.says) {
			t.Errorf("%q: exit code %d, want %d with %q\n%s", c.args, code, c.code, c.says, errs)
		}
	}
}
