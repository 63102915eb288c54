package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stackagent/shadow/exchange/export/exporttest"
)

// TestImportOfAPart: what an exported recording lacks stays known after its import, to stats, check and diff.
func TestImportOfAPart(t *testing.T) {
	dir, err := exporttest.Write(t.TempDir()) // four executions and seven that are only counted
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name       string
		flags      []string
		why        []string
		executions int
	}{
		{"whole", nil, []string{"7 executions are only counted"}, 4},
		{"max", []string{"--max", "2"}, []string{"7 executions are only counted", "ends after the first 2 executions"}, 2},
		{"window", []string{"--from", "0s", "--to", "80ms"}, []string{"overlaps 0 ns to 80.0 ms"}, 3},
	} {
		file, imported := filepath.Join(t.TempDir(), "s.jfr"), filepath.Join(t.TempDir(), "s")
		ends := func(want int, args ...string) (out, errs string) {
			t.Helper()
			code, out, errs := shadow(t, nil, args...)
			if code != want {
				t.Fatalf("%s: %v: exit %d, want %d: %s", c.name, args, code, want, errs)
			}
			return out, errs
		}
		run := func(args ...string) (out, errs string) { t.Helper(); return ends(0, args...) }
		run(append([]string{"export", dir, "--format", "jfr", "-o", file}, c.flags...)...)
		_, said := run("import", file, "-o", imported)
		table, _ := run("stats", imported)
		doc, _ := run("stats", imported, "--format", "json")
		gate, _ := ends(3, "check", imported, "--fail-if", "tasks.executions > 1000", "--fail-if", "wall_ns.sum > 1000s", "--format", "json")
		_, compared := run("diff", dir, imported)
		for what, text := range map[string]string{"import": said, "stats": table, "stats --format json": doc, "check": gate, "diff": compared} {
			for _, why := range c.why {
				if !strings.Contains(text, why) {
					t.Errorf("%s: %s does not say %q: %s", c.name, what, why, text)
				}
			}
		}
		if !strings.Contains(table, "\nincomplete ") || strings.Contains(table, "ended: cleanly") {
			t.Errorf("%s: %s", c.name, table)
		}
		var stats struct {
			Tasks      struct{ Executions int }
			Incomplete struct {
				AtLeast []string `json:"at_least"`
			}
		}
		if err := json.Unmarshal([]byte(doc), &stats); err != nil || len(stats.Incomplete.AtLeast) == 0 || stats.Tasks.Executions != c.executions {
			t.Errorf("%s: %v: %s", c.name, err, doc)
		}
		if strings.Contains(gate, `"state": "kept"`) || !strings.Contains(gate, fmt.Sprintf(`"at_least": %d`, c.executions)) { // a bound below the limit says nothing
			t.Errorf("%s: %s", c.name, gate)
		}
		certain(t, c.name, imported, doc)
		notCreated(t, c.name, imported, c.why[0])
		if strings.Count(table, ", as far as recorded\n") < 3 || strings.Contains(table, "per second)") || strings.Contains(table, "of the time)") {
			t.Errorf("%s: a rate, a share or a certainty of a part: %s", c.name, table)
		}
	}
}

// notCreated: a recording of the JVM does not say which tasks were created, and the list of sessions says what one lacks.
func notCreated(t *testing.T, name, dir, why string) {
	t.Helper()
	for _, by := range []string{"class", "site", "executor", "thread"} {
		code, out, errs := shadow(t, nil, "hotspots", dir, "--by", by, "--format", "json")
		if code != 0 || !strings.Contains(out, `"created": null`) || !strings.Contains(out, `"never_executed": null`) || strings.Contains(out, `"created": 0`) {
			t.Errorf("%s: by %s: exit %d: %s%s", name, by, code, out, errs)
		}
	}
	code, out, errs := shadow(t, nil, "sessions", "ls", filepath.Dir(dir), "--format", "json")
	var rows []struct {
		Executions      int
		Creations, Lost *int
		Incomplete      string
	}
	if err := json.Unmarshal([]byte(out), &rows); err != nil || code != 0 || len(rows) != 1 {
		t.Fatalf("%s: %v: exit %d: %s%s", name, err, code, out, errs)
	}
	if r := rows[0]; r.Creations != nil || r.Lost != nil || r.Executions == 0 || !strings.Contains(r.Incomplete, why) {
		t.Errorf("%s: %s", name, out)
	}
}

// certain tries every figure of an incomplete session against a limit that is beyond all: only those of the session itself
// may be taken as exact.
func certain(t *testing.T, name, dir, doc string) {
	t.Helper()
	var tree map[string]any
	if err := json.Unmarshal([]byte(doc), &tree); err != nil {
		t.Fatal(err)
	}
	args := []string{"check", dir, "--format", "json"}
	var walk func(prefix string, of map[string]any)
	walk = func(prefix string, of map[string]any) {
		for key, x := range of {
			switch x := x.(type) {
			case float64:
				limit := " < 1e9"
				if strings.Contains(prefix+key, "_ns") && !slices.Contains([]string{"count", "not_measured", "summarised", "timed"}, key) {
					limit += "s"
				}
				args = append(args, "--fail-if", strings.TrimPrefix(prefix, "metrics.")+key+limit)
			case map[string]any:
				walk(prefix+key+".", x)
			}
		}
	}
	walk("", tree)
	code, out, errs := shadow(t, nil, args...)
	var report struct {
		Results []struct {
			Expr, State string
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != 3 || len(report.Results) < 60 {
		t.Fatalf("%s: %v: exit %d, %d figures: %s", name, err, code, len(report.Results), errs)
	}
	exact := regexp.MustCompile(`^(duration_ns|jvm\.|balance\.|incomplete\.|lost\.)`)
	for _, r := range report.Results {
		if r.State != "not_available" && !(r.State == "broken" && exact.MatchString(r.Expr)) {
			t.Errorf("%s: %s: %s", name, r.Expr, r.State)
		}
	}
}

// TestImportAgain: what is missing is said in the same words however often a session is exported and imported.
func TestImportAgain(t *testing.T) {
	dir, err := exporttest.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	flags := []string{"--max", "2"}
	var last string
	for round := range 3 {
		file, imported := filepath.Join(t.TempDir(), "s.jfr"), filepath.Join(t.TempDir(), "s")
		for _, args := range [][]string{append([]string{"export", dir, "--format", "jfr", "-o", file}, flags...), {"import", file, "-o", imported}} {
			if code, _, errs := shadow(t, nil, args...); code != 0 || strings.Count(errs, "the session is incomplete: ") > 1 {
				t.Fatalf("%v: exit %d: %s", args, code, errs)
			}
		}
		_, _, errs := shadow(t, nil, "stats", imported)
		if !strings.Contains(errs, "the session is incomplete: ") {
			t.Fatalf("round %d: %s", round, errs)
		}
		said := errs[strings.Index(errs, "the session is incomplete: "):]
		if strings.Count(errs, "the session is incomplete: ") != 1 || strings.Count(said, "ends after the first 2 executions") != 1 || round > 0 && said != last {
			t.Errorf("round %d: %swant as before: %s", round, errs, last)
		}
		dir, flags, last = imported, nil, said
	}
}
