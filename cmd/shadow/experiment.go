package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/launch"
	"stackagent/hpc"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/experiment"
	"stackagent/shadow/store"
)

// experimentFlags are those of every verb that runs a command many times.
type experimentFlags struct {
	repeat  int
	timeout time.Duration
	others  float64
	again   bool
	check   string

	checkLine *regexp.Regexp
}

// attempts is how often a disturbed run is made at most.
const attempts = 3

func (f *experimentFlags) addTo(flags *pflag.FlagSet) {
	flags.DurationVar(&f.timeout, "timeout", 0, "end a run after this time and count it as failed (default: ten times the longest run so far and 10s; 30m for the first)")
	flags.Float64Var(&f.others, "others", 0.05, "make a run anew, at most twice, if other programs, interrupts or the hypervisor took more than this share of the CPU time; 0: never")
	flags.BoolVar(&f.again, "again", false, "make runs anew that failed when the folder was written")
	flags.StringVar(&f.check, "check", "", "a run without a line of output that matches this regular expression has failed")
}

func (f *experimentFlags) checkValues() error {
	switch {
	case f.timeout < 0:
		return console.Usagef("--timeout %v: use a time above 0", f.timeout)
	case f.others < 0 || f.others > 1:
		return console.Usagef("--others %v: use a share from 0 to 1", f.others)
	}
	if f.check == "" {
		return nil
	}
	var err error
	if f.checkLine, err = regexp.Compile(f.check); err != nil {
		return console.Usagef("--check: %v", err)
	}
	return nil
}

// settings are what makes runs comparable.
func (f *experimentFlags) settings() []string {
	if f.check == "" {
		return nil
	}
	return []string{"check=" + f.check}
}

// jvmSet is a named set of JVM options.
type jvmSet struct {
	name    string
	options []string
}

// parseJVMSet parses NAME=OPTIONS.
func parseJVMSet(s string) (jvmSet, error) {
	name, options, ok := strings.Cut(s, "=")
	if !ok || name == "" || strings.HasPrefix(name, "-") {
		return jvmSet{}, console.Usagef("--jvm %q: give a name and the options, as in --jvm 'plain=' --jvm 'stringdedup=-XX:+UseStringDeduplication'", s)
	}
	return jvmSet{name, strings.Fields(options)}, nil
}

// runner makes the runs of an experiment.
type runner struct {
	env     console.Env
	flags   *experimentFlags
	command []string
	always  []string // JVM options of each run
	sets    []jvmSet
	pinHeap bool      // -Xms is the heap as well
	agent   *runFlags // how a session is recorded; nil: the runs are without the agent

	x *experiment.Experiment
}

// open opens the folder, in which the runs are to be made by r.
func (r *runner) open(dir string, plan experiment.Plan) error {
	plan.Command = r.command
	plan.Settings = append(plan.Settings, r.flags.settings()...)
	if r.agent != nil {
		plan.Settings = append(plan.Settings, r.agent.settings()...)
	}
	for _, s := range r.sets {
		plan.Settings = append(plan.Settings, "jvm="+s.name+"="+strings.Join(s.options, " "))
	}
	x, err := experiment.Open(dir, plan, experiment.Options{Launch: r.launch, Others: r.flags.others, Attempts: attempts, Again: r.flags.again, Tell: r.tell})
	if err != nil {
		return err
	}
	for _, n := range x.Notes {
		r.env.Note("%s", text.OneLine(n))
	}
	r.x = x
	return nil
}

// settings are how runs are recorded, as far as it makes them comparable.
func (f *runFlags) settings() []string {
	var out []string
	for _, s := range f.options.settings() {
		out = append(out, s.Key+"="+s.Value)
	}
	return append(out, "switches="+f.switches, "counters="+strconv.FormatBool(f.counter))
}

