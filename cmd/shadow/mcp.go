package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/choice"
	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/layers"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/cmd/shadow/internal/mcpserver"
	"stackagent/cmd/shadow/internal/sessions"
	"stackagent/granularity"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/show/view"
)

func newMCP(env console.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "mcp [STORE|DIR]",
		Short: "Offer sessions to an assistant over the Model Context Protocol",
		Long: `Speaks the Model Context Protocol on standard input and output. An assistant can list
the sessions of the store (default: the current directory) and of the folders in it,
and ask for statistics, findings, what the time depends on, hotspots, waits, differences
and explanations. It can
read only what is in the store, and change nothing. Answers are short and say how to
get the rest.`,
		Example: `  shadow mcp /var/lib/shadow
  claude mcp add stackagent -- shadow mcp /var/lib/shadow`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			s, err := mcpserver.New(dir, versionText(), env, toolVerbs)
			if err != nil {
				return err
			}
			err = s.Run(cmd.Context(), mcpserver.Lines(env.In, env.Out))
			if err != nil && !errors.Is(err, io.EOF) && cmd.Context().Err() == nil {
				return fmt.Errorf("serving: %w", err)
			}
			return nil
		},
	}
}

// inStore are the sessions of a store, which shadow serve fills with more than other verbs read at once.
func inStore(dir string) ([]string, error) { return choice.AtMostBelow(dir, 100_000) }

// toolVerbs are the functions of verbs that tools call, with what their flags are by default.
var toolVerbs = mcpserver.Verbs{
	Below:    inStore,
	Sessions: sessions.ListedIn,
	Stats: func(env console.Env, dir string, inUnits bool) (any, error) {
		return choice.Summarise(env, dir, summary.Options{Units: inUnits, Advice: inUnits})
	},
	Why: func(env console.Env, dir, class, from, to string) (any, error) {
		f := whyFlags{class: class, window: choice.Window{}}
		for _, x := range []struct {
			name, text string
			to         *time.Duration
		}{{"from", from, &f.window.From}, {"to", to, &f.window.To}} {
			if x.text == "" {
				continue
			}
			var err error
			if *x.to, err = time.ParseDuration(x.text); err != nil {
				return nil, fmt.Errorf("%s %q: want a time since the start of the session, such as 2s", x.name, x.text)
			}
		}
		return f.answer(env, dir)
	},
	Hotspots: func(env console.Env, dir, by, sort string) (any, error) {
		rows, s, err := hotspotsOf(env, dir, summary.HotspotOptions{By: by, Sort: granularity.Order(sort)}, "json", false)
		if err == nil {
			noteHotspots(env, s)
		}
		return rows, err
	},
	Waits: func(env console.Env, dir, by string) (any, error) {
		var out bytes.Buffer
		l := listflags.Flags{Env: env, Printer: view.Printer{Out: &out, Format: "json", Notes: env}}
		err := listWaits(&l, dir, by)
		return json.RawMessage(out.Bytes()), err
	},
	Diff: func(env console.Env, a, b []string, by string) (any, error) {
		d, _, err := (&diffFlags{by: []string{by}}).compare(env, a, b)
		if err == nil {
			noteMissing(env, d)
		}
		return d, err
	},
	Explain: func(env console.Env, dir, metric string) (any, error) {
		f := layers.Flags{Explain: metric}
		v, err := f.Load(env, dir)
		if err != nil {
			return nil, err
		}
		m, e, err := f.ExplainAsked(v)
		if err != nil {
			return nil, err
		}
		layers.NoteGuarded(env, m)
		return e, nil
	},
}
