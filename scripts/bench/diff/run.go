package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"stackagent/internal/testjvm"
	"stackagent/scripts/bench/measure"
	"stackagent/scripts/bench/part"
	"stackagent/scripts/bench/tool"
)

// runner measures two trees in turns.
type runner struct {
	flags
	scratch string
	trees   [2]*tree // base, new
	jdk     testjvm.JDK
	classes string
}

func newRunner(ctx context.Context, f flags, root, scratch string) (*runner, error) {
	r := &runner{flags: f, scratch: scratch, trees: [2]*tree{
		{name: "base", dir: filepath.Join(scratch, "base")},
		{name: "new", dir: root},
	}}
	fmt.Fprintf(os.Stderr, "bench-diff: building %s and the working tree\n", f.base)
	if err := checkout(ctx, root, f.base, r.trees[0].dir); err != nil {
		return nil, err
	}
	for _, t := range r.trees {
		if err := t.build(ctx, filepath.Join(scratch, t.name+"-built"), f.bench); err != nil {
			return nil, err
		}
	}
	if f.loads == nil {
		return r, nil
	}
	jdks, err := testjvm.Find()
	if err != nil || len(jdks) == 0 {
		return nil, fmt.Errorf("finding a JDK for the Java workloads (-loads= leaves them out): %w", err)
	}
	r.jdk = jdks[len(jdks)-1]
	// One program for both states: otherwise its changes would be measured, too.
	r.classes, err = part.Config{Root: root, Scratch: scratch, JDKs: jdks}.Compile(ctx)
	return r, err
}

// measure runs everything in turns, the base first in every other round.
func (r *runner) measure(ctx context.Context) error {
	for round := range r.rounds {
		for k := range r.trees {
			t := r.trees[(round+k)%len(r.trees)]
			fmt.Fprintf(os.Stderr, "bench-diff: round %d of %d: %s\n", round+1, r.rounds, t.name)
			if err := r.goBenchmarks(ctx, t); err != nil {
				return err
			}
			if err := r.javaBenchmarks(ctx, t); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *runner) goBenchmarks(ctx context.Context, t *tree) error {
	long := "0.3s"
	if r.quick {
		long = "1x"
	}
	for _, p := range t.packages {
		out, err := measure.Run(ctx, measure.Command{Dir: p.dir, Args: []string{p.program, "-test.run", "^$", "-test.bench", r.bench.String(), "-test.benchtime", long}})
		if err != nil {
			return fmt.Errorf("benchmarks of %s: %w", t.name, err)
		}
		t.results.WriteString(out.Stdout)
	}
	return nil
}

// details are the modes in which a task's cost is compared.
var details = []string{"auto", "all"}

func (r *runner) javaBenchmarks(ctx context.Context, t *tree) error {
	if r.loads == nil {
		return nil
	}
	fmt.Fprintf(&t.results, "pkg: java/%s\n", r.jdk)
	c := part.Config{Scratch: r.scratch, Quick: r.quick}
	for _, w := range part.Workloads {
		if r.jdk.Version < w.MinJDK || !r.loads.MatchString(w.Name) {
			continue
		}
		for _, detail := range details {
			run, err := c.RunTask(ctx, tool.Stackagent("stackagent", t.bin, "--detail", detail), r.jdk, w, r.classes)
			if err != nil {
				return fmt.Errorf("the workload %s under %s: %w", w.Name, t.name, err)
			}
			t.results.WriteString(line(w.Name, detail, run))
		}
	}
	return nil
}

// line is a run in the text format of Go benchmarks.
func line(load, detail string, run part.TaskRun) string {
	return fmt.Sprintf("BenchmarkTask/load=%s/detail=%s-%d 1 %s ns/op %s jvm-cpu-ns/op %s shadow-cpu-ns/op\n", load, detail, runtime.NumCPU(),
		number(run.Median), number(run.CPU), number(run.Shadow))
}

func number(v float64) string { return strings.TrimSuffix(fmt.Sprintf("%.3f", v), ".000") }
