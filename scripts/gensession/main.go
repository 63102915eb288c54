// Command gensession writes a session of any size with known figures, to test and
// measure its readers: gensession -n 100000000 DIR NAME.
package main

import (
	"flag"
	"fmt"
	"os"

	"stackagent/shadow/analysis/summary/summarytest"
)

func main() {
	n := flag.Int("n", 1_000_000, "executions")
	old := flag.Bool("old", false, "write it like old agents, which did not mark first executions")
	flag.Parse()
	if flag.NArg() != 2 || *n < 1 {
		fmt.Fprintln(os.Stderr, "usage: gensession [-n EXECUTIONS] [-old] DIR NAME")
		os.Exit(2)
	}
	g, err := summarytest.Generate(flag.Arg(0), flag.Arg(1), *n, !*old)
	if err != nil {
		fmt.Fprintln(os.Stderr, "gensession:", err)
		os.Exit(1)
	}
	fmt.Printf("%d executions, %d tasks created, %d never executed\n", *n, g.Created, g.NeverExecuted)
}
