// Command fleetload measures a shadow under the load of many JVMs. It replays the real batches of one recorded JVM as
// those of N sessions, each with a batch every few seconds, and reports what the shadow needs for them:
//
//	go run ./scripts/fleetload run -sessions 1000 -for 60s
//	go run ./scripts/fleetload record -agent bin/libstackagent.so -o FILE -- java -cp scripts/fleetload Quiet.java 130
//
// It fails when a batch that the bus acknowledged is neither in the store nor on the bus at the end, or when a session
// holds other executions than its batches.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fleetload:", err)
		if errors.Is(err, errUsage) {
			os.Exit(2)
		}
		os.Exit(1)
	}
}

var errUsage = errors.New("usage: fleetload run|record [FLAGS]; fleetload run -help lists them")

func command(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	switch args[0] {
	case "record":
		agent := flags.String("agent", "bin/libstackagent.so", "the agent")
		out := flags.String("o", "batches.gz", "file for the batches")
		if err := flags.Parse(args[1:]); err != nil || flags.NArg() == 0 {
			return errUsage
		}
		return record(ctx, *agent, *out, flags.Args())
	case "run":
		var p plan
		p.declare(flags)
		if err := flags.Parse(args[1:]); err != nil || flags.NArg() > 0 || p.sessions < 1 || p.shadows < 1 {
			return errUsage
		}
		return p.run(ctx)
	}
	return errUsage
}

// plan is what is replayed, and on what.
type plan struct {
	sessions, services, connections int
	every, open, last               time.Duration
	file, shadow, dir               string
	shadows                         int
	serve                           string
	keep, kill                      bool
}

func (p *plan) declare(f *flag.FlagSet) {
	f.IntVar(&p.sessions, "sessions", 1000, "JVMs")
	f.IntVar(&p.services, "services", 10, "services that they belong to")
	f.IntVar(&p.connections, "connections", 16, "connections that carry their batches; 0: one for each JVM, as agents have")
	f.DurationVar(&p.every, "every", 4*time.Second, "time between two batches of a JVM")
	f.DurationVar(&p.open, "open", 10*time.Second, "time in which they start")
	f.DurationVar(&p.last, "for", 60*time.Second, "time from the first start on for which batches are sent")
	f.StringVar(&p.file, "batches", "scripts/fleetload/testdata/quiet.batches.gz", "recorded batches")
	f.StringVar(&p.shadow, "shadow", "bin/shadow", "the command")
	f.StringVar(&p.dir, "dir", "", "folder for the store (default: a temporary one)")
	f.BoolVar(&p.kill, "kill", false, "end the shadows with SIGKILL")
	f.BoolVar(&p.keep, "keep", false, "keep the store")
	f.IntVar(&p.shadows, "shadows", 1, "shadows that share the sessions")
	f.StringVar(&p.serve, "serve", "", "more flags of shadow serve, with spaces between them")
}
