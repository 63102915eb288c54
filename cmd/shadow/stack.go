package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/table"
	"stackagent/granularity/activity"
	"stackagent/granularity/speedup"
	"stackagent/internal/units"
	"stackagent/shadow/figure"
	"stackagent/shadow/scaling"
)

// stackFlags are the flags of shadow stack, and those that scale shares.
type stackFlags struct {
	listing
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

func newStack(env Env) *cobra.Command {
	var f stackFlags
	cmd := &cobra.Command{
		Use:   "stack BASE_DIR DIR...",
		Short: "Speedup stacks: why N threads are not N times as fast as one",
		Long: `Compares runs with the run with one application thread, BASE_DIR. For each, the
measured speedup and what was lost up to the number of threads: to garbage
collection, to the main thread's sequential part, to waiting for each other, to
threads that end early, to I/O and to want of processors; the rest is more work
for the same result, and what is told under it. All add up to the number of
threads; a negative figure is a gain.`,
		Example: `  shadow stack /tmp/one /tmp/two /tmp/four
  shadow stack /tmp/one /tmp/four --threads 4 --region last:3 --marker 'com.acme.Iteration'
  shadow stack /tmp/one /tmp/two -o stack.svg`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usagef("which sessions? name the folder of the run with one thread, then those of the others")
			}
			return f.check(len(args) - 1)
		},
		RunE: func(_ *cobra.Command, args []string) error { return f.run(env, args[0], args[1:]) },
	}
	f.addTo(cmd, env, false, "table", "json", "csv")
	f.addRegion(cmd)
	cmd.Flags().IntSliceVar(&f.threads, "threads", nil, "numbers of threads of the runs, in their order (default: counted)")
	return cmd
}

func (f *stackFlags) check(runs int) error {
	if err := f.listing.check(); err != nil {
		return err
	}
	if len(f.threads) != 0 && len(f.threads) != runs {
		return usagef("--threads names %d numbers for %d runs (the base is not among them)", len(f.threads), runs)
	}
	if slices.ContainsFunc(f.threads, func(n int) bool { return n < 1 }) {
		return usagef("--threads: use numbers above 0")
	}
	return f.checkRegion()
}

func (f *stackFlags) checkRegion() error {
	var err error
	if f.parsed, err = scaling.ParseRegion(f.region); err != nil {
		return &usageError{err}
	}
	return checkFigure(f.output)
}

func (f *stackFlags) run(env Env, baseDir string, dirs []string) error {
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
		bars = append(bars, stackBar{speedup.Repeat([]speedup.Bar{speedup.Stack(base.Account, run.Account)}), run.Counted})
	}
	if f.output != "" {
		return writeFigure(env, f.output, figure.Stacks([]figure.StackGroup{{Bars: repeated(bars)}}))
	}
	return f.print(bars)
}

// stackBar is a bar with how its number of threads is known.
type stackBar struct {
	speedup.Repeated
	counted bool
}

func repeated(bars []stackBar) []speedup.Repeated {
	out := make([]speedup.Repeated, len(bars))
	for i, b := range bars {
		out[i] = b.Repeated
	}
	return out
}

// reckon brings the session in dir to account.
func (f *stackFlags) reckon(env Env, dir string, threads int) (*scaling.Run, error) {
	s, err := open(env, dir)
	if err != nil {
		return nil, err
	}
	return scaling.Reckon(s, scaling.Options{Threads: threads, Region: f.parsed, Marker: f.marker, Workers: f.workers})
}

func noteRun(env Env, dir string, r *scaling.Run) {
	for _, n := range r.Notes {
		env.note("%s: %s", clean(dir), clean(n))
	}
}

// stackJSON is the output of shadow stack; threads, speedup and components are promised.
type stackJSON struct {
	Bars         []barJSON         `json:"bars"`
	NotAvailable map[string]string `json:"not_available"`
}

type barJSON struct {
	Threads    int                 `json:"threads"`
	Speedup    float64             `json:"speedup"`
	Components map[string]float64  `json:"components"`
	Rest       map[string]float64  `json:"rest"`       // parts of the component of this name
	Confidence map[string]*float64 `json:"confidence"` // half the interval at 95 %; null: a single run
	Counted    bool                `json:"threads_counted"`
	// SequentialAssumed: the base is one thread alone, its sequential part is
	// taken to be that of the run.
	SequentialAssumed bool      `json:"sequential_assumed"`
	Runs              []runJSON `json:"runs"`
	Advice            string    `json:"advice"`
}

