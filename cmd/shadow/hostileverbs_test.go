package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackagent/shadow/store/storetest"
)

// The verbs that TestHostileNames does not call: none sends a name to the
// terminal that does something there, makes a formula of it, or breaks its own
// format over it, and the figures hold no element that a name brought.
func TestHostileNamesEverywhere(t *testing.T) {
	names := slices.Sorted(maps.Values(storetest.Attacks))
	root := t.TempDir()
	dir := hostileSession(t, root, names)
	if err := errors.Join(storetest.Submit(root, names), storetest.Schedule(dir, names)); err != nil {
		t.Fatal(err)
	}
	evil := filepath.Join(t.TempDir(), "=evil\x1b[2J\u202e<script>")
	if err := os.Symlink(dir, evil); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"bottle", dir, evil, "--normalise"}, {"bottle", evil, dir, "--group", "pool", "--runnable"}, {"latency", dir, evil, "--class", "*"},
		{"hotspots", dir, "--by", "site"}, {"hotspots", dir, "--by", "executor"}, {"hotspots", dir, "--units"}, {"hotspots", dir, "--by", "site", "--units"},
		{"tasks", dir, "--units"}, {"stats", dir, "--units"}, {"threads", dir, "--counters"}, {"bottle", dir}, {"bottle", dir, "--group", "pool"},
		{"bottle", dir, "--every", "50ms"}, {"gc", dir}, {"gc", dir, "--class", "*"}, {"stack", dir, dir, "--threads", "2", "--workers", "*"},
		{"waits", dir}, {"waits", dir, "--by", "site"}, {"waits", dir, "--by", "unit"}, {"waits", dir, "--by", "thread"},
		{"diff", dir, evil, "--by", "all"}, {"diff", evil, dir, "--units"},
		{"tgp", "fine", dir}, {"tgp", "coarse", dir, "--min-gran", "0"}, {"tgp", "diagnose", dir},
	} {
		for _, format := range []string{"table", "csv", "json"} {
			what := strings.Join(args, " ") + " " + format
			code, out, errs := shadow(t, nil, append(slices.Clone(args), "--format", format)...)
			if code != 0 {
				t.Errorf("%s: exit code %d: %s", what, code, errs)
				continue
			}
			printed(t, what, out+errs)
			switch format {
			case "csv":
				checkCSV(t, what, out)
			case "json":
				for d := json.NewDecoder(strings.NewReader(out)); d.More(); {
					var v any
					if err := d.Decode(&v); err != nil {
						t.Errorf("%s: %v", what, err)
						break
					}
				}
			}
		}
	}
	code, out, errs := shadow(t, nil, "waits", dir, "--format", "collapsed")
	if printed(t, "waits collapsed", out+errs); code != 0 || strings.Count(out, "\n") == 0 {
		t.Errorf("waits collapsed: exit code %d: %s", code, errs)
	}
	code, out, errs = shadow(t, nil, "stats", dir, "--check")
	printed(t, "stats --check", out+errs)
	if code > 1 { // 1: these threads do not agree with the kernel's account
		t.Errorf("stats --check: exit code %d: %s", code, errs)
	}
	for _, args := range [][]string{{"diff", dir, evil, "--by", "all", "--format", "markdown"}, {"check", dir, "--format", "github"}, {"check", dir, "--format", "junit"}, {"check", dir, "--format", "markdown"}, {"check", dir}, {"check", dir, "--format", "json"}} {
		if args[0] == "check" {
			args = append(args, "--fail-if", "cpu_ns.max > 0", "--fail-if", `class("<script>*").executions > 0`)
		}
		code, out, errs := shadow(t, nil, args...)
		if printed(t, strings.Join(args, " "), out+errs); code != 0 && code != 3 {
			t.Errorf("%v: exit code %d: %s", args, code, errs)
		}
	}
	code, out, errs = shadow(t, nil, "check", dir, "--fail-if", `site("*").executions > 0`) // names what it matches
	if printed(t, "check of sites", out+errs); code != 2 || !strings.Contains(errs, "choose one") {
		t.Errorf("check of sites: exit code %d: %s", code, errs)
	}
	hostileFigures(t, dir, evil)
	hostileTraces(t, dir)
}

func hostileFigures(t *testing.T, dir, evil string) {
	t.Helper()
	for verb, args := range map[string][]string{"bottle": {dir, evil}, "latency": {dir, evil, "--class", "*"}, "gc": {dir}, "stack": {dir, dir, "--threads", "2", "--workers", "*"}} {
		file := filepath.Join(t.TempDir(), verb+".svg")
		code, out, errs := shadow(t, nil, append([]string{verb, "-o", file}, args...)...)
		printed(t, verb+" -o", out+errs)
		b, err := os.ReadFile(file)
		if code != 0 || err != nil {
			t.Errorf("%s: exit code %d, %v: %s", verb, code, err, errs)
			continue
		}
		checkXML(t, file, b)
		printed(t, file, string(b))
	}
}

// hostileTraces: a trace in tgp's format has as many lines and cells whatever the
// names, and what is made of it again is a session.
func hostileTraces(t *testing.T, dir string) {
	t.Helper()
	traces := filepath.Join(t.TempDir(), "traces")
	code, out, errs := shadow(t, nil, "tasks", dir, "--format", "tgp", "-o", traces)
	printed(t, "tasks --format tgp", out+errs)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	files, err := filepath.Glob(filepath.Join(traces, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("files of tgp: %v, %v", files, err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		printed(t, file, string(b))
		rows, err := csv.NewReader(bytes.NewReader(b)).ReadAll() // all of as many cells
		if lines := bytes.Count(b, []byte("\n")); err != nil || len(rows) != lines {
			t.Errorf("%s: %d rows in %d lines, %v", file, len(rows), lines, err)
		}
	}
	for i, args := range [][]string{{"tgp", "diagnose", traces}, {"tgp", "fine", traces}, {"import", "tgp", filepath.Join(traces, "tasks.csv"), "-o", filepath.Join(t.TempDir(), "again")}} {
		code, out, errs := shadow(t, nil, args...)
		printed(t, fmt.Sprint(args[:2]), out+errs)
		if code != 0 {
			t.Errorf("%d: %v: exit code %d: %s", i, args[:2], code, errs)
		}
	}
}
