package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/shadow/export/exporttest"
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
		{"", "missing --format"}, {"--format xml", "use one of perfetto, jfr"}, {"--format jfr", "name a file with -o"}, {"--format perfetto -o OUT --max -1", "above 0"},
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
