package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"stackagent/agent/options"
	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/launch"
	"stackagent/cmd/shadow/internal/record"
	"stackagent/granularity/estimate"
	"stackagent/internal/text"
	"stackagent/shadow/experiment"
	"stackagent/shadow/experiment/characterize"
)

// Factors of these runs.
const (
	cpusFactor       = "cpus" // how many a run may use
	iterationsFactor = "iterations"
)

// The ways in which programs are compiled, for the statistics of the compiler.
var compilers = []jvmSet{
	{"interpreter", []string{"-Xint"}},
	{"C1", []string{"-XX:TieredStopAtLevel=1"}},
	{"C2", []string{"-XX:-TieredCompilation"}},
	{"compiled first", []string{"-Xcomp"}},
}

// suiteFlags make runs of the programs of a suite and characterise them.
type suiteFlags struct {
	programFlags
	experimentFlags
	folder string
	skip   []string
	run    runFlags
}

// skippable are the statistics whose runs may be left out, with what they need.
var skippable = []string{"GMD", "GMU", "GLK", "GSS", "PPE", "PIN", "PCS", "PCC"}

func (f *suiteFlags) addTo(flags *pflag.FlagSet) {
	f.programFlags.addTo(flags)
	f.experimentFlags.addTo(flags)
	flags.IntVar(&f.repeat, "repeat", 5, "runs of each kind of a program of the suite")
	flags.StringSliceVar(&f.skip, "skip", nil, "statistics by `CODE` whose runs are left out: "+strings.Join(skippable, ", "))
	flags.StringVar(&f.folder, "runs", "", "`FOLDER` of the runs of the suite (default ./shadow-characterize-<time>)")
	record.AddSwitches(flags, &f.run.switches)
	flags.StringVar(&f.run.library, "agent", "", "agent library (default $"+agentVariable+", or "+launch.LibraryName+" beside shadow)")
}

func (f *suiteFlags) checkSuite() error {
	for _, code := range f.skip {
		if !slices.Contains(skippable, code) {
			return console.Usagef("--skip %s: use some of %s", code, text.OneOf(skippable))
		}
	}
	if f.repeat < 1 || f.repeat > maxRepeat {
		return console.Usagef("--repeat %d: use a number from 1 to %d", f.repeat, maxRepeat)
	}
	return errors.Join(f.programFlags.check("characterize", nil), f.checkValues())
}

func (f *suiteFlags) wants(code string) bool { return !slices.Contains(f.skip, code) }

// measure runs the programs of the suite and gathers their statistics.
func (f *suiteFlags) measure(ctx context.Context, env console.Env) ([]characterize.Program, error) {
	dir, err := experimentFolder(env, f.folder, "characterize")
	if err != nil {
		return nil, err
	}
	if _, err := findAgent(env, f.run.library); err != nil {
		return nil, err
	}
	programs, err := f.programFlags.read(ctx, env, nil, nil)
	if err != nil {
		return nil, err
	}
	m := &measuring{f: f, ctx: ctx, env: env, dir: dir, programs: programs, extra: map[string]map[string]characterize.Cell{}}
	for _, p := range programs {
		m.extra[p.Name] = map[string]characterize.Cell{}
	}
	for _, step := range []func() error{m.heaps, m.plain, m.sessions} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return m.gather()
}

// measuring is the state of measure.
type measuring struct {
	f        *suiteFlags
	ctx      context.Context
	env      console.Env
	dir      string
	programs []program
	smallest map[string]int64 // by program, bytes; 0: there is none
	extra    map[string]map[string]characterize.Cell
	recorded *experiment.Experiment
}

func (m *measuring) runner(agent *runFlags) *runner {
	return &runner{env: m.env, flags: &m.f.experimentFlags, programs: m.programs, sets: compilers, agent: agent, inputs: &m.f.programFlags}
}

// at is the point of a program, to which factors are added.
func at(p *program) experiment.Point {
	return experiment.Point{{Factor: experiment.Program, Value: p.Name}, {Factor: experiment.Collector, Value: baselineCollector}}
}

// manyIterations is how many the statistic of heap growth compares with one.
const manyIterations = 10

// heaps looks for the smallest heaps.
func (m *measuring) heaps() error {
	m.smallest = map[string]int64{}
	needed := m.f.wants("GMD") || m.f.wants("GMU") || m.f.wants("GLK") || m.f.wants("GSS")
	if !needed {
		return nil
	}
	var search searchFlags
	search.tries, search.from = tries, firstHeap
	if err := search.check(); err != nil {
		return err
	}
	for i := range m.programs {
		if err := m.heapsOf(&m.programs[i], search.search()); err != nil {
			return err
		}
	}
	return nil
}

