// Package measure runs the programs of a suite for the statistics by which they are characterised, those too that no
// single session has: smallest heaps, and slowdowns in a tight heap, on one CPU and with other ways of compiling.
package measure

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"stackagent/granularity/estimate"
	"stackagent/shadow/experiment"
	"stackagent/shadow/experiment/characterize"
	"stackagent/shadow/experiment/runner"
)

// The ways in which programs are compiled, for the statistics of the compiler.
var compilers = []runner.JVMSet{
	{Name: "interpreter", Options: []string{"-Xint"}},
	{Name: "C1", Options: []string{"-XX:TieredStopAtLevel=1"}},
	{Name: "C2", Options: []string{"-XX:-TieredCompilation"}},
	{Name: "compiled first", Options: []string{"-Xcomp"}},
}

// Skippable are the statistics whose runs may be left out, with what they need.
var Skippable = []string{"GMD", "GMU", "GLK", "GSS", "PPE", "PIN", "PCS", "PCC"}

// Suite says which runs are made. The runner has the programs; what it records is used where sessions are needed.
type Suite struct {
	*runner.Runner
	Dir    string
	Repeat int      // runs of each kind
	Skip   []string // codes of statistics whose runs are left out
	Search experiment.Search
	Gather func(dir string) ([]characterize.Run, error) // takes the statistics of the sessions in a folder
}

// Measure makes the runs and gathers the statistics of the programs.
func (s *Suite) Measure(ctx context.Context) ([]characterize.Program, error) {
	m := &measuring{Suite: s, ctx: ctx, extra: map[string]map[string]characterize.Cell{}}
	for _, p := range s.Programs {
		m.extra[p.Name] = map[string]characterize.Cell{}
	}
	for _, step := range []func() error{m.heaps, m.plain, m.sessions} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return m.out, nil
}

// measuring is the state of Measure.
type measuring struct {
	*Suite
	ctx      context.Context
	smallest map[string]int64 // by program, bytes; 0: there is none
	extra    map[string]map[string]characterize.Cell
	out      []characterize.Program
}

func (s *Suite) wants(code string) bool { return !slices.Contains(s.Skip, code) }

// without makes runs without the agent.
func (s *Suite) without() *runner.Runner {
	return &runner.Runner{Outside: s.Outside, Care: s.Care, Programs: s.Programs, Sets: compilers, Input: s.Input}
}

// at is the point of a program, to which factors are added.
func at(p *runner.Program) experiment.Point {
	return experiment.Point{{Factor: experiment.Program, Value: p.Name}, {Factor: experiment.Collector, Value: runner.Baseline}}
}

// manyIterations is how many the statistic of heap growth compares with one.
const manyIterations = 10

// heaps looks for the smallest heaps, in folders like those of other experiments, so that a search need not be made twice.
func (m *measuring) heaps() error {
	m.smallest = map[string]int64{}
	if !m.wants("GMD") && !m.wants("GMU") && !m.wants("GLK") && !m.wants("GSS") {
		return nil
	}
	for i := range m.Programs {
		if err := m.heapsOf(&m.Programs[i]); err != nil {
			return err
		}
	}
	return nil
}

func (m *measuring) heapsOf(p *runner.Program) error {
	folder := filepath.Join(m.Dir, experiment.HeapFolder, p.Name)
	return m.Heaps(m.ctx, folder, m.Dir, []runner.Program{*p}, []experiment.Point{at(p)}, m.Search, func(smallest runner.Find) (err error) {
		find := func(code string, point experiment.Point) (int64, error) {
			found, err := smallest(point)
			if err == nil && code != "" {
				m.extra[p.Name][code] = characterize.Missing(found.Why)
				if found.Bytes > 0 {
					m.extra[p.Name][code] = characterize.Known(estimate.Mean([]float64{float64(found.Bytes) / 1e6}))
				}
			}
			return found.Bytes, err
		}
		if m.smallest[p.Name], err = find("GMD", at(p)); err != nil {
			return err
		}
		if m.wants("GMU") {
			if _, err := find("GMU", at(p).With(runner.Pointers, runner.Full)); err != nil {
				return err
			}
		}
		return m.growth(p, find)
	})
}

// growth compares the smallest heap of many iterations with that of one.
func (m *measuring) growth(p *runner.Program, find func(string, experiment.Point) (int64, error)) error {
	const code = "GLK"
	switch {
	case !m.wants(code):
		return nil
	case !p.Uses(runner.Iterations):
		m.extra[p.Name][code] = characterize.Missing("the program's command has no word {iterations}")
		return nil
	}
	one, err := find("", at(p).With(runner.Iterations, "1"))
	if err != nil {
		return err
	}
	many, err := find("", at(p).With(runner.Iterations, strconv.Itoa(manyIterations)))
	if err != nil {
		return err
	}
	m.extra[p.Name][code] = characterize.Missing("the program does not complete with any heap that was tried")
	if one > 0 && many > 0 {
		m.extra[p.Name][code] = characterize.Known(estimate.Mean([]float64{100 * (float64(many)/float64(one) - 1)}))
	}
	return nil
}

