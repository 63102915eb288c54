package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestVerticalCorrelate: a metric and its double go together, and the JSON has exactly the promised names.
func TestVerticalCorrelate(t *testing.T) {
	dir := makeSession(t, t.TempDir())
	code, out, errs := shadow(t, nil, "vertical", dir, "--every", "10ms", "--metric", "double=app.tasks.in_flight*2", "--correlate", "app.tasks.in_flight,double", "--format", "json")
	var got map[string]any
	if err := json.Unmarshal([]byte(out), &got); code != 0 || err != nil {
		t.Fatalf("exit code %d, %v: %s\n%s", code, err, errs, out)
	}
	for _, name := range []string{"x", "y", "samples", "r", "spearman", "leave_one_out", "best_lag_ns", "cautions"} {
		if _, ok := got[name]; !ok {
			t.Errorf("no %s in %s", name, out)
		}
	}
	if r, ok := got["r"].(float64); !ok || r < 0.999999 || len(got) != 8 || got["x"] != "app.tasks.in_flight" || got["samples"] != 10.0 {
		t.Errorf("%v", got)
	}
}

// TestVerticalSamples: the session's only pause, from 70 to 72 ms, is a fifth of the sample from 70 to 80 ms; --where leaves that out.
func TestVerticalSamples(t *testing.T) {
	dir := makeSession(t, t.TempDir())
	args := []string{"vertical", dir, "--every", "10ms", "--metric", "stopped=vm.gc.running", "--samples", "--format", "csv"}
	code, out, errs := shadow(t, nil, args...)
	if code != 0 || !strings.Contains(out, "70000000,80000000,vm,stopped,,0.2\n") && !strings.Contains(out, "70000000,80000000,vm,stopped,ratio,0.2\n") {
		t.Errorf("exit code %d: %s\n%s", code, errs, out)
	}
	code, out, errs = shadow(t, nil, append(args, "--where", "gc_running == 0")...)
	if code != 0 || strings.Contains(out, "70000000,80000000") || strings.Count(out, "stopped") != 9 || !strings.Contains(errs, "9 of 10 samples chosen") {
		t.Errorf("exit code %d: %s\n%s", code, errs, out)
	}
}

func TestVerticalUsage(t *testing.T) {
	dir := makeSession(t, t.TempDir())
	for _, c := range []struct {
		args string
		want string
	}{
		{"--correlate app.tasks.finished", "want two metrics"},
		{"--correlate app.tasks.finished,app.tasks.wall_ns+app.tasks.finished", "they cannot be added"},
		{"--correlate app.tasks.finished,app.task.finished", "did you mean app.tasks.finished"},
		{"--explain task_throughput@9s..3s", "want METRIC@FROM..TO"},
		{"--explain task_throughput --matrix a,b", "use one of them"},
		{"--every often", "use a length as 10ms"},
		{"--where task_throughput", "this is no condition"},
		{"--metric 1x=time", "is no name for a metric"},
		{"--lag -1s", "use a time of 0 or more"},
		{"--format parquet", "use it with --samples"},
		{"--metrics -o x.svg", "--metrics is a table"},
		{"-o x.gif", "name a file that ends in"},
	} {
		code, out, errs := shadow(t, nil, append([]string{"vertical", dir}, strings.Fields(c.args)...)...)
		if code != 2 || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%s: exit code %d, want %q: %s%s", c.args, code, c.want, out, errs)
		}
	}
}

func TestVerticalMetrics(t *testing.T) {
	code, out, errs := shadow(t, nil, "vertical", makeSession(t, t.TempDir()), "--metrics", "--format", "csv")
	if code != 0 || !strings.Contains(out, "task_throughput,tasks/s,rate(app.tasks.finished)") || !strings.Contains(out, "this session has no monitor hw.") {
		t.Errorf("exit code %d: %s\n%s", code, errs, out)
	}
}
