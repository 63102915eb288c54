package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stackagent/agent/options"
	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/jvmprocess"
	"stackagent/cmd/shadow/internal/record"
	"stackagent/hpc/sched"
	"stackagent/internal/attach"
	"stackagent/internal/launch"
	"stackagent/internal/text"
)

// alivePoll is how often it is looked whether an attached JVM still runs.
const alivePoll = 100 * time.Millisecond

// stopPatience bounds the wait for a JVM that removes the agent of an attach that was given up.
const stopPatience = 500 * time.Millisecond

// attachFlags are the flags of shadow attach.
type attachFlags struct {
	Flags
	duration time.Duration
}

// bus is the URL of --bus, "" if the session is stored here.
func (f *attachFlags) bus() string { return f.options.value("bus") }

// NewAttach is shadow attach.
func NewAttach(env console.Env) *cobra.Command {
	var f attachFlags
	cmd := &cobra.Command{
		Use:   "attach PID [flags]",
		Short: "Load the agent into a running JVM",
		Long: `Loads the agent into the JVM with process id PID and records until Ctrl-C, or for
--duration, or until the JVM ends; then removes the probes. The program continues
and its output is unchanged.

With --bus the session goes to a "shadow serve" (or any bus that one has joined);
the agent then stays until "shadow detach PID", unless --duration is given.

Tasks created before you attach are missing or incomplete; the session lists what.
From Java 21 on the JVM prints a warning on stderr when an agent is loaded this way,
unless it was started with -XX:+EnableDynamicAgentLoading.`,
		Example: `  shadow attach 4711 -o /tmp/s --duration 30s
  shadow attach 4711 --bus nats://127.0.0.1:4222 --token-file shadow-store/token
  shadow detach 4711`,
		Args: onePID,
		RunE: func(cmd *cobra.Command, args []string) error {
			pid, err := parsePID(args[0])
			if err == nil {
				err = f.checkAttach(cmd.Flags())
			}
			if err != nil {
				return err
			}
			if f.bus() != "" {
				return attachTo(cmd.Context(), env, f, pid)
			}
			return attachHere(cmd.Context(), env, f, pid)
		},
	}
	flags := cmd.Flags()
	f.addOutputFlags(flags)
	f.AddTo(flags, options.Attach)
	flags.DurationVar(&f.duration, "duration", 0, "how long to record (default: until Ctrl-C)")
	bus := flags.Lookup("bus")
	bus.Usage, bus.DefValue = bus.Usage+"; the session goes there and is not stored here", ""
	return cmd
}

// NewDetach is shadow detach.
func NewDetach(env console.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "detach PID",
		Short: "Stop recording in a running JVM and remove the probes",
		Long: `Ends the session in the JVM with process id PID, sends the rest of it, and restores
the classes. The agent library stays loaded, as no JVM can unload one, and does
nothing until you attach again.`,
		Example: `  shadow detach 4711`,
		Args:    onePID,
		RunE: func(cmd *cobra.Command, args []string) error {
			pid, err := parsePID(args[0])
			if err != nil {
				return err
			}
			p, err := attach.Inspect(pid, launch.LibraryName)
			if err != nil {
				return err
			}
			p.Slow = waitNote(env)
			if err := p.Stop(cmd.Context()); err != nil {
				return err
			}
			env.Note("detached from process %d", pid)
			return nil
		},
	}
}

// onePID takes exactly one argument, the process id of a JVM.
func onePID(cmd *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return console.Usagef("missing process id: %s PID; %s", cmd.CommandPath(), candidates())
	case 1:
		return nil
	}
	return console.Usagef("want one process id, got %d arguments; attach to one JVM at a time", len(args))
}

func parsePID(s string) (int, error) {
	pid, err := strconv.Atoi(s)
	if err != nil || pid <= 0 {
		return 0, console.Usagef("%q is not a process id; %s", s, candidates())
	}
	return pid, nil
}

// mostCandidates is how many JVMs a message names.
const mostCandidates = 5

