package run

import (
	"stackagent/cmd/shadow/internal/choice"
	"stackagent/cmd/shadow/internal/console"
	"stackagent/internal/launch"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
	"stackagent/shadow/show/view"
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
		sum, err := choice.Condense(env, s, summary.Options{})
		if err != nil {
			return err
		}
		for _, line := range view.RecordedLines(sum) {
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
