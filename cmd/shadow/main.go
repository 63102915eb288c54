// Command shadow profiles the tasks of Java programs: it runs a program with
// the agent, collects what the agent sends, and shows what was measured.
package main

import (
	"context"
	"os"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/files"
)

func main() { process() }

// process is the command as a process of its own.
func process() {
	env := console.System()
	ctx, signals := console.WatchSignals(context.Background())
	signals.Discard(files.Discard)
	env.Signals = signals
	signals.Exit(Run(ctx, os.Args[1:], env))
}
