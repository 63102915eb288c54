package main

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackagent/shadow/analysis/budget"
)

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Each number in the JSON of shadow stats is a figure, and has the same value.
func TestFiguresOfStats(t *testing.T) {
	dir := makeSession(t, t.TempDir())
	for selector, args := range map[string][]string{"": nil, `class("com.acme.*").`: {"--class", "com.acme.*"}, "units.": {"--units"}} {
		code, out, errs := shadow(t, nil, append([]string{"stats", dir, "--format", "json"}, args...)...)
		if code != 0 {
			t.Fatal(errs)
		}
		var tree budget.Tree
		d := json.NewDecoder(strings.NewReader(out))
		d.UseNumber()
		if err := d.Decode(&tree); err != nil {
			t.Fatal(err)
		}
		call, checked := []string{"check", dir, "--format", "json"}, 0
		for metric, values := range tree["metrics"].(map[string]any) {
			for name, v := range values.(map[string]any) {
				n, err := budget.ParseName(metric + "." + name)
				if err != nil {
					t.Fatal(err)
				}
				unit := n.Unit()
				if unit == "bytes" {
					unit = "B"
				}
				call = append(call, "--fail-if", fmt.Sprintf("%s%s != %s%s", selector, n, v, unit))
				checked++
			}
		}
		for _, name := range []string{"created", "executions", "never_executed", "threads", "threw"} {
			if name == "never_executed" {
				continue // with a lost event it is neither this nor more for sure
			}
			call = append(call, "--fail-if", fmt.Sprintf("%stasks.%s < %s", selector, name, tree["tasks"].(map[string]any)[name]))
			call = append(call, "--fail-if", fmt.Sprintf("%stasks.%s > %s + 1", selector, name, tree["tasks"].(map[string]any)[name]))
			checked += 2
		}
		if selector == "" {
			call = append(call, "--fail-if", fmt.Sprintf("duration_ns != %sns", tree["duration_ns"]))
			checked++
		}
		code, out, errs = shadow(t, nil, call...)
		if code != 0 || checked < 30 || strings.Count(out, `"state": "kept"`) != checked {
			t.Errorf("%q: exit code %d, %d figures: %s %s", selector, code, checked, out, errs)
		}
	}
}