// comparison is a statistic that compares the slowest of some points with the fastest of others.
type comparison struct {
	code       string
	program    string
	slow, fast []experiment.Point
}

// comparisons are those that are wanted of a program.
func (m *measuring) comparisons(p *runner.Program) []comparison {
	one := []experiment.Point{at(p)}
	with := func(set string) experiment.Point { return at(p).With(experiment.JVMOptions, set) }
	ways := append([]experiment.Point{with("C1"), with("C2")}, one...)
	all := []comparison{
		{"PIN", p.Name, []experiment.Point{with("interpreter")}, one},
		{"PCC", p.Name, []experiment.Point{with("compiled first")}, one},
		{"PCS", p.Name, ways, ways},
	}
	if runtime.NumCPU() > 1 {
		all = append(all, comparison{"PPE", p.Name, []experiment.Point{at(p).With(runner.CPUs, "1")}, one})
	}
	if smallest := m.smallest[p.Name]; smallest > 0 {
		heap := func(by float64) []experiment.Point {
			return []experiment.Point{at(p).With(experiment.Heap, experiment.HeapOption(experiment.Multiple(smallest, by)))}
		}
		all = append(all, comparison{"GSS", p.Name, heap(1), heap(6)})
	}
	return slices.DeleteFunc(all, func(c comparison) bool { return !m.wants(c.code) })
}

// plain makes runs without the agent, and compares their times.
func (m *measuring) plain() error {
	var all []comparison
	var points []experiment.Point
	for i := range m.Programs {
		all = append(all, m.comparisons(&m.Programs[i])...)
	}
	for _, c := range all {
		for _, p := range slices.Concat(c.slow, c.fast) {
			if !slices.ContainsFunc(points, func(q experiment.Point) bool { return slices.Equal(p, q) }) {
				points = append(points, p)
			}
		}
	}
	r := m.without()
	if err := r.All(m.ctx, filepath.Join(m.Dir, "plain"), experiment.Plan{Kind: "characterize", Points: points, Invocations: m.Repeat}, 0); err != nil {
		return err
	}
	for _, c := range all {
		m.extra[c.program][c.code] = c.cell(r.Experiment)
	}
	return nil
}

// cell is the slowdown in percent, and for the parallel efficiency the speedup over the number of CPUs.
func (c *comparison) cell(x *experiment.Experiment) characterize.Cell {
	worst, why := extreme(x, c.slow, func(a, b float64) bool { return a > b })
	best, whyNot := extreme(x, c.fast, func(a, b float64) bool { return a < b })
	if worst == nil || best == nil {
		return characterize.Missing(cmp.Or(why, whyNot))
	}
	ratio := estimate.Ratio(worst, best)
	if c.code == "PPE" {
		return characterize.Known(ratio.Times(100 / float64(runtime.NumCPU())))
	}
	percent := func(v float64) float64 { return 100 * (v - 1) }
	ratio.Mean, ratio.Low, ratio.High = percent(ratio.Mean), percent(ratio.Low), percent(ratio.High)
	return characterize.Known(ratio)
}

// extreme are the wall times at the point whose mean is before those of the others.
func extreme(x *experiment.Experiment, points []experiment.Point, before func(a, b float64) bool) (times []float64, why string) {
	mean := math.NaN()
	for _, p := range points {
		var of []float64
		for _, r := range x.Of(p) {
			if r.Failed() {
				return nil, fmt.Sprintf("%s: %s (%s)", p, r.Failure, r.Why)
			}
			of = append(of, float64(r.Usage.Wall))
		}
		if len(of) == 0 {
			return nil, fmt.Sprintf("%s was not run", p)
		}
		if m := estimate.Mean(of).Mean; math.IsNaN(mean) || before(m, mean) {
			times, mean = of, m
		}
	}
	return times, ""
}

// sessions records runs with the agent, and takes their statistics.
func (m *measuring) sessions() error {
	var points []experiment.Point
	for i := range m.Programs {
		points = append(points, at(&m.Programs[i]))
	}
	r := m.without()
	r.Recorder = m.Recorder
	if err := r.All(m.ctx, filepath.Join(m.Dir, "recorded"), experiment.Plan{Kind: "characterize", Points: points, Invocations: m.Repeat}, 0); err != nil {
		return err
	}
	r.NoteFailures(points)
	for i := range m.Programs {
		p := &m.Programs[i]
		program := characterize.Program{Name: p.Name, Extra: m.extra[p.Name]}
		for _, result := range r.Good(at(p), m.Repeat) {
			runs, err := m.Gather(r.Path(result))
			if err != nil {
				return err
			}
			program.Runs = append(program.Runs, runs...)
		}
		m.out = append(m.out, program)
	}
	return nil
}
