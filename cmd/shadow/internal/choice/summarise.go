// Package choice has the flags by which verbs choose a part of a session (classes, units, a trace, a window, iterations), opens and condenses
// that part, and notes what of it is missing.
package choice

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/internal/listing/table"
	"stackagent/shadow/analysis/account"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
)

// AddFilter gives cmd the flags that choose classes.
func AddFilter(cmd *cobra.Command, f *summary.Filter) {
	cmd.Flags().BoolVar(&f.App, "app", false, "omit the JDK's task classes")
	cmd.Flags().StringVar(&f.Class, "class", "", "only classes whose Java name matches this glob")
}

// AddUnits gives cmd the flag that chooses units of work.
func AddUnits(cmd *cobra.Command, to *bool) {
	cmd.Flags().BoolVar(to, "units", false, "list units of work (one per submission by the program) instead of executions")
}

// AddExact gives cmd the flag that reads all executions of a large session.
func AddExact(cmd *cobra.Command, to *bool) {
	cmd.Flags().BoolVar(to, "exact", false, "read every execution for exact quantiles, also of a session of more than 20 million")
}

// AddThreshold gives cmd the flag that sets thresholds of the advice.
func AddThreshold(cmd *cobra.Command, to *[]string) {
	cmd.Flags().StringArrayVar(to, "threshold", nil, "threshold of a finding, NAME=VALUE; repeatable; names: "+strings.Join(advice.ThresholdNames(), ", "))
}

// Thresholds are the default ones with what was set.
func Thresholds(list []string) (*advice.Thresholds, error) {
	t := advice.DefaultThresholds
	for _, text := range list {
		if err := t.Set(text); err != nil {
			return nil, &console.UsageError{Err: err}
		}
	}
	return &t, nil
}

// Summarise opens a session and condenses it.
func Summarise(env console.Env, dir string, o summary.Options) (*summary.Summary, error) {
	if err := o.Filter.Check(); err != nil {
		return nil, &console.UsageError{Err: err}
	}
	s, err := env.Open(dir)
	if err != nil {
		return nil, err
	}
	before := len(s.Warnings)
	sum, err := Condense(env, s, o)
	if err != nil {
		return nil, err
	}
	NoteNone(env, s, o.Filter, len(sum.Rows))
	NoteTrace(env, s, o.Filter, sum)
	env.NoteFound(s, before)
	return sum, nil
}

// NoteNone says why nothing is shown of the classes that were asked for.
func NoteNone(env console.Env, s *session.Session, f summary.Filter, shown int) {
	if f.Class == "" || shown > 0 || f.Trace != "" {
		return
	}
	like := summary.Filter{Class: f.Class}
	if slices.ContainsFunc(s.Classes, func(c session.Class) bool { return like.Match(c.Name, c.Kinds) }) {
		env.Note("all classes matching %q are filtered out; shadow hotspots DIR lists all, without --app, --units and --by", table.Clean(f.Class))
		return
	}
	env.Note("no task class matches %q; shadow hotspots DIR lists all (the name of a lambda is Host$$Lambda -> Host.method)", table.Clean(f.Class))
}

// Condense builds a summary and shows how far it is where somebody may be
// waiting: on a terminal, and if it takes long.
func Condense(env console.Env, s *session.Session, o summary.Options) (*summary.Summary, error) {
	if o.Replayer == nil {
		o.Replayer = account.NewPredictor(s)
	}
	if o.Progress != nil { // the caller shows it
		return summary.Build(s, o)
	}
	if bar := env.Bar(); bar != nil {
		o.Progress = bar.Show
		defer bar.Clear()
	}
	return summary.Build(s, o)
}
