package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stackagent/agent/options"
	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/files"
	"stackagent/cmd/shadow/internal/launch"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/cmd/shadow/internal/record"
	"stackagent/granularity/estimate"
	"stackagent/granularity/lbo"
	"stackagent/internal/listing"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/scaling"
	"stackagent/shadow/experiment"
	"stackagent/shadow/show/figure"
	"stackagent/shadow/show/view"
)

// lboFlags are the flags of shadow lbo.
type lboFlags struct {
	listflags.Flags
	experimentFlags
	factorFlags
	programFlags
	iterationFlags
	run    runFlags
	tasks  []string
	output string
	region scaling.Region
}

func newLBO(env console.Env) *cobra.Command {
	var f lboFlags
	cmd := &cobra.Command{
		Use:   "lbo [flags] -- java [ARGS...]",
		Short: "Measure lower bounds of what garbage collection costs, by collector and heap",
		Long: `Runs a command with each collector and heap, several times, and shows how much more it
costs there than it would without a collector. That cost cannot be measured. The least
of all total costs minus the collector's own part is above it, so that the overheads are
lower bounds. Both are shown: time on the wall, and CPU time of the whole process, which
also has what a collector does on other CPUs.

The collector's own part is the time of pauses, and the CPU time of all threads in them.
The tighter bound also takes the CPU time of the collector's threads outside pauses, and
the waits of the program's threads for the collector.

Heaps are sizes, or multiples of the smallest heap with which the command completes with
G1; it is looked for first. A collector that cannot run with a heap leaves a gap. The
options of the JVM take the place of {jvm}, or go behind java. With --suite, overheads
are also shown as geometric means over the programs, where all of them run.

The command runs with an agent that observes pauses only. The runs, lbo.json and the
figures go into a folder. After an interrupt, the same command with -o FOLDER goes on.`,
		Example: `  shadow lbo -- java -jar app.jar
  shadow lbo --collectors G1,Parallel,ZGC --heaps 1.5x,2x,4x --repeat 5 -o out -- java {jvm} -cp c com.acme.Main
  shadow lbo --marker '^iteration .* took' --iteration 5 -- java -jar bench.jar
  shadow lbo --suite suite/programs.yaml --programs lucene-search,pmd --iteration last -o out`,
		Args: func(_ *cobra.Command, args []string) error { return f.check(args) },
		RunE: func(cmd *cobra.Command, args []string) error { return f.lbo(cmd.Context(), env, args) },
	}
	flags := cmd.Flags()
	flags.SetInterspersed(false) // what follows the command is the command's
	f.AddTo(cmd, env, false, "table", "json", "csv")
	flags.StringSliceVar(&f.collectors, "collectors", []string{"Serial", "Parallel", "G1", "ZGC", "Shenandoah"}, "collectors by `NAME`: Serial, Parallel, G1, Shenandoah, ZGC, Epsilon")
	flags.StringSliceVar(&f.heaps, "heaps", []string{"1x", "1.5x", "2x", "3x", "6x"}, "heaps by `SIZE`, as 512m, or as a multiple, as 2x, of the smallest heap with which the command completes with "+baselineCollector)
	flags.IntVar(&f.repeat, "repeat", 10, "runs with each collector and heap")
	f.plural = "s"
	f.factorFlags.addMore(flags)
	f.iterationFlags.addTo(cmd)
	cmd.Flags().Lookup("iteration").Usage = numberedIterations
	f.run.marker.addTo(flags)
	flags.StringArrayVar(&f.tasks, "task", nil, "`CLASS#METHOD`, whose executions are the iterations; repeatable")
	record.AddSwitches(flags, &f.run.switches)
	flags.StringVar(&f.run.library, "agent", "", "agent library (default $"+agentVariable+", or "+launch.LibraryName+" beside shadow)")
	flags.StringVarP(&f.output, "output", "o", "", "folder for what is written (default ./shadow-lbo-<time>)")
	f.programFlags.addTo(flags)
	f.experimentFlags.addTo(flags)
	return cmd
}

