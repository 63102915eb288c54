// Command shadow profiles the tasks of Java programs: it runs a program with
// the agent, collects what the agent sends, and shows what was measured.
package main

import (
	"context"
	"os"

	"stackagent/cmd/shadow/internal/console"
)

func main() {
	os.Exit(Run(context.Background(), os.Args[1:], console.System()))
}
