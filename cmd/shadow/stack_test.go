package main

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/experiments"
)

// noSpeedupBar is a bar of shadow stack --format json without a base.
type noSpeedupBar struct {
	Threads    int
	Speedup    *float64
	AtMost     *float64 `json:"at_most"`
	Why        string   `json:"speedup_not_available"`
	Components map[string]*float64
	Runs       []struct {
		BaseNs *int64 `json:"base_ns"`
	}
}

// TestStackWithoutSpeedup: of one session, and of a region by times, the losses are
// shown, and the bound that follows from them.
func TestStackWithoutSpeedup(t *testing.T) {
	dir := recorded(t)
	for want, args := range map[string][]string{
		experiments.NoBase:  {"stack", dir, "--threads", "2"},
		experiments.NotSame: {"stack", dir, dir, "--threads", "2", "--region", "0ms..100ms"},
	} {
		code, out, errs := shadow(t, nil, append(args, "--format", "json")...)
		var got struct{ Bars []noSpeedupBar }
		if err := json.Unmarshal([]byte(out), &got); code != 0 || err != nil || len(got.Bars) != 1 {
			t.Fatalf("%v: exit %d, %v: %s%s", args, code, err, out, errs)
		}
		b := got.Bars[0]
		if b.Speedup != nil || b.AtMost == nil || b.Why != want || b.Components["io"] != nil || b.Runs[0].BaseNs != nil {
			t.Fatalf("%v: %s", args, out)
		}
		sum := *b.AtMost
		for name, v := range b.Components {
			if v == nil && name != "io" {
				t.Errorf("%s is not available", name)
			} else if v != nil {
				sum += *v
			}
		}
		if math.Abs(sum-2) > 1e-9 || *b.AtMost < 0 || *b.AtMost > 2 {
			t.Errorf("%v adds up to %v: %s", args, sum, out)
		}
		for format, shows := range map[string]string{"table": "at most ", "csv": ",at_most,"} {
			code, out, errs := shadow(t, nil, append(args, "--format", format)...)
			if code != 0 || !strings.Contains(out, shows) || !strings.Contains(errs, want) {
				t.Errorf("%v: exit %d, want %q and %q: %s%s", args, code, shows, want, out, errs)
			}
		}
	}
	_, out, _ := shadow(t, nil, "stack", dir, "--format", "csv")
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil || len(rows) != 2 || rows[1][1] != "" || rows[1][slices.Index(rows[0], "at_most")] == "" {
		t.Errorf("%v: %s", err, out)
	}
	figure := filepath.Join(t.TempDir(), "s.svg")
	if code, _, errs := shadow(t, nil, "stack", dir, "-o", figure); code != 0 {
		t.Errorf("exit %d: %s", code, errs)
	}
	if svg, err := os.ReadFile(figure); err != nil || !strings.Contains(string(svg), "at most") || strings.Contains(string(svg), "measured speedup") {
		t.Errorf("%v: the figure does not say that it shows a bound", err)
	}
}

// TestStackOtherProgram: runs of two programs are compared only if the user insists.
func TestStackOtherProgram(t *testing.T) {
	dir, other := recorded(t), makeSessionOf(t, t.TempDir(), "org.else.Start")
	addRecord(t, other, ms)
	code, out, errs := shadow(t, nil, "stack", dir, other)
	if code != console.ExitFailure || out != "" || strings.Count(errs, "\n") != 1 ||
		!strings.Contains(errs, "different programs: com.acme.Main and org.else.Start") || !strings.Contains(errs, "--force") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if code, out, errs := shadow(t, nil, "stack", dir, other, "--force"); code != 0 || out == "" || !strings.Contains(errs, "different programs") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if code, _, errs := shadow(t, nil, "stack", dir, dir); code != 0 || strings.Contains(errs, "different programs") {
		t.Errorf("exit %d: %s", code, errs)
	}
}
