package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/launch"
	"stackagent/cmd/shadow/internal/record"
	"stackagent/granularity/estimate"
	"stackagent/granularity/perturbation"
	"stackagent/hpc"
	"stackagent/internal/listing"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/threads"
	"stackagent/shadow/experiment"
	"stackagent/shadow/show/view"
)

// perturbationFileName is the file beside the sessions of repeated runs that
// holds what profiling changed.
const perturbationFileName = "perturbation.json"

// maxRepeat bounds --repeat: more runs add nothing.
const maxRepeat = 1000

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
	if r.times < 1 || r.times > maxRepeat {
		return console.Usagef("--repeat %d: use a number from 1 to %d", r.times, maxRepeat)
	}
	return nil
}

// wanted reports whether more than one plain run is asked for.
func (r *repeatFlags) wanted() bool { return r.times > 1 || r.baseline }

// measuredRun is what the kernel says about one run as a whole, by quantity.
type measuredRun map[string]float64

// quantities are what is compared, in the order of tables; hardware events of
// the threads follow where the machine counts them.
var quantities = []struct {
	name  string
	of    func(*hpc.Usage) float64 // NaN: not known
	print func(float64) string
}{
	{"wall_ns", func(u *hpc.Usage) float64 { return float64(u.Wall) }, nsText},
	{"cpu_ns", func(u *hpc.Usage) float64 { return float64(u.CPU()) }, nsText},
	{"user_ns", func(u *hpc.Usage) float64 { return float64(u.User) }, nsText},
	{"system_ns", func(u *hpc.Usage) float64 { return float64(u.System) }, nsText},
	{"minor_faults", func(u *hpc.Usage) float64 { return float64(u.MinorFaults) }, countText},
	{"major_faults", func(u *hpc.Usage) float64 { return float64(u.MajorFaults) }, countText},
	{"voluntary_switches", func(u *hpc.Usage) float64 { return float64(u.Voluntary) }, countText},
	{"involuntary_switches", func(u *hpc.Usage) float64 { return float64(u.Involuntary) }, countText},
	{"max_resident_bytes", maxResident, bytesText},
}

func maxResident(u *hpc.Usage) float64 {
	if u.MaxResident == nil {
		return math.NaN()
	}
	return float64(*u.MaxResident)
}

func nsText(v float64) string    { return units.FormatNs(units.Ns(math.Round(v))) }
func countText(v float64) string { return units.FormatCount(int64(math.Round(v))) }
func bytesText(v float64) string { return units.FormatBytes(int64(math.Round(v))) }

func measuredOf(u *hpc.Usage, counters *hpc.File) measuredRun {
	m := measuredRun{}
	for _, q := range quantities {
		if v := q.of(u); !math.IsNaN(v) {
			m[q.name] = v
		}
	}
	if counters == nil {
		return m
	}
	for _, e := range hpc.AllEvents() {
		if !e.Hardware() || counters.NotAvailable[e] != "" {
			continue
		}
		for i := range counters.Threads {
			if n := counters.Threads[i].Counts[e]; n != nil {
				m[e.String()] += threads.CountOf(n).Value
			}
		}
	}
	return m
}

// agentFactor tells the runs without the agent apart, where runs with it have no factor.
const (
	agentFactor = "agent"
	noAgent     = "none"
)

var withoutAgent = experiment.Point{{Factor: agentFactor, Value: noAgent}}

