// Package tool holds the compared ways to run a Java program: plainly, under
// stackagent in each of its modes, and under its peers; and counts how many of the
// program's tasks each of them recorded.
package tool

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stackagent/internal/testjvm"
	"stackagent/scripts/bench/measure"
)

// Program is a Java program to be run.
type Program struct {
	JDK  testjvm.JDK
	Args []string // what follows java
	Dir  string
	// Methods are the execution methods and constructors of its tasks, for tools that
	// observe methods by name: "Tasks$Small::run".
	Methods []string
}

// Run is the cost of a program and its tool.
type Run struct {
	JVM    measure.Usage
	Shadow measure.Usage // of the shadow process alone; zero for tools without one. Wall: from start to the session's end
	Stdout string
	Files  string // folder of the tool's output
}

// Count is what a tool recorded of the tasks of one class.
type Count struct {
	Events uint64 // executions and creations
	// OneByOne is the share of the executions that have a record of their own,
	// NaN if there are none.
	OneByOne float64
}

// Tool is a way to run a program.
type Tool struct {
	Name   string
	MinJDK int
	Run    func(ctx context.Context, p Program, scratch string) (Run, error)
	// ByMethod: the tool observes calls of Program.Methods, not executions of tasks.
	ByMethod bool
	// Recorded counts what was recorded of a class; nil: the tool records nothing.
	Recorded func(ctx context.Context, p Program, r Run, class string) (Count, error)
}

// Plain is the JVM alone, the base of all comparisons.
func Plain() Tool {
	return Tool{Name: "plain JVM", Run: func(ctx context.Context, p Program, _ string) (Run, error) {
		return direct(ctx, p)
	}}
}

// Binaries of this project.
type Binaries struct{ Shadow, Agent string }

// Stackagent is the profiler with flags of `shadow run`.
func Stackagent(name string, bin Binaries, flags ...string) Tool {
	return stackagent(name, bin, nil, flags)
}

// WithoutPerf is Stackagent under a kernel that refuses perf_event_open, as every default seccomp profile does. The
// binary that uses it must call testjvm.BecomeRefused.
func WithoutPerf(name string, bin Binaries, flags ...string) Tool {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	return stackagent(name, bin, []string{"/usr/bin/env", testjvm.RefusedVariable + "=1", self}, flags)
}

func stackagent(name string, bin Binaries, wrap, flags []string) Tool {
	return Tool{
		Name: name,
		Run: func(ctx context.Context, p Program, scratch string) (Run, error) {
			dir := filepath.Join(scratch, "session")
			args := append(slices.Clone(wrap), append([]string{bin.Shadow, "run", "--quiet", "--agent", bin.Agent, "-o", dir}, flags...)...)
			u := measure.Under{
				Outer: measure.Command{Args: append(args, "--"), Dir: p.Dir},
				Inner: append([]string{p.JDK.Tool("java")}, p.Args...),
			}
			outer, inner, err := u.Both(ctx, scratch)
			if err != nil {
				return Run{}, err
			}
			shadow := outer.Usage
			shadow.CPU -= inner.CPU
			return Run{JVM: inner, Shadow: shadow, Stdout: outer.Stdout, Files: dir}, nil
		},
		Recorded: func(ctx context.Context, _ Program, r Run, class string) (Count, error) {
			return countSession(ctx, bin.Shadow, r.Files, class)
		},
	}
}

// Idle is the agent in a JVM whose bus cannot be reached.
func Idle(bin Binaries) Tool {
	return Tool{Name: "stackagent, no bus", Run: func(ctx context.Context, p Program, scratch string) (Run, error) {
		return direct(ctx, p, "-agentpath:"+bin.Agent+"=bus=nats://127.0.0.1:1")
	}}
}

// WithoutStacks is the option of FlightRecorder that leaves out the stacks of calls.
const WithoutStacks = "jdk.MethodTrace#stackTrace=false"

// FlightRecorder is the JVM's own recorder, which observes the program's methods:
// what is "method-trace" (an event per call) or "method-timing" (count, minimum, mean
// and maximum per method); "" records its defaults. More options may follow, such as WithoutStacks.
func FlightRecorder(name, what string, more ...string) Tool {
	t := Tool{Name: name, ByMethod: true, Run: func(ctx context.Context, p Program, scratch string) (Run, error) {
		// Without a maximum size the recorder keeps only its last 250 MB.
		file := filepath.Join(scratch, "recording.jfr")
		options := "filename=" + file + ",maxsize=100g"
		if what != "" {
			options += "," + what + "=" + strings.Join(p.Methods, ";")
		}
		r, err := direct(ctx, p, "-Xlog:jfr*=off", "-XX:StartFlightRecording:"+strings.Join(append([]string{options}, more...), ","))
		r.Files = file
		return r, err
	}}
	switch what {
	case "method-trace":
		t.MinJDK, t.Recorded = 25, countTrace
	case "method-timing":
		t.MinJDK, t.Recorded = 25, countTiming
	}
	return t
}

// FlightSettings is the JVM's own recorder with a file of settings.
func FlightSettings(name, settings string) Tool {
	return Tool{Name: name, Run: func(ctx context.Context, p Program, scratch string) (Run, error) {
		file := filepath.Join(scratch, "recording.jfr")
		return direct(ctx, p, "-Xlog:jfr*=off", "-XX:StartFlightRecording:filename="+file+",maxsize=100g,settings="+settings)
	}}
}

// direct runs java with options before the program's own.
func direct(ctx context.Context, p Program, options ...string) (Run, error) {
	args := append(append([]string{p.JDK.Tool("java")}, options...), p.Args...)
	r, err := measure.Run(ctx, measure.Command{Args: args, Dir: p.Dir})
	if err != nil {
		return Run{}, fmt.Errorf("the program: %w", err)
	}
	return Run{JVM: r.Usage, Stdout: r.Stdout}, nil
}
