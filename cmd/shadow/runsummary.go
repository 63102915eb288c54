package main

import (
	"fmt"
	"strings"

	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
	"stackagent/shadow/summary"
)

// printRunSummary says on stderr, in a few lines, what a run recorded.
func printRunSummary(env Env, dir string, folders []string) error {
	for _, folder := range folders {
		s, err := session.Open(folder)
		if err != nil {
			return err
		}
		sum, err := summary.Build(s, summary.Options{})
		if err != nil {
			return err
		}
		for _, line := range runLines(sum) {
			env.note("%s", clean(line))
		}
		if len(folders) > 1 {
			env.note("  in %s", folder)
		}
	}
	next := folders[0]
	if len(folders) == 1 {
		env.note("session in %s", dir)
	} else {
		env.note("%d sessions, one per JVM, under %s", len(folders), dir)
	}
	env.note("next: shadow report %s -o report.html", shellWord(next))
	return nil
}

// runLines are the summary of one session.
func runLines(s *summary.Summary) []string {
	lines := []string{fmt.Sprintf("%s, %s", programName(s), jvmText(s.JVM))}
	for _, f := range s.Findings {
		lines = append(lines, f.Text)
	}
	switch {
	case s.Ended != store.EndedExit:
		lines = append(lines, "Not ended in order ("+endedText(s.Ended)+"): "+missingEnd)
	case s.Lost.Events+s.Lost.Batches == 0:
		lines = append(lines, "Nothing was lost.")
	}
	return append(lines, s.Warnings...)
}

// missingEnd is true of every session whose last batch did not come: nobody
// can count what was not sent.
const missingEnd = "what happened after the last batch is missing and not counted as lost"

// endedText is how a session ended, in words.
func endedText(ended string) string {
	if ended == store.EndedRunning {
		return "still running, or the shadow was killed"
	}
	return ended
}

// programName is the main class, or what else the session is known by.
func programName(s *summary.Summary) string {
	if s.JVM.MainClass != "" {
		return s.JVM.MainClass
	}
	return s.Session
}

func jvmText(j summary.JVM) string {
	return fmt.Sprintf("Java %s, %s collector, %s", j.Version, j.GC, plural(int64(j.CPUs), "CPU", "CPUs"))
}

func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return units.FormatExact(n) + " " + many
}

// shellWord quotes a path for a command that the user may copy.
func shellWord(s string) string {
	safe := func(r rune) bool {
		return r == '/' || r == '.' || r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
