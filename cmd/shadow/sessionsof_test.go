package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackagent/shadow/exchange/export/exporttest"
)

// TestCopiesOfImports: sessions made of one recording are one run, whatever their folders are called, and a damaged one
// stands for none of them.
func TestCopiesOfImports(t *testing.T) {
	dir, err := exporttest.Write(t.TempDir()) // four executions and seven that are only counted
	if err != nil {
		t.Fatal(err)
	}
	root, file, part := t.TempDir(), filepath.Join(t.TempDir(), "s.jfr"), filepath.Join(t.TempDir(), "part.jfr")
	run := func(args ...string) (out, errs string) {
		t.Helper()
		code, out, errs := shadow(t, nil, args...)
		if code != 0 {
			t.Fatalf("%v: exit %d: %s", args, code, errs)
		}
		return out, errs
	}
	figures := func(args ...string) (n int, mean float64, notes string) {
		t.Helper()
		code, out, errs := shadow(t, nil, append([]string{"check", root, "--fail-if", "tasks.executions > 1000", "--format", "json"}, args...)...)
		if code != 3 { // what is only counted may be more
			t.Fatalf("exit %d: %s", code, errs)
		}
		var doc struct {
			Notes   []string
			Results []struct {
				Figures []struct {
					Value struct {
						Mean float64
						N    int
					}
				}
			}
		}
		if err := json.Unmarshal([]byte(out), &doc); err != nil || len(doc.Results) != 1 || len(doc.Results[0].Figures) != 1 {
			t.Fatalf("%v: %s", err, out)
		}
		x := doc.Results[0].Figures[0].Value
		return x.N, x.Mean, strings.Join(doc.Notes, "\n")
	}
	run("export", dir, "--format", "jfr", "-o", file)
	for _, name := range []string{"a", "b", "c"} {
		run("import", file, "-o", filepath.Join(root, name))
	}
	if n, mean, notes := figures(); n != 1 || mean != 4 || strings.Count(notes, "holds the same session as "+filepath.Join(root, "a")) != 2 {
		t.Errorf("three copies: n %d, mean %g: %s", n, mean, notes)
	}
	run("export", dir, "--format", "jfr", "--max", "2", "-o", part)
	run("import", part, "-o", filepath.Join(root, "d"))
	if n, mean, _ := figures(); n != 2 || mean != 3 {
		t.Errorf("with another recording: n %d, mean %g", n, mean)
	}
	if err := os.RemoveAll(filepath.Join(root, "d")); err != nil {
		t.Fatal(err)
	}
	// Damage in the middle of the rows: found only when they are read.
	parts, err := filepath.Glob(filepath.Join(root, "a", "executions-*.parquet"))
	if err != nil || len(parts) != 1 {
		t.Fatal(parts, err)
	}
	data, err := os.ReadFile(parts[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := 8; i < 40; i++ {
		data[i] ^= 0xff
	}
	if err := os.WriteFile(parts[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
	if n, mean, notes := figures("--damaged"); n != 1 || mean != 4 || !strings.Contains(notes, filepath.Join(root, "a")+" holds the same session as "+filepath.Join(root, "b")) || strings.Contains(notes, "damaged") {
		t.Errorf("with a damaged copy: n %d, mean %g: %s", n, mean, notes)
	}
}
