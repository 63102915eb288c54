package serve

import (
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/internal/text"
	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/store"
)

// logFlags choose how serve reports what happens. Without them it prints plain
// notes of what the user has to know, and nothing else.
type logFlags struct{ format, level string }

var (
	logFormats = []string{"text", "json"}
	logLevels  = []string{"debug", "info", "warn", "error"}
)

func (f *logFlags) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.format, "log-format", "", strings.Join(logFormats, "|")+": log to stderr what happens to sessions, bus and store, a record a line (default: short notes only)")
	flags.StringVar(&f.level, "log-level", "", strings.Join(logLevels, "|")+": the least level to log (default info)")
	_ = cmd.RegisterFlagCompletionFunc("log-format", cobra.FixedCompletions(logFormats, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("log-level", cobra.FixedCompletions(logLevels, cobra.ShellCompDirectiveNoFileComp))
}

func (f *logFlags) check() error {
	if f.format != "" && !slices.Contains(logFormats, f.format) {
		return console.Usagef("--log-format %s: use one of %s", f.format, strings.Join(logFormats, ", "))
	}
	if f.level != "" && !slices.Contains(logLevels, f.level) {
		return console.Usagef("--log-level %s: use one of %s", f.level, strings.Join(logLevels, ", "))
	}
	return nil
}

// logger writes records to env.Err; nil if none are wanted. Names from profiled
// programs are escaped in both formats.
func (f *logFlags) logger(env console.Env) *slog.Logger {
	if f.format == "" && f.level == "" {
		return nil
	}
	var level slog.Level
	if f.level != "" {
		_ = level.UnmarshalText([]byte(f.level)) // checked
	}
	o := &slog.HandlerOptions{Level: level}
	if f.format == "json" {
		return slog.New(slog.NewJSONHandler(text.JSON(env.Err), o))
	}
	return slog.New(slog.NewTextHandler(env.Err, o))
}

// logProgress logs that a session begins or ends.
func (s *serveLive) logProgress(p ingest.Progress) {
	if s.env.Log == nil {
		return
	}
	running := p.Ended == store.EndedRunning
	s.mu.Lock()
	known := s.logged[p.Session]
	if running {
		s.logged[p.Session] = true
	} else {
		delete(s.logged, p.Session)
	}
	s.mu.Unlock()
	log := s.env.Log.With("session", p.Session, "path", filepath.Join(s.root, p.Folder))
	if running && !known {
		log.Info("session began", "pid", p.JVM.PID, "java", p.JVM.Version, "program", p.JVM.MainClass)
	}
	if !running {
		log.Info("session ended", "ended", p.Ended, "executions", p.Stored.Executions, "batches", p.Batches, "lost_events", p.Lost.Events, "lost_batches", p.Lost.Batches)
	}
}