// candidates names the JVMs that may be meant.
func candidates() string {
	list := jvmprocess.List()
	if len(list) == 0 {
		return "no JVM runs that this user may attach to; ps -C java lists those of all users"
	}
	var names []string
	for _, j := range list[:min(len(list), mostCandidates)] {
		names = append(names, strings.TrimSpace(fmt.Sprintf("%d %s", j.PID, text.Cut(j.Main, 60))))
	}
	if more := len(list) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more (jps -l lists all)", more))
	}
	return text.Plural(len(list), "JVM is", "JVMs are") + " running: " + strings.Join(names, ", ")
}

func (f *attachFlags) checkAttach(flags *pflag.FlagSet) error {
	for _, name := range []string{"switches", "counters", "progress", "monitors", "monitor-interval"} {
		if f.bus() != "" && flags.Changed(name) {
			return console.Usagef("--%s needs a session that is stored here; with --bus it is the other side's", name)
		}
	}
	switch {
	case f.duration < 0:
		return console.Usagef("--duration %v: want a time above 0", f.duration)
	case f.bus() != "" && f.dir != "":
		return console.Usagef("--bus sends the session elsewhere, -o stores it here; give one of them")
	case f.bus() == "" && f.options.value("tokenfile")+f.options.value("session") != "":
		return console.Usagef("--token-file and --session go with --bus")
	}
	return f.Check()
}

// guest is the agent in a JVM that runs.
type guest struct {
	process *attach.Process
	library string        // as the JVM sees it
	place   *attach.Place // nil: it sees our files
	pending bool          // it has a request that it has not answered
}

// visit looks at the JVM and makes sure that it can read the agent library.
func visit(env console.Env, f *attachFlags, pid int) (*guest, error) {
	p, err := attach.Inspect(pid, launch.LibraryName)
	if err != nil {
		return nil, err
	}
	p.Slow = waitNote(env)
	g := &guest{process: p, library: p.Agent}
	library := ""
	if p.Agent == "" {
		if library, err = FindAgent(env, f.Library); err != nil {
			return nil, err
		}
		g.library = library
	}
	if p.CanRead("/") && (library == "" || p.CanRead(library)) && p.UID == os.Geteuid() {
		return g, nil
	}
	if g.place, err = p.Place(); err != nil {
		return nil, err
	}
	if library != "" {
		g.library, err = g.place.Copy(library)
	}
	if err != nil {
		return nil, errors.Join(err, g.place.Remove())
	}
	return g, nil
}

func (g *guest) leave() {
	if g.place != nil && !g.pending { // else it opens the library once more
		_ = g.place.Remove() // a loaded library lives on without its file
	}
}

func (g *guest) start(ctx context.Context, agentOptions string) error {
	err := g.process.Start(ctx, g.library, agentOptions)
	if attach.Pending(err) {
		// The agent is there by now, or will be: the JVM answers one request after the other.
		soon, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
		defer cancel()
		_ = g.stop(soon)
		if g.pending {
			err = fmt.Errorf("%w; when it continues, it loads the agent and removes it", err)
		}
	}
	return err
}

func (g *guest) stop(ctx context.Context) error {
	if !g.process.Alive() {
		return nil
	}
	g.process.Agent = g.library
	err := g.process.Stop(ctx)
	g.pending = attach.Pending(err)
	return err
}

// stay waits until ctx ends, the time is over, or the JVM ends.
func (g *guest) stay(ctx context.Context, env console.Env, d time.Duration) {
	if d > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d)
		defer cancel()
	}
	noted := false
	for g.process.Alive() {
		stopped := g.process.Standstill(ctx)
		if stopped != nil && !noted && ctx.Err() == nil {
			env.Note("%s; until then nothing is recorded", text.OneLine(stopped.Error()))
		}
		noted = stopped != nil
		select {
		case <-ctx.Done():
			return
		case <-time.After(alivePoll):
		}
	}
}