func (f *lboFlags) check(args []string) error {
	switch {
	case f.repeat < 1 || f.repeat > maxRepeat:
		return console.Usagef("--repeat %d: use a number from 1 to %d", f.repeat, maxRepeat)
	case len(f.collectors) == 0 || len(f.heaps) == 0:
		return console.Usagef("name at least one collector and one heap")
	}
	return cmp.Or(f.programFlags.check("lbo", args), checkHeapFree(f.Env, args), f.factorFlags.check(), f.checkValues(), f.run.check(), f.iterationFlags.join(&f.region), f.iterationFlags.notWarm(), f.Flags.Check())
}

// pausesOnly makes the agent observe pauses, and executions of the tasks that mark iterations.
func (f *lboFlags) pausesOnly() []options.Setting {
	include := "stackagent.none" // no class is called so
	var out []options.Setting
	for _, t := range f.tasks {
		class, _, _ := strings.Cut(t, "#")
		include += ";" + class
		out = append(out, options.Setting{Key: "task", Value: t})
	}
	return append(out,
		options.Setting{Key: "include", Value: include}, options.Setting{Key: "submissions", Value: "false"},
		options.Setting{Key: "sites", Value: "false"}, options.Setting{Key: "wait", Value: "off"}, options.Setting{Key: "metric", Value: "wall"})
}

func (f *lboFlags) lbo(ctx context.Context, env console.Env, args []string) error {
	dir, err := experimentFolder(env, f.output, "lbo")
	if err != nil {
		return err
	}
	if _, err := findAgent(env, f.run.library); err != nil {
		return err
	}
	programs, err := f.programFlags.read(ctx, env, args, f.jdks)
	if err != nil {
		return err
	}
	f.run.more = f.pausesOnly()
	r := &runner{env: env, flags: &f.experimentFlags, programs: programs, always: []string{onMemoryError}, sets: f.sets, pinHeap: true, agent: &f.run, inputs: &f.programFlags}
	var points []experiment.Point
	for _, p := range programs {
		of, err := f.factorFlags.points(ctx, r, dir, p, nil)
		if err != nil {
			return err
		}
		points = append(points, of...)
	}
	if err := r.open(dir, experiment.Plan{Kind: "lbo", Points: points, Invocations: f.repeat}); err != nil {
		return err
	}
	if err := work(ctx, r.env, r.x, dir, func(ctx context.Context) error { return r.x.All(ctx, 0) }); err != nil {
		return err
	}
	r.noteFailures(points)
	results, err := f.reckon(env, r, points)
	if err != nil {
		return err
	}
	if err := f.show(env, dir, results); err != nil {
		return err
	}
	if !slices.ContainsFunc(results, func(r lbo.Result) bool {
		return slices.ContainsFunc(r.Points, func(o lbo.Overhead) bool { return o.Failed == "" })
	}) {
		return errors.New("some run failed with each collector and heap: there is nothing to compare")
	}
	return nil
}

// reckon computes the overheads of each program, JDK and set of options.
func (f *lboFlags) reckon(env console.Env, r *runner, points []experiment.Point) ([]lbo.Result, error) {
	var order []string
	programs := map[string]*lbo.Program{}
	missing := map[string]string{}
	for _, p := range points {
		of := p.Without(experiment.Collector).Without(experiment.Heap).Without(heapMultiple)
		name := pointKey(of)
		if programs[name] == nil {
			programs[name], order = &lbo.Program{Name: pointLabel(of)}, append(order, name)
		}
		point, err := f.point(r, p, missing)
		if err != nil {
			return nil, err
		}
		programs[name].Points = append(programs[name].Points, point)
	}
	for what, why := range missing {
		env.Note("not available: %s: %s", text.OneLine(what), text.OneLine(why))
	}
	var out []lbo.Result
	labels := map[string]int{}
	for _, p := range programs {
		labels[p.Name]++
	}
	for _, name := range order {
		p := programs[name]
		if labels[p.Name] > 1 { // JDKs in folders with the same name
			p.Name = name
		}
		out = append(out, lbo.Of(*p))
	}
	return out, nil
}

