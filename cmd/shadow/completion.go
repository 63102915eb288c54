package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stackagent/agent/options"
	"stackagent/cmd/shadow/internal/jvmprocess"
	"stackagent/cmd/shadow/internal/run"
	"stackagent/internal/perfevent"
	"stackagent/internal/text"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/session/catalog"
	"stackagent/shadow/show/figure"
	"stackagent/shadow/show/report"
	"stackagent/shadow/store"
)

// maxCompletions bounds what a shell is offered for one word.
const maxCompletions = 1000

// complete gives cmd and the verbs below it completions of their arguments and of the values of their flags.
func complete(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		complete(sub)
	}
	if cmd.ValidArgsFunction == nil && len(cmd.ValidArgs) == 0 && !cmd.HasSubCommands() {
		switch {
		case strings.Contains(cmd.Use, "PID"):
			cmd.ValidArgsFunction = completeJVMs
		case strings.Contains(cmd.Use, "DIR"):
			cmd.ValidArgsFunction = completeSessions
		case !strings.Contains(cmd.Use, " "):
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
	}
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if _, known := cmd.GetFlagCompletionFunc(f.Name); known {
			return
		}
		if values := valuesOf(f); values != nil {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, values) // fails for a flag that cmd lacks
		}
	})
}

// alternatives are the values that a flag's help or its type lists: class|site|thread.
var alternatives = regexp.MustCompile(`(?:^|[ :])([a-z0-9_-]+(?:\|[a-z0-9_-]+)+)(?:$|[ :;,.])`)

// valuesOf completes the values of a flag; nil leaves files to the shell.
func valuesOf(f *pflag.Flag) cobra.CompletionFunc {
	switch f.Name {
	case "output":
		return nil
	case "figures":
		return listOf(report.FigureNames, ",")
	case "figure-format":
		return listOf(figure.Formats, ",")
	case "metric":
		if _, records := f.Value.(*run.AgentFlag); records {
			return listOf(append(options.MetricNames(), perfevent.Names()...), "+")
		}
		return completeMetrics
	case "threshold":
		return listOf(suffixed(advice.ThresholdNames(), "="), "")
	case "task":
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveNoFileComp)
	}
	for _, text := range []string{f.Value.Type(), f.Usage} {
		if m := alternatives.FindStringSubmatch(text); m != nil {
			return cobra.FixedCompletions(strings.Split(m[1], "|"), cobra.ShellCompDirectiveNoFileComp)
		}
	}
	switch f.Value.Type() {
	case "int", "float64", "duration", "intSlice", "bool":
		return cobra.NoFileCompletions
	}
	return nil
}

func suffixed(words []string, suffix string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w + suffix
	}
	return out
}

// listOf completes words joined by a separator: after "wall+" each word that is not there yet.
func listOf(words []string, separator string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		before := ""
		if at := strings.LastIndex(typed, separator); separator != "" && at >= 0 {
			before = typed[:at+len(separator)]
		}
		var out []cobra.Completion
		for _, w := range words {
			if !slices.Contains(strings.Split(before, separator), w) {
				out = append(out, before+w)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// completeMetrics offers the metrics of the session that is named already, else those that the agent has.
func completeMetrics(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		if dir, err := catalog.Resolve(args[0]); err == nil {
			if m, err := store.ReadManifest(dir); err == nil {
				return append(slices.Clone(m.Metrics), "queue"), cobra.ShellCompDirectiveNoFileComp
			}
		}
	}
	return append(options.MetricNames(), "queue"), cobra.ShellCompDirectiveNoFileComp
}

// completeJVMs offers the processes that are JVMs, described by their main class.
func completeJVMs(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var out []cobra.Completion
	for _, j := range jvmprocess.List() {
		if len(args) == 0 {
			out = append(out, cobra.CompletionWithDesc(fmt.Sprint(j.PID), j.Main))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// completeSessions offers folders that are sessions, described by their program, and folders to look into.
func completeSessions(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	dir, name := filepath.Split(typed)
	entries, err := os.ReadDir(filepath.Clean(dir + "."))
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var sessions, folders []cobra.Completion
	for _, e := range entries {
		path := dir + e.Name()
		if info, err := os.Stat(path); err != nil || !info.IsDir() || !strings.HasPrefix(e.Name(), name) ||
			text.Clean(path, '?') != path || strings.HasPrefix(e.Name(), ".") && name == "" {
			continue // a shell would take a name with a line break for two words
		}
		if m, err := store.ReadManifest(path); err == nil {
			sessions = append(sessions, cobra.CompletionWithDesc(path, text.Clean(m.JVM.MainClass, '?')))
		} else {
			folders = append(folders, path+string(filepath.Separator))
		}
	}
	if strings.HasPrefix(catalog.Last, typed) {
		if path, err := catalog.Resolve(catalog.Last); err == nil && path != catalog.Last {
			sessions = append(sessions, cobra.CompletionWithDesc(catalog.Last, "the newest session: "+text.Clean(path, '?')))
		}
	}
	all := append(sessions, folders...)
	directive := cobra.ShellCompDirectiveNoFileComp
	if len(sessions) == 0 {
		directive |= cobra.ShellCompDirectiveNoSpace // the name goes on
	}
	return all[:min(len(all), maxCompletions)], directive
}
