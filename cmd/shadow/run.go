package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"stackagent/cmd/shadow/internal/launch"
	"stackagent/hpc"
	"stackagent/hpc/sched"
	"stackagent/internal/perfevent"
	"stackagent/internal/text"
	"stackagent/shadow/ingest"
	"stackagent/shadow/store"
)

// Words that the agent knows.
var (
	metricWords   = []string{"wall", "cpu", "instructions", "ref_cycles", "cycles", "bytecodes", "alloc"} // and performance events
	detailWords   = []string{"auto", "all", "summary"}
	overflowWords = []string{"block", "drop"}
)

// tokenVariable is where an agent looks for the bus's secret by default; ours
// comes by a file, and another one's must not get in its way.
const tokenVariable = "STACKAGENT_BUS_TOKEN"

// runFlags are the flags of shadow run.
type runFlags struct {
	dir, agent                       string
	metric, detail, overflow         string
	tasks, include, exclude          []string
	strict, quiet, progress, counter bool
	construction                     bool
	submissions, sites               bool
	contexts                         string
	repeat                           repeatFlags
	switches                         string
}

func newRun(env Env) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [flags] -- COMMAND [ARGS...]",
		Short: "Run a command with the agent in every JVM it starts",
		Long: `Runs COMMAND with the agent in every JVM that it starts, and writes a session
folder. The command's input, output and exit code stay its own.

If COMMAND is java, the agent is put on its command line; for any other command
it travels in JAVA_TOOL_OPTIONS, of which each JVM prints a line on stderr.`,
		Example: `  shadow run -- java -jar app.jar
  shadow run -o /tmp/s --metric wall+cpu -- java -cp classes com.acme.Main
  shadow run --repeat 10 --baseline -o /tmp/r -- java -jar app.jar
  shadow run --task 'com.acme.Job#process(Lcom/acme/Ctx;)V' -- ./start.sh`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("no command given: shadow run [flags] -- COMMAND [ARGS...]")
			}
			if err := f.repeat.check(); err != nil {
				return err
			}
			return f.check()
		},
		RunE: func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), env, f, args) },
	}
	flags := cmd.Flags()
	flags.SetInterspersed(false) // what follows the command is the command's
	f.addSessionFlags(flags)
	f.addAgentFlags(flags)
	f.repeat.addTo(flags)
	return cmd
}

// addSessionFlags adds those that say what becomes of the session.
func (f *runFlags) addSessionFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&f.dir, "output", "o", "", "session folder, new or empty (default ./shadow-<time>)")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no summary and no notes, only errors")
	flags.BoolVar(&f.progress, "progress", false, "a line on stderr every second")
	flags.BoolVar(&f.counter, "counters", true, "count switches, faults and hardware events of the JVM's threads from outside")
	addSwitches(flags, &f.switches)
}

// addAgentFlags adds those that the agent hears of.
func (f *runFlags) addAgentFlags(flags *pflag.FlagSet) {
	f.addGuestFlags(flags)
	flags.BoolVar(&f.strict, "strict", false, "do not start a JVM that can not be profiled")
	f.addContexts(flags)
}

// addGuestFlags adds those of them that mean something in a JVM that runs already.
func (f *runFlags) addGuestFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.metric, "metric", "", "what to measure, joined with +: "+strings.Join(metricWords, ", ")+", or a performance event as LLC-load-misses (default wall+cpu)")
	flags.StringArrayVar(&f.tasks, "task", nil, "one more task: CLASS#METHOD[(DESCRIPTOR)]; repeatable")
	flags.StringArrayVar(&f.include, "include", nil, "only classes like this (glob); repeatable")
	flags.StringArrayVar(&f.exclude, "exclude", nil, "no classes like this (glob); repeatable")
	flags.StringVar(&f.detail, "detail", "", strings.Join(detailWords, "|")+": a record per task, or per class")
	flags.StringVar(&f.overflow, "overflow", "", strings.Join(overflowWords, "|")+": what to do when the program is faster than the bus")
	flags.BoolVar(&f.submissions, "submissions", true, "record the hand-over of tasks to executors, and queue times")
	flags.BoolVar(&f.sites, "sites", true, "tell where in the program's source tasks are made and handed over")
	flags.BoolVar(&f.construction, "construction", false, "measure what it costs to make each task: its constructors")
	flags.StringVar(&f.agent, "agent", "", "agent library (default $"+agentVariable+", or "+launch.LibraryName+" beside shadow)")
}

