package run

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/record"
	"stackagent/hpc"
	"stackagent/internal/launch"
	"stackagent/internal/listing"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/shadow/experiment"
	"stackagent/shadow/experiment/perturb"
	"stackagent/shadow/experiment/runner"
	"stackagent/shadow/show/view"
)

// MaxRepeat bounds --repeat: more runs add nothing.
const MaxRepeat = 1000

// repeatFlags ask for several runs of one command.
type repeatFlags struct {
	times    int
	baseline bool
}

func (r *repeatFlags) addTo(flags *pflag.FlagSet) {
	flags.IntVar(&r.times, "repeat", 1, "run the command N times; sessions in run-1, run-2, ... of the folder")
	flags.BoolVar(&r.baseline, "baseline", false, "also run it as often without the agent, in turns, and report what profiling changed")
}

func (r *repeatFlags) check() error {
	if r.times < 1 || r.times > MaxRepeat {
		return console.Usagef("--repeat %d: use a number from 1 to %d", r.times, MaxRepeat)
	}
	return nil
}

// wanted reports whether more than one plain run is asked for.
func (r *repeatFlags) wanted() bool { return r.times > 1 || r.baseline }

// agentFactor tells the runs without the agent apart, where runs with it have no factor.
const (
	agentFactor = "agent"
	noAgent     = "none"
)

var withoutAgent = experiment.Point{{Factor: agentFactor, Value: noAgent}}

// repeat runs the command several times with the agent, and as often without it if that is asked for. The order is
// random: what warms up, or slows down, does so for both.
func repeat(ctx context.Context, env console.Env, f Flags, args []string) error {
	dir := f.dir
	if dir == "" {
		dir = "shadow-" + env.Now().Format(folderTime)
	}
	if err := checkSpace(dir); err != nil {
		return err
	}
	if _, err := FindAgent(env, f.Library); err != nil {
		return err
	}
	if err := CheckJava(args[0]); err != nil {
		return err
	}
	points := []experiment.Point{nil}
	if f.repeat.baseline {
		points = append(points, withoutAgent)
	}
	run := func(ctx context.Context, folder string, p experiment.Point, _ int) (experiment.Outcome, error) {
		result, err := f.once(ctx, env, folder, args, len(p) == 0)
		if err != nil {
			return experiment.Outcome{}, err
		}
		return runner.EndOf(result).Outcome(), nil
	}
	plan := experiment.Plan{Kind: "run", Command: args, Settings: f.Settings(), Java: Outside(env).Java(args, nil), Points: points, Invocations: f.repeat.times}
	x, err := experiment.Open(dir, plan, experiment.Options{Launch: run, Others: DisturbedFrom, Attempts: 1})
	if err != nil {
		return err
	}
	for _, n := range x.Notes {
		if !f.quiet {
			env.Note("%s", text.OneLine(n))
		}
	}
	defer env.Signals.Hold(0)() // the command ends as it wants
	if err := runner.Until(ctx, x, dir, func(ctx context.Context) error { return x.All(ctx, 0) }); err != nil {
		return err
	}
	for _, r := range x.Results() {
		if r.Disturbed != "" && !f.quiet {
			env.Note("%s: %s", r.Folder, r.Disturbed)
		}
	}
	if f.repeat.baseline {
		with, err := measuredAt(x, nil, f.repeat.times)
		if err != nil {
			return err
		}
		without, err := measuredAt(x, withoutAgent, f.repeat.times)
		if err != nil {
			return err
		}
		if len(with) == 0 || len(without) == 0 {
			env.Note("not available: what profiling changed: every run with the agent, or every run without it, failed")
		} else if file, err := perturb.Compare(dir, args, with, without); err != nil {
			return err
		} else if !f.quiet {
			if err := printPerturbation(env, file, dir); err != nil {
				return err
			}
		}
	}
	return firstFailure(x.Results())
}

// firstFailure makes an error of the first run that did not end well, be it one of this command or of an earlier one.
func firstFailure(results []*experiment.Result) error {
	for _, r := range results {
		if r.Code != 0 {
			return &console.ExitError{Code: r.Code}
		}
	}
	return nil
}

// once is one run, whose output is the command's own.
func (f Flags) once(ctx context.Context, env console.Env, folder string, args []string, agent bool) (launch.Result, error) {
	if !agent {
		return bare(env, f, args, folder)
	}
	f.dir = folder
	return profiled(ctx, env, f, args)
}

// measuredAt are the quantities of the first runs of a point, without those that failed.
func measuredAt(x *experiment.Experiment, p experiment.Point, times int) ([]perturb.Measured, error) {
	var out []perturb.Measured
	for _, r := range x.Good(p, times) {
		counters, err := hpc.ReadFile(x.Path(r))
		if err != nil {
			return nil, err
		}
		out = append(out, perturb.MeasuredOf(&r.Usage, counters))
	}
	return out, nil
}

// bare is a run without the agent. The counters from outside run as they do with
// it, so that they are no part of the difference.
func bare(env console.Env, f Flags, args []string, folder string) (launch.Result, error) {
	w := record.NewWatcher(env, f.Counter, f.caches)
	defer w.End()
	out, errs, done := watched(env, f.Marker.recorder()) // pipes here as well, if with the agent
	defer done()
	p, err := launch.Start(launch.Command{Args: args, Env: slices.Clone(env.Environ), In: env.In, Out: out, Err: errs})
	if err != nil {
		return launch.Result{}, err
	}
	var x *record.Counting
	if launch.IsJava(args[0]) {
		x = w.Watch(p.PID())
	}
	result, err := p.Wait()
	if err != nil {
		return launch.Result{}, err
	}
	w.End()
	counters := w.Snapshot(x)
	if counters == nil {
		return result, nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return launch.Result{}, fmt.Errorf("making the folder of a run: %w", err)
	}
	return result, counters.Write(folder)
}

// failed makes an error of a command that did not end well: its runs are not
// comparable.
func failed(r launch.Result) error {
	if r.Code != 0 {
		return &console.ExitError{Code: r.Code}
	}
	return nil
}

func printPerturbation(env console.Env, file *perturb.File, dir string) error {
	err := view.Table(env.Err, table.ForWriter(env.Err, env.Getenv), listing.Refs(file.Quantities), perturb.Columns(file.Runs))
	if err != nil {
		return err
	}
	env.Note("sessions in %s, the comparison in %s", dir, filepath.Join(dir, perturb.FileName))
	return nil
}

// DisturbedFrom is what counts as a disturbance.
const DisturbedFrom = 0.05

// Outside is what of env a runner needs.
func Outside(env console.Env) runner.Outside {
	return runner.Outside{Environ: env.Environ, Note: env.Note, Hold: env.Signals.Hold}
}
