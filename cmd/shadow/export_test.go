package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/internal/label"
	"stackagent/shadow/exchange/export/exporttest"
)

// TestExport: each format writes a whole file, and wrong usage writes none and says what is right.
func TestExport(t *testing.T) {
	dir, err := exporttest.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	export := func(args ...string) (int, string) {
		var stderr bytes.Buffer
		env := console.Env{Out: &bytes.Buffer{}, Err: &stderr, Now: time.Now}
		return Run(context.Background(), append([]string{"export", dir}, args...), env), stderr.String()
	}
	for _, f := range formatNames() {
		if f == "otlp" { // it needs a receiver
			continue
		}
		if code, said := export("--format", f, "-o", out); code != 0 {
			t.Errorf("%s: exit %d: %s", f, code, said)
		}
		if b, err := os.ReadFile(out); err != nil || len(b) == 0 {
			t.Errorf("%s: %d bytes, %v", f, len(b), err)
		}
		_ = os.Remove(out)
	}
	for _, x := range []struct{ args, says string }{
		{"", "missing --format"}, {"--format xml", "use one of perfetto, jfr"}, {"--format jfr", "name a file with -o"}, {"--format perfetto -o OUT --max -1", "use 0, for all executions, or more"},
		{"--format duckdb -o OUT --from 1s", "without --from"}, {"--format duckdb -o OUT --class x", "without --app"}, {"--format jfr -o OUT --class [", "bad class pattern"},
	} {
		if code, said := export(strings.Fields(strings.ReplaceAll(x.args, "OUT", out))...); code != console.ExitUsage || !strings.Contains(said, x.says) {
			t.Errorf("%s: exit %d: %s", x.args, code, said)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("wrong usage wrote a file")
	}
	if code, said := export("--format", "jfr", "-o", out, "--max", "2"); code != 0 || !strings.Contains(said, "ends after the first 2 executions") {
		t.Errorf("--max: exit %d: %s", code, said)
	}
}

// TestTracesOfImport: what was exported with traces has the same ones when it is imported again.
func TestTracesOfImport(t *testing.T) {
	dir, err := exporttest.Traced(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file, imported := filepath.Join(t.TempDir(), "s.jfr"), filepath.Join(t.TempDir(), "imported")
	shadow := func(args ...string) string {
		var stdout, stderr bytes.Buffer
		if code := Run(context.Background(), args, console.Env{Out: &stdout, Err: &stderr, Now: time.Now}); code != 0 {
			t.Fatalf("%q: exit %d: %s", args, code, stderr.String())
		}
		return stdout.String()
	}
	shadow("export", dir, "--format", "jfr", "-o", file)
	shadow("import", file, "-o", imported)
	for _, dir := range []string{dir, imported} {
		var stats struct{ Labels label.Labels }
		if err := json.Unmarshal([]byte(shadow("stats", dir, "--format", "json")), &stats); err != nil || !reflect.DeepEqual(stats.Labels, exporttest.Labels) {
			t.Errorf("%s: labels %+v, %v", dir, stats.Labels, err)
		}
		for trace, want := range map[string][]string{exporttest.Traces[0]: {"1 " + exporttest.Spans[0], "2 " + exporttest.Spans[0]}, exporttest.Traces[1]: {"3 " + exporttest.Spans[1]}} {
			table, err := csv.NewReader(strings.NewReader(shadow("tasks", dir, "--format", "csv", "--trace", trace))).ReadAll()
			if err != nil || len(table) == 0 {
				t.Fatal(err)
			}
			var got []string
			for _, r := range table[1:] {
				got = append(got, r[slices.Index(table[0], "task_id")]+" "+r[slices.Index(table[0], "span_id")])
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s, trace %s: %q, want %q", dir, trace, got, want)
			}
		}
	}
}

// TestHostileTracesOfImport: a text that is no id, of the same length, is left out and counted, not shown.
func TestHostileTracesOfImport(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.jfr")
	if code, _, said := runShadow("export", tracedSession(t), "--format", "jfr", "-o", file); code != 0 {
		t.Fatal(said)
	}
	recording, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ from, to string }{
		"trace": {exporttest.Traces[0], "\x1b[2J<script>alert(1)</script>..."}, "zeros": {exporttest.Traces[0], strings.Repeat("0", 32)}, "span": {exporttest.Spans[0], "\x1b]0;hostile\x00\xff\xff\xff\x07"},
	} {
		if len(c.from) != len(c.to) {
			t.Fatalf("%s: %d bytes in place of %d", name, len(c.to), len(c.from))
		}
		bad, dir := filepath.Join(t.TempDir(), name+".jfr"), filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(bad, bytes.ReplaceAll(recording, []byte(c.from), []byte(c.to)), 0o600); err != nil {
			t.Fatal(err)
		}
		code, _, said := runShadow("import", bad, "-o", dir)
		if code != 0 || !strings.Contains(said, "2 trace ids of executions left out") || strings.Contains(said, "\x1b") {
			t.Errorf("%s: exit %d: %s", name, code, said)
		}
		_, out, _ := runShadow("tasks", dir, "--format", "csv")
		if strings.Contains(out, "\x1b") || strings.Contains(out, exporttest.Traces[0]) || !strings.Contains(out, exporttest.Traces[1]) {
			t.Errorf("%s: %s", name, out)
		}
	}
}