func (f *runFlags) addContexts(flags *pflag.FlagSet) {
	flags.StringVar(&f.contexts, "contexts", "", "record the whole stack on which tasks are created, handed over and executed: all, or N for one in N (default none)")
}

// check refuses values that no agent would take.
func (f *runFlags) check() error {
	for _, word := range strings.Split(f.metric, "+") {
		if f.metric == "" || slices.Contains(metricWords, word) {
			continue
		}
		if _, err := perfevent.Parse(word); err != nil {
			return usagef("--metric %s: %q is none of %s, and %s", f.metric, word, strings.Join(metricWords, ", "), text.OneLine(err.Error()))
		}
	}
	if f.detail != "" && !slices.Contains(detailWords, f.detail) {
		return usagef("--detail %s: use one of %s", f.detail, strings.Join(detailWords, ", "))
	}
	if f.overflow != "" && !slices.Contains(overflowWords, f.overflow) {
		return usagef("--overflow %s: use one of %s", f.overflow, strings.Join(overflowWords, ", "))
	}
	if n, err := strconv.ParseUint(f.contexts, 10, 32); f.contexts != "" && f.contexts != "all" && (err != nil || n > 1_000_000_000) {
		return usagef("--contexts %s: use all, 0, or N for one event in N", f.contexts)
	}
	if err := checkSwitches(f.switches); err != nil {
		return err
	}
	if _, err := launch.AgentOptions(f.settings("", "", "", false)); err != nil {
		return &usageError{err}
	}
	return nil
}

// settings are the agent's options; only what was asked for, so that the
// defaults stay the agent's.
func (f *runFlags) settings(url, tokenFile, spool string, children bool) []launch.Setting {
	var s []launch.Setting
	add := func(key string, values ...string) {
		for _, v := range values {
			if v != "" {
				s = append(s, launch.Setting{Key: key, Value: v})
			}
		}
	}
	add("bus", url)
	add("tokenfile", tokenFile)
	add("spool", spool)
	add("metric", f.metric)
	add("task", f.tasks...)
	add("include", f.include...)
	add("exclude", f.exclude...)
	add("detail", f.detail)
	add("overflow", f.overflow)
	if f.strict {
		add("strict", "true")
	}
	if !f.submissions {
		add("submissions", "false")
	}
	if !f.sites {
		add("sites", "false")
	}
	add("contexts", f.contexts)
	if f.construction {
		add("construction", "true")
	}
	if children {
		add("children", "true")
	}
	return s
}

// run is the verb: prepare, run, collect, report.
func run(ctx context.Context, env Env, f runFlags, args []string) error {
	if f.repeat.wanted() {
		return repeat(ctx, env, f, args)
	}
	result, err := profiled(ctx, env, f, args)
	if err != nil {
		return err
	}
	return failed(result)
}

// profiled is a run with the agent.
func profiled(ctx context.Context, env Env, f runFlags, args []string) (launch.Result, error) {
	library, err := findAgent(env, f.agent)
	if err != nil {
		return launch.Result{}, err
	}
	if err := checkJava(args[0]); err != nil {
		return launch.Result{}, err
	}
	dir, remove, err := sessionFolder(env, f.dir)
	if err != nil {
		return launch.Result{}, err
	}
	w := newWatcher(env, f.counter)
	defer w.end()
	if w.switches, err = startSwitches(env, sched.Choice(f.switches), dir, w.whose); err != nil {
		remove()
		return launch.Result{}, err
	}
	c, err := startCollector(ctx, w.env, dir, w)
	if err != nil {
		remove()
		return launch.Result{}, err
	}
	// From here on no signal ends the shadow itself before the session is whole.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	defer signal.Stop(caught)
	result, err := execute(env, f, c, w, library, args)
	if err != nil {
		c.abandon()
		remove()
		return launch.Result{}, err
	}
	if err := conclude(ctx, env, f, c, w, ending{dir, remove, args[0], result}); err != nil {
		env.note("%s", text.OneLine(err.Error())) // the exit code stays the command's
	}
	return result, nil
}

