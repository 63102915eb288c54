package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"stackagent/agent/options"
	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/jdk"
	"stackagent/cmd/shadow/internal/jvmprocess"
	"stackagent/cmd/shadow/internal/launch"
	"stackagent/hpc"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/experiment"
	"stackagent/shadow/experiment/suite"
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

// What counts as a disturbance, and how often a disturbed run is made at most.
const (
	others   = 0.05
	attempts = 3
)

func (f *experimentFlags) addTo(flags *pflag.FlagSet) {
	flags.DurationVar(&f.timeout, "timeout", 0, "end a run after this `TIME`: it has failed (default: ten times the longest run so far, and 10s; 30m for the first)")
	flags.Float64Var(&f.others, "others", others, "make a run again, at most twice, if other programs, interrupts or the hypervisor took more than this `SHARE` of the CPU time; 0: never")
	flags.BoolVar(&f.again, "again", false, "make failed runs of the folder again")
	flags.StringVar(&f.check, "check", "", "a run without a line of output that matches this `REGEX` has failed")
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
	env      console.Env
	flags    *experimentFlags
	programs []program
	always   []string // JVM options of each run
	sets     []jvmSet
	pinHeap  bool          // -Xms is the heap as well
	agent    *runFlags     // how a session is recorded; nil: the runs are without the agent
	inputs   *programFlags // of programs of a suite; nil: there are none

	x *experiment.Experiment
}

// program is one that an experiment runs.
type program struct {
	suite.Program
	folder string // that was prepared for it
}

// theCommand is a command that the user gave.
func theCommand(args []string) program {
	args = slices.Clone(args)
	for i, a := range args {
		if a == word(experiment.Heap) {
			args[i] = "-Xmx" + a
		}
	}
	p := program{Program: suite.Program{Command: args, Words: map[string]string{experiment.GCThreads: ""}}}
	if launch.IsJava(args[0]) && !p.Uses(experiment.JVMOptions) {
		p.Command = slices.Insert(args, 1, word(experiment.JVMOptions))
	}
	return p
}

// checkHeapFree refuses a command or an environment that sets the heap itself, which would win over the experiment's.
func checkHeapFree(env console.Env, args []string) error {
	if o := heapOption(strings.Fields(env.Getenv(lastOptions))); o != "" {
		return console.Usagef("%s sets the heap, with %s, and wins over every other option: unset it", lastOptions, o)
	}
	if mentions(args, experiment.Heap) || len(args) == 0 || !launch.IsJava(args[0]) {
		return nil
	}
	if o := heapOption(jvmprocess.OptionsOf(args)); o != "" {
		return console.Usagef("the command sets its heap itself, with %s: write -Xmx{heap} in its place, or leave it out", o)
	}
	return nil
}

// heapOption is the first option that sets the heap; "": none does.
func heapOption(options []string) string {
	i := slices.IndexFunc(options, func(o string) bool {
		return slices.ContainsFunc([]string{"-Xmx", "-Xms", "-mx", "-ms", "-XX:MaxHeapSize=", "-XX:InitialHeapSize=", "-XX:MaxRAMPercentage="},
			func(prefix string) bool { return strings.HasPrefix(o, prefix) })
	})
	if i < 0 {
		return ""
	}
	return options[i]
}

// javaOf says which JDK a command finds, and which options it takes from the environment: runs with others cannot be
// compared. "": not known, or each point says it.
func javaOf(env console.Env, command []string, points []experiment.Point) string {
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
	for _, name := range []string{launch.ToolOptions, javaOptions, lastOptions} {
		if v := env.Getenv(name); v != "" {
			words = append(words, name+"="+v)
		}
	}
	return strings.Join(words, " ")
}

func word(name string) string { return "{" + name + "}" }

// mentions reports whether a command has a word.
func mentions(args []string, name string) bool {
	p := suite.Program{Command: args}
	return p.Uses(name)
}

// at is the program of a point.
func (r *runner) at(p experiment.Point) *program {
	name := p.Of(experiment.Program)
	i := slices.IndexFunc(r.programs, func(p program) bool { return p.Name == name })
	return &r.programs[i]
}

