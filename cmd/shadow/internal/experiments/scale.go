package experiments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"stackagent/agent/options"
	"stackagent/cmd/shadow/internal/choice"
	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/files"
	"stackagent/cmd/shadow/internal/run"
	"stackagent/granularity/speedup"
	"stackagent/internal/text"
	"stackagent/shadow/analysis/scaling"
	"stackagent/shadow/experiment"
	"stackagent/shadow/experiment/runner"
	"stackagent/shadow/show/figure"
)

// scaleFlags are the flags of shadow scale.
type scaleFlags struct {
	stackFlags
	ExperimentFlags
	factorFlags
	programFlags
	gcThreads []int
	warmup    int
	run       run.Flags // how each run records
}

// NewScale is shadow scale.
func NewScale(env console.Env) *cobra.Command {
	var f scaleFlags
	cmd := &cobra.Command{
		Use:   "scale --threads 1,2,4 [flags] -- COMMAND [ARGS...]",
		Short: "Run a command with several numbers of threads and draw its speedup stacks",
		Long: `Runs COMMAND as shadow run does, once for each number of threads, which replaces
{threads} in its arguments. Compares the runs with those with one thread and writes
a folder (default ./shadow-scale-<time>): a session per run, stack.json and the
figures. Repeated runs take turns, in random order; the figures are means with 95 %
confidence intervals.

With --collector, --heap, --jvm or --jdk, each combination has stacks of its own. Heaps
are sizes, or multiples of the smallest heap with which COMMAND completes, which is
looked for first. With --gc-threads, also runs COMMAND with each number of collector
threads, which replaces {gcthreads} or is given to the JVM as -XX:ParallelGCThreads. More
figures then show work and time of the collector and of the application; without
{threads} in COMMAND there are only these. JVM options take the place of {jvm}, or go
behind java, or into JDK_JAVA_OPTIONS.

A run that fails is a result: the others go on. After an interrupt, give the same command
with -o FOLDER. More numbers, heaps or --repeat add to the folder. The flags of shadow
run that choose what to record apply to every run.`,
		Example: `  shadow scale --threads 1,2,4 -- java -jar app.jar --workers {threads}
  shadow scale --threads 1,2 --repeat 5 --region last:3 --task 'com.acme.Main#iteration' -o out -- java -cp c com.acme.Main {threads}
  shadow scale --threads 1,2 --collector G1,Parallel --heap 2x,6x -o out -- java -cp c com.acme.Main {threads}
  shadow scale --threads 1,2 --suite suite/programs.yaml --programs pmd,h2 --iteration last -o out
  shadow scale --threads 1,2 --gc-threads 1,2 -o out -- java -XX:+UseParallelGC -cp c com.acme.Main {threads}`,
		Args: func(_ *cobra.Command, args []string) error { return f.check(args) },
		RunE: func(cmd *cobra.Command, args []string) error { return f.scale(cmd.Context(), env, args) },
	}
	flags := cmd.Flags()
	flags.SetInterspersed(false) // what follows the command is the command's
	f.AddTo(cmd, env, false, "table", "json", "csv")
	f.addRegion(cmd)
	flags.IntSliceVar(&f.threads, "threads", nil, "numbers of threads; 1 is the base and always among them")
	flags.IntSliceVar(&f.gcThreads, "gc-threads", nil, "numbers of threads of the collector (default: the JVM's choice)")
	flags.IntVar(&f.Repeat, "repeat", 1, "runs with each number")
	flags.IntVar(&f.warmup, "warmup", 0, "runs with each number before those that count")
	flags.Lookup("output").Usage = "folder for what is written (default ./shadow-scale-<time>)"
	flags.Lookup("iteration").Usage = choice.NumberedIterations
	f.factorFlags.addTo(flags)
	f.programFlags.addTo(flags)
	f.ExperimentFlags.AddExperiment(flags)
	f.run.AddTo(flags, options.Run)
	return cmd
}

func (f *scaleFlags) check(args []string) error {
	out := f.output
	f.output = "" // a folder here, not a figure
	err := cmp.Or(f.checkRegion(), f.NotWarm())
	f.output = out
	switch {
	case err != nil:
		return err
	case f.Suite == "" && len(args) == 0:
		return console.Usagef("no command given: shadow scale --threads 1,2,4 -- COMMAND [ARGS...]")
	case f.Repeat < 1 || f.Repeat > run.MaxRepeat || f.warmup < 0:
		return console.Usagef("--repeat %d --warmup %d: use numbers from 1 to %d, and from 0", f.Repeat, f.warmup, run.MaxRepeat)
	}
	if len(f.Heaps) > 0 {
		if err := checkHeapFree(f.Env, args); err != nil {
			return err
		}
	}
	return cmp.Or(f.programFlags.check("scale", args), f.checkNumbers(args), f.factorFlags.check(), f.CheckValues(), f.run.Check(), f.Flags.Check())
}

