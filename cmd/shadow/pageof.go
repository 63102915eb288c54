package main

import (
	"encoding/json"
	"io"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/serve"
	"stackagent/shadow/report"
	"stackagent/shadow/summary"
	"stackagent/shadow/web"
)

// newPageOf is the verb by which shadow serve makes reports in a process of their own.
func newPageOf(env console.Env) *cobra.Command {
	return &cobra.Command{
		Use:    serve.MadeVerb + " FORMAT DIR",
		Short:  "Write what the live page shows of a session",
		Hidden: true,
		Args:   cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			if args[0] != "html" {
				return console.Usagef("%s: this version does not write it", args[0])
			}
			s, err := env.Open(args[1])
			if err != nil {
				return err
			}
			pipe := os.NewFile(serve.ProgressFD, "progress")
			defer pipe.Close()
			sum, err := condense(env, s, summary.Options{Shapes: true, Advice: true, Progress: progressLines(pipe)})
			if err != nil {
				return err
			}
			return report.WriteSummary(env.Out, sum, report.Options{})
		},
	}
}

// progressPause is how often the page learns how far a report is.
const progressPause = 200 * time.Millisecond

// progressLines writes lines for the page.
func progressLines(w io.Writer) func(what string, done, total uint64) {
	var mu sync.Mutex
	var next time.Time
	enc := json.NewEncoder(w)
	return func(what string, done, total uint64) {
		mu.Lock()
		defer mu.Unlock()
		if now := time.Now(); now.After(next) {
			next = now.Add(progressPause)
			_ = enc.Encode(web.Progress{What: what, Done: done, Total: total}) // nobody looks any more
		}
	}
}
