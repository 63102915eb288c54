package main

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
	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/files"
	"stackagent/granularity/speedup"
	"stackagent/internal/text"
	"stackagent/shadow/figure"
	"stackagent/shadow/scaling"
)

// Words that stand for numbers in the command of shadow scale.
const (
	threadsWord   = "{threads}"
	gcThreadsWord = "{gcthreads}"
)

// scaleFlags are the flags of shadow scale.
type scaleFlags struct {
	stackFlags
	gcThreads      []int
	repeat, warmup int
	run            runFlags // how each run records
}

func newScale(env console.Env) *cobra.Command {
	var f scaleFlags
	cmd := &cobra.Command{
		Use:   "scale --threads 1,2,4 [flags] -- COMMAND [ARGS...]",
		Short: "Run a command with several numbers of threads and draw its speedup stacks",
		Long: `Runs COMMAND as shadow run does, once for each number of threads, which replaces
` + threadsWord + ` in its arguments. Compares the runs with those with one thread and writes
a folder (default ./shadow-scale-<time>): a session per run, stack.json and the
figures. Repeated runs take turns; the figures are means with 95 % confidence
intervals.

With --gc-threads, also runs COMMAND with each number of collector threads, which
replaces ` + gcThreadsWord + ` or goes into JDK_JAVA_OPTIONS as -XX:ParallelGCThreads. One more figure
shows the collector's work and time; without ` + threadsWord + ` in COMMAND it is the only one.
The flags of shadow run that choose what to record apply to every run.`,
		Example: `  shadow scale --threads 1,2,4 -- java -jar app.jar --workers {threads}
  shadow scale --threads 1,2 --repeat 5 --region last:3 --task 'com.acme.Main#iteration' -o out -- java -cp c com.acme.Main {threads}
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
	flags.IntVar(&f.repeat, "repeat", 1, "runs with each number")
	flags.IntVar(&f.warmup, "warmup", 0, "runs with each number before those that count")
	flags.Lookup("output").Usage = "folder for what is written, new or empty (default: ./shadow-scale-<time>)"
	f.run.addRecordFlags(flags, options.Run)
	return cmd
}

func (f *scaleFlags) check(args []string) error {
	out := f.output
	f.output = "" // a folder here, not a figure
	err := f.checkRegion()
	f.output = out
	switch {
	case err != nil:
		return err
	case len(args) == 0:
		return console.Usagef("no command given: shadow scale --threads 1,2,4 -- COMMAND [ARGS...]")
	case f.repeat < 1 || f.warmup < 0:
		return console.Usagef("--repeat %d --warmup %d: use numbers from 1 and from 0", f.repeat, f.warmup)
	}
	if err := cmp.Or(f.checkNumbers(args), f.run.check()); err != nil {
		return err
	}
	return f.Flags.Check()
}

// checkNumbers holds the numbers of threads against the places in the command
// that are to take them.
func (f *scaleFlags) checkNumbers(args []string) error {
	if err := errors.Join(positive("--threads", f.threads), positive("--gc-threads", f.gcThreads)); err != nil {
		return &console.UsageError{Err: err}
	}
	switch varied := mentions(args, threadsWord); {
	case mentions(args, gcThreadsWord) && len(f.gcThreads) == 0:
		return console.Usagef("the command has %s: give the numbers with --gc-threads 1,2", gcThreadsWord)
	case !varied && len(f.threads) > 0:
		return console.Usagef("the command has no %s: put it in place of the number of threads, as in app.jar --workers %s", threadsWord, threadsWord)
	case varied && len(f.threads) == 0:
		return console.Usagef("the command has %s: give the numbers with --threads 1,2,4", threadsWord)
	case !varied && len(f.gcThreads) == 0:
		return console.Usagef("nothing varies: put %s into the command and give --threads 1,2,4, or vary the collector's with --gc-threads 1,2", threadsWord)
	}
	return nil
}

func positive(flag string, numbers []int) error {
	if i := slices.IndexFunc(numbers, func(n int) bool { return n < 1 }); i >= 0 {
		return fmt.Errorf("%s %d: use numbers above 0", flag, numbers[i])
	}
	return nil
}

func mentions(args []string, word string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, word) })
}

// config is what a run varies.
type config struct{ threads, gc int } // threads 0: the program's choice; gc 0: the JVM's

func (c config) name() string {
	var parts []string
	if c.threads > 0 {
		parts = append(parts, "threads-"+strconv.Itoa(c.threads))
	}
	if c.gc > 0 {
		parts = append(parts, "gc-"+strconv.Itoa(c.gc))
	}
	return strings.Join(parts, "-")
}

// configs are all combinations, those with one thread among them.
func (f *scaleFlags) configs() []config {
	threads := []int{0}
	if len(f.threads) > 0 {
		threads = slices.Compact(slices.Sorted(slices.Values(append([]int{1}, f.threads...))))
	}
	gcs := slices.Compact(slices.Sorted(slices.Values(f.gcThreads)))
	if len(gcs) == 0 {
		gcs = []int{0}
	}
	var out []config
	for _, gc := range gcs {
		for _, n := range threads {
			out = append(out, config{n, gc})
		}
	}
	return out
}

func (f *scaleFlags) scale(ctx context.Context, env console.Env, args []string) error {
	dir := f.output
	if dir == "" {
		dir = "shadow-scale-" + env.Now().Format(folderTime)
	}
	dir, _, err := sessionFolder(env, dir)
	if err != nil {
		return err
	}
	configs := f.configs()
	for round := -f.warmup; round < f.repeat; round++ {
		for _, c := range configs {
			if err := f.once(ctx, env, dir, c, round, args); err != nil {
				return err
			}
		}
	}
	runs, err := f.reckonAll(env, dir, configs)
	if err != nil {
		return err
	}
	result := scaleResult{bars: f.bars(configs, runs)}
	if len(f.gcThreads) > 0 {
		result.collector = collectorPoints(configs, runs)
	}
	if err := f.write(env, dir, result); err != nil {
		return err
	}
	return f.stackFlags.print(flatBars(result.bars), result.collector)
}

// once runs the command; a round below 0 warms up and leaves no session.
func (f *scaleFlags) once(ctx context.Context, env console.Env, dir string, c config, round int, args []string) error {
	to := runFolder(dir, c, round)
	if round < 0 {
		to = filepath.Join(dir, "warmup")
		defer os.RemoveAll(to)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return fmt.Errorf("making the folder of a run: %w", err)
	}
	env.Note("%s, run %d", c.name(), round+1)
	quiet := env
	quiet.Out = env.Err // what the runs print is not what this verb prints
	quiet.Environ = withGCThreads(env, c, args)
	f.run.dir, f.run.quiet = to, true
	result, err := profiled(ctx, quiet, f.run, substituted(args, c))
	if err != nil {
		return fmt.Errorf("%s, run %d: %w", c.name(), round+1, err)
	}
	if result.Code != 0 {
		return fmt.Errorf("%s, run %d ended with exit code %d; a failed run cannot be compared; its session is %s", c.name(), round+1, result.Code, to)
	}
	return nil
}

func runFolder(dir string, c config, round int) string {
	return filepath.Join(dir, c.name(), "run-"+strconv.Itoa(round+1))
}

func substituted(args []string, c config) []string {
	r := strings.NewReplacer(threadsWord, strconv.Itoa(c.threads), gcThreadsWord, strconv.Itoa(c.gc))
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = r.Replace(a)
	}
	return out
}

// javaOptions is where the java command looks for options of its own.
const javaOptions = "JDK_JAVA_OPTIONS"

func withGCThreads(env console.Env, c config, args []string) []string {
	if c.gc == 0 || mentions(args, gcThreadsWord) {
		return env.Environ
	}
	value := strings.TrimSpace(env.Getenv(javaOptions) + " -XX:ParallelGCThreads=" + strconv.Itoa(c.gc))
	return append(slices.Clone(env.Environ), javaOptions+"="+value)
}

// reckonAll brings all runs to account, by configuration and round.
func (f *scaleFlags) reckonAll(env console.Env, dir string, configs []config) (map[config][]*scaling.Run, error) {
	out := map[config][]*scaling.Run{}
	for _, c := range configs {
		for round := range f.repeat {
			at := runFolder(dir, c, round)
			r, err := f.reckon(env, at, c.threads)
			if err != nil {
				return nil, err
			}
			noteRun(env, at, r)
			out[c] = append(out[c], r)
		}
	}
	return out, nil
}

// gcBars are the bars of the runs with this number of collector threads.
type gcBars struct {
	gc   int
	bars []stackBar
}

// scaleResult is what the runs came to.
type scaleResult struct {
	bars      []gcBars
	collector []figure.CollectorPoint // none without --gc-threads
}

// bars compares each run with the run with one thread of the same round; there
// are none where the program itself chose the number of threads.
func (f *scaleFlags) bars(configs []config, runs map[config][]*scaling.Run) []gcBars {
	if len(f.threads) == 0 {
		return nil
	}
	var out []gcBars
	for _, c := range configs {
		if n := len(out); n == 0 || out[n-1].gc != c.gc {
			out = append(out, gcBars{gc: c.gc})
		}
		if c.threads == 1 && len(configs) > 1 && f.others() {
			continue
		}
		var bar stackBar
		var bars []speedup.Bar
		for round, r := range runs[c] {
			base := runs[config{1, c.gc}][round]
			bars = append(bars, speedup.Stack(base.Account, r.Account))
			bar.count(base, r)
		}
		bar.Repeated = speedup.Repeat(bars)
		last := &out[len(out)-1]
		last.bars = append(last.bars, bar)
	}
	return out
}

// others reports whether there is another number of threads than one.
func (f *scaleFlags) others() bool {
	return slices.ContainsFunc(f.threads, func(n int) bool { return n > 1 })
}

func flatBars(groups []gcBars) []stackBar {
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
		label := ""
		if g.gc > 0 {
			label = text.PluralExact(g.gc, "GC thread", "GC threads")
		}
		stacks = append(stacks, figure.StackGroup{Label: label, Bars: repeated(g.bars)})
	}
	var figures []*figure.Figure
	if len(stacks) > 0 {
		figures = append(figures, figure.Stacks(stacks))
	}
	if len(result.collector) > 0 {
		figures = append(figures, figure.Collector(result.collector))
	}
	files, err := figure.WriteAll(dir, figures, []string{"svg", "png"})
	if err != nil {
		return err
	}
	env.Note("wrote %s", strings.Join(append([]string{filepath.Join(dir, stackName)}, files...), ", "))
	return nil
}

// stackName is the file with the stacks of shadow scale.
const stackName = "stack.json"

func (f *scaleFlags) writeJSON(dir string, result scaleResult) error {
	file, err := files.Aside(filepath.Join(dir, stackName))
	if err != nil {
		return fmt.Errorf("writing the stacks: %w", err)
	}
	defer os.Remove(file.Name()) // gone already if all went well
	l := f.stackFlags
	l.Env.Out, l.Format = file, "json"
	if err := l.print(flatBars(result.bars), result.collector); err != nil {
		file.Close()
		return err
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("writing the stacks: %w", err)
	}
	return os.Rename(file.Name(), filepath.Join(dir, stackName))
}

// collectorPoints are the collector's work and time by numbers of threads.
func collectorPoints(configs []config, runs map[config][]*scaling.Run) []figure.CollectorPoint {
	var out []figure.CollectorPoint
	for _, c := range configs {
		var work, time []float64
		for _, r := range runs[c] {
			work, time = append(work, float64(r.GCWork)), append(time, r.GCTime)
		}
		out = append(out, figure.CollectorPoint{Threads: c.threads, GCThreads: c.gc, Work: speedup.IntervalOf(work), Time: speedup.IntervalOf(time)})
	}
	return out
}
