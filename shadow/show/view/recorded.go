package view

import (
	"cmp"
	"fmt"

	"stackagent/granularity"
	"stackagent/internal/text"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/analysis/summary"
)

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
	case "bound": // said where the account has nothing that stands in the way
		return !advice.Obstructs(s.Findings)
	case "lost", "ended":
		return false // in lossLine
	}
	return true
}

// RecordedLines are the summary of one session.
func RecordedLines(s *summary.Summary) []string {
	lines := []string{fmt.Sprintf("%s, %s", programName(s), JVMText(s.JVM))}
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

// JVMText is the JVM in one line: version, collector, CPUs.
func JVMText(j summary.JVM) string {
	if j.Version == "" { // the trace of another profiler
		return cmp.Or(j.Name, "not known")
	}
	return fmt.Sprintf("Java %s, %s collector, %s", j.Version, cmp.Or(j.GC, "unknown"), text.PluralExact(j.CPUs, "CPU", "CPUs"))
}
