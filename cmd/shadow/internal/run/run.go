// Package run is shadow run, attach and detach: how a JVM is started or found, and how what it records becomes a session.
package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stackagent/agent/options"
	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/record"
	"stackagent/hpc"
	"stackagent/hpc/monitor"
	"stackagent/hpc/sched"
	"stackagent/internal/launch"
	"stackagent/internal/text"
	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/session/logs/deopt"
	"stackagent/shadow/session/logs/jfr"
	"stackagent/shadow/session/logs/marker"
	"stackagent/shadow/store"
)

// Flags are the flags of shadow run.
type Flags struct {
	dir, Library                     string
	options                          agentFlags
	quiet, progress, Counter, caches bool
	repeat                           repeatFlags
	Marker                           markerFlags
	deopts                           bool
	jfr                              jfrFlags
	Switches                         string
	Monitors                         record.MonitorFlags
	workdir                          string            // where the command runs; "": here
	More                             []options.Setting // of the agent, beside those that the user gave
	limit                            time.Duration     // after which the command is ended; 0: there is none
}

// New is shadow run.
func New(env console.Env) *cobra.Command {
	var f Flags
	cmd := &cobra.Command{
		Use:   "run [flags] -- COMMAND [ARGS...]",
		Short: "Run a command with the agent in every JVM it starts",
		Long: `Runs COMMAND with the agent in every JVM that it starts, and writes a session
folder. The command's input, output and exit code are unchanged.

If COMMAND is java, shadow puts the agent on its command line. For any other command
it uses JAVA_TOOL_OPTIONS, which every JVM announces with a line on stderr.`,
		Example: `  shadow run -- java -jar app.jar
  shadow run -o /tmp/s --metric wall+cpu -- java -cp classes com.acme.Main
  shadow run --repeat 10 --baseline -o /tmp/r -- java -jar app.jar
  shadow run --task 'com.acme.Job#process(Lcom/acme/Ctx;)V' -- ./start.sh`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return console.Usagef("no command given: shadow run [flags] -- COMMAND [ARGS...]")
			}
			if err := f.repeat.check(); err != nil {
				return err
			}
			return f.Check()
		},
		RunE: func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), env, f, args) },
	}
	flags := cmd.Flags()
	flags.SetInterspersed(false) // what follows the command is the command's
	f.addOutputFlags(flags)
	f.AddTo(flags, options.Run)
	f.repeat.addTo(flags)
	return cmd
}

// addOutputFlags adds those that say where the session goes and what the verb prints.
func (f *Flags) addOutputFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&f.dir, "output", "o", "", "session folder, new or empty (default ./shadow-<time>)")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print errors only: no summary, no notes")
	flags.BoolVar(&f.progress, "progress", false, "print progress to stderr every second")
}

// AddTo adds those that say what a session of verb records.
func (f *Flags) AddTo(flags *pflag.FlagSet, verb options.Verbs) {
	f.options = addAgentFlags(flags, verb)
	flags.BoolVar(&f.Counter, "counters", true, "count switches, faults and hardware events of the JVM's threads from outside")
	flags.BoolVar(&f.caches, "cache-counters", false, "also count loads and misses of the L1 and last-level caches and the TLB, where the machine can; counts become estimates")
	record.AddSwitches(flags, &f.Switches)
	f.Monitors.AddTo(flags)
	if verb == options.Run {
		f.Marker.AddTo(flags)
		flags.StringSliceVar((*[]string)(&f.jfr), "jfr", nil, "have the JVM's flight recorder record these `EVENTS`, as jdk.ExecuteVMOperation, for shadow vertical (needs java itself after --)")
		flags.BoolVar(&f.deopts, "deopts", false, "have the JVM log its deoptimisations, for shadow warmup (needs java itself after --, JDK 20 or newer)")
	}
	f.AddAgent(flags, "")
}

// AddAgent adds the flag that names the agent's library; before begins its help.
func (f *Flags) AddAgent(flags *pflag.FlagSet, before string) {
	flags.StringVar(&f.Library, "agent", "", before+"agent library (default $"+AgentVariable+", or "+launch.LibraryName+" beside shadow)")
}

// Check refuses values that the agent or the scheduling record would refuse.
func (f *Flags) Check() error {
	return cmp.Or(f.options.Check(), f.Marker.check(), record.CheckSwitches(f.Switches), f.Monitors.Check(), f.jfr.check())
}

