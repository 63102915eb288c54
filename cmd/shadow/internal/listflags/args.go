package listflags

import (
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
