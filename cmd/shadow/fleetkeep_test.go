package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stackagent/shadow/analysis/summary/summarytest"
)

// TestFleetKeep adds sessions to a store, one of them twice, compacts it, and deletes what is old. What top says stays the
// same as long as there is anything, and is what stats says.
func TestFleetKeep(t *testing.T) {
	root := t.TempDir()
	fleet := filepath.Join(root, "fleet")
	var dirs []string
	for _, name := range []string{"a", "b"} {
		if _, err := summarytest.Generate(root, name, 1000, true); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, filepath.Join(root, name))
	}
	var stats struct {
		Tasks   struct{ Executions int64 }
		Metrics map[string]struct{ Sum int64 }
	}
	code, out, errs := shadow(t, nil, "stats", dirs[0], "--format", "json")
	if err := json.Unmarshal([]byte(out), &stats); err != nil || code != 0 {
		t.Fatal(code, err, errs)
	}
	ok := func(args ...string) string {
		t.Helper()
		code, out, errs := shadow(t, nil, append([]string{"fleet"}, args...)...)
		if code != 0 {
			t.Fatalf("fleet %v: %d %s", args, code, errs)
		}
		return out
	}
	top := func(when string, n int64) {
		t.Helper()
		var rows []struct {
			Executions int64
			Work       int64 `json:"work_ns"`
		}
		if err := json.Unmarshal([]byte(ok("top", fleet, "--by", "service", "--from", "2023-11-01", "--to", "2023-12-01", "--format", "json")), &rows); err != nil {
			t.Fatal(err)
		}
		if len(rows) != 1 || rows[0].Executions != n*stats.Tasks.Executions || rows[0].Work != n*stats.Metrics["self_cpu_ns"].Sum {
			t.Errorf("%s: %+v, want %d times %+v", when, rows, n, stats)
		}
	}
	ok("add", fleet, dirs[0], dirs[0])
	ok("add", fleet, dirs[0])
	top("one session, added three times", 1)
	twin := filepath.Join(root, "twin") // under another name, without what says that it was added
	if err := os.CopyFS(twin, os.DirFS(dirs[0])); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(twin, "rollup.json")); err != nil {
		t.Fatal(err)
	}
	ok("add", "--raw", fleet, twin)
	top("a copy of it", 1)
	for what, args := range map[string][]string{
		"no store given":            {"add", dirs[0], dirs[1]},
		"a store that is not there": {"top", filepath.Join(root, "none")},
		"keys in the address":       {"top", "s3://AKEY:hidden@bucket/x"},
		"another protocol":          {"top", "https://bucket/x"},
	} {
		code, _, errs := shadow(t, nil, append([]string{"fleet"}, args...)...)
		if code == 0 || strings.Contains(errs, "hidden") || strings.Count(strings.TrimSpace(errs), "\n") > 1 {
			t.Errorf("%s: exit %d: %s", what, code, errs)
		}
	}
	if _, err := os.Stat(filepath.Join(root, "none")); err == nil {
		t.Error("a question made a store")
	}
	ok("add", "--raw", fleet, dirs[1])
	top("two sessions", 2)
	if err := os.RemoveAll(filepath.Join(fleet, "sessions")); err != nil {
		t.Fatal(err)
	}
	for range 2 { // what the store has lost is put again: the sessions, then also the roll-ups
		ok("add", "--raw", fleet, dirs[1], twin)
		top("what was lost was added again", 2)
		if found, err := filepath.Glob(filepath.Join(fleet, "sessions/*/*/*/manifest.json")); err != nil || len(found) != 2 {
			t.Errorf("the store has the sessions %v, %v", found, err)
		}
		if err := os.RemoveAll(filepath.Join(fleet)); err != nil {
			t.Fatal(err)
		}
		ok("add", fleet, dirs[1])
	}
	ok("add", "--raw", fleet, dirs[0], dirs[1])
	if _, _, errs := shadow(t, nil, "fleet", "add", fleet, dirs[0]); !strings.Contains(errs, "before, and is there") {
		t.Errorf("what is there is added: %s", errs)
	}
	top("all again", 2)
	ok("compact", fleet)
	top("compacted", 2)
	if list := ok("retain", fleet, "--raw", "1d", "--dry-run", "--format", "csv"); strings.Contains(list, "session=b/") {
		t.Errorf("a session that was put just now is old:\n%s", list)
	}
	files, err := filepath.Glob(filepath.Join(fleet, "sessions/*/*/*/*"))
	if err != nil || len(files) == 0 {
		t.Fatal("no session in the store", err)
	}
	for _, f := range files {
		if err := os.Chtimes(f, time.Time{}, time.Date(2023, 11, 15, 0, 0, 0, 0, time.UTC)); err != nil {
			t.Fatal(err)
		}
	}
	if list := ok("retain", fleet, "--raw", "1d", "--detail", "1d", "--dry-run", "--format", "csv"); !strings.Contains(list, "session=b/") || !strings.Contains(list, "detail,rollups/detail/") {
		t.Errorf("a dry run lists\n%s", list)
	}
	top("after a dry run", 2)
	ok("retain", fleet, "--detail", "1d", "--raw", "1d")
	top("without the detail", 2)
	if left, err := filepath.Glob(filepath.Join(fleet, "sessions/*/*/*/*")); err != nil || len(left) > 0 {
		t.Errorf("left of the sessions: %v, %v", left, err)
	}
	for _, args := range [][]string{{"retain", fleet}, {"retain", fleet, "--raw", "1h"}, {"retain", fleet, "--raw", "soon"}, {"add", fleet}, {"compact"}} {
		if code, _, errs := shadow(t, nil, append([]string{"fleet"}, args...)...); code != 2 {
			t.Errorf("fleet %v: %d %s", args, code, errs)
		}
	}
	if code, _, errs := shadow(t, nil, "fleet", "add", fleet, root); code != 1 || !strings.Contains(errs, "session") {
		t.Errorf("adding a folder that is no session: %d %s", code, errs)
	}
}