// point is what the runs of a point cost. A collector that failed in any run cannot run there.
func (f *lboFlags) point(r *runner, p experiment.Point, missing map[string]string) (lbo.Point, error) {
	out := lbo.Point{Collector: p.Of(experiment.Collector), Heap: cmp.Or(p.Of(heapMultiple), p.Of(experiment.Heap)), Multiple: math.NaN()}
	if m, ok := multipleOf(out.Heap); ok {
		out.Multiple = m
	}
	var err error
	if out.HeapBytes, err = experiment.ParseHeap(p.Of(experiment.Heap)); err != nil {
		return out, err
	}
	for _, result := range r.x.Of(p) {
		if result.Invocation > f.repeat {
			continue
		}
		if result.Failed() {
			out.Failed, out.Runs = fmt.Sprintf("%s: %s", result.Failure, result.Why), nil
			return out, nil
		}
		costs, err := f.costs(r, result)
		if err != nil {
			out.Failed, out.Runs = text.OneLine(err.Error()), nil
			return out, nil
		}
		for what, why := range costs.NotAvailable {
			missing[what] = why
		}
		out.Runs = append(out.Runs, costs.Run)
	}
	return out, nil
}

func (f *lboFlags) costs(r *runner, result *experiment.Result) (*scaling.Costs, error) {
	s, err := r.env.Open(r.x.Path(result))
	if err != nil {
		return nil, err
	}
	return scaling.CostsOf(s, f.region)
}

// lboJSON is the content of lbo.json where there are several programs.
type lboJSON struct {
	Programs []lbo.Result `json:"programs"`
	Means    []lbo.Mean   `json:"means"`
}

// lboName is the file with the overheads.
const lboName = "lbo.json"

func (f *lboFlags) show(env console.Env, dir string, results []lbo.Result) error {
	var content any = results[0]
	var means []lbo.Mean
	if len(results) > 1 {
		means = []lbo.Mean{} // none over JDKs or sets of options, which are no programs
		if len(f.jdks) < 2 && len(f.sets) < 2 {
			means = lbo.Means(results)
		}
		content = lboJSON{results, means}
	}
	if err := writeJSON(filepath.Join(dir, lboName), content); err != nil {
		return err
	}
	var figures []*figure.Figure
	add := func(name, of string, points []figure.LBOPoint) {
		fig := figure.LBO(of, points)
		fig.Name = name
		figures = append(figures, fig)
	}
	if len(means) > 0 {
		add("lbo", fmt.Sprintf("mean of %d programs", len(results)), figure.LBOMeans(means, lbo.Plain))
		add("lbo-tighter", fmt.Sprintf("mean of %d programs, tighter bound", len(results)), figure.LBOMeans(means, lbo.Tighter))
	}
	for _, r := range results {
		suffix := ""
		if len(results) > 1 {
			suffix = "-" + experiment.Point{{Factor: experiment.Program, Value: r.Program}}.Folder()
		}
		name := cmp.Or(r.Program, "the command")
		add("lbo"+suffix, name, figure.LBOPoints(r, lbo.Plain))
		add("lbo-tighter"+suffix, name+", tighter bound", figure.LBOPoints(r, lbo.Tighter))
	}
	written, err := figure.WriteAll(dir, figures, []string{"svg", "png"})
	if err != nil {
		return err
	}
	env.Note("wrote %s", strings.Join(append([]string{filepath.Join(dir, lboName)}, written...), ", "))
	if f.Format == "json" {
		return view.Encode(env.Out, content)
	}
	rows := lboRows(results, means)
	if f.Format == "csv" {
		return listing.All(listing.CSV(env.Out, lboColumns(true)), rows)
	}
	if err := f.Render(view.TableOf(rows, lboColumns(len(results) > 1)), len(rows)); err != nil {
		return err
	}
	for _, r := range results {
		for _, n := range r.Notes {
			env.Note("%s%s", prefix(r.Program), view.LBONote(n))
		}
	}
	return nil
}

func prefix(program string) string {
	if program == "" {
		return ""
	}
	return program + ": "
}

// writeJSON writes a file that appears whole or not at all.
func writeJSON(path string, v any) error {
	return files.Write(nil, path, func(w io.Writer) error { return view.Encode(w, v) })
}