func TestCheckExits(t *testing.T) {
	dir := makeSession(t, t.TempDir())
	for _, c := range []struct {
		code int
		args []string
		want string // in either output
	}{
		{0, []string{"--fail-if", "tasks.executions < 0"}, "1 budget: 1 kept, 0 broken, 0 not available"},
		{3, []string{"--fail-if", "tasks.executions > 0"}, "1 budget: 0 kept, 1 broken, 0 not available"},
		{3, []string{"--fail-if", "tasks.executions < 0", "--fail-if", "cpu_ns.max > 0"}, "2 budgets: 1 kept, 1 broken"},
		{3, []string{"--fail-if", `class("none.*").cpu_ns.max > 0`}, "not available: no class of the session matches none.*"},
		{3, []string{"--fail-if", `class("none.*").cpu_ns.max > 0`, "--format", "junit"}, `failures="1"`},
		{3, []string{"--fail-if", `class("none.*").cpu_ns.max > 0`, "--format", "github"}, "::error title=shadow check"},
		{0, []string{"--fail-if", `class("none.*").cpu_ns.max > 0`, "--allow-empty"}, "0 kept, 0 broken, 1 not available\n"},
		{3, []string{"--fail-if", `class("none.*").tasks.executions > 0`}, "not available: no class of the session matches none.*"},
		{3, []string{"--fail-if", `unit("none.*").tasks.executions > 0`}, "not available: no "},
		{3, []string{"--fail-if", `executor("none").executions > 0`}, "not available: "},
		{3, []string{"--fail-if", `site("none").executions > 0`}, "not available: "},
		{3, []string{"--fail-if", "instructions.sum > 0"}, "not available: "},
		{3, []string{"--fail-if", "cpu_ns.sum > 1.1 * baseline.cpu_ns.sum"}, "there is no baseline: give one with --baseline"},
		{3, []string{"--budget", writeFile(t, "n.yaml", "budgets:\n  - {expr: class(\"none.*\").cpu_ns.max < 1s}")}, "no class of the session matches none.*"},
		{0, []string{"--budget", writeFile(t, "nw.yaml", "budgets:\n  - {expr: class(\"none.*\").cpu_ns.max < 1s, severity: warning}")}, "1 not available"},
		{2, []string{"--fail-if", "quue_ns.p99 > 50ms"}, "no figure is called quue_ns.p99 (did you mean queue_ns.p99?)"},
		{2, []string{"--fail-if", `class("none.*").quue_ns.p99 > 50ms`}, "no figure is called quue_ns.p99 (did you mean queue_ns.p99?)"},
		{2, []string{"--fail-if", `executor("none").quue_ns.p99 > 50ms`}, "no figure is called quue_ns.p99 (did you mean queue_ns.p99?)"},
		{2, []string{"--fail-if", "units.quue_ns.p99 > 50ms"}, "no figure is called quue_ns.p99"},
		{2, []string{"--fail-if", "incomplete.nothing > 5"}, "no figure is called incomplete.nothing"},
		{2, []string{"--fail-if", `class("").executions > 0`}, "class wants one glob in quotes"},
		{2, []string{"--fail-if", `class("com.acme.*").gc.pauses > 0`}, "gc.pauses is of the whole run: write it without class("},
		{2, []string{"--fail-if", `class("none.*").gc.pauses > 0`}, "gc.pauses is of the whole run"},
		{2, []string{"--fail-if", `unit("com.acme.*").duration_ns > 0`}, "duration_ns is of the whole run"},
		{2, []string{"--fail-if", "units.gc.pauses > 0"}, "gc.pauses is of the whole run: write it without units"},
		{2, []string{"--fail-if", `executor("x").duration_ns > 0`}, "duration_ns is of the whole run: write it without executor("},
		{2, []string{"--fail-if", `site("x").waits.waits > 0`}, "waits.waits is of the whole run"},
		{2, []string{"--budget", "/dev/null", "--fail-if", "cpu_ns.max > 1ms"}, "is not a regular file"},
		{2, []string{"--fail-if", "cpu_ns.mx > 1ms"}, "no figure is called cpu_ns.mx (did you mean cpu_ns.max?)"},
		{2, []string{"--budget", writeFile(t, "b.yaml", "budgets:\n  - exp: x")}, "line 2"},
		{2, []string{"--fail-if", "cpu_ns.max > 1ms", "--baseline", filepath.Join(dir, "none")}, "no such file"},
		{2, []string{"--fail-if", "cpu_ns.max > 1ms", "--each", "--baseline", "x"}, "--each and baselines exclude each other"},
		{2, []string{"--fail-if", "cpu_ns.max > 1ms", "--write-baseline", "x", "--allow-empty"}, "--write-baseline checks nothing"},
		{2, []string{"--fail-if", "cpu_ns.max > 1ms", "--baseline", writeFile(t, "huge.yaml", "version: 1\nfigures:\n  - {figure: cpu_ns.max, values: [1e308]}")}, "needs a number, at most 1e+18"},
		{0, []string{"--budget", writeFile(t, "w.yaml", "budgets:\n  - {expr: cpu_ns.max < 1ns, severity: warning}")}, "0 kept, 1 broken"},
		{3, []string{"--budget", writeFile(t, "e.yaml", "budgets:\n  - {expr: cpu_ns.max < 1ns}")}, "cpu_ns.max is"},
	} {
		code, out, errs := shadow(t, nil, append([]string{"check", dir}, c.args...)...)
		if code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("%q: exit code %d, want %d with %q: %s%s", c.args, code, c.code, c.want, out, errs)
		}
	}
	if code, _, errs := shadow(t, nil, "check", filepath.Join(dir, "none"), "--fail-if", "cpu_ns.max > 1ms"); code != 1 {
		t.Errorf("no session: exit code %d: %s", code, errs)
	}
}

