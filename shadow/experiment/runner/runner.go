// Package runner runs a command, or the programs of a suite, at the points of an experiment: it fills the words of the
// command in, chooses the options of the JVM, records with the agent or does without it, and judges how each run ended.
package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"stackagent/hpc"
	"stackagent/internal/jdk"
	"stackagent/internal/launch"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/experiment"
	"stackagent/shadow/experiment/suite"
	"stackagent/shadow/store"
)

// Factors beside those of package experiment.
const (
	Monitors   = "monitors"   // that a run samples
	CPUs       = "cpus"       // how many a run may use
	Iterations = "iterations" // of a program that can choose them
	Pointers   = "pointers"   // Compressed or Full
)

// Values of Pointers.
const (
	Compressed = "compressed"
	Full       = "full"
)

var pointerOptions = map[string]string{Compressed: "-XX:+UseCompressedOops", Full: "-XX:-UseCompressedOops"}

// OnMemoryError makes a JVM end at its first OutOfMemoryError, so that a run that lost a thread or gave up some of its
// work does not pass for a whole one.
const OnMemoryError = "-XX:+ExitOnOutOfMemoryError"

const (
	// JavaOptions is where the java command looks for options of its own.
	JavaOptions = "JDK_JAVA_OPTIONS"
	// LastOptions is where the JVM looks for options after all others.
	LastOptions = "_JAVA_OPTIONS"
)

// Outside is what a runner needs of the program that it is part of.
type Outside struct {
	Environ []string
	Note    func(format string, args ...any)
	// Hold keeps signals from ending the program before the time is over, until release is called.
	Hold func(patience time.Duration) (release func())
}

// Getenv looks up a variable; if there are several of the name, the last counts.
func (o Outside) Getenv(name string) string {
	for i := len(o.Environ) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(o.Environ[i], name+"="); ok {
			return value
		}
	}
	return ""
}

// Recorder makes runs with the agent.
type Recorder interface {
	// Settings are how it records, as far as it makes runs comparable.
	Settings() []string
	// Record makes a run, which leaves its session in the folder.
	Record(context.Context, Run) (launch.Result, error)
}

// Run is one run that is to be recorded.
type Run struct {
	Folder        string
	Args, Environ []string
	Program       *Program
	Point         experiment.Point
	Limit         time.Duration
	Output        *experiment.Output
}

// Care says how runs are guarded and judged.
type Care struct {
	Timeout time.Duration // 0: ten times the longest run so far
	Others  float64       // see experiment.Options
	Again   bool          // see experiment.Options
	Check   *regexp.Regexp
}

// attempts is how often a disturbed run is made at most.
const attempts = 3

// JVMSet is a named set of JVM options.
type JVMSet struct {
	Name    string
	Options []string
}

// Program is one that an experiment runs.
type Program struct {
	suite.Program
	folder string // that was prepared for it
}

// Runner makes the runs of an experiment.
type Runner struct {
	Outside
	Care
	Programs []Program
	Always   []string // JVM options of each run
	Sets     []JVMSet
	PinHeap  bool     // -Xms is the heap as well
	Recorder Recorder // nil: the runs are without the agent
	Input    Input    // of programs of a suite

	*experiment.Experiment
}

// Command is the program that a command of the user is.
func Command(args []string) Program {
	args = slices.Clone(args)
	for i, a := range args {
		if a == "{"+experiment.Heap+"}" {
			args[i] = "-Xmx" + a
		}
	}
	p := Program{Program: suite.Program{Command: args, Words: map[string]string{experiment.GCThreads: ""}}}
	if launch.IsJava(args[0]) && !p.Uses(experiment.JVMOptions) {
		p.Command = slices.Insert(args, 1, "{"+experiment.JVMOptions+"}")
	}
	return p
}

