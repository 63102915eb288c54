package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/experiments"
	"stackagent/cmd/shadow/internal/fleet"
	"stackagent/cmd/shadow/internal/layers"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/cmd/shadow/internal/run"
	"stackagent/cmd/shadow/internal/serve"
	"stackagent/cmd/shadow/internal/sessions"
	"stackagent/cmd/shadow/internal/tgp"
	"stackagent/cmd/shadow/internal/times"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/session/remotefs"
	"stackagent/shadow/store/objectstore"
)

// version is set by the linker (-X main.version=...).
var version = ""

// Run is the whole command; it gives the exit code.
func Run(ctx context.Context, args []string, env console.Env) int {
	if args == nil {
		args = []string{} // nil would mean those of the process
	}
	started := false
	env.Sessions = new(console.Sessions)
	defer env.Sessions.Forget()
	defer noteRequests(env, remotefs.Cost())
	root := newRoot(env)
	root.PersistentPreRun = func(*cobra.Command, []string) { started = true }
	root.SetArgs(args)
	root.SetContext(ctx)
	cmd, err := root.ExecuteC()
	if err == nil {
		err = env.Sessions.Err()
	}
	if err == nil {
		return 0
	}
	var exit *console.ExitError
	if errors.As(err, &exit) {
		return exit.Code
	}
	sig := env.Signals.Caught()
	if sig == 0 || !errors.Is(err, context.Canceled) || env.Signals.Held() && err != ctx.Err() { // what is kept may be incomplete
		env.Note("%s", text.OneLine(err.Error()))
	}
	if sig != 0 {
		return 128 + int(sig)
	}
	var usage *console.UsageError
	if errors.As(err, &usage) || !started {
		fmt.Fprintf(env.Err, "Try '%s --help'.\n", cmd.CommandPath())
		return console.ExitUsage
	}
	return console.ExitFailure
}

// noteRequests says what a command asked of object stores: somebody pays for it.
func noteRequests(env console.Env, before objectstore.Cost) {
	now := remotefs.Cost()
	if n := now.Requests() - before.Requests(); n > 0 {
		env.Note("the object store answered %s with %s", text.PluralExact(n, "request", "requests"), units.FormatBytes(now.Read-before.Read))
	}
}

func newRoot(env console.Env) *cobra.Command {
	if env.Sessions == nil {
		env.Sessions = new(console.Sessions)
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
		Args:          listflags.KnownVerb,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SetOut(env.Err)
			_ = cmd.Help()
			return console.Usagef("missing command")
		},
	}
	root.SetIn(env.In)
	root.SetOut(env.Out)
	root.SetErr(env.Err)
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(verbs(env)...)
	addHelpers(root)
	explainArguments(root)
	complete(root)
	damagedFlag(root, env.Sessions)
	return root
}

// verbs are those that work; a verb is added here when it does.
func verbs(env console.Env) []*cobra.Command {
	return []*cobra.Command{
		run.New(env), serve.New(env), newStats(env), newTasks(env), newHotspots(env),
		newThreads(env), newReport(env), newDoctor(env), newVersion(env), newMan(env), newSchema(env), newMCP(env), newLicenses(env), serve.NewDeliver(env), serve.NewObserve(env),
		newJoin(env), times.NewBottle(env), times.NewPath(env), newWhy(env), times.NewWhatif(env), times.NewWarmup(env), experiments.NewStack(env), experiments.NewScale(env), experiments.NewHeap(env), experiments.NewLBO(env), times.NewGC(env), times.NewLatency(env), newWaits(env),
		newCheck(env), newDiff(env), experiments.NewCharacterize(env), layers.NewMonitors(env), layers.New(env),
		newImport(env), tgp.New(env), newExport(env), run.NewAttach(env), run.NewDetach(env), newPageOf(env), sessions.New(env, func(dir string) (string, error) { return reportIn(env, dir) }), newTop(env), fleet.New(env),
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
