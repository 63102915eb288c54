package part

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"stackagent/internal/testjvm"
	"stackagent/scripts/bench/result"
	"stackagent/scripts/bench/tool"
)

// Workload is a workload of java/Tasks.java.
type Workload struct {
	Name   string
	what   string
	class  string
	method string // the task's execution method
	MinJDK int    // the oldest JDK that it runs on
	quick  int    // the size of an iteration in a trial of the harness
}

// Workloads are all workloads, in the order of the page.
var Workloads = []Workload{
	{"exec", "one thread executes tasks created before", "Tasks$Small", "run", 17, 200_000},
	{"create", "one thread creates tasks and executes none", "Tasks$Small", "run", 17, 200_000},
	{"both", "one thread creates each task and executes it", "Tasks$Small", "run", 17, 200_000},
	{"pool", "a pool of 2 threads executes empty tasks", "Tasks$Job", "run", 17, 50_000},
	{"fj", "fork/join, fib(29) on 2 threads: 1,664,079 tasks created, 832,040 executed", "Tasks$Fib", "compute", 17, 22},
	{"us10", "a pool of 2 threads executes tasks of about 10 µs", "Tasks$Spin", "run", 17, 2_000},
	{"vt", "an empty task on a virtual thread of its own", "Tasks$Job", "run", 21, 100_000},
}

// TaskRun is the result of one JVM for one workload.
type TaskRun struct {
	Median, Min, CPU float64 // ns per task: wall time of the iterations, and CPU of the JVM
	Shadow           float64 // ns per task: CPU of the shadow process over the whole run
	Recorded         float64 // share of the events
	OneByOne         float64 // share of the executions with a record of their own
}

// taskTools are the compared tools; the plain JVM is first. A peer that is not to be had is missing, and notes say why.
func taskTools(ctx context.Context, c Config, jdk testjvm.JDK) (tools []tool.Tool, notes string) {
	tools = []tool.Tool{
		tool.Plain(),
		tool.Stackagent("stackagent (default)", c.Bin),
		tool.Stackagent("stackagent, detail=all", c.Bin, "--detail", "all"),
		tool.Stackagent("stackagent, detail=summary", c.Bin, "--detail", "summary"),
		tool.Stackagent("stackagent, metric=wall", c.Bin, "--metric", "wall"),
		tool.WithoutPerf("stackagent, no perf", c.Bin),
		tool.FlightRecorder("JFR method timing", "method-timing"),
		tool.FlightRecorder("JFR method trace", "method-trace", tool.WithoutStacks),
		tool.FlightRecorder("JFR method trace, stacks", "method-trace"),
	}
	peer := func(t tool.Tool, err error) {
		if err == nil {
			tools = append(tools, t)
			return
		}
		c.say("%v", err)
		reason, _, _ := strings.Cut(err.Error(), "\n")
		notes += "\nNot measured: " + reason + "\n"
	}
	peer(tool.AsyncProfiler(ctx, jdk.Tool("java")))
	if jdk.Version >= 21 {
		peer(tool.EmptyAgent(ctx, jdk, filepath.Join(c.Root, "scripts", "bench", "peers", "empty.c"), c.Scratch))
	}
	return slices.DeleteFunc(tools, func(t tool.Tool) bool { return jdk.Version < t.MinJDK || !c.wantsTool(t.Name) }), notes
}

// Task measures the cost of a task under each tool.
func Task(ctx context.Context, c Config) (string, error) {
	classes, err := c.Compile(ctx)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Medians of %d JVMs each; the tools alternate. A JVM's figure is the median of %d iterations after %d ms of warm-up.\n",
		c.rounds(5), iterations, pick(c, warmupMs, 100))
	for _, jdk := range c.JDKs {
		tools, notes := taskTools(ctx, c, jdk)
		b.WriteString(notes)
		for _, w := range Workloads {
			if jdk.Version < w.MinJDK || !c.wants(w.Name) {
				continue
			}
			text, err := taskTable(ctx, c, jdk, w, tools, classes)
			if err != nil {
				return "", err
			}
			b.WriteString(text)
		}
		if !c.wants(coldName) {
			continue
		}
		text, err := coldTable(ctx, c, jdk, tools, classes)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

func taskTable(ctx context.Context, c Config, jdk testjvm.JDK, w Workload, tools []tool.Tool, classes string) (string, error) {
	runs := make([][]TaskRun, len(tools))
	failed := make([]error, len(tools))
	err := alternate(c.rounds(5), len(tools), func(round, i int) error {
		if failed[i] != nil {
			return nil
		}
		r, err := c.RunTask(ctx, tools[i], jdk, w, classes)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && i == 0:
			return err // nothing to compare with
		case err != nil:
			failed[i] = err
			c.say("%s %s: %s failed: %v", jdk, w.Name, tools[i].Name, err)
			return nil
		}
		c.say("%s %-6s round %d %-28s %9.1f ns", jdk, w.Name, round+1, tools[i].Name, r.Median)
		runs[i] = append(runs[i], r)
		return nil
	})
	if err != nil {
		return "", err
	}
	return taskText(jdk, w, tools, runs, failed), nil
}

// column takes one figure of each run.
func column(runs []TaskRun, of func(TaskRun) float64) []float64 {
	v := make([]float64, len(runs))
	for i, r := range runs {
		v[i] = of(r)
	}
	return v
}

func wall(r TaskRun) float64 { return r.Median }
func cpu(r TaskRun) float64  { return r.CPU }

// taskText is the table of one workload.
func taskText(jdk testjvm.JDK, w Workload, tools []tool.Tool, runs [][]TaskRun, failed []error) string {
	t := result.Table{Head: []string{w.Name, "ns per task", "lowest", "added ns", "times plain", "CPU ns", "added", "shadow's CPU ns", "recorded", "one by one"}}
	notes := ""
	base := runs[0]
	for i, x := range tools {
		r := runs[i]
		if failed[i] != nil || len(r) == 0 {
			t.Add(x.Name, "failed")
			if failed[i] != nil {
				reason, _, _ := strings.Cut(failed[i].Error(), "\n")
				notes += fmt.Sprintf("\n%s failed: %s\n", x.Name, reason)
			}
			continue
		}
		least := math.Inf(1)
		for _, v := range r {
			least = min(least, v.Min)
		}
		row := []string{x.Name, result.Interval(result.OfMedian(column(r, wall))), result.Number(least)}
		if i == 0 {
			row = append(row, "", "", result.Interval(result.OfMedian(column(r, cpu))))
		} else {
			row = append(row,
				result.Interval(result.Difference(column(r, wall), column(base, wall))),
				result.Interval(result.Ratio(column(r, wall), column(base, wall))),
				result.Interval(result.OfMedian(column(r, cpu))),
				result.Interval(result.Difference(column(r, cpu), column(base, cpu))),
				result.Number(result.Median(column(r, func(r TaskRun) float64 { return r.Shadow }))),
				share(result.Median(column(r, func(r TaskRun) float64 { return r.Recorded }))),
				share(result.Median(column(r, func(r TaskRun) float64 { return r.OneByOne }))))
		}
		t.Add(row...)
	}
	return fmt.Sprintf("\n**%s**, JDK %s: %s.\n\n%s%s", w.Name, jdk.Full, w.what, t.String(), notes)
}

// share formats a fraction; only exactly 1 is "all".
func share(v float64) string {
	switch {
	case math.IsNaN(v):
		return ""
	case v == 1:
		return "all"
	case v == 0:
		return "none"
	}
	// Rounded down: 99.999 % is not all.
	return fmt.Sprintf("%.2f %%", math.Floor(v*10_000)/100)
}
