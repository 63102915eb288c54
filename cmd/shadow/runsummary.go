package main

import (
	"cmp"
	"fmt"
	"slices"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/granularity"
	"stackagent/internal/launch"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
)

// printRunSummary says on stderr, in a few lines, what a run recorded: what it
// was, what it shows, what is missing, where it is, what to do next.
func printRunSummary(env console.Env, dir string, folders []string, result launch.Result) error {
	if result.Signal != 0 {
		env.Note("signal %d (%s) ended the command", int(result.Signal), result.Signal)
	}
	for _, folder := range folders {
		s, err := session.Open(folder)
		if err != nil {
			return err
		}
		sum, err := condense(env, s, summary.Options{})
		if err != nil {
			return err
		}
		for _, line := range runLines(sum) {
			env.Note("%s", table.Clean(line))
		}
		if len(folders) > 1 {
			env.Note("  in %s", folder)
		}
	}
	if len(folders) == 1 {
		env.Note("session in %s", folders[0])
	} else {
		env.Note("%d sessions, one per JVM, under %s", len(folders), dir)
	}
	env.Note("next: shadow hotspots %s, or shadow report %s -o report.html", text.ShellWord(folders[0]), text.ShellWord(folders[0]))
	return nil
}

// leastNever is the share of tasks never executed from which the summary of a
// run speaks of them: some leftovers every program has.
const leastNever = 0.01

// leastStill is the share of the run that stood still, for more than pauses, from which its summary says so.
const leastStill = 0.05

// leastTasks is the number of tasks below which shares of them say nothing.
const leastTasks = 10

// wanted chooses the findings that a first look needs; shadow stats has all.
func wanted(f *advice.Finding, s *summary.Summary) bool {
	switch f.Rule {
	case "processors", "running":
		return false
	case "gc":
		e, ok := f.Evidence.(*advice.CollectorPauses)
		return ok && e.StoodStill() && float64(e.Standstill.TotalNs) >= leastStill*float64(s.DurationNs)
	case "fineness":
		return s.Fine.N >= leastTasks
	case "never-executed":
		never, created := granularity.NeverExecuted(s.Rows)
		return never >= leastTasks && float64(never) >= leastNever*float64(created)
	case "bound": // said where nothing stands in the way
		return !slices.ContainsFunc(s.Findings, func(x advice.Finding) bool { return x.Kind == advice.Advice })
	case "lost", "ended":
		return false // in lossLine
	}
	return true
}

// runLines are the summary of one session.
func runLines(s *summary.Summary) []string {
	lines := []string{fmt.Sprintf("%s, %s", programName(s), jvmText(s.JVM))}
	for i := range s.Findings {
		if f := &s.Findings[i]; wanted(f, s) {
			lines = append(lines, f.Text)
		}
	}
	if s.Hidden != nil {
		lines = append(lines, s.Hidden.Text())
	}
	lines = append(lines, s.AccountText())
	return append(lines, s.Warnings...)
}

// programName is the main class, or what else the session is known by.
func programName(s *summary.Summary) string {
	if s.JVM.MainClass != "" {
		return s.JVM.MainClass
	}
	return s.Session
}

func jvmText(j summary.JVM) string {
	if j.Version == "" { // the trace of another profiler
		return cmp.Or(j.Name, "not known")
	}
	return fmt.Sprintf("Java %s, %s collector, %s", j.Version, cmp.Or(j.GC, "unknown"), text.PluralExact(j.CPUs, "CPU", "CPUs"))
}