// open opens the folder, in which the runs are to be made by r.
func (r *runner) open(dir string, plan experiment.Plan) error {
	plan.Named = map[string]string{}
	for _, p := range r.programs {
		if p.Name == "" {
			plan.Command = p.Command
		} else {
			plan.Named["program "+p.Name] = strings.Join(p.Command, " ")
		}
	}
	for _, s := range r.sets {
		plan.Named["set of JVM options "+s.name] = strings.Join(s.options, " ")
	}
	plan.Settings = append(plan.Settings, r.flags.settings()...)
	if r.inputs != nil && r.inputs.small {
		plan.Settings = append(plan.Settings, "small input")
	}
	if r.inputs != nil && r.inputs.iterations > 0 {
		plan.Settings = append(plan.Settings, "iterations="+strconv.Itoa(r.inputs.iterations))
	}
	if r.agent != nil {
		plan.Settings = append(plan.Settings, r.agent.settings()...)
	}
	plan.Java = javaOf(r.env, r.programs[0].Command, plan.Points)
	o := experiment.Options{Launch: r.launch, Others: r.flags.others, Attempts: attempts, Again: r.flags.again, Tell: r.tell}
	if r.agent != nil {
		o.Kept = hasSession
	}
	x, err := experiment.Open(dir, plan, o)
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
	for _, o := range f.more {
		out = append(out, o.Key+"="+o.Value)
	}
	return append(out, "marker="+f.marker.end, "marker-begin="+f.marker.begin, "deopts="+strconv.FormatBool(f.deopts), "switches="+f.switches, "counters="+strconv.FormatBool(f.counter))
}

// work makes the runs of an experiment in dir that do asks for, and closes it. A signal ends it with the run that
// is under way, and the error says how to go on.
func work(ctx context.Context, env console.Env, x *experiment.Experiment, dir string, do func(context.Context) error) error {
	defer env.Signals.Hold(workPatience)() // a run under way ends by the signal, too: launch.Command.Until
	return workUntil(ctx, x, dir, do)
}

// workPatience is how long an experiment may take to end after a signal.
const workPatience = 700 * time.Millisecond

// workUntil is work for runs that nobody but their user ends.
func workUntil(ctx context.Context, x *experiment.Experiment, dir string, do func(context.Context) error) error {
	err := do(ctx)
	interrupted := ctx.Err() != nil
	err = errors.Join(err, x.Close())
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
	program, environ := r.at(p), slices.Clone(r.env.Environ)
	v := suite.Values{Folder: program.folder, Heap: p.Of(experiment.Heap), Words: map[string]string{}}
	if r.inputs != nil {
		v.Small, v.Iterations = r.inputs.small, r.inputs.iterations
	}
	v.Threads, _ = strconv.Atoi(cmp.Or(p.Of(experiment.Threads), strconv.Itoa(runtime.NumCPU())))
	if n := p.Of(iterationsFactor); n != "" {
		v.Iterations, _ = strconv.Atoi(n) // ours
	}
	home := p.Of(experiment.JDK)
	if home != "" {
		v.Java = filepath.Join(home, "bin", "java")
		environ = append(environ, "JAVA_HOME="+home, "PATH="+filepath.Join(home, "bin")+":"+r.env.Getenv("PATH"))
	}
	for own := range program.Words {
		if given := p.Of(own); given != "" {
			v.Words[own] = given
		}
	}
	if v.JVM, err = r.jvmOptions(program, p); err != nil {
		return nil, nil, err
	}
	args, err = program.Argv(v)
	if err != nil {
		return nil, nil, err
	}
	if home != "" && launch.IsJava(args[0]) {
		args[0] = v.Java
	}
	if p.Of(cpusFactor) == "1" {
		args = slices.Insert(args, 0, "taskset", "-c", "0")
	}
	if !program.Uses(experiment.JVMOptions) && !launch.IsJava(program.Command[0]) && len(v.JVM) > 0 {
		environ = append(environ, javaOptions+"="+strings.TrimSpace(r.env.Getenv(javaOptions)+" "+strings.Join(v.JVM, " ")))
	}
	return args, environ, nil
}