// agentOptions is the agent's option string for a bus of this shadow.
func (f *Flags) agentOptions(url, tokenFile, spool string, more ...options.Setting) string {
	bus := []options.Setting{{Key: "bus", Value: url}, {Key: "tokenfile", Value: tokenFile}, {Key: "spool", Value: spool}}
	return options.String(slices.Concat(bus, f.options.settings(), f.insideSettings(), f.More, more))
}

// insideSettings are the agent's part of --monitors and --monitor-interval.
func (f *Flags) insideSettings() (list []options.Setting) {
	for _, word := range f.Monitors.Inside() {
		list = append(list, options.Setting{Key: "monitor", Value: word})
	}
	if f.Monitors.Interval != 0 && f.Monitors.Interval != monitor.DefaultInterval {
		list = append(list, options.Setting{Key: "monitorinterval", Value: f.Monitors.Interval.String()})
	}
	return list
}

// run is the verb: prepare, run, collect, report.
func run(ctx context.Context, env console.Env, f Flags, args []string) error {
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
func profiled(ctx context.Context, env console.Env, f Flags, args []string) (launch.Result, error) {
	library, err := FindAgent(env, f.Library)
	if err != nil {
		return launch.Result{}, err
	}
	if err := CheckJava(args[0]); err != nil {
		return launch.Result{}, err
	}
	ready := env.Signals.Hold(setupPatience)
	defer ready()
	dir, remove, err := sessionFolder(env, f.dir)
	if err != nil {
		return launch.Result{}, err
	}
	w := record.NewWatcher(env, f.Counter, f.caches)
	defer w.End()
	if w.Switches, err = record.StartSwitches(env, sched.Choice(f.Switches), dir, w.Finder); err != nil {
		remove()
		return launch.Result{}, err
	}
	w.Monitors = f.Monitors.Start(env, dir, w.Finder)
	c, err := record.Start(context.WithoutCancel(ctx), env, dir, w) // a signal ends what is recorded, not the storing of it
	if err != nil {
		remove()
		return launch.Result{}, err
	}
	// From here on no signal ends the shadow itself before the session is whole.
	patience := holdPatience
	if !f.single() {
		patience = 0 // it is the experiment's
	}
	release := env.Signals.Hold(patience)
	defer release()
	ready()
	end := ending{dir: dir, remove: remove, name: args[0], markers: f.Marker.recorder(), own: f.Marker.own(), release: release}
	log := f.deoptLog(env, c, args[0])
	with, recording := f.jfr.with(env, c, withDeopts(args, log))
	end.result, err = execute(ctx, env, f, c, w, library, with, end.markers)
	if err == nil && !f.single() {
		err = ctx.Err() // a run of several that is cut short has no result
	}
	if err != nil {
		c.Abandon()
		remove()
		return launch.Result{}, err
	}
	if end.exit = end.result.Code; !f.single() {
		end.exit = console.ByTheSignal
	}
	end.deopts, end.jfr = readDeopts(env, log), f.jfr.read(ctx, env, args[0], recording)
	err = conclude(ctx, env, f, c, w, end)
	release()
	if err != nil {
		env.Note("%s", text.OneLine(err.Error())) // the exit code stays the command's
	}
	return end.result, nil
}

// single reports whether this is the only run of the command.
func (f *Flags) single() bool { return f.limit == 0 && !f.repeat.wanted() }

// execute runs the command with the agent and waits for its end.
func execute(ctx context.Context, env console.Env, f Flags, c *record.Collector, w *record.Watcher, library string, args []string, markers *marker.Recorder) (launch.Result, error) {
	isJava := launch.IsJava(args[0])
	var children []options.Setting
	if isJava { // for any other command the environment reaches them
		children = append(children, options.Setting{Key: "children", Value: "true"})
	}
	agentOptions := f.agentOptions(c.Bus.ClientURL(), c.Token(), c.Spool(), children...)
	environ := slices.DeleteFunc(slices.Clone(env.Environ), func(s string) bool { return strings.HasPrefix(s, record.TokenVariable+"=") })
	newArgs, environ, err := launch.WithAgent(args, environ, library, agentOptions)
	if err != nil {
		return launch.Result{}, err
	}
	out, errs, done := watched(env, markers)
	defer done()
	command := launch.Command{Args: newArgs, Env: environ, In: env.In, Out: out, Err: errs, Dir: f.workdir, Limit: f.limit}
	var result launch.Result
	switch {
	case f.limit > 0:
		command.Until = ctx
	case f.single(): // the signals are the command's
		back := env.Signals.Pass()
		defer func() { back(result.Code) }()
	}
	if err := ctx.Err(); err != nil {
		return launch.Result{}, err
	}
	var p *launch.Process
	err = w.Switches.Launch(func() (err error) {
		p, err = launch.Start(command)
		return err
	})
	if err != nil {
		return launch.Result{}, err
	}
	if isJava {
		w.Watch(p.PID()) // from the very start
	}
	if f.progress {
		defer record.ShowProgress(env, c.Ingest)()
	}
	result, err = p.Wait()
	return result, err
}

// conclude stores the rest, puts a single session into dir itself and says what
// was recorded.
func conclude(ctx context.Context, env console.Env, f Flags, c *record.Collector, w *record.Watcher, e ending) error {
	env.Signals.Last(e.exit, func() {
		env.Note("interrupted: `shadow serve --store %s` stores what is not stored yet", text.ShellWord(e.dir))
	})
	// A second signal ends the wait, not the shadow in the midst of a write.
	ctx, stop := env.Signals.Finish(ctx, finishPatience)
	defer stop()
	sessions, alive, err := c.Finish(ctx)
	w.End()
	for _, r := range c.Left {
		if err := r.Err(); err != nil {
			env.Note("%s", text.OneLine(err.Error()))
		}
	}
	if len(sessions) == 0 {
		e.remove()
		return errors.Join(err, fmt.Errorf("no JVM connected: %s", noJVM(e.name)))
	}
	folders, moveErr := place(e.dir, sessions, err == nil)
	err = errors.Join(err, moveErr)
	for i, s := range sessions {
		err = errors.Join(err, w.Write(s.Folder, folders[i]))
	}
	if len(folders) == 1 && launch.IsJava(e.name) && e.result.Usage != nil {
		err = errors.Join(err, hpc.UsageOf(e.result.Usage, e.result.Wall).Write(folders[0]))
	}
	if len(folders) == 1 && e.deopts != nil {
		err = errors.Join(err, e.deopts.Write(folders[0]))
	}
	if len(folders) == 1 && e.jfr != nil {
		err = errors.Join(err, e.jfr.Write(folders[0]))
	}
	if e.markers != nil {
		err = errors.Join(err, storeMarkers(env, e.markers.File(), folders))
	} else if e.own != nil {
		if file, why := e.own.read(); why != nil {
			env.Note("%s", text.OneLine(why.Error()))
		} else {
			err = errors.Join(err, storeMarkers(env, file, folders))
		}
	}
	for _, folder := range folders {
		err = errors.Join(err, store.SealBeside(folder, store.BesideFiles()...))
	}
	env.Signals.Last(e.exit, func() {
		env.Note("the summary is cut short; the session is in %s: `shadow stats %s` shows it", folders[0], text.ShellWord(folders[0]))
	})
	e.release()
	if f.quiet {
		return err
	}
	for _, pid := range alive {
		env.Note("process %d still runs; what it does from now on is not recorded", pid)
	}
	return errors.Join(err, printRunSummary(env, e.dir, folders, e.result))
}

// ending is what conclude works on.
type ending struct {
	dir    string
	remove func() // the folder, if it is new and empty
	name   string // of the command
	result launch.Result

	markers *marker.Recorder // nil: none were wanted
	own     *ownFile         // of markers; nil: none
	deopts  *deopt.File      // nil: not logged
	jfr     *jfr.File        // nil: not recorded

	release func() // when the session is whole: from here on a signal ends the shadow
	exit    int    // the code of a shadow that a signal ends: the command's, or console.ByTheSignal
}

// Bounds after a signal.
const (
	setupPatience  = 700 * time.Millisecond // nothing is recorded yet
	finishPatience = 10 * time.Second       // for a session to become whole; what is not stored by then stays in its folder
	holdPatience   = 25 * time.Second       // for a JVM to be detached, and that; only a disk that hangs takes as long
)

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
