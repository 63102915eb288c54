package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
