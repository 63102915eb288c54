package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/internal/units"
	"stackagent/shadow/session/logs/deopt"
	"stackagent/shadow/store"
)

// TestWarmup: three iterations of 20 ms. In the first a thread runs for 20 ms, in the second two do, in the third the collector's for 5.
func TestWarmup(t *testing.T) {
	dir := recorded(t)
	mark(t, dir, 20, 40, 60)
	type verdict struct {
		From, Reached *int
		Best          float64  `json:"best_ns"`
		Lost          *float64 `json:"lost_ns"`
	}
	type mean struct {
		Mean *float64
		N    int
	}
	var got struct {
		ComparedBy string `json:"compared_by"`
		Warm       verdict
		Iterations []struct {
			Time     mean `json:"time_ns"`
			Compared mean `json:"compared_ns"`
			CPU      mean `json:"cpu_ns"`
			JIT      mean `json:"jit_share"`
			GC       mean `json:"gc_share"`
			Tasks    mean
			Deopts   mean `json:"deopts"`
		}
		Runs []struct {
			Warm       verdict
			Iterations []struct{ Label string }
		}
	}
	run := func(args ...string) {
		t.Helper()
		code, out, errs := shadow(t, nil, append([]string{"warmup"}, args...)...)
		if code != 0 {
			t.Fatalf("%v: exit %d: %s", args, code, errs)
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatal(err)
		}
	}
	run(dir, "--format", "json")
	if got.ComparedBy != "time" || got.Warm.From == nil || *got.Warm.From != 1 || got.Warm.Best != float64(20*ms) || *got.Warm.Lost != 0 || len(got.Iterations) != 3 {
		t.Fatalf("%+v, want warm from the start", got)
	}
	for i, want := range []struct{ cpu, gc, tasks float64 }{{20, 0, 3}, {40, 0, 2}, {5, 1, 1}} {
		g := got.Iterations[i]
		if *g.Time.Mean != float64(20*ms) || *g.CPU.Mean != want.cpu*float64(ms) || *g.GC.Mean != want.gc || *g.JIT.Mean != 0 || *g.Tasks.Mean != want.tasks || g.Deopts.Mean != nil {
			t.Errorf("iteration %d: %+v, want %+v", i+1, g, want)
		}
	}
	other := recorded(t)
	mark(t, other, 20, 40, 60, 80)
	run(dir, other, "--format", "json", "--metric", "cpu", "--within", "100%")
	if len(got.Iterations) != 3 || got.Iterations[1].Compared.N != 2 || *got.Iterations[1].Compared.Mean != float64(40*ms) || *got.Warm.From != 3 || *got.Warm.Reached != 3 {
		t.Errorf("of two runs, by CPU time: %+v", got)
	}
	if r := got.Runs[1]; len(got.Runs) != 2 || len(r.Iterations) != 4 || r.Iterations[0].Label != "done" {
		t.Errorf("the second run: %+v", r)
	}
	if lost := *got.Warm.Lost; lost != float64(50*ms) { // 20 + 40 against 2 * 5
		t.Errorf("lost %g", lost)
	}
	_, out, _ := shadow(t, nil, "warmup", dir, other)
	for _, want := range []string{"Means over 2 runs. Warm from the start: no iteration takes over 1.5 % longer than the fastest (20.0 ms).", "± 95 %"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	code, out, errs := shadow(t, nil, "warmup", dir, "--format", "csv")
	if rows, err := csv.NewReader(strings.NewReader(out)).ReadAll(); code != 0 || err != nil || len(rows) != 4 || rows[0][0] != "iteration" || rows[3][3] != "5000000" {
		t.Errorf("exit %d, %v: %s%s", code, err, out, errs)
	}
	file := filepath.Join(t.TempDir(), "w.svg")
	if code, _, errs := shadow(t, nil, "warmup", dir, other, "-o", file); code != 0 {
		t.Error(errs)
	}
	if svg, err := os.ReadFile(file); err != nil || !strings.Contains(string(svg), "mean of 2 runs") {
		t.Errorf("the figure: %v", err)
	}
}

func TestWarmupRefuses(t *testing.T) {
	dir := makeSession(t, t.TempDir())
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{nil, console.ExitUsage, "missing session folder"},
		{[]string{dir}, 1, "or compare windows with --every 1s"},
		{[]string{dir, "--every", "1s"}, 1, "it is shorter than --every 1s"},
		{[]string{dir, "--every", "1us"}, console.ExitUsage, "1ms or more"},
		{[]string{dir, "--every", "1s", "--iterations-of", "x"}, console.ExitUsage, "use one of them"},
		{[]string{dir, "--within", "0"}, console.ExitUsage, "--within"},
		{[]string{dir, "--within", "NaN"}, console.ExitUsage, "--within"},
		{[]string{dir, "--metric", "x"}, console.ExitUsage, "use wall or cpu"},
		{[]string{dir, "--iterations-of", "*"}, 1, "at the same time"},
		{[]string{makeSummarised(t, t.TempDir()), "--every", "10ms"}, 1, "--detail=all"},
	} {
		if code, _, errs := shadow(t, nil, append([]string{"warmup"}, c.args...)...); code != c.code || !strings.Contains(errs, c.want) {
			t.Errorf("%q: exit %d, want %d: %s", c.args, code, c.code, errs)
		}
	}
	code, out, _ := shadow(t, nil, "warmup", dir, "--every", "30ms")
	if code != 0 || !strings.Contains(out, "Not available: CPU time, JIT and GC: ") || !strings.Contains(out, "time per task") {
		t.Errorf("without a scheduling record: exit %d\n%s", code, out)
	}
}

// TestWarmupDeopts: names from the JVM's log reach no terminal as they are.
func TestWarmupDeopts(t *testing.T) {
	dir := recorded(t)
	mark(t, dir, 20, 40, 60)
	at := func(n units.MonoNs, method string) deopt.Event {
		return deopt.Event{At: 1_000*ms + n*ms, Method: method, Reason: "why\x1b[2J"}
	}
	f := deopt.File{Version: deopt.FileVersion, Events: []deopt.Event{at(5, "com.acme.Evil\x1b[31m"), at(6, "com.acme.Evil\x1b[31m"), at(50, "com.acme.Late")}}
	if err := errors.Join(f.Write(dir), store.SealBeside(dir, store.BesideFiles()...)); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"table", "json", "csv"} {
		code, out, errs := shadow(t, nil, "warmup", dir, "--metric", "cpu", "--format", format)
		if code != 0 || strings.Contains(out, "\x1b") {
			t.Errorf("%s: exit %d: %q%s", format, code, out, errs)
		}
		if format == "table" && !(strings.Contains(out, "com.acme.Late") && strings.Contains(out, "Deoptimisations before iteration 3 (cold)")) {
			t.Errorf("no deoptimisations in\n%s", out)
		}
	}
}
