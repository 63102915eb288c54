package experiments

import (
	"fmt"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/choice"
	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/files"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/granularity/speedup"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/shadow/analysis/scaling"
	"stackagent/shadow/experiment"
	"stackagent/shadow/show/figure"
)

// stackFlags are the flags of shadow stack, and those that scale shares.
type stackFlags struct {
	listflags.Flags
	region  string
	workers string
	choice.Iterations
	threads []int
	output  string
	force   bool

	parsed    scaling.Region
	noSpeedup string // why there is none; "": there is
}

func (f *stackFlags) addRegion(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.region, "region", "whole", "whole | markers (all iterations) | last:K (iterations) | last:TIME | FROM..TO (since the start, as 2s..5s)")
	f.Iterations.AddIteration(cmd)
	cmd.Flags().StringVar(&f.workers, "workers", "", "names of the application threads (glob; default: the pools that do the work)")
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "write the figure to FILE.svg|png|pdf")
}

// NewStack is shadow stack.
func NewStack(env console.Env) *cobra.Command {
	var f stackFlags
	cmd := &cobra.Command{
		Use:   "stack [BASE_DIR] DIR...",
		Short: "Speedup stacks: why N threads are not N times as fast as one",
		Long: `Compares runs with BASE_DIR, the run with one application thread. For each run, shows
the measured speedup and what keeps it below the number of threads: garbage
collection, the sequential part (mostly the main thread's), waiting for each other, threads that
end early, I/O, and too few CPUs. The rest is more work for the same result, and what
is listed under it. All components add up to the number of threads; a negative one is
a gain.

With a single DIR there is nothing to compare with: shows the losses, and that the
speedup is at most the number of threads minus these. A region given by times is shown
in the same way, as the runs do not do the same work in it.

Refuses to compare runs of two programs: give --force if they do the same work.`,
		Example: `  shadow stack /tmp/one /tmp/two /tmp/four
  shadow stack /tmp/one /tmp/four --threads 4 --iteration last:3 --iterations-of 'com.acme.Iteration'
  shadow stack /tmp/one /tmp/two -o stack.svg
  shadow stack /tmp/four`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return console.Usagef("missing session folders: name that of the run with one thread, then the others; or a single one")
			}
			return f.check(max(len(args)-1, 1))
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return f.run(env, "", args)
			}
			return f.run(env, args[0], args[1:])
		},
	}
	f.AddTo(cmd, env, false, "table", "json", "csv")
	f.addRegion(cmd)
	cmd.Flags().BoolVar(&f.force, "force", false, "compare the runs even if they seem to be runs of two programs")
	cmd.Flags().IntSliceVar(&f.threads, "threads", nil, "numbers of threads of the runs, in their order (default: counted)")
	return cmd
}

func (f *stackFlags) check(runs int) error {
	if err := f.Flags.Check(); err != nil {
		return err
	}
	if len(f.threads) != 0 && len(f.threads) != runs {
		return console.Usagef("--threads has %s for %s (the base has none)", text.PluralExact(len(f.threads), "number", "numbers"), text.PluralExact(runs, "run", "runs"))
	}
	if err := positive("--threads", f.threads); err != nil {
		return &console.UsageError{Err: err}
	}
	return f.checkRegion()
}

func (f *stackFlags) checkRegion() error {
	var err error
	if f.parsed, err = scaling.ParseRegion(f.region); err != nil {
		return console.Usagef("--region: %w", err)
	}
	if err = f.Iterations.Join(&f.parsed); err != nil {
		return err
	}
	return files.CheckFigure(f.output)
}