// jvmOptions are those of a run that the command has no words for.
func (r *runner) jvmOptions(program *program, p experiment.Point) ([]string, error) {
	jvm := slices.Clone(r.always)
	if c := p.Of(experiment.Collector); c != "" {
		_, options, err := experiment.CollectorOptions(c)
		if err != nil {
			return nil, err
		}
		jvm = append(jvm, strings.Fields(options)...)
	}
	if n := p.Of(experiment.GCThreads); n != "" && !program.Uses(experiment.GCThreads) {
		jvm = append(jvm, "-XX:ParallelGCThreads="+n)
	}
	if o := p.Of(pointersFactor); o != "" {
		jvm = append(jvm, pointerOptions[o])
	}
	if name := p.Of(experiment.JVMOptions); name != "" {
		i := slices.IndexFunc(r.sets, func(s jvmSet) bool { return s.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no set of JVM options is called %q", name)
		}
		jvm = append(jvm, r.sets[i].options...)
	}
	if heap := p.Of(experiment.Heap); heap != "" {
		if !program.Uses(experiment.Heap) {
			jvm = append(jvm, "-Xmx"+heap)
		}
		if r.pinHeap {
			jvm = append(jvm, "-Xms"+heap)
		}
	}
	return jvm, nil
}

// javaOptions is where the java command looks for options of its own.
const javaOptions = "JDK_JAVA_OPTIONS"

// lastOptions is where the JVM looks for options after all others.
const lastOptions = "_JAVA_OPTIONS"

// logOf is where the output of a run in folder goes: beside it, under a name that run-* does not match.
func logOf(folder string) string {
	return filepath.Join(filepath.Dir(folder), "output-"+strings.TrimPrefix(filepath.Base(folder), "run-")+".log")
}

// launch is a run, with the agent or without.
func (r *runner) launch(ctx context.Context, folder string, p experiment.Point, invocation int) (experiment.Outcome, error) {
	args, environ, err := r.commandAt(p)
	if err != nil {
		return experiment.Outcome{}, err
	}
	program := r.at(p)
	check := r.flags.checkLine
	if check == nil {
		check = program.Check
	}
	out, err := experiment.NewOutput(logOf(folder), check)
	if err != nil {
		return experiment.Outcome{}, err
	}
	if invocation < 1 {
		defer os.Remove(logOf(folder))
	}
	env := r.env
	env.In, env.Out, env.Err, env.Environ = nil, out, out, environ
	env.Log = slog.New(slog.NewTextHandler(out.Notes(), nil)) // the command's words stay its own
	var result launch.Result
	limit := r.limit(p)
	if r.agent != nil {
		f := *r.agent
		f.dir, f.quiet, f.limit, f.workdir = folder, true, limit, program.Dir
		f.record(program)
		if list := p.Of(monitorsFactor); list != "" {
			f.monitors.List = list
		}
		result, err = profiled(ctx, env, f, args)
	} else {
		result, err = plain(ctx, env, args, program.Dir, limit)
	}
	if err := errors.Join(err, out.Close()); err != nil {
		return experiment.Outcome{}, err
	}
	outcome := out.Outcome(endOf(result))
	if r.agent != nil && !outcome.Failed() {
		if !hasSession(folder) {
			outcome.Failure, outcome.Why = experiment.NoJVM, "there is not one session of it: it started no JVM or several"
		} else if why := otherHeap(folder, p); why != "" {
			outcome.Failure, outcome.Why = experiment.OtherHeap, why
		}
	}
	return outcome, nil
}

// hasSession reports whether a folder is that of one session.
func hasSession(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, store.ManifestName))
	return err == nil
}

// record adds what the program asks for to be recorded.
func (f *runFlags) record(p *program) {
	f.more = slices.Clone(f.more)
	for _, t := range p.Tasks {
		f.more = append(f.more, options.Setting{Key: "task", Value: t})
	}
	switch p.Marker.Kind {
	case suite.TaskMarker:
		f.more = append(f.more, options.Setting{Key: "task", Value: p.Marker.Task})
	case suite.OutputMarker:
		if f.marker.end == "" {
			f.marker.end = p.Marker.Line.String()
		}
	}
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

// plain is a run without the agent and without counters.
func plain(ctx context.Context, env console.Env, args []string, dir string, limit time.Duration) (launch.Result, error) {
	p, err := launch.Start(launch.Command{Args: args, Env: env.Environ, In: env.In, Out: env.Out, Err: env.Err, Dir: dir, Limit: limit, Until: ctx})
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
