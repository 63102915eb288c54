package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/mcpserver"
)

func newMCP(env console.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "mcp [STORE|DIR]",
		Short: "Offer sessions to an assistant over the Model Context Protocol",
		Long: `Speaks the Model Context Protocol on standard input and output. An assistant can list
the sessions of the store (default: the current directory) and of the folders in it,
and ask for statistics, findings, hotspots, waits, differences and explanations. It can
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
			s, err := mcpserver.New(dir, versionText(), verbIn(env), inStore)
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
func inStore(dir string) ([]string, error) { return atMostBelow(dir, 100_000) }

// verbIn runs verbs inside of this process, with streams of their own.
func verbIn(env console.Env) mcpserver.Verb {
	return func(ctx context.Context, args ...string) (string, string, error) {
		var out, notes bytes.Buffer
		of := env
		of.In, of.Out, of.Err, of.Log, of.Sessions = strings.NewReader(""), &out, &notes, nil, nil
		if code := Run(ctx, args, of); code != 0 {
			return "", "", errors.New(strings.TrimSpace(notes.String()))
		}
		return out.String(), notes.String(), nil
	}
}