// run prints the stacks of the sessions in dirs; baseDir is "" if there is none.
func (f *stackFlags) run(env console.Env, baseDir string, dirs []string) error {
	if err := f.sameIterations(env, baseDir, dirs); err != nil {
		return err
	}
	base, err := f.base(env, baseDir, dirs)
	if err != nil {
		return err
	}
	var bars []stackBar
	for i, dir := range dirs {
		n := 0
		if len(f.threads) > 0 {
			n = f.threads[i]
		}
		run, err := f.reckon(env, dir, n)
		if err != nil {
			return err
		}
		noteRun(env, dir, run)
		bars = append(bars, f.bar(base, run))
	}
	if f.output != "" {
		return files.WriteFigure(env, f.output, figure.Stacks([]figure.StackGroup{{Bars: repeated(bars)}}))
	}
	return f.print(bars, nil)
}

// Why a bar has no speedup.
const (
	NoBase  = "there is no run with one thread to compare with: name its session first"
	NotSame = "a region given by times is not the same work in both runs: choose one with --region markers, last:K or whole"
)

// base is the account of the run with one thread; nil if nothing can be compared with
// it.
func (f *stackFlags) base(env console.Env, dir string, dirs []string) (*scaling.Run, error) {
	switch {
	case dir == "":
		f.noSpeedup = NoBase
	case f.parsed.ByTime():
		f.noSpeedup = NotSame
	}
	if f.noSpeedup != "" {
		env.Note("no speedup: %s", f.noSpeedup)
		return nil, nil
	}
	if err := f.checkPrograms(env, dir, dirs); err != nil {
		return nil, err
	}
	base, err := f.reckon(env, dir, 1)
	if err != nil {
		return nil, err
	}
	noteRun(env, dir, base)
	return base, nil
}

func (f *stackFlags) bar(base, run *scaling.Run) stackBar {
	if base == nil {
		return stackBar{Repeated: speedup.Repeat([]speedup.Bar{speedup.Alone(run.Account)}), counted: run.Counted}
	}
	b := stackBar{Repeated: speedup.Repeat([]speedup.Bar{speedup.Stack(base.Account, run.Account)}), counted: run.Counted}
	b.count(base, run)
	return b
}

// checkPrograms refuses runs of different programs, unless the user insists.
func (f *stackFlags) checkPrograms(env console.Env, baseDir string, dirs []string) error {
	base, err := programOf(env, baseDir)
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		p, err := programOf(env, dir)
		if err != nil {
			return err
		}
		if why := base.Unlike(p); why != "" {
			line := fmt.Sprintf("%s and %s are runs of different programs: %s", table.Clean(baseDir), table.Clean(dir), table.Clean(why))
			if !f.force {
				return fmt.Errorf("%s; give --force if both do the same work", line)
			}
			env.Note("%s; compared because of --force", line)
		}
		if why := base.OtherWork(p); why != "" && f.parsed.Whole() {
			env.Note("%s: %s", table.Clean(dir), why)
		}
	}
	return nil
}

func programOf(env console.Env, dir string) (*scaling.Program, error) {
	s, err := env.Open(dir)
	if err != nil {
		return nil, err
	}
	return scaling.ProgramOf(s)
}

// stackBar is a bar, how its number of threads is known, and what it was made from.
type stackBar struct {
	speedup.Repeated
	counted     bool
	bases, runs []*scaling.Run   // a base for each run; none without a base
	others      experiment.Point // what else the runs have in common
}

func repeated(bars []stackBar) []speedup.Repeated {
	out := make([]speedup.Repeated, len(bars))
	for i, b := range bars {
		out[i] = b.Repeated
	}
	return out
}

// reckon brings the session in dir to account.
func (f *stackFlags) reckon(env console.Env, dir string, threads int) (*scaling.Run, error) {
	s, err := env.Open(dir)
	if err != nil {
		return nil, err
	}
	return scaling.Reckon(s, scaling.Options{Threads: threads, Region: f.parsed, Workers: f.workers})
}

func noteRun(env console.Env, dir string, r *scaling.Run) {
	for _, n := range r.Notes {
		env.Note("%s: %s", table.Clean(dir), table.Clean(n))
	}
}
