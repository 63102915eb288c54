// Command diff compares the working tree with another state of it: the Go
// microbenchmarks of both, and the cost of a Java task under both, run in turns. It
// prints the table of benchstat and exits 1 if something became worse.
//
//	go run ./scripts/bench/diff [-rounds 10] [-bench REGEXP] [-quick] BASE
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"

	"stackagent/scripts/bench/measure"
)

// benchstat compares; it is run, not linked.
const benchstat = "golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da"

// tolerated is the largest relative change that is not reported.
const tolerated = 0.10

// errWorse ends the command with 1 and without a message.
var errWorse = errors.New("worse")

type flags struct {
	base, scratch string
	bench, loads  *regexp.Regexp
	rounds        int
	quick         bool
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == measure.Trampoline {
		os.Exit(measure.Inner(os.Args[2:]))
	}
	f, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-diff:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	switch err := diff(ctx, f); {
	case errors.Is(err, errWorse):
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench-diff:", err)
		os.Exit(1)
	}
}

func parse(args []string) (f flags, err error) {
	set := flag.NewFlagSet("bench-diff", flag.ContinueOnError)
	set.IntVar(&f.rounds, "rounds", 10, "runs of each benchmark of each state")
	set.BoolVar(&f.quick, "quick", false, "try the harness: short runs, meaningless figures")
	bench := set.String("bench", ".", "only Go benchmarks whose name matches; empty: none")
	loads := set.String("loads", ".", "only Java workloads whose name matches; empty: none")
	set.StringVar(&f.scratch, "scratch", "build/bench", "folder for temporary files")
	if err := set.Parse(args); err != nil {
		return f, err
	}
	if set.NArg() != 1 {
		return f, errors.New("missing the state to compare with: a commit, a branch or a tag")
	}
	f.base = set.Arg(0)
	for _, p := range []struct {
		text string
		to   **regexp.Regexp
	}{{*bench, &f.bench}, {*loads, &f.loads}} {
		if p.text == "" {
			continue
		}
		if *p.to, err = regexp.Compile(p.text); err != nil {
			return f, fmt.Errorf("%q: %w", p.text, err)
		}
	}
	return f, nil
}

func diff(ctx context.Context, f flags) error {
	root, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	if f.scratch, err = filepath.Abs(f.scratch); err != nil {
		return err
	}
	if err := os.MkdirAll(f.scratch, 0o755); err != nil {
		return fmt.Errorf("making the folder for measurements: %w", err)
	}
	scratch, err := os.MkdirTemp(f.scratch, "diff-")
	if err != nil {
		return fmt.Errorf("making the folder for measurements: %w", err)
	}
	defer os.RemoveAll(scratch)
	r, err := newRunner(ctx, f, root, scratch)
	if err != nil {
		return err
	}
	if err := r.measure(ctx); err != nil {
		return err
	}
	return r.judge(ctx)
}