// Java says which JDK a command finds, and which options it takes from the environment: runs with others cannot be
// compared. "": not known, or each point says it.
func (o Outside) Java(command []string, points []experiment.Point) string {
	if slices.ContainsFunc(points, func(p experiment.Point) bool { return p.Of(experiment.JDK) != "" }) {
		return ""
	}
	name := "java" // what a script is likely to run
	if launch.IsJava(command[0]) {
		name = command[0]
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	home := jdk.Of(path)
	words := []string{cmp.Or(home.Version, home.Path)}
	for _, name := range []string{launch.ToolOptions, JavaOptions, LastOptions} {
		if v := o.Getenv(name); v != "" {
			words = append(words, name+"="+v)
		}
	}
	return strings.Join(words, " ")
}

// at is the program of a point.
func (r *Runner) at(p experiment.Point) *Program {
	name := p.Of(experiment.Program)
	i := slices.IndexFunc(r.Programs, func(p Program) bool { return p.Name == name })
	return &r.Programs[i]
}

// Open opens the folder in which the runs are to be made by r.
func (r *Runner) Open(dir string, plan experiment.Plan) error {
	plan.Named = map[string]string{}
	for _, p := range r.Programs {
		if p.Name == "" {
			plan.Command = p.Command
		} else {
			plan.Named["program "+p.Name] = strings.Join(p.Command, " ")
		}
	}
	for _, s := range r.Sets {
		plan.Named["set of JVM options "+s.Name] = strings.Join(s.Options, " ")
	}
	if r.Check != nil {
		plan.Settings = append(plan.Settings, "check="+r.Check.String())
	}
	plan.Settings = append(plan.Settings, r.Input.settings()...)
	o := experiment.Options{Launch: r.launch, Others: r.Others, Attempts: attempts, Again: r.Again, Tell: r.tell}
	if r.Recorder != nil {
		plan.Settings = append(plan.Settings, r.Recorder.Settings()...)
		o.Kept = hasSession
	}
	plan.Java = r.Java(r.Programs[0].Command, plan.Points)
	x, err := experiment.Open(dir, plan, o)
	if err != nil {
		return err
	}
	for _, n := range x.Notes {
		r.Note("%s", text.OneLine(n))
	}
	r.Experiment = x
	return nil
}

// All makes the runs of a plan in dir, and warmups of each point before.
func (r *Runner) All(ctx context.Context, dir string, plan experiment.Plan, warmups int) error {
	if err := r.Open(dir, plan); err != nil {
		return err
	}
	return r.Work(ctx, dir, func(ctx context.Context) error { return r.Experiment.All(ctx, warmups) })
}

// patience is how long an experiment may take to end after a signal.
const patience = 700 * time.Millisecond

// Work makes the runs that do asks for, and closes the experiment. A signal ends it with the run that is under way, and
// the error says how to go on in dir.
func (r *Runner) Work(ctx context.Context, dir string, do func(context.Context) error) error {
	defer r.Hold(patience)() // a run under way ends by the signal, too: launch.Command.Until
	return Until(ctx, r.Experiment, dir, do)
}

// Until is Work for runs that nobody but their user ends.
func Until(ctx context.Context, x *experiment.Experiment, dir string, do func(context.Context) error) error {
	err := do(ctx)
	interrupted := ctx.Err() != nil
	err = errors.Join(err, x.Close())
	if interrupted {
		return fmt.Errorf("interrupted; what has ended is in %s: the same command with -o %s goes on from there", dir, text.ShellWord(dir))
	}
	return err
}

const (
	firstLimit = 30 * time.Minute // of a run about which nothing is known
	slack      = 10 * time.Second
)

// limit is the time after which a run at p is ended.
func (r *Runner) limit(p experiment.Point) time.Duration {
	if r.Timeout > 0 {
		return r.Timeout
	}
	var longest time.Duration
	for _, done := range r.Results() {
		if !done.Failed() && done.Point.Of(experiment.Program) == p.Of(experiment.Program) {
			longest = max(longest, time.Duration(done.Usage.Wall))
		}
	}
	if longest == 0 {
		return firstLimit
	}
	return 10*longest + slack
}

// logOf is where the output of a run in folder goes: beside it, under a name that run-* does not match.
func logOf(folder string) string {
	return filepath.Join(filepath.Dir(folder), "output-"+strings.TrimPrefix(filepath.Base(folder), "run-")+".log")
}

// launch is a run, with the agent or without.
func (r *Runner) launch(ctx context.Context, folder string, p experiment.Point, invocation int) (experiment.Outcome, error) {
	args, environ, err := r.commandAt(p)
	if err != nil {
		return experiment.Outcome{}, err
	}
	program := r.at(p)
	out, err := experiment.NewOutput(logOf(folder), cmp.Or(r.Check, program.Check))
	if err != nil {
		return experiment.Outcome{}, err
	}
	if invocation < 1 {
		defer os.Remove(logOf(folder))
	}
	var result launch.Result
	limit := r.limit(p)
	if r.Recorder != nil {
		result, err = r.Recorder.Record(ctx, Run{folder, args, environ, program, p, limit, out})
	} else {
		result, err = plain(launch.Command{Args: args, Env: environ, Out: out, Err: out, Dir: program.Dir, Limit: limit, Until: ctx})
	}
	if err := errors.Join(err, out.Close()); err != nil {
		return experiment.Outcome{}, err
	}
	outcome := out.Outcome(EndOf(result))
	if r.Recorder != nil && !outcome.Failed() {
		if !hasSession(folder) {
			outcome.Failure, outcome.Why = experiment.NoJVM, "there is not one session of it: it started no JVM or several"
		} else if why := otherHeap(folder, p); why != "" {
			outcome.Failure, outcome.Why = experiment.OtherHeap, why
		}
	}
	return outcome, nil
}

// plain is a run without the agent and without counters.
func plain(c launch.Command) (launch.Result, error) {
	p, err := launch.Start(c)
	if err != nil {
		return launch.Result{}, err
	}
	return p.Wait()
}

// hasSession reports whether a folder is that of one session.
func hasSession(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, store.ManifestName))
	return err == nil
}

// otherHeap says why a session is not one with the heap of the point, "" if it is, or if the JVM's options do not tell.
func otherHeap(folder string, p experiment.Point) string {
	heap := p.Of(experiment.Heap)
	m, err := store.ReadManifest(folder)
	if heap == "" || err != nil || m.JVM.MaxHeapBytes == 0 {
		return ""
	}
	asked, err := experiment.ParseHeap(heap)
	if err != nil || asked == m.JVM.MaxHeapBytes {
		return ""
	}
	return fmt.Sprintf("the JVM's largest heap was %s, not %s: something sets it behind the experiment's option, perhaps a script", experiment.HeapText(m.JVM.MaxHeapBytes), experiment.HeapText(asked))
}

// EndOf is how a command ended.
func EndOf(r launch.Result) experiment.End {
	e := experiment.End{Code: r.Code, Usage: hpc.Usage{Wall: units.Ns(r.Wall)}}
	if r.Usage != nil {
		e.Usage = hpc.UsageOf(r.Usage, r.Wall)
	}
	if r.Signal != 0 {
		e.Signal = "ended by " + cmp.Or(unix.SignalName(r.Signal), r.Signal.String())
	}
	if r.TimedOut > 0 {
		e.TimedOut = r.TimedOut.Round(time.Millisecond).String()
	}
	return e
}