// attachTo lets the agent send to a bus elsewhere.
func attachTo(ctx context.Context, env console.Env, f attachFlags, pid int) error {
	g, err := visit(env, &f, pid)
	if err != nil {
		return err
	}
	defer g.leave()
	defer env.Signals.Hold(holdPatience)()
	if err := g.start(ctx, options.String(f.options.settings())); err != nil {
		return err
	}
	env.Note("attached to process %d; shadow detach %d ends the session", pid, pid)
	if f.duration == 0 {
		return nil
	}
	g.stay(ctx, env, f.duration)
	finish, cancel := env.Signals.Finish(ctx, finishPatience)
	defer cancel()
	return g.stop(finish)
}

// attachHere records into a folder until ctx ends or the duration is over.
func attachHere(ctx context.Context, env console.Env, f attachFlags, pid int) error {
	g, err := visit(env, &f, pid)
	if err != nil {
		return err
	}
	defer g.leave()
	if !g.process.SharesNetwork() {
		return fmt.Errorf("process %d has its own network and cannot reach a bus on this side's loopback; "+
			"run shadow serve where it can be reached, and attach with --bus", pid)
	}
	if err := g.process.Standstill(ctx); err != nil {
		return err
	}
	release := env.Signals.Hold(holdPatience)
	defer release()
	dir, remove, err := sessionFolder(env, f.dir)
	if err != nil {
		return err
	}
	w := record.NewWatcher(env, f.Counter, f.caches)
	w.Finder.Attached = g.process
	defer w.End()
	if w.Switches, err = record.StartSwitches(env, sched.Choice(f.Switches), dir, w.Finder); err != nil {
		remove()
		return err
	}
	w.Monitors = f.Monitors.Start(env, dir, w.Finder)
	c, err := record.Start(context.WithoutCancel(ctx), env, dir, w) // a signal ends what is recorded, not the storing of it
	if err != nil {
		remove()
		return err
	}
	w.Switches.Watch(g.process.PID) // starts before the agent's first message
	w.Watch(g.process.PID)
	if err := g.record(ctx, env, f, c); err != nil {
		c.Abandon()
		remove()
		return err
	}
	end := ending{dir: dir, remove: remove, name: "java", release: release, exit: console.ByTheSignal}
	if env.Signals.Caught() != 0 {
		end.exit = 0            // the recording has ended as its user wanted
		end.release = func() {} // so its summary is still wanted; a second signal ends it
	}
	return conclude(ctx, env, f.Flags, c, w, end)
}

// record attaches, waits and detaches.
func (g *guest) record(ctx context.Context, env console.Env, f attachFlags, c *record.Collector) error {
	token, spool := c.Token(), c.Spool()
	if g.place != nil {
		inside, err := g.giveToken(c)
		if err != nil {
			return err
		}
		token, spool = inside, "off"
	}
	if err := g.start(ctx, f.agentOptions(c.Bus.ClientURL(), token, spool)); err != nil {
		return err
	}
	if !f.quiet {
		env.Note("attached to process %d; Ctrl-C ends the recording", g.process.PID)
	}
	if f.progress {
		defer record.ShowProgress(env, c.Ingest)()
	}
	g.stay(ctx, env, f.duration)
	finish, cancel := env.Signals.Finish(ctx, finishPatience)
	defer cancel()
	if err := g.stop(finish); err != nil && g.process.Alive() {
		env.Note("%s", text.OneLine(err.Error())) // what has been recorded is stored all the same
	}
	return nil
}

// giveToken puts the bus's secret where the JVM can read it.
func (g *guest) giveToken(c *record.Collector) (string, error) {
	f, err := os.Open(c.Token())
	if err != nil {
		return "", fmt.Errorf("reading the bus's token: %w", err)
	}
	defer f.Close()
	return g.place.Write("token", f, 0o400)
}

// waitNote says what a long wait is for, to a user who watches.
func waitNote(env console.Env) func(what string) {
	if !env.Watched() {
		return nil
	}
	return func(what string) { env.Note("%s", text.OneLine(what)) }
}
