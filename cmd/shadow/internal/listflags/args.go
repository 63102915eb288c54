package listflags

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
)

// OneSession takes exactly one argument, the session folder.
func OneSession(_ *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return console.Usagef("missing session folder")
	case 1:
		return nil
	}
	return console.Usagef("want one session folder, got %d arguments", len(args))
}

// KnownVerb refuses an unknown verb, and names those that may have been meant.
func KnownVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2 // edits
	text := fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath())
	if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
		text += ": is it " + strings.Join(like, " or ") + "?"
	}
	return console.Usagef("%s", text)
}
