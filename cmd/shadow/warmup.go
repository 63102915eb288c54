package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/files"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/granularity/activity"
	"stackagent/granularity/warmup"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/session/iteration"
	"stackagent/shadow/show/figure"
)

// warmupFlags are the flags of shadow warmup.
type warmupFlags struct {
	listflags.Flags
	iterationFlags
	every  time.Duration
	within string
	metric string
	output string

	share float64 // within
}

// mostIterations bounds the iterations of a session that are compared: nobody can read more.
const mostIterations = 4096

func newWarmup(env console.Env) *cobra.Command {
	var f warmupFlags
	cmd := &cobra.Command{
		Use:   "warmup DIR...",
		Short: "When a program is warm, and what the time before costs",
		Long: `Shows for each iteration of a session how long it took, its CPU time, the compiler's
and the collector's share of it, and deoptimisations. The program is warm from the
iteration from which on each takes at most 1.5 % longer than the fastest one.

Then lists the classes of tasks by the time that they lost: how much more work their
executions took before the program was warm than as many warm ones.

Several sessions are runs of one program: shows means with 95 % confidence intervals.

What an iteration is: a line of the output (shadow run --marker), an execution of a
method (shadow run --task) or of a class (--iterations-of). Where there are none,
--every compares windows of equal length by the time per task.`,
		Example: `  shadow warmup /tmp/s
  shadow warmup out/run-1 out/run-2 out/run-3 -o warmup.svg
  shadow warmup /tmp/s --iterations-of 'com.acme.Iteration'
  shadow warmup /tmp/s --every 1s --format json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return console.Usagef("missing session folder")
			}
			return f.check()
		},
		RunE: func(_ *cobra.Command, args []string) error { return f.run(env, args) },
	}
	f.AddTo(cmd, env, true, "table", "json", "csv")
	f.addClass(cmd)
	cmd.Flags().DurationVar(&f.every, "every", 0, "compare windows of this length instead of iterations")
	cmd.Flags().StringVar(&f.within, "within", "1.5%", "`SHARE`: how much longer than the fastest iteration a warm one takes at most")
	cmd.Flags().StringVar(&f.metric, "metric", "wall", "wall|cpu: compare iterations by wall time, or by the CPU time of all threads of the JVM, which a busy machine changes less")
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "write the figure to FILE.svg|png|pdf")
	return cmd
}

func (f *warmupFlags) check() error {
	if err := errors.Join(f.Flags.Check(), f.iterationFlags.check(), files.CheckFigure(f.output)); err != nil {
		return err
	}
	percent, err := strconv.ParseFloat(strings.TrimSuffix(f.within, "%"), 64)
	if err != nil || !(percent > 0 && percent <= 1000) {
		return console.Usagef("--within %s: use a share above 0, as 1.5%%", f.within)
	}
	f.share = percent / 100
	if f.metric != "wall" && f.metric != "cpu" {
		return console.Usagef("--metric %s: use wall or cpu", f.metric)
	}
	if f.every < 0 || f.every > 0 && f.every < time.Millisecond {
		return console.Usagef("--every %v: use a time of 1ms or more", f.every)
	}
	if f.every > 0 && f.iterationsOf != "" {
		return console.Usagef("--every and --iterations-of: use one of them")
	}
	return nil
}

// warmRun is the warm-up of one session.
type warmRun struct {
	session, label, source string
	*iteration.Measured
	values  []float64 // by which iterations are compared, one each
	verdict warmup.Verdict
}

func (f *warmupFlags) run(env console.Env, dirs []string) error {
	var runs []*warmRun
	labels := folderLabels(dirs)
	for i, dir := range dirs {
		r, err := f.measure(env, dir)
		if err != nil {
			return err
		}
		r.label = labels[i]
		runs = append(runs, r)
	}
	w := f.join(runs)
	if n := warmup.Common(w.all); len(runs) > 1 {
		for _, r := range runs {
			if len(r.Run) > n {
				env.Note("%s has %s: of several runs the first %d are compared, which all have", table.Clean(r.label), text.PluralExact(len(r.Run), f.one(), f.many()), n)
			}
		}
	}
	if f.output != "" {
		return files.WriteFigure(env, f.output, figure.Warmup(f.curve(w)))
	}
	return f.print(w)
}

// measure measures the iterations of the session in dir.
func (f *warmupFlags) measure(env console.Env, dir string) (*warmRun, error) {
	s, err := env.Open(dir)
	if err != nil {
		return nil, err
	}
	r := &warmRun{session: s.Manifest.Session}
	list, err := f.list(s, r)
	if err != nil {
		return nil, err
	}
	if len(list) > mostIterations {
		return nil, fmt.Errorf("session %s: %s, at most %d are compared: choose a longer time with --every, or others with --iterations-of",
			r.session, text.PluralExact(len(list), f.one(), f.many()), mostIterations)
	}
	before := len(s.Warnings)
	if r.Measured, err = iteration.Measure(s, list); err != nil {
		return nil, err
	}
	env.NoteFound(s, before)
	if f.every > 0 && r.Summarised > 0 {
		return nil, fmt.Errorf("session %s: %s of fast classes were summarised, so how many ran in a window is not known: record with --detail=all, or mark iterations (shadow run --marker)",
			r.session, text.PluralExact(r.Summarised, "execution", "executions"))
	}
	r.values = f.quantity().Of(r.Run)
	r.verdict = warmup.Judge(r.values, f.share)
	return r, nil
}

// list are the iterations or windows of a session.
func (f *warmupFlags) list(s *session.Session, r *warmRun) ([]iteration.Iteration, error) {
	if f.every > 0 {
		r.source = fmt.Sprintf("windows of %v", f.every)
		list := iteration.Windows(s, units.Ns(f.every), mostIterations+1)
		if len(list) == 0 {
			return nil, fmt.Errorf("session %s: it is shorter than --every %v", s.Manifest.Session, f.every)
		}
		return list, nil
	}
	set, err := iteration.Find(s, f.iterationsOf)
	if err != nil {
		return nil, fmt.Errorf("%w; or compare windows with --every 1s", err)
	}
	r.source = set.Source
	list, err := iteration.Apart(set.All, activity.Span{From: s.Manifest.StartNs, To: s.Manifest.EndNs})
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", s.Manifest.Session, err)
	}
	if set.Dropped > 0 {
		r.source += fmt.Sprintf(" (the first %d)", len(list))
	}
	return list, nil
}

func (f *warmupFlags) one() string {
	if f.every > 0 {
		return "window"
	}
	return "iteration"
}

func (f *warmupFlags) many() string { return f.one() + "s" }

// warmRuns are all runs together.
type warmRuns struct {
	runs    []*warmRun
	all     [][]warmup.Iteration
	values  []float64 // means over the runs
	verdict warmup.Verdict
	settled int // the first iteration that stands for the warm program, from 0
	classes []warmup.ClassLoss
}

func (f *warmupFlags) join(runs []*warmRun) *warmRuns {
	w := &warmRuns{runs: runs}
	for _, r := range runs {
		w.all = append(w.all, r.Run)
	}
	for _, mean := range f.quantity().Over(w.all) {
		w.values = append(w.values, mean.Mean)
	}
	w.verdict = warmup.Judge(w.values, f.share)
	w.settled = warmup.Settled(w.values, f.share)
	var losses [][]warmup.Loss
	for _, r := range runs {
		losses = append(losses, warmup.Losses(r.Work, w.settled))
	}
	w.classes = warmup.Join(losses)
	return w
}

// quantity is what iterations are compared by.
func (f *warmupFlags) quantity() warmup.Quantity {
	q := warmup.Time
	if f.metric == "cpu" {
		q = warmup.CPU
	}
	if f.every > 0 {
		return q.PerTask()
	}
	return q
}

// compared names it.
func (f *warmupFlags) compared() string {
	name := "time"
	if f.metric == "cpu" {
		name = "CPU time"
	}
	if f.every > 0 {
		name += " per task"
	}
	return name
}

// curve is what the figure shows.
func (f *warmupFlags) curve(w *warmRuns) figure.WarmCurve {
	c := figure.WarmCurve{What: f.compared(), Of: f.one(), Runs: len(w.runs), Warm: w.verdict.Warm, Limit: w.verdict.Best * (1 + f.share), Within: f.share}
	times, compiler, collector, deopts := f.quantity().Over(w.all), warmup.Compiler.Over(w.all), warmup.GC.Over(w.all), warmup.Deopts.Over(w.all)
	for i := range times {
		point := figure.WarmPoint{Time: times[i], Compiler: compiler[i].Mean, GC: collector[i].Mean, Deopts: deopts[i].Mean}
		for _, r := range w.runs {
			if v := r.values[i]; len(w.runs) > 1 && !math.IsNaN(v) {
				point.Each = append(point.Each, v)
			}
		}
		c.Points = append(c.Points, point)
	}
	return c
}