// work makes the runs that do asks for. An interrupt ends it at the next run, and says how to go on.
func (r *runner) work(ctx context.Context, dir string, do func(context.Context) error) error {
	ctx, stop := signal.NotifyContext(ctx, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	defer stop()
	err := do(ctx)
	interrupted := ctx.Err() != nil
	err = errors.Join(err, r.x.Close())
	if interrupted {
		return fmt.Errorf("interrupted; what has ended is in %s: the same command with -o %s goes on from there", dir, text.ShellWord(dir))
	}
	return err
}

// tell prints a line about a run that has ended.
func (r *runner) tell(p experiment.Progress) {
	var line strings.Builder
	fmt.Fprintf(&line, "%s, run %d: ", p.Result.Point, p.Result.Invocation)
	if p.Result.Invocation < 1 {
		line.Reset()
		fmt.Fprintf(&line, "%s, warm-up: ", p.Result.Point)
	}
	if p.Result.Failed() {
		fmt.Fprintf(&line, "%s (%s)", p.Result.Failure, p.Result.Why)
	} else {
		line.WriteString(units.FormatNs(p.Result.Usage.Wall))
	}
	if d := p.Result.Disturbed; d != "" {
		line.WriteString("; disturbed: " + d)
		if p.Repeats {
			line.WriteString("; once more")
		}
	}
	if p.Total > 0 && p.Done < p.Total {
		fmt.Fprintf(&line, "; %d of %d, about %s left", p.Done, p.Total, roughly(p.Left))
	}
	r.env.Note("%s", text.OneLine(line.String()))
}

// roughly shows a time that is estimated.
func roughly(d time.Duration) string {
	switch {
	case d >= 2*time.Hour:
		return text.Plural(int64((d+30*time.Minute)/time.Hour), "hour", "hours")
	case d >= 2*time.Minute:
		return text.Plural(int64((d+30*time.Second)/time.Minute), "minute", "minutes")
	}
	return text.Plural(int64((d+time.Second-1)/time.Second), "second", "seconds")
}

const (
	firstLimit = 30 * time.Minute // of a run about which nothing is known
	slack      = 10 * time.Second
)

// limit is the time after which a run at p is ended.
func (r *runner) limit(p experiment.Point) time.Duration {
	if r.flags.timeout > 0 {
		return r.flags.timeout
	}
	var longest time.Duration
	for _, done := range r.x.Results() {
		if !done.Failed() && done.Point.Of(experiment.Program) == p.Of(experiment.Program) {
			longest = max(longest, time.Duration(done.Usage.Wall))
		}
	}
	if longest == 0 {
		return firstLimit
	}
	return 10*longest + slack
}

// commandAt is the command at a point, and its environment.
func (r *runner) commandAt(p experiment.Point) (args, environ []string, err error) {
	args, environ = slices.Clone(r.command), slices.Clone(r.env.Environ)
	java := launch.IsJava(args[0])
	if jdk := p.Of(experiment.JDK); jdk != "" {
		environ = append(environ, "JAVA_HOME="+jdk, "PATH="+filepath.Join(jdk, "bin")+":"+r.env.Getenv("PATH"))
		if java {
			args[0] = filepath.Join(jdk, "bin", "java")
		}
	}
	jvm := slices.Clone(r.always)
	values := map[string]string{}
	for _, l := range p {
		values[l.Factor] = l.Value
	}
	has := func(factor string) bool { return experiment.Mentions(r.command, factor) }
	if c := p.Of(experiment.Collector); c != "" && !has(experiment.Collector) {
		_, options, err := experiment.CollectorOptions(c)
		if err != nil {
			return nil, nil, err
		}
		jvm = append(jvm, strings.Fields(options)...)
	}
	if n := p.Of(experiment.GCThreads); n != "" && !has(experiment.GCThreads) {
		jvm = append(jvm, "-XX:ParallelGCThreads="+n)
	}
	if o := p.Of(pointersFactor); o != "" {
		jvm = append(jvm, pointerOptions[o])
	}
	if name := p.Of(experiment.JVMOptions); name != "" {
		i := slices.IndexFunc(r.sets, func(s jvmSet) bool { return s.name == name })
		if i < 0 {
			return nil, nil, fmt.Errorf("no set of JVM options is called %q", name)
		}
		jvm = append(jvm, r.sets[i].options...)
	}
	lists := map[string][]string{}
	if heap := p.Of(experiment.Heap); heap != "" {
		option := "-Xmx" + heap
		lists[experiment.Heap] = []string{option}
		if !has(experiment.Heap) {
			jvm = append(jvm, option)
		}
		if r.pinHeap {
			jvm = append(jvm, "-Xms"+heap)
		}
	}
	switch {
	case has(experiment.JVMOptions):
		lists[experiment.JVMOptions] = jvm
	case len(jvm) > 0 && java:
		args = slices.Insert(args, 1, jvm...)
	case len(jvm) > 0:
		value := strings.TrimSpace(r.env.Getenv(javaOptions) + " " + strings.Join(jvm, " "))
		environ = append(environ, javaOptions+"="+value)
	}
	return experiment.Fill(args, values, lists), environ, nil
}

// javaOptions is where the java command looks for options of its own.
const javaOptions = "JDK_JAVA_OPTIONS"

// logOf is where the output of a run in folder goes.
func logOf(folder string) string { return folder + ".log" }

// launch is a run, with the agent or without.
func (r *runner) launch(ctx context.Context, folder string, p experiment.Point, invocation int) (experiment.Outcome, error) {
	args, environ, err := r.commandAt(p)
	if err != nil {
		return experiment.Outcome{}, err
	}
	out, err := experiment.NewOutput(logOf(folder), r.flags.checkLine)
	if err != nil {
		return experiment.Outcome{}, err
	}
	if invocation < 1 {
		defer os.Remove(logOf(folder))
	}
	env := r.env
	env.In, env.Out, env.Err, env.Environ = nil, out, out, environ
	var result launch.Result
	limit := r.limit(p)
	if r.agent != nil {
		f := *r.agent
		f.dir, f.quiet, f.limit = folder, true, limit
		result, err = profiled(ctx, env, f, args)
	} else {
		result, err = plain(env, args, limit)
	}
	if err := errors.Join(err, out.Close()); err != nil {
		return experiment.Outcome{}, err
	}
	outcome := out.Outcome(endOf(result))
	if r.agent != nil && !outcome.Failed() {
		if _, err := os.Stat(filepath.Join(folder, store.ManifestName)); err != nil {
			outcome.Failure, outcome.Why = experiment.NoJVM, "there is not one session of it: it started no JVM or several; see "+logOf(folder)
		}
	}
	return outcome, nil
}

// plain is a run without the agent and without counters.
func plain(env console.Env, args []string, limit time.Duration) (launch.Result, error) {
	p, err := launch.Start(launch.Command{Args: args, Env: env.Environ, In: env.In, Out: env.Out, Err: env.Err, Limit: limit})
	if err != nil {
		return launch.Result{}, err
	}
	return p.Wait()
}

func endOf(r launch.Result) experiment.End {
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

// noteFailures says which points have failed runs, and why the first of them did.
func (r *runner) noteFailures(points []experiment.Point) {
	for _, p := range points {
		all := r.x.Of(p)
		failed := slices.DeleteFunc(slices.Clone(all), func(r *experiment.Result) bool { return !r.Failed() })
		if len(failed) > 0 {
			f := failed[0]
			r.env.Note("%s: %d of %s failed: %s (%s); see %s", text.OneLine(p.String()), len(failed), text.PluralExact(len(all), "run", "runs"), f.Failure, text.OneLine(f.Why), logOf(r.x.Path(f)))
		}
	}
}

// experimentFolder is the folder of an experiment, which may be one to go on with.
func experimentFolder(env console.Env, dir, verb string) (string, error) {
	if dir == "" {
		dir = "shadow-" + verb + "-" + env.Now().Format(folderTime)
	}
	return dir, checkSpace(dir)
}

// sizeFlag is a flag that takes a number of bytes, as 64m.
type sizeFlag int64

func (s *sizeFlag) String() string {
	if *s == 0 {
		return ""
	}
	return experiment.HeapOption(int64(*s))
}

// Type is what the help shows as the value.
func (s *sizeFlag) Type() string { return "SIZE" }

// Set parses the text of a size as the JVM does.
func (s *sizeFlag) Set(value string) error {
	n, err := experiment.ParseHeap(value)
	*s = sizeFlag(n)
	return err
}
