// Package experiments is the verbs that make runs of programs, or take runs that there are, and compare them: scale and
// stack, heap, lbo, characterize.
package experiments

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/jvmprocess"
	"stackagent/cmd/shadow/internal/run"
	"stackagent/internal/launch"
	"stackagent/shadow/experiment"
	"stackagent/shadow/experiment/runner"
	"stackagent/shadow/experiment/suite"
)

// ExperimentFlags are those of every verb that runs a command many times.
type ExperimentFlags struct {
	Repeat int
	care   runner.Care
	check  string
}

// AddExperiment adds the flags, without --repeat.
func (f *ExperimentFlags) AddExperiment(flags *pflag.FlagSet) {
	flags.DurationVar(&f.care.Timeout, "timeout", 0, "end a run after this `TIME`: it has failed (default: ten times the longest run so far, and 10s; 30m for the first)")
	flags.Float64Var(&f.care.Others, "others", run.DisturbedFrom, "make a run again, at most twice, if other programs, interrupts or the hypervisor took more than this `SHARE` of the CPU time; 0: never")
	flags.BoolVar(&f.care.Again, "again", false, "make failed runs of the folder again")
	flags.StringVar(&f.check, "check", "", "a run without a line of output that matches this `REGEX` has failed")
}

// CheckValues refuses values that no experiment can have.
func (f *ExperimentFlags) CheckValues() error {
	switch {
	case f.care.Timeout < 0:
		return console.Usagef("--timeout %v: use a time above 0", f.care.Timeout)
	case f.care.Others < 0 || f.care.Others > 1:
		return console.Usagef("--others %v: use a share from 0 to 1", f.care.Others)
	}
	if f.check == "" {
		return nil
	}
	var err error
	if f.care.Check, err = regexp.Compile(f.check); err != nil {
		return console.Usagef("--check: %v", err)
	}
	return nil
}

// Runner makes runs of programs as the flags say, without the agent.
func (f *ExperimentFlags) Runner(env console.Env, programs ...runner.Program) *runner.Runner {
	return &runner.Runner{Outside: run.Outside(env), Care: f.care, Programs: programs}
}

// parseJVMSet parses NAME=OPTIONS.
func parseJVMSet(s string) (runner.JVMSet, error) {
	name, options, ok := strings.Cut(s, "=")
	if !ok || name == "" || strings.HasPrefix(name, "-") {
		return runner.JVMSet{}, console.Usagef("--jvm %q: give a name and the options, as in --jvm 'plain=' --jvm 'stringdedup=-XX:+UseStringDeduplication'", s)
	}
	return runner.JVMSet{Name: name, Options: strings.Fields(options)}, nil
}

// checkHeapFree refuses a command or an environment that sets the heap itself, which would win over the experiment's.
func checkHeapFree(env console.Env, args []string) error {
	if o := heapOption(strings.Fields(env.Getenv(runner.LastOptions))); o != "" {
		return console.Usagef("%s sets the heap, with %s, and wins over every other option: unset it", runner.LastOptions, o)
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

// mentions reports whether a command has a word.
func mentions(args []string, name string) bool {
	p := suite.Program{Command: args}
	return p.Uses(name)
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
