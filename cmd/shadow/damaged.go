package main

import (
	"slices"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
)

// readingVerbs read sessions and print of them; damage ends them.
var readingVerbs = []string{"stats", "tasks", "hotspots", "threads", "report", "bottle", "stack", "gc", "tgp", "vertical", "monitors", "check", "diff", "export"}

// damagedFlag gives the verbs that read sessions the flag --damaged.
func damagedFlag(root *cobra.Command, to *console.Sessions) {
	for _, cmd := range root.Commands() {
		if slices.Contains(readingVerbs, cmd.Name()) {
			cmd.PersistentFlags().BoolVar(&to.Damaged, "damaged", false,
				"read what is left of a session of which files are damaged, missing or exchanged; without it that is an error")
		}
	}
}