// lboRow is a point of a program, or of the mean over programs.
type lboRow struct {
	program, collector, heap string
	bytes                    int64
	runs                     int
	overheads                [lbo.NClocks][lbo.NBounds]estimate.Interval
	failed                   string
}

func lboRows(results []lbo.Result, means []lbo.Mean) []*lboRow {
	var out []*lboRow
	for _, r := range results {
		for _, p := range r.Points {
			out = append(out, &lboRow{r.Program, p.Collector, p.Heap, p.HeapBytes, p.Runs, p.Overheads, p.Failed})
		}
	}
	for _, m := range means {
		row := &lboRow{program: "mean", collector: m.Collector, heap: m.Heap, bytes: m.HeapBytes, overheads: m.Overheads}
		if len(m.Missing) > 0 {
			row.failed = view.LBOMissing(m.Missing)
		}
		out = append(out, row)
	}
	return out
}

func lboColumns(several bool) []listing.Column[*lboRow] {
	type column = listing.Column[*lboRow]
	name := func(name, title, doc string, of func(*lboRow) string) column {
		return column{Name: name, Title: title, Kind: listing.Name, Doc: doc, Value: func(r *lboRow) listing.Value { return listing.NameOf(of(r)) }}
	}
	columns := []column{
		name("program", "program", "the program, or mean: the geometric mean over the programs", func(r *lboRow) string { return r.program }),
		name("collector", "collector", "the collector", func(r *lboRow) string { return r.collector }),
		name("heap", "heap", "the heap as it was asked for", func(r *lboRow) string { return r.heap }),
		{Name: "heap_bytes", Title: "is", Kind: listing.Int, Doc: "the heap in bytes; 0: not the same for all programs", Value: func(r *lboRow) listing.Value { return listing.IntOf(r.bytes) },
			Show: func(r *lboRow) string {
				if r.bytes == 0 {
					return ""
				}
				return units.FormatBytes(r.bytes)
			}},
		{Name: "runs", Title: "runs", Kind: listing.Int, Doc: "runs", Value: func(r *lboRow) listing.Value { return listing.IntOf(int64(r.runs)) }},
	}
	if !several {
		columns[0].Title = ""
	}
	for c := range lbo.NClocks {
		for b := range lbo.NBounds {
			columns = append(columns, overheadColumns(c, b)...)
		}
	}
	return append(columns, column{Name: "failed", Title: "why there is none", Kind: listing.Name, Wraps: true, Last: 1, Doc: "why it cannot run there", Value: func(r *lboRow) listing.Value { return listing.NameOf(r.failed) }})
}

// overheadColumns are an overhead and its interval; the terminal has them in one cell.
func overheadColumns(c lbo.Clock, b lbo.Bound) []listing.Column[*lboRow] {
	name := c.String()
	title := name + " overhead"
	if b == lbo.Tighter {
		name, title = name+"_tighter", "tighter"
	}
	at := func(of func(estimate.Interval) float64) func(*lboRow) listing.Value {
		return func(r *lboRow) listing.Value {
			if v := of(r.overheads[c][b]); !math.IsNaN(v) {
				return listing.FloatOf(v)
			}
			return listing.Null
		}
	}
	return []listing.Column[*lboRow]{
		{Name: name + "_overhead", Title: title, Kind: listing.Float, Optional: true, Doc: "lower bound of the overhead; 1 means no overhead", Value: at(func(i estimate.Interval) float64 { return i.Mean }),
			Show: func(r *lboRow) string { return shownInterval(r.overheads[c][b]) }},
		{Name: name + "_low", Kind: listing.Float, Optional: true, Doc: "low end of its 95 % interval", Value: at(func(i estimate.Interval) float64 { return i.Low })},
		{Name: name + "_high", Kind: listing.Float, Optional: true, Doc: "high end of its 95 % interval", Value: at(func(i estimate.Interval) float64 { return i.High })},
	}
}

// shownInterval shows a factor with its interval.
func shownInterval(i estimate.Interval) string {
	switch {
	case math.IsNaN(i.Mean):
		return ""
	case !i.Known():
		return fmt.Sprintf("%.3f", i.Mean)
	}
	return fmt.Sprintf("%.3f (%.3f to %.3f)", i.Mean, i.Low, i.High)
}