// runJSON is what a bar was computed from, nanoseconds.
type runJSON struct {
	BaseNs       units.Ns            `json:"base_ns"` // T_s
	DurationNs   units.Ns            `json:"duration_ns"`
	GCNs         units.Ns            `json:"gc_ns"`
	SequentialNs units.Ns            `json:"sequential_ns"`
	IdleNs       units.Ns            `json:"idle_ns"`
	ParallelNs   units.Ns            `json:"parallel_ns"`
	States       map[string]units.Ns `json:"states"` // of the application threads, in the parallel part
	ExitedNs     units.Ns            `json:"exited_ns"`
	Threads      int                 `json:"application_threads"`
	AtOnce       int                 `json:"at_once"`
}

// hardwareAbsent says why the rest is not split by hardware counters.
const hardwareAbsent = "instructions, cycles and cache misses per run are needed to tell extra instructions from interference in the caches; " +
	"this is not offered yet"

func (f *stackFlags) print(bars []stackBar) error {
	switch f.format {
	case "json":
		out := stackJSON{Bars: []barJSON{}, NotAvailable: map[string]string{"hardware": hardwareAbsent}}
		for _, b := range bars {
			out.Bars = append(out.Bars, b.json())
		}
		return writeJSON(f.env.Out, out)
	case "csv":
		return f.csv(bars)
	}
	return f.table(bars)
}

func (b *stackBar) json() barJSON {
	out := barJSON{
		Threads: b.Threads, Speedup: b.Speedup.Mean, Components: map[string]float64{}, Rest: map[string]float64{},
		Confidence: map[string]*float64{"speedup": half(b.Speedup)}, Counted: b.counted, Advice: b.Advice(),
	}
	for c, v := range b.Components {
		name := speedup.Component(c).String()
		out.Components[name], out.Confidence[name] = v.Mean, half(v)
	}
	for p, v := range b.Parts {
		out.Rest[speedup.Part(p).String()] = v.Mean
	}
	for _, bar := range b.Bars {
		out.SequentialAssumed = out.SequentialAssumed || bar.AssumedSequential
		out.Runs = append(out.Runs, runOf(bar))
	}
	return out
}

func half(v speedup.Interval) *float64 {
	if v.Half != v.Half { // NaN: a single run
		return nil
	}
	return &v.Half
}

func runOf(b speedup.Bar) runJSON {
	r := b.Run
	out := runJSON{
		BaseNs: b.Base.Duration, DurationNs: r.Duration, GCNs: r.GC, SequentialNs: r.Sequential, IdleNs: r.Idle, ParallelNs: r.Parallel,
		States: map[string]units.Ns{}, ExitedNs: r.Exited, Threads: r.Workers, AtOnce: r.MostAlive,
	}
	for s, d := range r.InState {
		out.States[activity.State(s).String()] = d
	}
	return out
}

func (f *stackFlags) table(bars []stackBar) error {
	columns := []table.Column{right("threads"), right("speedup")}
	for c := range speedup.NComponents {
		columns = append(columns, right(c.String()))
	}
	t := table.New(columns...)
	for _, b := range bars {
		row := []string{strconv.Itoa(b.Threads), interval(b.Speedup)}
		for _, v := range b.Components {
			row = append(row, interval(v))
		}
		t.Row(row...)
	}
	if err := f.render(t, len(bars)); err != nil {
		return err
	}
	var text strings.Builder
	for _, b := range bars {
		fmt.Fprintf(&text, "\n%s", b.Advice())
	}
	if _, err := fmt.Fprintln(f.env.Out, text.String()); err != nil {
		return fmt.Errorf("printing advice: %w", err)
	}
	f.env.note("split of the rest by hardware counters not available: %s", hardwareAbsent)
	return nil
}

// interval prints a mean and half its confidence interval.
func interval(v speedup.Interval) string {
	if half(v) == nil {
		return fmt.Sprintf("%.2f", v.Mean)
	}
	return fmt.Sprintf("%.2f ± %.2f", v.Mean, v.Half)
}

func (f *stackFlags) csv(bars []stackBar) error {
	header := []string{"threads", "speedup", "speedup_confidence"}
	for c := range speedup.NComponents {
		header = append(header, c.String(), c.String()+"_confidence")
	}
	for p := range speedup.NParts {
		header = append(header, "rest_"+p.String())
	}
	cell := func(v float64) string { return strconv.FormatFloat(v, 'g', 9, 64) }
	confidence := func(v speedup.Interval) string {
		if half(v) == nil {
			return ""
		}
		return cell(v.Half)
	}
	var cells [][]string
	for _, b := range bars {
		row := []string{strconv.Itoa(b.Threads), cell(b.Speedup.Mean), confidence(b.Speedup)}
		for _, v := range b.Components {
			row = append(row, cell(v.Mean), confidence(v))
		}
		for _, v := range b.Parts {
			row = append(row, cell(v.Mean))
		}
		cells = append(cells, row)
	}
	return writeCSV(f.env.Out, header, cells)
}
