package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/shadow/exchange/export/exporttest"
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
	if _, out, said := runShadow("hotspots", dir, "--trace", exporttest.Traces[0], "--class", "*Outer", "--format", "csv"); strings.Count(out, "\n") != 2 || strings.Contains(said, "of this trace") {
		t.Errorf("--class and --trace: %s%s", out, said)
	}
}

// TestNothingOfTrace: an empty listing says whether the trace, the classes or the traces of the session are the reason.
func TestNothingOfTrace(t *testing.T) {
	traced, lost := tracedSession(t), tracedSession(t)
	if err := os.Remove(filepath.Join(lost, "traces-1-1.parquet")); err != nil {
		t.Fatal(err)
	}
	of, other := exporttest.Traces[0], strings.Repeat("f", 32)
	const none, class, both = "no execution is of this trace; ", `--class "Nope*" leaves out all that was in this trace: 2 executions`, `--class "Nope*" and --app leave out all that was in this trace: 2 `
	for _, x := range []struct{ args, says string }{
		{"stats DIR --trace " + other, none}, {"hotspots DIR --by site --trace " + other, none}, {"waits DIR --trace " + other, none}, {"tasks DIR --trace " + other, "no task is of this trace; "},
		{"stats DIR --class Nope* --trace " + other, none},
		{"stats DIR --class Nope* --trace " + of, class}, {"hotspots DIR --class Nope* --trace " + of, class}, {"hotspots DIR --by site --class Nope* --trace " + of, class},
		{"hotspots DIR --class Nope* --app --trace " + of, both}, {"tasks DIR --class Nope* --trace " + of, "leaves out all that was in this trace: 2 rows"},
		{"stats LOST --damaged --trace " + of, "the traces of tasks are not known: 10 records are lost or damaged"}, {"tasks LOST --damaged --trace " + of, "10 records are lost or damaged"},
	} {
		code, _, said := runShadow(strings.Fields(strings.NewReplacer("DIR", traced, "LOST", lost).Replace(x.args))...)
		if code != 0 || !strings.Contains(said, x.says) || x.says != none && strings.Contains(said, none) || strings.Contains(said, "no span was current") {
			t.Errorf("%s: exit %d: %s", x.args, code, said)
		}
	}
}

// TestTraceColumn: the table has the trace of each task, where any has one.
func TestTraceColumn(t *testing.T) {
	_, out, _ := runShadow("tasks", tracedSession(t))
	ids := map[string]int{exporttest.Traces[0]: 2, exporttest.Traces[1]: 1}
	for id, want := range ids {
		if n := strings.Count(out, id); n != want {
			t.Errorf("trace %s is in the table %d times, want %d:\n%s", id, n, want, out)
		}
	}
	untraced, err := exporttest.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, out, _ := runShadow("tasks", untraced); strings.Contains(out, "trace") || !strings.Contains(out, "threw  thread") {
		t.Errorf("a session without traces:\n%s", out)
	}
}

func TestTraceUsage(t *testing.T) {
	dir := tracedSession(t)
	good := exporttest.Traces[0]
	for _, x := range []struct{ args, says string }{
		{"stats DIR --trace \x1b[2J", "want 32 hexadecimal digits"}, {"hotspots DIR --trace " + good + "0", "want 32 hexadecimal digits"}, {"tasks DIR --trace x", "want 32 hexadecimal digits"},
		{"stats DIR --trace EMPTY", "--trace needs a value: 32 hexadecimal digits"}, {"hotspots DIR --trace=EMPTY", "--trace needs a value"}, {"waits DIR --trace EMPTY", "--trace needs a value"},
		{"tasks DIR --trace EMPTY --format csv", "--trace needs a value"}, {"tasks DIR --top EMPTY", "--top needs a value: a whole number"},
		{"stats DIR --units --trace " + good, "exclude each other"}, {"hotspots DIR --units --trace " + good, "exclude each other"}, {"stats DIR --check --trace " + good, "without --app"},
		{"hotspots DIR --by context --trace " + good, "goes with --by class"}, {"hotspots DIR --format collapsed --trace " + good, "goes with --by class"},
		{"waits DIR --by unit --trace " + good, "goes with --by class"}, {"waits DIR --format collapsed --trace " + good, "goes with --by class"}, {"waits DIR --trace x", "want 32 hexadecimal digits"},
	} {
		args := strings.Fields(strings.ReplaceAll(x.args, "DIR", dir))
		for i := range args {
			args[i] = strings.TrimSuffix(args[i], "EMPTY")
		}
		code, _, said := runShadow(args...)
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