// checkNumbers holds the numbers of threads against the places in the command
// that are to take them.
func (f *scaleFlags) checkNumbers(args []string) error {
	if err := errors.Join(positive("--threads", f.threads), positive("--gc-threads", f.gcThreads)); err != nil {
		return &console.UsageError{Err: err}
	}
	const threadsWord, gcThreadsWord = "{threads}", "{gcthreads}"
	if f.Suite != "" { // each program says which words it has
		args = nil
		if len(f.threads) > 0 {
			args = append(args, threadsWord)
		}
		if len(f.gcThreads) > 0 {
			args = append(args, gcThreadsWord)
		}
	}
	switch varied := mentions(args, experiment.Threads); {
	case mentions(args, experiment.GCThreads) && len(f.gcThreads) == 0:
		return console.Usagef("the command has %s: give the numbers with --gc-threads 1,2", gcThreadsWord)
	case !varied && len(f.threads) > 0:
		return console.Usagef("the command has no %s: put it in place of the number of threads, as in app.jar --workers %s", threadsWord, threadsWord)
	case varied && len(f.threads) == 0:
		return console.Usagef("the command has %s: give the numbers with --threads 1,2,4", threadsWord)
	case !varied && !f.moreThanThreads():
		return console.Usagef("nothing varies: put %s into the command and give --threads 1,2,4, or vary the collector's with --gc-threads 1,2, or --collector, --heap, --jvm or --jdk", threadsWord)
	}
	return nil
}

func positive(flag string, numbers []int) error {
	if i := slices.IndexFunc(numbers, func(n int) bool { return n < 1 }); i >= 0 {
		return fmt.Errorf("%s %d: use numbers above 0", flag, numbers[i])
	}
	return nil
}

// ascending are numbers as values of a factor, without repetitions.
func ascending(numbers []int) []string {
	var out []string
	for _, n := range slices.Compact(slices.Sorted(slices.Values(numbers))) {
		out = append(out, strconv.Itoa(n))
	}
	return out
}

// points are all combinations, those with one thread among them. Heaps are those that the multiples came to.
func (f *scaleFlags) points(others []experiment.Point) []experiment.Point {
	threads := f.threads
	if len(threads) > 0 {
		threads = append([]int{1}, threads...)
	}
	var out []experiment.Point
	for _, p := range experiment.Cross(experiment.Cross([]experiment.Point{nil}, experiment.Threads, ascending(threads)), experiment.GCThreads, ascending(f.gcThreads)) {
		for _, o := range others {
			out = append(out, slices.Concat(p, o))
		}
	}
	return out
}

func (f *scaleFlags) scale(ctx context.Context, env console.Env, args []string) error {
	dir, err := run.ExperimentFolder(env, f.output, "scale")
	if err != nil {
		return err
	}
	if _, err := run.FindAgent(env, f.run.Library); err != nil {
		return err
	}
	if f.Suite == "" {
		if err := run.CheckJava(args[0]); err != nil {
			return err
		}
	}
	programs, err := f.Input.Read(ctx, run.Outside(env), args, f.JDKs)
	if err != nil {
		return err
	}
	if programs, err = f.thatTakeThreads(env, programs); err != nil {
		return err
	}
	r := f.Runner(env, programs...)
	r.Sets, r.PinHeap, r.Input, r.Recorder = f.Sets, len(f.Heaps) > 0, f.Input, run.Recorder{Env: env, Flags: &f.run}
	if r.PinHeap {
		r.Always = []string{runner.OnMemoryError}
	}
	var most experiment.Point // at which the smallest heap is looked for
	if len(f.threads) > 0 {
		most = most.With(experiment.Threads, strconv.Itoa(slices.Max(f.threads)))
	}
	others, err := f.Points(ctx, r, dir, most)
	if err != nil {
		return err
	}
	points := f.points(others)
	if err := r.All(ctx, dir, experiment.Plan{Kind: "scale", Points: points, Invocations: f.Repeat}, f.warmup); err != nil {
		return err
	}
	r.NoteFailures(points)
	runs, err := f.reckonAll(env, r, points)
	if err != nil {
		return err
	}
	result := scaleResult{bars: f.bars(points, runs)}
	if f.moreThanThreads() {
		result.factors, result.collector = configurationsOf(points, runs)
	}
	if err := f.write(env, dir, result); err != nil {
		return err
	}
	if len(f.threads) > 0 && len(result.bars) == 0 {
		return errors.New("no two runs can be compared: those with one thread or all others failed")
	}
	return f.stackFlags.print(flatBars(result.bars), result.collector)
}

// pointKey makes a point the key of a map.
func pointKey(p experiment.Point) string { return p.String() }

