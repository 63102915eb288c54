package experiments

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"stackagent/agent/options"
	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/record"
	"stackagent/cmd/shadow/internal/run"
	"stackagent/internal/text"
	"stackagent/shadow/experiment/characterize"
	"stackagent/shadow/experiment/characterize/measure"
)

// suiteFlags make runs of the programs of a suite and characterise them.
type suiteFlags struct {
	programFlags
	ExperimentFlags
	folder string
	skip   []string
	run    run.Flags
}

func (f *suiteFlags) addTo(flags *pflag.FlagSet) {
	f.programFlags.addTo(flags)
	f.ExperimentFlags.AddExperiment(flags)
	flags.IntVar(&f.Repeat, "repeat", 5, "runs of each kind of a program of the suite")
	flags.StringSliceVar(&f.skip, "skip", nil, "statistics by `CODE` whose runs are left out: "+strings.Join(measure.Skippable, ", "))
	flags.StringVar(&f.folder, "runs", "", "`FOLDER` of the runs of the suite (default ./shadow-characterize-<time>)")
	record.AddSwitches(flags, &f.run.Switches)
	f.run.AddAgent(flags, "")
}

func (f *suiteFlags) checkSuite() error {
	for _, code := range f.skip {
		if !slices.Contains(measure.Skippable, code) {
			return console.Usagef("--skip %s: use some of %s", code, text.OneOf(measure.Skippable))
		}
	}
	if f.Repeat < 1 || f.Repeat > run.MaxRepeat {
		return console.Usagef("--repeat %d: use a number from 1 to %d", f.Repeat, run.MaxRepeat)
	}
	return errors.Join(f.programFlags.check("characterize", nil), f.CheckValues())
}

// measure runs the programs of the suite and gathers their statistics.
func (f *suiteFlags) measure(ctx context.Context, env console.Env) ([]characterize.Program, error) {
	dir, err := run.ExperimentFolder(env, f.folder, "characterize")
	if err != nil {
		return nil, err
	}
	if _, err := run.FindAgent(env, f.run.Library); err != nil {
		return nil, err
	}
	programs, err := f.Input.Read(ctx, run.Outside(env), nil, nil)
	if err != nil {
		return nil, err
	}
	search, err := usualSearch()
	if err != nil {
		return nil, err
	}
	f.run.Counter = true
	f.run.More = []options.Setting{{Key: "metric", Value: "wall+cpu+alloc"}}
	r := f.Runner(env, programs...)
	r.Input, r.Recorder = f.Input, run.Recorder{Env: env, Flags: &f.run}
	s := &measure.Suite{Runner: r, Dir: dir, Repeat: f.Repeat, Skip: f.skip, Search: search,
		Gather: func(dir string) ([]characterize.Run, error) { return readRuns(env, dir) }}
	return s.Measure(ctx)
}
