package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/launch"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/cmd/shadow/internal/record"
	"stackagent/granularity/estimate"
	"stackagent/granularity/perturbation"
	"stackagent/hpc"
	"stackagent/hpc/monitor"
	"stackagent/hpc/sched"
	"stackagent/internal/listing"
	"stackagent/internal/text"
	"stackagent/shadow/experiment"
	"stackagent/shadow/show/view"
)

// validateFlags are those of shadow vertical that make runs: with and without monitors, or without a supposed cause.
type validateFlags struct {
	experimentFlags
	validate bool
	folder   string
	run      runFlags
}

func (f *validateFlags) addTo(flags *pflag.FlagSet) {
	flags.BoolVar(&f.validate, "validate", false, "run the command after --: without each group of monitors and with it, or, with --explain, without the supposed cause")
	flags.IntVar(&f.repeat, "repeat", 5, "with --validate: runs of each kind")
	flags.StringVar(&f.folder, "folder", "", "with --validate: `FOLDER` of the runs (default ./shadow-vertical-<time>)")
	flags.StringVar(&f.run.library, "agent", "", "with --validate: agent library (default $"+agentVariable+", or "+launch.LibraryName+" beside shadow)")
	flags.DurationVar(&f.run.monitors.Interval, "monitor-interval", monitor.DefaultInterval, "with --validate: time between samples")
	f.experimentFlags.addTo(flags)
	f.run.switches, f.run.counter = string(sched.Auto), true
}

// split divides the arguments into the session and the command after --.
func (f *validateFlags) split(cmd *cobra.Command, args []string) (session, command []string) {
	if i := cmd.ArgsLenAtDash(); i >= 0 {
		return args[:i], args[i:]
	}
	return args, nil
}

// checkRuns checks what the runs need. A session is explained; without one, --validate looks at the monitors alone.
func (f *verticalFlags) checkRuns(session, command []string) error {
	switch {
	case !f.validate && len(command) > 0:
		return console.Usagef("a command after -- goes with --validate")
	case !f.validate:
		return listflags.OneSession(nil, session)
	case len(command) == 0:
		return console.Usagef("--validate runs a command: give it after --")
	case f.explain != "" && len(session) != 1:
		return console.Usagef("--explain with --validate: give the session to explain, and the command without the cause after --")
	case f.explain == "" && len(session) > 0:
		return console.Usagef("--validate compares runs of the command; a session goes with --explain")
	case f.repeat < 1 || f.repeat > maxRepeat:
		return console.Usagef("--repeat %d: use a number from 1 to %d", f.repeat, maxRepeat)
	}
	f.run.monitors.List = monitor.All
	return cmp.Or(f.run.monitors.Check(), f.run.check(), f.checkValues())
}

// monitorsFactor is what of the monitors a run samples.
const monitorsFactor = "monitors"

// sampled makes the runs of a command with these lists of monitors.
func (f *validateFlags) sampled(ctx context.Context, env console.Env, kind string, command, lists []string) (*runner, []experiment.Point, error) {
	if _, err := findAgent(env, f.run.library); err != nil {
		return nil, nil, err
	}
	if err := checkJava(command[0]); err != nil {
		return nil, nil, err
	}
	dir, err := experimentFolder(env, f.folder, "vertical")
	if err != nil {
		return nil, nil, err
	}
	points := experiment.Cross([]experiment.Point{nil}, monitorsFactor, lists)
	r := &runner{env: env, flags: &f.experimentFlags, programs: []program{theCommand(command)}, agent: &f.run}
	plan := experiment.Plan{Kind: kind, Points: points, Invocations: f.repeat, Settings: []string{"monitor-interval=" + f.run.monitors.Interval.String()}}
	if err := r.open(dir, plan); err != nil {
		return nil, nil, err
	}
	if err := work(ctx, r.env, r.x, dir, func(ctx context.Context) error { return r.x.All(ctx, 0) }); err != nil {
		return nil, nil, err
	}
	r.noteFailures(points)
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
	var without []measuredRun
	var rows []*groupRow
	for i, p := range points {
		runs, err := f.measured(r, p)
		switch {
		case err != nil:
			return err
		case len(runs) == 0:
			env.Note("not available: %s: every run failed", p)
		case i == 0:
			without = runs
		default:
			rows = append(rows, compareGroup(p.Of(monitorsFactor), without, runs)...)
		}
	}
	if err := hpc.WriteJSON(filepath.Join(f.folder, perturbationFileName), rows); err != nil {
		return err
	}
	if err := view.Rows(&l.Printer, rows, groupColumns); err != nil || l.Format != "table" {
		return err
	}
	noteChanged(env, rows)
	return nil
}

