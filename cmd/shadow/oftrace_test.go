package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/shadow/export/exporttest"
)

func tracedSession(t *testing.T) string {
	t.Helper()
	dir, err := exporttest.Traced(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func runShadow(args ...string) (code int, stdout, stderr string) {
	var out, said bytes.Buffer
	code = Run(context.Background(), args, console.Env{Out: &out, Err: &said, Now: time.Now})
	return code, out.String(), said.String()
}

// TestStatsOfTrace: figures are those of the executions of a trace, and what is of the whole run is null.
func TestStatsOfTrace(t *testing.T) {
	dir := tracedSession(t)
	for _, c := range []struct {
		dir, trace string
		want       string // executions, threads, sum of wall, self wall and CPU time
		says       string
	}{
		{dir, exporttest.Traces[0], `2 1 12000000 8000000 6000000`, "7 executions are in no trace"}, // 10 ms of Outer with 2 ms inside
		{dir, exporttest.Traces[1], `1 1 2000000 2000000 1000000`, "7 executions are in no trace"},
		{dir, strings.Repeat("f", 32), `0 0 0 0 0`, "no execution is of this trace"},
	} {
		code, out, said := runShadow("stats", c.dir, "--trace", c.trace, "--format", "json")
		var got struct {
			Tasks   struct{ Executions, Threads, Created, NeverExecuted *int64 }
			GC      struct{ Pauses, Standstill *int64 }
			Metrics map[string]struct{ Sum int64 }
			Waits   any
			Filter  struct{ Trace string }
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 {
			t.Fatalf("exit %d, %v: %s%s", code, err, out, said)
		}
		sums, err := json.Marshal([]any{*got.Tasks.Executions, *got.Tasks.Threads, got.Metrics["wall_ns"].Sum, got.Metrics["self_wall_ns"].Sum, got.Metrics["cpu_ns"].Sum})
		if s := strings.ReplaceAll(strings.Trim(string(sums), "[]"), ",", " "); err != nil || s != c.want {
			t.Errorf("trace %s: %s, want %s", c.trace, s, c.want)
		}
		if got.Tasks.Created != nil || got.GC.Pauses != nil || got.GC.Standstill != nil || got.Waits != nil || got.Filter.Trace != c.trace || !strings.Contains(said, c.says) {
			t.Errorf("trace %s: %s%s", c.trace, out, said)
		}
	}
	untraced, err := exporttest.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	code, out, said := runShadow("stats", untraced, "--trace", exporttest.Traces[0])
	if code != 0 || !strings.Contains(out, "executions     not known") || !strings.Contains(said, "no traces of tasks") || strings.Contains(out, "1 pause") {
		t.Errorf("a session without traces: exit %d: %s%s", code, out, said)
	}
}

// TestHotspotsOfTrace: each grouping has the executions of the trace only, and says nothing about creations.
func TestHotspotsOfTrace(t *testing.T) {
	dir := tracedSession(t)
	for by, want := range map[string][]string{
		"class":    {exporttest.Outer + ": executions 1, self 6000000", exporttest.Inner + ": executions 1, self 2000000"},
		"thread":   {"worker#21: executions 2, self 8000000"},
		"site":     {"com.acme.Main.start:7: executions 1, self 6000000", "com.acme.Outer.inner (call site unknown): executions 1, self 2000000"},
		"executor": {"worker (Pool): executions 1, self 6000000", "worker (no executor): executions 1, self 2000000"},
	} {
		code, out, said := runShadow("hotspots", dir, "--trace", strings.ToUpper(exporttest.Traces[0]), "--by", by, "--format", "csv")
		table, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		if err != nil || code != 0 {
			t.Fatalf("exit %d, %v: %s", code, err, said)
		}
		at := func(name string) int { return slices.Index(table[0], name) }
		var got []string
		for _, r := range table[1:] {
			got = append(got, r[0]+": executions "+r[at("executions")]+", self "+r[at("self_wall_ns_sum")])
			if r[at("created")]+r[at("never_executed")] != "" {
				t.Errorf("by %s: %q", by, r)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("by %s: %q, want %q", by, got, want)
		}
		if _, out, _ := runShadow("hotspots", dir, "--trace", exporttest.Traces[0], "--by", by, "--format", "json"); strings.Contains(out, `"created": 0`) || strings.Contains(out, `"never_executed": 0`) {
			t.Errorf("by %s: a count that is not known: %s", by, out)
		}
	}
	if _, out, _ := runShadow("hotspots", dir, "--trace", exporttest.Traces[0], "--class", "*Outer", "--format", "csv"); strings.Count(out, "\n") != 2 {
		t.Errorf("--class and --trace: %s", out)
	}
}

func TestTraceUsage(t *testing.T) {
	dir := tracedSession(t)
	good := exporttest.Traces[0]
	for _, x := range []struct{ args, says string }{
		{"stats DIR --trace \x1b[2J", "want 32 hexadecimal digits"}, {"hotspots DIR --trace " + good + "0", "want 32 hexadecimal digits"}, {"tasks DIR --trace x", "want 32 hexadecimal digits"},
		{"stats DIR --units --trace " + good, "exclude each other"}, {"hotspots DIR --units --trace " + good, "exclude each other"}, {"stats DIR --check --trace " + good, "without --app"},
		{"hotspots DIR --by context --trace " + good, "goes with --by class"}, {"hotspots DIR --format collapsed --trace " + good, "goes with --by class"},
		{"waits DIR --by unit --trace " + good, "goes with --by class"}, {"waits DIR --format collapsed --trace " + good, "goes with --by class"}, {"waits DIR --trace x", "want 32 hexadecimal digits"},
	} {
		code, _, said := runShadow(strings.Fields(strings.ReplaceAll(x.args, "DIR", dir))...)
		if code != console.ExitUsage || !strings.Contains(said, x.says) || strings.Contains(said, "\x1b") {
			t.Errorf("%s: exit %d: %s", x.args, code, said)
		}
	}
}

// TestWaitsOfTrace: the one wait of the session was in no task.
func TestWaitsOfTrace(t *testing.T) {
	dir := tracedSession(t)
	for _, by := range []string{"class", "site", "wait"} {
		for _, x := range []struct {
			args []string
			rows int
		}{{nil, 1}, {[]string{"--trace", exporttest.Traces[0]}, 0}} {
			code, out, said := runShadow(append([]string{"waits", dir, "--by", by, "--format", "csv"}, x.args...)...)
			if n := strings.Count(out, "\n") - 1; code != 0 || by != "wait" && x.args == nil && n < 1 || (by == "wait" || x.args != nil) && n != x.rows {
				t.Errorf("by %s %q: exit %d, %d rows: %s%s", by, x.args, code, n, out, said)
			}
		}
	}
}
