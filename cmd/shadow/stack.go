package main

import (
	"maps"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/files"
	"stackagent/cmd/shadow/internal/listing"
	"stackagent/granularity/speedup"
	"stackagent/hpc"
	"stackagent/shadow/figure"
	"stackagent/shadow/scaling"
	"stackagent/shadow/view/table"
)

// stackFlags are the flags of shadow stack, and those that scale shares.
type stackFlags struct {
	listing.Flags
	region  string
	marker  string
	workers string
	threads []int
	output  string

	parsed scaling.Region
}

func (f *stackFlags) addRegion(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.region, "region", "whole", "whole | markers | last:K (markers) | last:TIME | FROM..TO (since the start, as 2s..5s)")
	cmd.Flags().StringVar(&f.marker, "marker", "", "class whose executions are the markers (glob; default: tasks named with --task when recording)")
	cmd.Flags().StringVar(&f.workers, "workers", "", "names of the application threads (glob; default: the pools that do the work)")
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "write the figure to FILE.svg|png|pdf")
}

func newStack(env console.Env) *cobra.Command {
	var f stackFlags
	cmd := &cobra.Command{
		Use:   "stack BASE_DIR DIR...",
		Short: "Speedup stacks: why N threads are not N times as fast as one",
		Long: `Compares runs with BASE_DIR, the run with one application thread. For each run, shows
the measured speedup and what keeps it below the number of threads: garbage
collection, the main thread's sequential part, waiting for each other, threads that
end early, I/O, and too few CPUs. The rest is more work for the same result, and what
is listed under it. All components add up to the number of threads; a negative one is
a gain.`,
		Example: `  shadow stack /tmp/one /tmp/two /tmp/four
  shadow stack /tmp/one /tmp/four --threads 4 --region last:3 --marker 'com.acme.Iteration'
  shadow stack /tmp/one /tmp/two -o stack.svg`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return console.Usagef("missing session folders: name that of the run with one thread, then the others")
			}
			return f.check(len(args) - 1)
		},
		RunE: func(_ *cobra.Command, args []string) error { return f.run(env, args[0], args[1:]) },
	}
	f.AddTo(cmd, env, false, "table", "json", "csv")
	f.addRegion(cmd)
	cmd.Flags().IntSliceVar(&f.threads, "threads", nil, "numbers of threads of the runs, in their order (default: counted)")
	return cmd
}

func (f *stackFlags) check(runs int) error {
	if err := f.Flags.Check(); err != nil {
		return err
	}
	if len(f.threads) != 0 && len(f.threads) != runs {
		return console.Usagef("--threads has %d numbers for %d runs (the base has none)", len(f.threads), runs)
	}
	if err := positive("--threads", f.threads); err != nil {
		return &console.UsageError{Err: err}
	}
	return f.checkRegion()
}

func (f *stackFlags) checkRegion() error {
	var err error
	if f.parsed, err = scaling.ParseRegion(f.region); err != nil {
		return &console.UsageError{Err: err}
	}
	return files.CheckFigure(f.output)
}

func (f *stackFlags) run(env console.Env, baseDir string, dirs []string) error {
	base, err := f.reckon(env, baseDir, 1)
	if err != nil {
		return err
	}
	noteRun(env, baseDir, base)
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
		bar := stackBar{Repeated: speedup.Repeat([]speedup.Bar{speedup.Stack(base.Account, run.Account)}), counted: run.Counted}
		bar.count(base, run)
		bars = append(bars, bar)
	}
	if f.output != "" {
		return files.WriteFigure(env, f.output, figure.Stacks([]figure.StackGroup{{Bars: repeated(bars)}}))
	}
	return f.print(bars, nil)
}

// stackBar is a bar, how its number of threads is known, and the counters of its
// runs.
type stackBar struct {
	speedup.Repeated
	counted  bool
	ratios   map[hpc.Event][]float64 // of runs with counters, over their bases
	estimate map[hpc.Event]bool
	absent   map[string]string // counters that there are not -> why
}

// count takes in the counters of a run and of its base.
func (b *stackBar) count(base, run *scaling.Run) {
	if b.ratios == nil {
		b.ratios, b.estimate, b.absent = map[hpc.Event][]float64{}, map[hpc.Event]bool{}, map[string]string{}
	}
	maps.Copy(b.absent, run.Counters.NotAvailable)
	for _, e := range hpc.AllEvents() {
		if v, ok := run.Counters.Ratio(base.Counters, e); ok {
			b.ratios[e] = append(b.ratios[e], v)
		}
		b.estimate[e] = b.estimate[e] || run.Counters.Estimated[e] || base.Counters.Estimated[e]
	}
}

// counterJSON is an event of the runs with so many threads, over that of the
// runs with one thread.
type counterJSON struct {
	Ratio     float64 `json:"ratio"`
	Estimated bool    `json:"estimated"` // the kernel multiplexed the counter
}

func (b *stackBar) counters() map[string]counterJSON {
	out := map[string]counterJSON{}
	for e, values := range b.ratios {
		out[e.String()] = counterJSON{speedup.IntervalOf(values).Mean, b.estimate[e]}
	}
	return out
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
	return scaling.Reckon(s, scaling.Options{Threads: threads, Region: f.parsed, Marker: f.marker, Workers: f.workers})
}

func noteRun(env console.Env, dir string, r *scaling.Run) {
	for _, n := range r.Notes {
		env.Note("%s: %s", table.Clean(dir), table.Clean(n))
	}
}
