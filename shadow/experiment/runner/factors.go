package runner

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"stackagent/shadow/experiment"
)

// Baseline is the collector whose smallest heap multiples are of.
const Baseline = "G1"

// Factors are what an experiment varies beside threads.
type Factors struct {
	Collectors []string
	Heaps      []string // sizes, or multiples of the smallest heap
	Sets       []JVMSet
	JDKs       []string          // folders
	Smallest   int64             // heap, bytes; 0: it is looked for
	Search     experiment.Search // how
}

// Multiple parses a heap such as 1.5x.
func Multiple(heap string) (float64, bool) {
	digits, ok := strings.CutSuffix(heap, "x")
	v, err := strconv.ParseFloat(digits, 64)
	return v, ok && err == nil && v >= 1 && v <= 1000
}

// Points are all combinations of what varies, for the programs of r. To turn multiples into sizes it may have to look for
// a program's smallest heap, at the point at, in a folder of its own within dir.
func (f *Factors) Points(ctx context.Context, r *Runner, dir string, at experiment.Point) ([]experiment.Point, error) {
	var all []experiment.Point
	for _, p := range r.Programs {
		of, err := f.pointsOf(ctx, r, dir, p, at)
		if err != nil {
			return nil, err
		}
		all = append(all, of...)
	}
	return all, nil
}

func (f *Factors) pointsOf(ctx context.Context, r *Runner, dir string, p Program, at experiment.Point) ([]experiment.Point, error) {
	points := []experiment.Point{nil}
	if p.Name != "" {
		points = experiment.Cross(points, experiment.Program, []string{p.Name})
	}
	points = experiment.Cross(points, experiment.JDK, f.JDKs)
	points = experiment.Cross(points, experiment.Collector, f.Collectors)
	var names []string
	for _, s := range f.Sets {
		names = append(names, s.Name)
	}
	points = experiment.Cross(points, experiment.JVMOptions, names)
	if len(f.Heaps) == 0 {
		return points, nil
	}
	smallest, err := f.smallest(ctx, r, dir, p, at)
	if err != nil {
		return nil, err
	}
	var out []experiment.Point
	for _, p := range points {
		for _, h := range f.Heaps {
			if m, ok := Multiple(h); ok {
				out = append(out, p.With(experiment.HeapMultiple, h).With(experiment.Heap, experiment.HeapOption(experiment.Multiple(smallest, m))))
			} else {
				out = append(out, p.With(experiment.Heap, h))
			}
		}
	}
	return out, nil
}

// smallest looks for the smallest heap of a program if one is needed and not known.
func (f *Factors) smallest(ctx context.Context, of *Runner, dir string, p Program, at experiment.Point) (int64, error) {
	needed := slices.ContainsFunc(f.Heaps, func(h string) bool { _, ok := Multiple(h); return ok })
	if !needed || f.Smallest > 0 {
		return f.Smallest, nil
	}
	if p.Name != "" {
		at = at.With(experiment.Program, p.Name)
	}
	at = at.With(experiment.Collector, Baseline)
	if len(f.JDKs) > 0 {
		at = at.With(experiment.JDK, f.JDKs[0])
	}
	if err := experiment.CheckFolder(dir); err != nil {
		return 0, err
	}
	var found experiment.SmallestHeap
	err := of.Heaps(ctx, filepath.Join(dir, experiment.HeapFolder, p.Name), dir, []Program{p}, []experiment.Point{at}, f.Search, func(find Find) (err error) {
		found, err = find(at)
		return err
	})
	if err != nil {
		return 0, err
	}
	name := cmp.Or(p.Name, "the command")
	if found.Bytes == 0 {
		return 0, fmt.Errorf("%s: there is no smallest heap to take multiples of: %s; give sizes, as --heap 512m", name, found.Why)
	}
	of.Note("%s: the smallest heap of %s is %s; the heaps are multiples of it", name, Baseline, experiment.HeapText(found.Bytes))
	return found.Bytes, nil
}

// Find looks for the smallest heap at a point.
type Find func(experiment.Point) (experiment.SmallestHeap, error)

// Heaps looks for smallest heaps of programs, as an experiment of its own in a folder. Who is interrupted goes on with dir.
func (r *Runner) Heaps(ctx context.Context, folder, dir string, programs []Program, points []experiment.Point, s experiment.Search, do func(Find) error) error {
	own := &Runner{Outside: r.Outside, Care: r.Care, Programs: programs, Always: []string{OnMemoryError}, Input: r.Input}
	if err := own.Open(folder, experiment.Plan{Kind: "heap", Points: points, Invocations: s.Tries}); err != nil {
		return err
	}
	return own.Work(ctx, dir, func(ctx context.Context) error {
		return do(func(p experiment.Point) (experiment.SmallestHeap, error) { return own.Smallest(ctx, p, s) })
	})
}