// heapsOf looks for those of a program, in a folder like that of shadow lbo, so that a search need not be made twice.
func (m *measuring) heapsOf(p *program, search experiment.Search) error {
	r := &runner{env: m.env, flags: &m.f.experimentFlags, programs: []program{*p}, always: []string{onMemoryError}, inputs: &m.f.programFlags}
	if err := r.open(filepath.Join(m.dir, experiment.HeapFolder, p.Name), experiment.Plan{Kind: "heap", Points: []experiment.Point{at(p)}, Invocations: tries}); err != nil {
		return err
	}
	return work(m.ctx, r.env, r.x, m.dir, func(ctx context.Context) (err error) {
		find := func(code string, point experiment.Point) (int64, error) {
			found, err := r.x.Smallest(ctx, point, search)
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
		if m.f.wants("GMU") {
			if _, err := find("GMU", at(p).With(pointersFactor, full)); err != nil {
				return err
			}
		}
		return m.growth(p, find)
	})
}

// growth compares the smallest heap of many iterations with that of one.
func (m *measuring) growth(p *program, find func(string, experiment.Point) (int64, error)) error {
	const code = "GLK"
	switch {
	case !m.f.wants(code):
		return nil
	case !p.Uses(iterationsFactor):
		m.extra[p.Name][code] = characterize.Missing("the program's command has no word {iterations}")
		return nil
	}
	one, err := find("", at(p).With(iterationsFactor, "1"))
	if err != nil {
		return err
	}
	many, err := find("", at(p).With(iterationsFactor, strconv.Itoa(manyIterations)))
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
func (m *measuring) comparisons(p *program) []comparison {
	one := []experiment.Point{at(p)}
	with := func(set string) experiment.Point { return at(p).With(experiment.JVMOptions, set) }
	ways := append([]experiment.Point{with("C1"), with("C2")}, one...)
	all := []comparison{
		{"PIN", p.Name, []experiment.Point{with("interpreter")}, one},
		{"PCC", p.Name, []experiment.Point{with("compiled first")}, one},
		{"PCS", p.Name, ways, ways},
	}
	if runtime.NumCPU() > 1 {
		all = append(all, comparison{"PPE", p.Name, []experiment.Point{at(p).With(cpusFactor, "1")}, one})
	}
	if smallest := m.smallest[p.Name]; smallest > 0 {
		heap := func(by float64) []experiment.Point {
			return []experiment.Point{at(p).With(experiment.Heap, experiment.HeapOption(experiment.Multiple(smallest, by)))}
		}
		all = append(all, comparison{"GSS", p.Name, heap(1), heap(6)})
	}
	return slices.DeleteFunc(all, func(c comparison) bool { return !m.f.wants(c.code) })
}

// plain makes runs without the agent, and compares their times.
func (m *measuring) plain() error {
	var all []comparison
	var points []experiment.Point
	for i := range m.programs {
		all = append(all, m.comparisons(&m.programs[i])...)
	}
	for _, c := range all {
		for _, p := range slices.Concat(c.slow, c.fast) {
			if !slices.ContainsFunc(points, func(q experiment.Point) bool { return slices.Equal(p, q) }) {
				points = append(points, p)
			}
		}
	}
	r := m.runner(nil)
	if err := r.open(filepath.Join(m.dir, "plain"), experiment.Plan{Kind: "characterize", Points: points, Invocations: m.f.repeat}); err != nil {
		return err
	}
	if err := work(m.ctx, r.env, r.x, m.dir, func(ctx context.Context) error { return r.x.All(ctx, 0) }); err != nil {
		return err
	}
	for _, c := range all {
		m.extra[c.program][c.code] = c.cell(r.x)
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

// sessions records runs with the agent.
func (m *measuring) sessions() error {
	var points []experiment.Point
	for i := range m.programs {
		points = append(points, at(&m.programs[i]))
	}
	m.f.run.counter = true
	m.f.run.more = []options.Setting{{Key: "metric", Value: "wall+cpu+alloc"}}
	r := m.runner(&m.f.run)
	if err := r.open(filepath.Join(m.dir, "recorded"), experiment.Plan{Kind: "characterize", Points: points, Invocations: m.f.repeat}); err != nil {
		return err
	}
	if err := work(m.ctx, r.env, r.x, m.dir, func(ctx context.Context) error { return r.x.All(ctx, 0) }); err != nil {
		return err
	}
	r.noteFailures(points)
	m.recorded = r.x
	return nil
}

// gather takes the statistics of the sessions, and those that need both kinds of runs.
func (m *measuring) gather() ([]characterize.Program, error) {
	var out []characterize.Program
	for i := range m.programs {
		p := &m.programs[i]
		program := characterize.Program{Name: p.Name, Extra: m.extra[p.Name]}
		for _, r := range m.recorded.Of(at(p)) {
			if r.Failed() || r.Invocation > m.f.repeat {
				continue
			}
			runs, err := readRuns(m.env, m.recorded.Path(r))
			if err != nil {
				return nil, err
			}
			program.Runs = append(program.Runs, runs...)
		}
		out = append(out, program)
	}
	return out, nil
}