// A baseline of runs keeps itself, in every format; --each gives each session its own results.
func TestCheckOfRuns(t *testing.T) {
	root := t.TempDir()
	for i := range 3 {
		makeRun(t, filepath.Join(root, fmt.Sprint("run-", i+1)), i)
	}
	file := writeFile(t, "b.yaml", "budgets:\n  - {name: cpu, expr: 'within(cpu_ns.sum, 1%)'}\n  - {name: most, expr: 'class(\"com.acme.*\").cpu_ns.max <= baseline.class(\"com.acme.*\").cpu_ns.max'}\n")
	baseline, xmlFile := filepath.Join(root, "baseline.yaml"), filepath.Join(root, "check.xml")
	code, _, errs := shadow(t, nil, "check", root, "--budget", file, "--write-baseline", baseline)
	if code != 0 || !strings.Contains(errs, "2 figures of 3 runs in "+baseline) {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	code, out, errs := shadow(t, nil, "check", root, "--budget", file, "--baseline", baseline)
	if code != 0 || !strings.Contains(out, "2 budgets: 2 kept, 0 broken, 0 not available") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	code, out, errs = shadow(t, nil, "check", root, "--each", "--fail-if", "cpu_ns.max > 0", "--format", "junit", "-o", xmlFile)
	var suite struct {
		Failures int `xml:"failures,attr"`
		Cases    []struct {
			Class string `xml:"classname,attr"`
		} `xml:"testcase"`
	}
	data, err := os.ReadFile(xmlFile)
	if err == nil {
		err = xml.Unmarshal(data, &suite)
	}
	if code != 3 || out != "" || err != nil || suite.Failures != 3 || len(suite.Cases) != 3 || !strings.HasPrefix(suite.Cases[0].Class, "shadow.check.") {
		t.Errorf("exit code %d, %v: %s%s\n%s", code, err, out, errs, data)
	}
	// A baseline replaces another one, and nothing else.
	if code, _, errs := shadow(t, nil, "check", root, "--budget", file, "--write-baseline", baseline); code != 0 {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if code, _, errs := shadow(t, nil, "check", root, "--budget", file, "--write-baseline", xmlFile); code != 2 || !strings.Contains(errs, "there is a file that is no baseline") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	// A copy of a run is no run.
	if err := os.CopyFS(filepath.Join(root, "copy"), os.DirFS(filepath.Join(root, "run-2"))); err != nil {
		t.Fatal(err)
	}
	const note = "holds the same session as"
	code, _, errs = shadow(t, nil, "check", root, "--budget", file, "--write-baseline", baseline)
	if code != 0 || !strings.Contains(errs, "2 figures of 3 runs in ") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if code, out, errs := shadow(t, nil, "check", root, "--format", "json", "--fail-if", "cpu_ns.max < 0"); code != 0 || !strings.Contains(out, note) {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	if code, out, errs := shadow(t, nil, "diff", "--format", "json", root, "--", filepath.Join(root, "run-1")); code != 0 || !strings.Contains(out, note) || !strings.Contains(out, "\"runs\": 3") || !strings.Contains(out, "is on both sides") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
}

// diff prints what stats says of both sides.
func TestDiffOfSessions(t *testing.T) {
	root := t.TempDir()
	var dirs []string
	for i := range 4 {
		dirs = append(dirs, makeRun(t, filepath.Join(root, fmt.Sprint(i/2, "/run-", i)), i))
	}
	type interval struct {
		Mean      *float64
		Low, High *float64
		N         int
	}
	var d struct {
		A, B struct{ Runs int }
		Note string
		Rows []struct {
			By, Name, In string
			Figures      []struct {
				Figure, Verdict string
				A, B, Change    interval
			}
		}
	}
	code, out, errs := shadow(t, nil, "diff", "--format", "json", "--by", "all", dirs[0], "--", dirs[2])
	if err := json.Unmarshal([]byte(out), &d); code != 0 || err != nil || d.Note != "one run each: no interval" || d.A.Runs != 1 || strings.Contains(out, "different\"") && !strings.Contains(out, "\"different\": 0") {
		t.Fatalf("exit code %d, %v: %s%s", code, err, out, errs)
	}
	var stats struct {
		Tasks struct{ Executions float64 }
	}
	_, out, _ = shadow(t, nil, "stats", dirs[0], "--format", "json")
	if err := json.Unmarshal([]byte(out), &stats); err != nil {
		t.Fatal(err)
	}
	found := false
	for _, f := range d.Rows[0].Figures {
		if f.Figure == "executions" {
			found = *f.A.Mean == stats.Tasks.Executions && *f.B.Mean == stats.Tasks.Executions && *f.Change.Mean == 0 && f.Change.Low == nil && f.Verdict == "no_interval"
		}
	}
	if !found || stats.Tasks.Executions == 0 {
		t.Errorf("executions are not those of stats: %+v", d.Rows[0])
	}
	// Two runs on each side, in folders.
	code, out, errs = shadow(t, nil, "diff", filepath.Join(root, "0"), filepath.Join(root, "1"))
	if code != 0 || !strings.Contains(out, "0 of ") || !strings.Contains(out, "2 runs against 2: only large differences show.") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
}

// TestCheckOfFindings: budgets may name findings by their rule, and what response times went to, of all units or those of a class.
func TestCheckOfFindings(t *testing.T) {
	dir := makeSession(t, t.TempDir())
	_, out, _ := shadow(t, nil, "why", dir, "--format", "json")
	var why struct {
		Classes []struct {
			Class  string
			Units  int
			Thread bool
			Parts  []struct {
				What  string
				Share float64
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &why); err != nil {
		t.Fatal(err)
	}
	i, computes := 0, 0.0
	for why.Classes[i].Thread {
		i++
	}
	c := why.Classes[i]
	for _, p := range c.Parts {
		if p.What == "computes" {
			computes = p.Share
		}
	}
	of := `class("` + c.Class + `").`
	for expr, want := range map[string]int{
		"findings.all >= 0": 3, "findings.waits_for_itself > 0": 0, of + "findings.held > 0": 0,
		of + fmt.Sprintf("why.part_share.compute > %.6f", computes+1e-6): 0, of + fmt.Sprintf("why.part_share.compute >= %.6f", computes-1e-6): 3,
		of + "why.response_ns > 0ns": 3, of + fmt.Sprintf("why.units != %d", c.Units): 0, "why.depends_share.never_began > 0": 0,
		"findings.hold > 0": 2, "why.part_ns.queue > 5": 2, `executor("*").why.units > 0`: 2,
	} {
		if code, out, errs := shadow(t, nil, "check", dir, "--fail-if", expr); code != want {
			t.Errorf("%s: exit code %d, want %d: %s%s", expr, code, want, out, errs)
		}
	}
}
