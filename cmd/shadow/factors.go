package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/shadow/experiment"
)

// heapMultiple is the factor of a heap that is given as a multiple of the smallest one; the factor experiment.Heap
// beside it has its bytes.
const heapMultiple = "heap-multiple"

// baselineCollector is the one whose smallest heap the multiples are of.
const baselineCollector = "G1"

// factorFlags are what an experiment may vary beside threads.
type factorFlags struct {
	collectors []string
	heaps      []string
	jvms       []string
	jdks       []string
	smallest   int64 // 0: it is looked for
	search     searchFlags
	plural     string // "s" if the flags are called --collectors and --heaps

	sets []jvmSet
}

func (f *factorFlags) addTo(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.collectors, "collector", nil, "collectors by `NAME`: Serial, Parallel, G1, Shenandoah, ZGC, Epsilon (default: the command's own)")
	flags.StringSliceVar(&f.heaps, "heap", nil, "heaps by `SIZE`, as 512m, or as a multiple, as 2x, of the smallest heap with which the command completes with "+baselineCollector)
	f.addMore(flags)
}

// addMore adds those that all verbs with factors have.
func (f *factorFlags) addMore(flags *pflag.FlagSet) {
	flags.Var((*sizeFlag)(&f.smallest), "smallest-heap", "the smallest heap, if it is known (default: it is looked for, as shadow heap does)")
	flags.StringArrayVar(&f.jvms, "jvm", nil, "a set of JVM options, `NAME=OPTIONS`; repeat it to compare sets")
	flags.StringSliceVar(&f.jdks, "jdk", nil, "JDKs to run the command with, each by its `FOLDER`")
}

func (f *factorFlags) check() error {
	if err := checkCollectors("--collector"+f.plural, f.collectors); err != nil {
		return err
	}
	for i, h := range f.heaps {
		if slices.Contains(f.heaps[:i], h) {
			return console.Usagef("--heap%s: %s is there twice", f.plural, h)
		}
		if _, multiple := multipleOf(h); multiple {
			continue
		}
		if _, err := experiment.ParseHeap(h); err != nil {
			return console.Usagef("--heap%s %s: use a size as 512m, or a multiple of the smallest heap as 2x", f.plural, h)
		}
	}
	f.sets = nil
	for _, s := range f.jvms {
		set, err := parseJVMSet(s)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(f.sets, func(other jvmSet) bool { return other.name == set.name }) {
			return console.Usagef("--jvm: two sets are called %s", set.name)
		}
		f.sets = append(f.sets, set)
	}
	for i, jdk := range f.jdks {
		path, err := filepath.Abs(jdk)
		if err != nil {
			return fmt.Errorf("--jdk %s: %w", jdk, err)
		}
		if _, err := os.Stat(filepath.Join(path, "bin", "java")); err != nil {
			return console.Usagef("--jdk %s: there is no bin/java in it", jdk)
		}
		if slices.Contains(f.jdks[:i], path) {
			return console.Usagef("--jdk: %s is there twice", path)
		}
		f.jdks[i] = path
	}
	f.search.tries, f.search.from = tries, firstHeap
	return f.search.check()
}

// multipleOf parses a heap such as 1.5x.
func multipleOf(heap string) (float64, bool) {
	digits, ok := strings.CutSuffix(heap, "x")
	v, err := strconv.ParseFloat(digits, 64)
	return v, ok && err == nil && v >= 1 && v <= 1000
}

// pinned reports whether a run's heap has its full size from the start, so that its growth is no part of what is
// compared.
func (f *factorFlags) pinned() bool { return len(f.heaps) > 0 }

// points are all combinations of what varies, for a program. To turn multiples into sizes it may have to look for the
// program's smallest heap, at the point at, in a folder of its own within dir.
func (f *factorFlags) points(ctx context.Context, r *runner, dir string, p program, at experiment.Point) ([]experiment.Point, error) {
	points := []experiment.Point{nil}
	if p.Name != "" {
		points = experiment.Cross(points, experiment.Program, []string{p.Name})
	}
	points = experiment.Cross(points, experiment.JDK, f.jdks)
	points = experiment.Cross(points, experiment.Collector, f.collectors)
	var names []string
	for _, s := range f.sets {
		names = append(names, s.name)
	}
	points = experiment.Cross(points, experiment.JVMOptions, names)
	if len(f.heaps) == 0 {
		return points, nil
	}
	smallest, err := f.findSmallest(ctx, r, dir, p, at)
	if err != nil {
		return nil, err
	}
	var out []experiment.Point
	for _, p := range points {
		for _, h := range f.heaps {
			if m, ok := multipleOf(h); ok {
				out = append(out, p.With(heapMultiple, h).With(experiment.Heap, experiment.HeapOption(experiment.Multiple(smallest, m))))
			} else {
				out = append(out, p.With(experiment.Heap, h))
			}
		}
	}
	return out, nil
}

// findSmallest looks for the smallest heap of a program if one is needed and not known.
func (f *factorFlags) findSmallest(ctx context.Context, of *runner, dir string, p program, at experiment.Point) (int64, error) {
	needed := slices.ContainsFunc(f.heaps, func(h string) bool { _, ok := multipleOf(h); return ok })
	if !needed || f.smallest > 0 {
		return f.smallest, nil
	}
	if p.Name != "" {
		at = at.With(experiment.Program, p.Name)
	}
	at = at.With(experiment.Collector, baselineCollector)
	if len(f.jdks) > 0 {
		at = at.With(experiment.JDK, f.jdks[0])
	}
	r := &runner{env: of.env, flags: of.flags, programs: []program{p}, always: []string{onMemoryError}, inputs: of.inputs}
	if err := experiment.CheckFolder(dir); err != nil {
		return 0, err
	}
	within := filepath.Join(dir, experiment.HeapFolder, p.Name)
	if err := r.open(within, experiment.Plan{Kind: "heap", Points: []experiment.Point{at}, Invocations: f.search.tries}); err != nil {
		return 0, err
	}
	var found experiment.SmallestHeap
	err := work(ctx, r.env, r.x, dir, func(ctx context.Context) (err error) {
		found, err = r.x.Smallest(ctx, at, f.search.search())
		return err
	})
	if err != nil {
		return 0, err
	}
	name := cmp.Or(p.Name, "the command")
	if found.Bytes == 0 {
		return 0, fmt.Errorf("%s: there is no smallest heap to take multiples of: %s; give sizes, as --heap 512m", name, found.Why)
	}
	of.env.Note("%s: the smallest heap of %s is %s; the heaps are multiples of it", name, baselineCollector, experiment.HeapText(found.Bytes))
	return found.Bytes, nil
}
