package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/choice"
	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/serve"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/show/page"
	"stackagent/shadow/show/web"
)

// newPageOf is the verb by which shadow serve makes reports in a process of their own.
func newPageOf(env console.Env) *cobra.Command {
	return &cobra.Command{
		Use:    serve.MadeVerb + " FORMAT DIR",
		Short:  "Write what the live page shows of a session",
		Hidden: true,
		Args:   cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			pipe := os.NewFile(serve.ProgressFD, "progress")
			defer pipe.Close()
			data, err := pageOf(env, args[1], progressLines(pipe))
			if err != nil {
				return err
			}
			if args[0] == serve.FileFormat {
				return page.Write(env.Out, data)
			}
			dir, _, _ := strings.Cut(args[1], "?") // the options of a bucket
			data.Session.Folder = filepath.Base(dir)
			return page.WriteJSON(env.Out, data)
		},
	}
}

func pageOf(env console.Env, dir string, progress func(what string, done, total uint64)) (*page.Data, error) {
	s, err := env.Open(dir)
	if err != nil {
		return nil, err
	}
	sum, err := choice.Condense(env, s, summary.Options{Report: true, Advice: true, Progress: progress})
	if err != nil {
		return nil, err
	}
	return page.Build(s, sum, page.Options{Progress: progress})
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