// repeat runs the command several times with the agent, and as often without it if that is asked for. The order is
// random: what warms up, or slows down, does so for both.
func repeat(ctx context.Context, env console.Env, f runFlags, args []string) error {
	dir := f.dir
	if dir == "" {
		dir = "shadow-" + env.Now().Format(folderTime)
	}
	if err := checkSpace(dir); err != nil {
		return err
	}
	if _, err := findAgent(env, f.library); err != nil {
		return err
	}
	if err := checkJava(args[0]); err != nil {
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
		return endOf(result).Outcome(), nil
	}
	plan := experiment.Plan{Kind: "run", Command: args, Settings: f.settings(), Java: javaOf(env, args, nil), Points: points, Invocations: f.repeat.times}
	x, err := experiment.Open(dir, plan, experiment.Options{Launch: run, Others: others, Attempts: 1})
	if err != nil {
		return err
	}
	for _, n := range x.Notes {
		if !f.quiet {
			env.Note("%s", text.OneLine(n))
		}
	}
	defer env.Signals.Hold(0)() // the command ends as it wants
	if err := workUntil(ctx, x, dir, func(ctx context.Context) error { return x.All(ctx, 0) }); err != nil {
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
		} else if err := comparePerturbation(env, f, args, dir, with, without); err != nil {
			return err
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
func (f runFlags) once(ctx context.Context, env console.Env, folder string, args []string, agent bool) (launch.Result, error) {
	if !agent {
		return bare(env, f, args, folder)
	}
	f.dir = folder
	return profiled(ctx, env, f, args)
}

// measuredAt are the quantities of the first runs of a point, without those that failed.
func measuredAt(x *experiment.Experiment, p experiment.Point, times int) ([]measuredRun, error) {
	var out []measuredRun
	for _, r := range x.Of(p) {
		if r.Failed() || r.Invocation > times {
			continue
		}
		counters, err := hpc.ReadFile(x.Path(r))
		if err != nil {
			return nil, err
		}
		out = append(out, measuredOf(&r.Usage, counters))
	}
	return out, nil
}

// bare is a run without the agent. The counters from outside run as they do with
// it, so that they are no part of the difference.
func bare(env console.Env, f runFlags, args []string, folder string) (launch.Result, error) {
	w := record.NewWatcher(env, f.counter, f.caches)
	defer w.End()
	out, errs, done := watched(env, f.marker.recorder()) // pipes here as well, if with the agent
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

// perturbationRow is one quantity with and without the agent.
type perturbationRow struct {
	Quantity string              `json:"quantity"`
	With     perturbation.Sample `json:"with"`
	Without  perturbation.Sample `json:"without"`
	Ratio    perturbation.Ratio  `json:"ratio"`
	Effect   estimate.Effect     `json:"effect"`
}

// perturbationFile is the content of perturbation.json.
type perturbationFile struct {
	Version    int               `json:"version"`
	Command    []string          `json:"command"`
	Runs       int               `json:"runs"` // of each kind
	Quantities []perturbationRow `json:"quantities"`
}

func comparePerturbation(env console.Env, f runFlags, args []string, dir string, with, without []measuredRun) error {
	n := min(len(with), len(without))
	var names []string
	for _, q := range quantities {
		names = append(names, q.name)
	}
	for _, e := range hpc.AllEvents() {
		names = append(names, e.String())
	}
	file := perturbationFile{Version: 1, Command: args, Runs: n, Quantities: []perturbationRow{}}
	for _, name := range names {
		a, b := column(with, name), column(without, name)
		if len(a) == len(with) && len(b) == len(without) {
			row := perturbationRow{Quantity: name, With: perturbation.SampleOf(a), Without: perturbation.SampleOf(b), Effect: estimate.EffectOf(a, b)}
			row.Ratio = perturbation.RatioOf(row.With, row.Without)
			file.Quantities = append(file.Quantities, row)
		}
	}
	if err := hpc.WriteJSON(filepath.Join(dir, perturbationFileName), file); err != nil {
		return err
	}
	if f.quiet {
		return nil
	}
	return printPerturbation(env, &file, dir)
}

// column is one quantity of the runs that have it.
func column(runs []measuredRun, name string) []float64 {
	var values []float64
	for _, r := range runs {
		if v, ok := r[name]; ok {
			values = append(values, v)
		}
	}
	return values
}

func printPerturbation(env console.Env, file *perturbationFile, dir string) error {
	err := view.Table(env.Err, table.ForWriter(env.Err, env.Getenv), listing.Refs(file.Quantities), perturbationColumns(file.Runs))
	if err != nil {
		return err
	}
	env.Note("sessions in %s, the comparison in %s", dir, filepath.Join(dir, perturbationFileName))
	return nil
}

func perturbationColumns(runs int) []listing.Column[*perturbationRow] {
	columns := []listing.Column[*perturbationRow]{
		{Title: text.PluralExact(runs, "run", "runs") + " each", Kind: listing.Word, Show: func(q *perturbationRow) string { return q.Quantity }},
	}
	sample := func(title string, of func(*perturbationRow) perturbation.Sample) {
		columns = append(columns,
			listing.Column[*perturbationRow]{Title: title, Kind: listing.Float, Show: func(q *perturbationRow) string { return q.text()(of(q).Mean) }},
			listing.Column[*perturbationRow]{Title: "± 95 %", Kind: listing.Float, Show: func(q *perturbationRow) string { return unlessNaN(of(q).Half, q.text()) }},
			listing.Column[*perturbationRow]{Title: "stddev", Kind: listing.Float, Show: func(q *perturbationRow) string { return unlessNaN(of(q).StdDev, q.text()) }})
	}
	sample("without", func(q *perturbationRow) perturbation.Sample { return q.Without })
	sample("with", func(q *perturbationRow) perturbation.Sample { return q.With })
	return append(columns,
		listing.Column[*perturbationRow]{Title: "ratio", Kind: listing.Float, Show: func(q *perturbationRow) string {
			return unlessNaN(q.Ratio.Value, func(v float64) string { return fmt.Sprintf("%.3f", v) })
		}},
		listing.Column[*perturbationRow]{Title: "95 %", Kind: listing.Float, Show: func(q *perturbationRow) string {
			if math.IsNaN(q.Ratio.Low) {
				return ""
			}
			return fmt.Sprintf("%.3f to %.3f", q.Ratio.Low, q.Ratio.High)
		}},
		listing.Column[*perturbationRow]{Title: "effect", Kind: listing.Word, Show: func(q *perturbationRow) string { return q.Effect.HedgesWord() }})
}

// text returns how the terminal shows values of the quantity.
func (q *perturbationRow) text() func(float64) string {
	for _, known := range quantities {
		if known.name == q.Quantity {
			return known.print
		}
	}
	return countText
}

func unlessNaN(v float64, text func(float64) string) string {
	if math.IsNaN(v) {
		return ""
	}
	return text(v)
}
