package part

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackagent/internal/testjvm"
	"stackagent/scripts/bench/result"
	"stackagent/scripts/bench/tool"
)

// Per JVM.
const (
	iterations = 10
	warmupMs   = 2500 // the agent decides what it samples after a second or two
)

// RunTask runs one workload once under one tool.
func (c Config) RunTask(ctx context.Context, t tool.Tool, jdk testjvm.JDK, w Workload, classes string) (r TaskRun, err error) {
	size := 0
	if c.Quick {
		size = w.quick
	}
	p := tool.Program{
		JDK:     jdk,
		Args:    []string{"-cp", classes, "Tasks", w.Name, strconv.Itoa(pick(c, warmupMs, 100)), strconv.Itoa(iterations), strconv.Itoa(size)},
		Methods: []string{w.class + "::" + w.method, w.class + "::<init>"},
	}
	err = c.inScratch(func(dir string) error {
		run, err := t.Run(ctx, p, dir)
		if err != nil {
			return err
		}
		printed, err := parseTasks(run.Stdout)
		if err != nil {
			return err
		}
		r = printed.TaskRun
		if printed.tasks > 0 {
			r.Shadow = float64(run.Shadow.CPU.Nanoseconds()) / float64(printed.tasks)
		}
		if t.Recorded == nil {
			return nil
		}
		n, err := t.Recorded(ctx, p, run, printed.class)
		if err != nil {
			return fmt.Errorf("counting what was recorded: %w", err)
		}
		events := printed.executions + printed.creations
		if t.ByMethod {
			events = printed.calls + printed.creations
		}
		r.Recorded, r.OneByOne = float64(n.Events)/float64(events), n.OneByOne
		return nil
	})
	return r, err
}

// printed is what the program prints about itself.
type printed struct {
	TaskRun
	class                        string
	executions, creations, calls uint64
	tasks                        uint64 // created or not
}

// parseTasks reads the output of java/Tasks.java.
func parseTasks(out string) (printed, error) {
	var t printed
	var each []float64
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		var err error
		switch {
		case len(f) == 2 && f[0] == "iteration":
			var v float64
			v, err = strconv.ParseFloat(f[1], 64)
			each = append(each, v)
		case len(f) == 2 && f[0] == "cpu":
			t.CPU, err = strconv.ParseFloat(f[1], 64)
		case len(f) == 5 && f[0] == "total":
			t.class = f[1]
			var problems [3]error
			t.executions, problems[0] = strconv.ParseUint(f[2], 10, 64)
			t.creations, problems[1] = strconv.ParseUint(f[3], 10, 64)
			t.calls, problems[2] = strconv.ParseUint(f[4], 10, 64)
			err = errors.Join(problems[:]...)
		}
		if err != nil {
			return t, fmt.Errorf("reading %q of the program's output: %w", strings.TrimSpace(line), err)
		}
	}
	if len(each) == 0 || t.executions+t.creations == 0 {
		return t, fmt.Errorf("the program printed no figures: %q", out)
	}
	t.tasks = max(t.executions, t.creations)
	t.Median, t.Min = result.Median(each), slices.Min(each)
	return t, nil
}