// measured are the quantities of the runs at a point, with the sums of what was sampled.
func (f *validateFlags) measured(r *runner, p experiment.Point) ([]measuredRun, error) {
	var out []measuredRun
	for _, result := range r.x.Of(p) {
		if result.Failed() || result.Invocation > f.repeat {
			continue
		}
		m := measuredOf(&result.Usage, nil)
		if err := addSums(m, r.x.Path(result)); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// endToEnd are the quantities of a whole run that a monitor counts as well.
var endToEnd = []struct{ monitor, quantity string }{
	{"os.minor_faults", "minor_faults"},
	{"os.major_faults", "major_faults"},
}

// sumOf names the sum of the samples of a monitor.
func sumOf(name string) string { return name + ", sum of samples" }

// addSums adds the sums of the samples of a run.
func addSums(m measuredRun, session string) error {
	samples, err := monitor.Open(session)
	if err != nil || samples == nil {
		return err
	}
	sums := map[string]float64{}
	if err := samples.Each(func(row *monitor.Row) error {
		if i := slices.IndexFunc(endToEnd, func(e struct{ monitor, quantity string }) bool { return e.monitor == row.Monitor }); i >= 0 {
			sums[endToEnd[i].monitor] += row.Value
		}
		return nil
	}); err != nil {
		return err
	}
	for name, sum := range sums {
		m[sumOf(name)] = sum
	}
	return nil
}

// groupRow is one quantity of runs with a group of monitors, and of those without any.
type groupRow struct {
	Group string `json:"monitors"`
	perturbationRow
}

func compareGroup(group string, without, with []measuredRun) (rows []*groupRow) {
	add := func(name string, a, b []float64) {
		if len(a) == 0 || len(b) == 0 {
			return
		}
		row := &groupRow{group, perturbationRow{Quantity: name, With: perturbation.SampleOf(a), Without: perturbation.SampleOf(b), Effect: estimate.EffectOf(a, b)}}
		row.Ratio = perturbation.RatioOf(row.With, row.Without)
		rows = append(rows, row)
	}
	for _, q := range quantities {
		add(q.name, column(with, q.name), column(without, q.name))
	}
	for _, e := range endToEnd {
		add(sumOf(e.monitor), column(with, sumOf(e.monitor)), column(without, e.quantity))
	}
	return rows
}

var groupColumns = append([]listing.Column[*groupRow]{
	{Name: "monitors", Title: "monitors", Kind: listing.Word, Doc: "group of monitors that the runs sampled", Value: func(r *groupRow) listing.Value { return listing.WordOf(r.Group) }},
}, groupQuantities()...)

func groupQuantities() (out []listing.Column[*groupRow]) {
	number := func(name, title, doc string, of func(*groupRow) float64, show func(*groupRow, float64) string) listing.Column[*groupRow] {
		return listing.Column[*groupRow]{Name: name, Title: title, Doc: doc, Kind: listing.Float, Optional: true,
			Value: func(r *groupRow) listing.Value {
				if v := of(r); !math.IsNaN(v) {
					return listing.FloatOf(v)
				}
				return listing.Null
			},
			Show: func(r *groupRow) string { return unlessNaN(of(r), func(v float64) string { return show(r, v) }) }}
	}
	quantity := func(r *groupRow, v float64) string { return r.text()(v) }
	ratio := func(_ *groupRow, v float64) string { return fmt.Sprintf("%.3f", v) }
	return []listing.Column[*groupRow]{
		{Name: "quantity", Title: "quantity", Kind: listing.Word, Doc: "what the kernel counts of the whole run, or the sum of the samples in its place", Value: func(r *groupRow) listing.Value { return listing.WordOf(r.Quantity) }},
		number("without", "without", "mean of the runs without monitors", func(r *groupRow) float64 { return r.Without.Mean }, quantity),
		number("with", "with", "mean of the runs with the group", func(r *groupRow) float64 { return r.With.Mean }, quantity),
		number("ratio", "ratio", "with / without", func(r *groupRow) float64 { return r.Ratio.Value }, ratio),
		number("low", "95 % from", "low end of the ratio's 95 % confidence interval", func(r *groupRow) float64 { return r.Ratio.Low }, ratio),
		number("high", "to", "high end of it", func(r *groupRow) float64 { return r.Ratio.High }, ratio),
		{Name: "effect", Title: "effect", Kind: listing.Word, Doc: "Hedges' g in a word", Value: func(r *groupRow) listing.Value { return listing.WordOf(r.Effect.HedgesWord()) }},
	}
}

// noteChanged says how many quantities the monitors seem to have changed, and how many would by chance.
func noteChanged(env console.Env, rows []*groupRow) {
	changed, known := 0, 0
	for _, r := range rows {
		if math.IsNaN(r.Ratio.Low) || math.IsNaN(r.Ratio.High) {
			continue
		}
		known++
		if r.Ratio.Low > 1 || r.Ratio.High < 1 {
			changed++
		}
	}
	if known == 0 {
		env.Note("one run of each kind has no interval: use --repeat 5 or more")
		return
	}
	env.Note("%d of %s from 1: their 95 %% interval leaves it out; by chance about %.0f would", changed, text.PluralExact(known, "ratio differs", "ratios differ"), 0.05*float64(known))
}
