package experiments

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stackagent/agent/options"
	"stackagent/cmd/shadow/internal/choice"
	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/files"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/cmd/shadow/internal/record"
	"stackagent/cmd/shadow/internal/run"
	"stackagent/granularity/lbo"
	"stackagent/shadow/analysis/scaling"
	"stackagent/shadow/experiment"
	"stackagent/shadow/experiment/runner"
	"stackagent/shadow/show/gccost"
	"stackagent/shadow/show/view"
)

// lboFlags are the flags of shadow lbo.
type lboFlags struct {
	listflags.Flags
	ExperimentFlags
	factorFlags
	programFlags
	choice.Iterations
	run    run.Flags
	tasks  []string
	output string
	region scaling.Region
}

// NewLBO is shadow lbo.
func NewLBO(env console.Env) *cobra.Command {
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
	flags.StringSliceVar(&f.Collectors, "collectors", []string{"Serial", "Parallel", "G1", "ZGC", "Shenandoah"}, "collectors by `NAME`: Serial, Parallel, G1, Shenandoah, ZGC, Epsilon")
	flags.StringSliceVar(&f.Heaps, "heaps", []string{"1x", "1.5x", "2x", "3x", "6x"}, "heaps by `SIZE`, as 512m, or as a multiple, as 2x, of the smallest heap with which the command completes with "+runner.Baseline)
	flags.IntVar(&f.Repeat, "repeat", 10, "runs with each collector and heap")
	f.plural = "s"
	f.factorFlags.addMore(flags)
	f.Iterations.AddIteration(cmd)
	cmd.Flags().Lookup("iteration").Usage = choice.NumberedIterations
	f.run.Marker.AddTo(flags)
	flags.StringArrayVar(&f.tasks, "task", nil, "`CLASS#METHOD`, whose executions are the iterations; repeatable")
	record.AddSwitches(flags, &f.run.Switches)
	f.run.AddAgent(flags, "")
	flags.StringVarP(&f.output, "output", "o", "", "folder for what is written (default ./shadow-lbo-<time>)")
	f.programFlags.addTo(flags)
	f.ExperimentFlags.AddExperiment(flags)
	return cmd
}

func (f *lboFlags) check(args []string) error {
	switch {
	case f.Repeat < 1 || f.Repeat > run.MaxRepeat:
		return console.Usagef("--repeat %d: use a number from 1 to %d", f.Repeat, run.MaxRepeat)
	case len(f.Collectors) == 0 || len(f.Heaps) == 0:
		return console.Usagef("name at least one collector and one heap")
	}
	return cmp.Or(f.programFlags.check("lbo", args), checkHeapFree(f.Env, args), f.factorFlags.check(), f.CheckValues(), f.run.Check(), f.Iterations.Join(&f.region), f.Iterations.NotWarm(), f.Flags.Check())
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
	dir, err := run.ExperimentFolder(env, f.output, "lbo")
	if err != nil {
		return err
	}
	if _, err := run.FindAgent(env, f.run.Library); err != nil {
		return err
	}
	programs, err := f.Input.Read(ctx, run.Outside(env), args, f.JDKs)
	if err != nil {
		return err
	}
	f.run.More = f.pausesOnly()
	r := f.Runner(env, programs...)
	r.Always, r.Sets, r.PinHeap, r.Input, r.Recorder = []string{runner.OnMemoryError}, f.Sets, true, f.Input, run.Recorder{Env: env, Flags: &f.run}
	points, err := f.Points(ctx, r, dir, nil)
	if err != nil {
		return err
	}
	if err := r.All(ctx, dir, experiment.Plan{Kind: "lbo", Points: points, Invocations: f.Repeat}, 0); err != nil {
		return err
	}
	r.NoteFailures(points)
	s := gccost.Study{Printer: &f.Printer, Repeat: f.Repeat, Means: len(f.JDKs) < 2 && len(f.Sets) < 2, Write: writeJSON,
		Costs: func(dir string) (*scaling.Costs, error) {
			s, err := env.Open(dir)
			if err != nil {
				return nil, err
			}
			return scaling.CostsOf(s, f.region)
		}}
	results, err := s.Reckon(r, points)
	if err != nil {
		return err
	}
	if err := s.Show(dir, results); err != nil {
		return err
	}
	if !slices.ContainsFunc(results, func(r lbo.Result) bool {
		return slices.ContainsFunc(r.Points, func(o lbo.Overhead) bool { return o.Failed == "" })
	}) {
		return errors.New("some run failed with each collector and heap: there is nothing to compare")
	}
	return nil
}

// writeJSON writes a file that appears whole or not at all.
func writeJSON(path string, v any) error {
	return files.Write(nil, path, func(w io.Writer) error { return view.Encode(w, v) })
}
