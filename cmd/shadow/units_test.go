package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stackagent/granularity"
	"stackagent/internal/listing"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/show/view"
)

// TestHotspotsCSVFurther: the list has every metric that JSON has, and as many
// cells in each row as columns.
func TestHotspotsCSVFurther(t *testing.T) {
	var b bytes.Buffer
	alloc, self, queue := granularity.MetricOf(2, false), granularity.MetricOf(2, true), granularity.MetricOf(3, false)
	rows := []granularity.Hotspot{
		{Class: "com.acme.Idle", Metrics: granularity.Metrics{}},
		{Class: "com.acme.Job", Metrics: granularity.Metrics{
			alloc: {Name: "alloc_bytes", Unit: "bytes", Count: 2, Sum: 4096, P50: 1024},
			self:  {Name: "self_alloc_bytes", Unit: "bytes", Count: 2, Sum: 2048, P50: 512, RelativeError: 0.0078},
			queue: {Name: granularity.QueueName, Unit: "ns", Count: 1, Sum: 77, P50: 77},
		}},
	}
	if err := listing.All(listing.CSV(&b, view.Hotspots(rows, &summary.Summary{}, "class")), listing.Refs(rows)); err != nil {
		t.Fatal(err)
	}
	got, err := csv.NewReader(&b).ReadAll() // refuses rows of other lengths
	if err != nil {
		t.Fatal(err)
	}
	for column, want := range map[string][2]string{
		"alloc_bytes_sum": {"", "4096"}, "alloc_bytes_count": {"0", "2"}, "self_alloc_bytes_p50": {"", "512"}, "alloc_bytes_relative_error": {"", "0"},
		"self_alloc_bytes_relative_error": {"", "0.0078"}, "queue_ns_sum": {"", "77"}, "queue_ns_relative_error": {"", "0"},
	} {
		at := slices.Index(got[0], column)
		if at < 0 {
			t.Errorf("no column %s", column)
			continue
		}
		if [2]string{got[1][at], got[2][at]} != want {
			t.Errorf("%s: %q and %q, want %q", column, got[1][at], got[2][at], want)
		}
	}
}

// TestHotspotsMetric: the listing sorts and shows by the metric that is asked for.
func TestHotspotsMetric(t *testing.T) {
	alloc := granularity.MetricOf(2, true)
	row := func(class string, cpu, bytes units.Ns) granularity.Hotspot {
		return granularity.Hotspot{Class: class, Executions: 1, Work: cpu, Metrics: granularity.Metrics{
			granularity.SelfCPU: {Count: 1, Sum: cpu, P99: cpu, Max: cpu},
			alloc:               {Name: "self_alloc_bytes", Unit: "bytes", Count: 1, Sum: bytes, P50: bytes, P99: bytes, Max: bytes},
		}}
	}
	s := &summary.Summary{Rows: []granularity.Hotspot{row("a.Busy", 900, 1024), row("a.Greedy", 100, 3072)}, Metrics: granularity.Metrics{
		granularity.SelfCPU: {Count: 2, Sum: 1000}, alloc: {Name: "self_alloc_bytes", Unit: "bytes", Count: 2, Sum: 4096}}}
	for _, c := range []struct{ metric, sort, first string }{
		{"", "work", "a.Busy"}, {"cpu", "work", "a.Busy"}, {"alloc", "work", "a.Greedy"}, {"alloc_bytes", "p99", "a.Greedy"}, {"cpu", "max", "a.Busy"},
	} {
		rows, err := summary.Hotspots(s, summary.HotspotOptions{Metric: c.metric, Sort: granularity.Order(c.sort)})
		if err != nil || rows[0].Class != c.first {
			t.Errorf("--metric %s --sort %s: %v, %v", c.metric, c.sort, rows, err)
		}
	}
	rows, err := summary.Hotspots(s, summary.HotspotOptions{Metric: "alloc"})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := view.TableOf(listing.Refs(rows), view.Hotspots(rows, s, "class")).Render(&b, table.Options{}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	if !strings.Contains(lines[0], "self alloc bytes") || !strings.Contains(lines[1], "3.00 KiB   75 %") {
		t.Errorf("%s", b.String())
	}
	if _, err := summary.Hotspots(s, summary.HotspotOptions{Metric: "cycles"}); !errors.Is(err, summary.ErrNoMetric) || !strings.Contains(err.Error(), "cpu_ns, alloc_bytes") {
		t.Errorf("cycles: %v", err)
	}
}

// TestUnitsSaySo: what is counted with --units is called units of work.
func TestUnitsSaySo(t *testing.T) {
	dir := makeSession(t, t.TempDir())
	for _, args := range [][]string{{"stats", dir}, {"hotspots", dir}, {"hotspots", dir, "--by", "thread"}} {
		for units, want := range map[bool]string{true: "units of work", false: "executions"} {
			run := args
			if units {
				run = append(append([]string{}, args...), "--units")
			}
			code, out, errs := shadow(t, nil, run...)
			if code != 0 {
				t.Fatalf("%v: exit code %d: %s", run, code, errs)
			}
			if !strings.Contains(out, want) {
				t.Errorf("%v does not say %q:\n%s", run, want, out)
			}
			if !units && strings.Contains(out, "units of work") {
				t.Errorf("%v says units of work:\n%s", run, out)
			}
		}
	}
	svg := filepath.Join(dir, "cdf.svg")
	if code, _, errs := shadow(t, nil, "report", dir, "--units", "--figures", "cdf", "-o", svg); code != 0 {
		t.Fatal(errs)
	}
	text, err := os.ReadFile(svg)
	if err != nil {
		t.Fatal(err)
	}
	if s := string(text); !strings.Contains(s, "share of units of work") || strings.Contains(s, "execution") {
		t.Error("the figure of units does not say that it is of them")
	}
}

// TestUnitRows: the listing of units is the same in CSV and in JSON.
func TestUnitRows(t *testing.T) {
	dir := makeSession(t, t.TempDir())
	_, printed, _ := shadow(t, nil, "tasks", dir, "--units", "--format", "csv")
	rows, err := csv.NewReader(strings.NewReader(printed)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	_, printed, _ = shadow(t, nil, "tasks", dir, "--units", "--format", "json")
	var list []map[string]any
	if err := json.Unmarshal([]byte(printed), &list); err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(list)+1 || len(list) != 7 { // five of Job, the lambda, and the one with a hostile name
		t.Fatalf("%d rows in CSV, %d in JSON", len(rows)-1, len(list))
	}
	for i, x := range list {
		if len(x) != len(rows[0]) {
			t.Errorf("%d keys, %d columns", len(x), len(rows[0]))
		}
		for k, name := range rows[0] {
			want := ""
			switch v := x[name].(type) {
			case nil:
			case float64:
				want = strconv.FormatFloat(v, 'f', -1, 64)
			case string:
				want = text.Cell(v)
			default:
				want = fmt.Sprint(v)
			}
			if rows[i+1][k] != want {
				t.Errorf("unit %d: %s is %q in CSV, %q in JSON", i, name, rows[i+1][k], want)
			}
		}
	}
}