// thatTakeThreads leaves out programs whose number of threads cannot be chosen, if it is to vary.
func (f *scaleFlags) thatTakeThreads(env console.Env, all []runner.Program) ([]runner.Program, error) {
	if len(f.threads) == 0 {
		return all, nil
	}
	var out []runner.Program
	for _, p := range all {
		if p.Uses(experiment.Threads) {
			out = append(out, p)
		} else {
			env.Note("%s is left out: its number of threads cannot be chosen", p.Name)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no program is left to run")
	}
	return out, nil
}

// runsOf are the accounts of the runs, by point and invocation.
type runsOf map[string]map[int]*scaling.Run

// reckonAll brings all runs to account that did not fail.
func (f *scaleFlags) reckonAll(env console.Env, r *runner.Runner, points []experiment.Point) (runsOf, error) {
	out := runsOf{}
	n := 0
	for _, p := range points {
		out[pointKey(p)] = map[int]*scaling.Run{}
		threads, _ := strconv.Atoi(p.Of(experiment.Threads)) // 0: the program's choice
		for _, result := range r.Good(p, f.Repeat) {
			at := r.Path(result)
			run, err := f.reckon(env, at, threads)
			if err != nil { // one run less
				env.Note("%s is left out: %s", at, text.OneLine(err.Error()))
				continue
			}
			noteRun(env, at, run)
			out[pointKey(p)][result.Invocation] = run
			n++
		}
	}
	if n == 0 {
		return nil, errors.New("every run failed, or could not be brought to account: there is nothing to compare")
	}
	return out, nil
}

// barGroup are the bars of the runs that differ in their numbers of threads only.
type barGroup struct {
	others experiment.Point
	bars   []stackBar
}

// scaleResult is what the runs came to.
type scaleResult struct {
	bars      []barGroup
	factors   []string
	collector []configuration // none where only the number of threads varies
}

// bars compares each run with the run with one thread of the same invocation; there
// are none where the program itself chose the number of threads.
func (f *scaleFlags) bars(points []experiment.Point, runs runsOf) []barGroup {
	if len(f.threads) == 0 {
		return nil
	}
	var out []barGroup
	for _, p := range points {
		others := p.Without(experiment.Threads)
		i := slices.IndexFunc(out, func(g barGroup) bool { return slices.Equal(g.others, others) })
		if i < 0 {
			i, out = len(out), append(out, barGroup{others: others})
		}
		if p.Of(experiment.Threads) == "1" && f.others1() {
			continue
		}
		base := runs[pointKey(slices.Concat(experiment.Point{{Factor: experiment.Threads, Value: "1"}}, others))]
		bar := stackBar{others: others}
		var bars []speedup.Bar
		for invocation := 1; invocation <= f.Repeat; invocation++ {
			one, r := base[invocation], runs[pointKey(p)][invocation]
			if one == nil || r == nil {
				continue // one of them failed
			}
			bars = append(bars, speedup.Stack(one.Account, r.Account))
			bar.count(one, r)
		}
		if len(bars) == 0 {
			continue
		}
		bar.Repeated = speedup.Repeat(bars)
		out[i].bars = append(out[i].bars, bar)
	}
	return slices.DeleteFunc(out, func(g barGroup) bool { return len(g.bars) == 0 })
}

// moreThanThreads reports whether anything varies beside the program's number of threads.
func (f *scaleFlags) moreThanThreads() bool {
	return len(f.gcThreads)+len(f.Collectors)+len(f.Heaps)+len(f.jvms)+len(f.JDKs) > 0
}

// others1 reports whether there is another number of threads than one.
func (f *scaleFlags) others1() bool {
	return slices.ContainsFunc(f.threads, func(n int) bool { return n > 1 })
}

func flatBars(groups []barGroup) []stackBar {
	var out []stackBar
	for _, g := range groups {
		out = append(out, g.bars...)
	}
	return out
}

// write puts the stacks and the figures into dir.
func (f *scaleFlags) write(env console.Env, dir string, result scaleResult) error {
	if err := f.writeJSON(dir, result); err != nil {
		return err
	}
	var stacks []figure.StackGroup
	for _, g := range result.bars {
		stacks = append(stacks, figure.StackGroup{Label: whatDiffers(g.others, result.bars).Label(), Bars: repeated(g.bars)})
	}
	var figures []*figure.Figure
	if len(stacks) > 0 {
		figures = append(figures, figure.Stacks(stacks))
	}
	if len(result.collector) > 0 {
		figures = append(figures, figure.CollectorFigures(result.factors, pure(result.collector))...)
	}
	files, err := figure.WriteAll(dir, figures, []string{"svg", "png"})
	if err != nil {
		return err
	}
	env.Note("wrote %s", strings.Join(append([]string{filepath.Join(dir, StackName)}, files...), ", "))
	return nil
}

// whatDiffers is a point without the factors that are the same in all groups.
func whatDiffers(p experiment.Point, groups []barGroup) experiment.Point {
	var out experiment.Point
	for _, l := range p {
		if slices.ContainsFunc(groups, func(g barGroup) bool { return g.others.Of(l.Factor) != l.Value }) {
			out = append(out, l)
		}
	}
	return out
}

// StackName is the file with the stacks of shadow scale.
const StackName = "stack.json"

func (f *scaleFlags) writeJSON(dir string, result scaleResult) error {
	file, err := files.Aside(filepath.Join(dir, StackName))
	if err != nil {
		return fmt.Errorf("writing the stacks: %w", err)
	}
	defer os.Remove(file.Name()) // gone already if all went well
	l := f.stackFlags
	l.Out, l.Format = file, "json"
	if err := l.print(flatBars(result.bars), result.collector); err != nil {
		file.Close()
		return err
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("writing the stacks: %w", err)
	}
	return os.Rename(file.Name(), filepath.Join(dir, StackName))
}
