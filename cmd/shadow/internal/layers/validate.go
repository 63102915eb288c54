package layers

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/experiments"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/cmd/shadow/internal/record"
	"stackagent/cmd/shadow/internal/run"
	"stackagent/hpc/monitor"
	"stackagent/hpc/sched"
	"stackagent/shadow/experiment"
	"stackagent/shadow/experiment/perturb"
	"stackagent/shadow/experiment/runner"
	"stackagent/shadow/show/view"
)

// validateFlags are those of shadow vertical that make runs: with and without monitors, or without a supposed cause.
type validateFlags struct {
	experiments.ExperimentFlags
	validate bool
	folder   string
	run      run.Flags
}

func (f *validateFlags) addTo(flags *pflag.FlagSet) {
	flags.BoolVar(&f.validate, "validate", false, "run the command after --: without each group of monitors and with it, or, with --explain, without the supposed cause")
	flags.IntVar(&f.Repeat, "repeat", 5, "with --validate: runs of each kind")
	flags.StringVar(&f.folder, "folder", "", "with --validate: `FOLDER` of the runs (default ./shadow-vertical-<time>)")
	f.run.AddAgent(flags, "with --validate: ")
	flags.DurationVar(&f.run.Monitors.Interval, "monitor-interval", monitor.DefaultInterval, "with --validate: time between samples")
	f.ExperimentFlags.AddExperiment(flags)
	f.run.Switches, f.run.Counter = string(sched.Auto), true
}

// split divides the arguments into the session and the command after --.
func (f *validateFlags) split(cmd *cobra.Command, args []string) (session, command []string) {
	if i := cmd.ArgsLenAtDash(); i >= 0 {
		return args[:i], args[i:]
	}
	return args, nil
}

// checkRuns checks what the runs need. A session is explained; without one, --validate looks at the monitors alone.
func (f *Flags) checkRuns(session, command []string) error {
	switch {
	case !f.validate && len(command) > 0:
		return console.Usagef("a command after -- goes with --validate")
	case !f.validate:
		return listflags.OneSession(nil, session)
	case len(command) == 0:
		return console.Usagef("--validate runs a command: give it after --")
	case f.Explain != "" && len(session) != 1:
		return console.Usagef("--explain with --validate: give the session to explain, and the command without the cause after --")
	case f.Explain == "" && len(session) > 0:
		return console.Usagef("--validate compares runs of the command; a session goes with --explain")
	case f.Repeat < 1 || f.Repeat > run.MaxRepeat:
		return console.Usagef("--repeat %d: use a number from 1 to %d", f.Repeat, run.MaxRepeat)
	}
	f.run.Monitors.List = monitor.All
	return cmp.Or(f.run.Monitors.Check(), f.run.Check(), f.CheckValues())
}

// sampled makes the runs of a command with these lists of monitors.
func (f *validateFlags) sampled(ctx context.Context, env console.Env, kind string, command, lists []string) (*runner.Runner, []experiment.Point, error) {
	if _, err := run.FindAgent(env, f.run.Library); err != nil {
		return nil, nil, err
	}
	if err := run.CheckJava(command[0]); err != nil {
		return nil, nil, err
	}
	dir, err := run.ExperimentFolder(env, f.folder, "vertical")
	if err != nil {
		return nil, nil, err
	}
	points := experiment.Cross([]experiment.Point{nil}, runner.Monitors, lists)
	r := f.Runner(env, runner.Command(command))
	r.Recorder = run.Recorder{Env: env, Flags: &f.run}
	plan := experiment.Plan{Kind: kind, Points: points, Invocations: f.Repeat, Settings: []string{"monitor-interval=" + f.run.Monitors.Interval.String()}}
	if err := r.All(ctx, dir, plan, 0); err != nil {
		return nil, nil, err
	}
	r.NoteFailures(points)
	env.Note("sessions in %s", dir)
	f.folder = dir
	return r, points, nil
}

// perturbed compares runs without monitors with runs with each group, and with all: sections 3.4 of the paper on vertical
// profiling.
func (f *validateFlags) perturbed(ctx context.Context, env console.Env, l *listflags.Flags, command []string) error {
	lists := []string{monitor.None}
	for _, g := range record.Groups() {
		lists = append(lists, g.Name)
	}
	r, points, err := f.sampled(ctx, env, "vertical", command, append(lists, monitor.All))
	if err != nil {
		return err
	}
	rows, err := perturb.Groups(r, points, f.Repeat, f.folder)
	if err != nil {
		return err
	}
	if err := view.Rows(&l.Printer, rows, perturb.GroupColumns); err != nil || l.Format != "table" {
		return err
	}
	env.Note("%s", perturb.Changed(rows))
	return nil
}
