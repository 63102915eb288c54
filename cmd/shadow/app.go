package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stackagent/internal/text"
)

// version is set by the linker (-X main.version=...).
var version = ""

// Exit codes that are promised to scripts.
const (
	exitFailure = 1 // a failure that is explained on stderr
	exitUsage   = 2 // wrong usage
)

// Env is what the command takes from the world; tests bring their own.
type Env struct {
	In         io.Reader
	Out, Err   io.Writer
	Environ    []string
	Executable func() (string, error)
	Now        func() time.Time

	reading *reading     // how sessions are read, and those that were
	log     *slog.Logger // takes the notes; nil: they are plain lines on Err
}

// System is the real world.
func System() Env {
	return Env{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Environ: os.Environ(), Executable: os.Executable, Now: time.Now}
}

// Getenv looks a variable up; of several the last counts.
func (e Env) Getenv(name string) string {
	for i := len(e.Environ) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(e.Environ[i], name+"="); ok {
			return value
		}
	}
	return ""
}

// note prints a message to stderr, apart from the output.
func (e Env) note(format string, args ...any) {
	if e.log != nil {
		e.log.Info(fmt.Sprintf(format, args...))
		return
	}
	fmt.Fprintf(e.Err, "shadow: "+format+"\n", args...)
}

// usageError is wrong usage: exit code 2 and a hint to the help.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// exitError ends with another program's exit code, already explained.
type exitError struct{ code int }

func (e *exitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// Run is the whole command; it gives the exit code.
func Run(ctx context.Context, args []string, env Env) int {
	if args == nil {
		args = []string{} // nil would mean those of the process
	}
	if len(args) > 0 && laterVerbs[args[0]] {
		env.note("%q is not part of this version", args[0])
		fmt.Fprintln(env.Err, "Try 'shadow --help'.")
		return exitUsage
	}
	started := false
	env.reading = new(reading)
	defer env.reading.forget()
	root := newRoot(env)
	root.PersistentPreRun = func(*cobra.Command, []string) { started = true }
	root.SetArgs(args)
	root.SetContext(ctx)
	cmd, err := root.ExecuteC()
	if err == nil {
		err = env.reading.err()
	}
	if err == nil {
		return 0
	}
	var exit *exitError
	if errors.As(err, &exit) {
		return exit.code
	}
	env.note("%s", text.OneLine(err.Error()))
	var usage *usageError
	if errors.As(err, &usage) || !started {
		fmt.Fprintf(env.Err, "Try '%s --help'.\n", cmd.CommandPath())
		return exitUsage
	}
	return exitFailure
}

func newRoot(env Env) *cobra.Command {
	if env.reading == nil {
		env.reading = new(reading)
	}
	root := &cobra.Command{
		Use:   "shadow",
		Short: "Task-granularity profiler for the JVM",
		Long: `shadow profiles the tasks of Java programs: which Runnables, Callables and
ForkJoinTasks ran, how often, on which thread, and for how long.

A session is a folder. "shadow run" records one; the other commands show it.`,
		Example: `  shadow run -o /tmp/s -- java -jar app.jar
  shadow stats /tmp/s
  shadow hotspots /tmp/s --sort count --top 20
  shadow report /tmp/s -o report.html`,
		Version:       versionText(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          knownVerb,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SetOut(env.Err)
			_ = cmd.Help()
			return usagef("missing command")
		},
	}
	root.SetIn(env.In)
	root.SetOut(env.Out)
	root.SetErr(env.Err)
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err} })
	root.AddCommand(verbs(env)...)
	env.reading.addFlag(root)
	return root
}

// knownVerb refuses what is no verb, and names those that may have been meant.
func knownVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2 // edits
	text := fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath())
	if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
		text += ": is it " + strings.Join(like, " or ") + "?"
	}
	return usagef("%s", text)
}

// laterVerbs are promised to users for later versions, and not taken for
// misspelt ones until then.
var laterVerbs = map[string]bool{
	"lbo":  true,
	"diff": true,
}

// verbs are those that work; a verb is added here when it does.
func verbs(env Env) []*cobra.Command {
	return []*cobra.Command{
		newRun(env), newServe(env), newStats(env), newTasks(env), newHotspots(env),
		newThreads(env), newReport(env), newDoctor(env), newLicenses(env), newDeliver(env),
		newJoin(env), newBottle(env), newStack(env), newScale(env), newGC(env),
		newImport(env), newTgp(env), newAttach(env), newDetach(env),
	}
}

// versionText is the version, the revision it was built from, and the platform.
func versionText() string {
	v, revision := version, ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if v == "" && info.Main.Version != "(devel)" {
			v = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				revision = " " + s.Value[:12]
			}
		}
	}
	if v == "" {
		v = "devel"
	}
	if strings.Contains(v, strings.TrimSpace(revision)) {
		revision = ""
	}
	return fmt.Sprintf("%s%s %s/%s %s", v, revision, runtime.GOOS, runtime.GOARCH, runtime.Version())
}
