package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"stackagent/shadow/experiment/suite"
)

// check runs programs plainly, one after another, and holds their output against their check: and marker:.
func check(ctx context.Context, args []string) error {
	f := runFlags{threads: runtime.NumCPU()}
	set := flag.NewFlagSet("suite check", flag.ContinueOnError)
	set.BoolVar(&f.small, "small", true, "the small size")
	set.StringVar(&f.jvm, "jvm", "", "`options` of the JVM")
	limit := set.Duration("limit", 10*time.Minute, "longest time of a run")
	if err := set.Parse(args); err != nil {
		return err
	}
	chosen, err := programs(set.Args()...)
	if err != nil {
		return err
	}
	version, err := javaVersion(f.javaWords()[0])
	if err != nil {
		return fmt.Errorf("which Java is this: %w", err)
	}
	fmt.Printf("JDK %d\n%-16s %9s %9s  %s\n", version, "program", "seconds", "CPU s", "milliseconds of each iteration, result")
	var failed []string
	for _, p := range chosen {
		if why := p.JDK.Refuses(version); why != "" {
			fmt.Printf("%-16s %9s %9s  %s\n", p.Name, "-", "-", why)
			continue
		}
		wall, cpu, result, err := f.checked(ctx, p, *limit)
		if err != nil {
			failed = append(failed, p.Name)
			result = "FAILED: " + err.Error()
		}
		fmt.Printf("%-16s %9.1f %9.1f  %s\n", p.Name, wall.Seconds(), cpu.Seconds(), result)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if failed != nil {
		return errors.New("failed: " + strings.Join(failed, ", "))
	}
	return nil
}

// checked runs a program once. The CPU time is that of all its JVMs.
func (f *runFlags) checked(ctx context.Context, p suite.Program, limit time.Duration) (wall, cpu time.Duration, result string, err error) {
	argv, err := f.command(ctx, p, nil)
	if err != nil {
		return 0, 0, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = p.Dir
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	begin := time.Now()
	err = cmd.Run()
	wall = time.Since(begin)
	if s := cmd.ProcessState; s != nil {
		cpu = s.UserTime() + s.SystemTime()
	}
	if err != nil {
		return wall, cpu, "", fmt.Errorf("%w\n%s", err, lastLines(out.String()+errs.String()))
	}
	result, err = judge(p, out.String())
	return wall, cpu, result, err
}

// judge reads the output of a run.
func judge(p suite.Program, out string) (string, error) {
	var iterations []string
	result, right := "", p.Check == nil
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\r\n")
		if p.Marker.Kind == suite.OutputMarker && p.Marker.Line.MatchString(line) {
			ms := strings.TrimSuffix(line, " ms")
			iterations = append(iterations, ms[strings.LastIndexByte(ms, ' ')+1:])
		}
		if p.Check != nil && p.Check.MatchString(line) {
			result, right = line, true
		}
	}
	switch {
	case !right:
		return "", fmt.Errorf("no line of its output matches %s\n%s", p.Check, lastLines(out))
	case p.Marker.Kind == suite.OutputMarker && len(iterations) != max(1, p.Iterations):
		return "", fmt.Errorf("%d iterations in its output, want %d\n%s", len(iterations), max(1, p.Iterations), lastLines(out))
	}
	return strings.TrimSpace(strings.Join(iterations, " ") + "  " + result), nil
}

// lastLines is the end of an output, indented.
func lastLines(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return "    " + strings.Join(lines[max(0, len(lines)-40):], "\n    ")
}