// execute runs the command with the agent and waits for its end.
func execute(env Env, f runFlags, c *collector, w *watcher, library string, args []string) (launch.Result, error) {
	isJava := launch.IsJava(args[0])
	options, err := launch.AgentOptions(f.settings(c.bus.ClientURL(), c.private.token(), c.private.spool(), isJava))
	if err != nil {
		return launch.Result{}, err
	}
	environ := slices.DeleteFunc(slices.Clone(env.Environ), func(s string) bool { return strings.HasPrefix(s, tokenVariable+"=") })
	newArgs, environ, err := launch.WithAgent(args, environ, library, options)
	if err != nil {
		return launch.Result{}, err
	}
	var p *launch.Process
	err = w.switches.launch(func() (err error) {
		p, err = launch.Start(launch.Command{Args: newArgs, Env: environ, In: env.In, Out: env.Out, Err: env.Err})
		return err
	})
	if err != nil {
		return launch.Result{}, err
	}
	if isJava {
		w.watch(p.PID()) // from the very start
	}
	if f.progress {
		defer showProgress(env, c.ingest)()
	}
	return p.Wait()
}

// conclude stores the rest, puts a single session into dir itself and says what
// was recorded.
func conclude(ctx context.Context, env Env, f runFlags, c *collector, w *watcher, e ending) error {
	// A second interrupt ends the wait, not the shadow in the midst of a write.
	ctx, stop := signal.NotifyContext(ctx, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	defer stop()
	sessions, alive, err := c.finish(ctx)
	w.end()
	for _, r := range c.left {
		if err := notWhole(r); err != nil {
			env.note("%s", text.OneLine(err.Error()))
		}
	}
	if len(sessions) == 0 {
		e.remove()
		return errors.Join(err, fmt.Errorf("no JVM connected: %s", noJVM(e.name)))
	}
	folders, moveErr := place(e.dir, sessions, err == nil)
	err = errors.Join(err, moveErr)
	for i, s := range sessions {
		err = errors.Join(err, w.write(s.Folder, folders[i]))
	}
	if len(folders) == 1 && launch.IsJava(e.name) && e.result.Usage != nil {
		err = errors.Join(err, hpc.UsageOf(e.result.Usage, e.result.Wall).Write(folders[0]))
	}
	for _, folder := range folders {
		err = errors.Join(err, store.SealBeside(folder, store.BesideFiles()...))
	}
	if f.quiet {
		return err
	}
	for _, pid := range alive {
		env.note("the JVM with process id %d still runs; what it does from now on is not recorded", pid)
	}
	return errors.Join(err, printRunSummary(env, e.dir, folders, e.result))
}

// ending is what conclude works on.
type ending struct {
	dir    string
	remove func() // the folder, if it is new and empty
	name   string // of the command
	result launch.Result
}

func noJVM(name string) string {
	if launch.IsJava(name) {
		return "it ended before the agent could report, or the agent could not start (see its message above; try shadow doctor)"
	}
	return "the command started no JVM, or one that does not see " + launch.ToolOptions +
		" (cleared environment, another user or container); put java itself after --"
}

// place moves a single session up into dir, if it is whole; it gives the folders
// of all.
func place(dir string, sessions []ingest.Progress, whole bool) ([]string, error) {
	folders := make([]string, len(sessions))
	for i, s := range sessions {
		folders[i] = filepath.Join(dir, s.Folder)
	}
	if len(sessions) == 1 && whole {
		if err := store.Promote(dir, sessions[0].Folder); err != nil {
			return folders, err
		}
		folders[0] = dir
	}
	return folders, nil
}
