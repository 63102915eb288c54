// Package part holds the benchmarks, one per part of the page: each measures and
// returns its section as Markdown.
package part

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stackagent/internal/testjvm"
	"stackagent/scripts/bench/measure"
	"stackagent/scripts/bench/tool"
)

// Config is what the parts share.
type Config struct {
	Root    string // of the tree
	Scratch string // for temporary files; on a disk with room
	Bin     tool.Binaries
	JDKs    []testjvm.JDK // oldest first
	Rounds  int           // 0: each part's own number
	Quick   bool          // try the harness: few rounds, small programs, meaningless figures
	Only    []string      // Workloads; empty: all
	Tools   []string      // parts of the names of the tools of the parts task and real; empty: all. The plain JVM is always there
	Limit   time.Duration // of the pairs and of the blocks of a program in part real; 0: the usual one
	Images  string        // folder of the page's figures; "": they are not written
	Log     io.Writer     // progress
}

// rounds is usual, unless the user sets a number.
func (c Config) rounds(usual int) int {
	switch {
	case c.Rounds > 0:
		return c.Rounds
	case c.Quick:
		return 1
	}
	return usual
}

// pick is full, or quick in a trial of the harness.
func pick[T any](c Config, full, quick T) T {
	if c.Quick {
		return quick
	}
	return full
}

func (c Config) wants(name string) bool {
	for _, o := range c.Only {
		if o == name {
			return true
		}
	}
	return len(c.Only) == 0
}

func (c Config) wantsTool(name string) bool {
	return len(c.Tools) == 0 || name == tool.Plain().Name || slices.ContainsFunc(c.Tools, func(t string) bool { return strings.Contains(name, t) })
}

func (c Config) say(format string, args ...any) { fmt.Fprintf(c.Log, format+"\n", args...) }

// alternate runs n things in rounds, each once per round. Each round begins with
// another one, so that changes on the machine affect all of them equally.
func alternate(rounds, n int, run func(round, i int) error) error {
	for round := range rounds {
		for k := range n {
			if err := run(round, (round+k)%n); err != nil {
				return err
			}
		}
	}
	return nil
}

// inScratch calls f with a new folder that is removed afterwards.
func (c Config) inScratch(f func(dir string) error) error {
	dir, err := os.MkdirTemp(c.Scratch, "run-")
	if err != nil {
		return fmt.Errorf("making a folder for a run: %w", err)
	}
	defer os.RemoveAll(dir)
	return f(dir)
}

// Compile compiles the benchmarks' Java programs with the oldest JDK, so that all JDKs
// run the same byte code.
func (c Config) Compile(ctx context.Context) (classes string, err error) {
	sources, err := filepath.Glob(filepath.Join(c.Root, "scripts", "bench", "java", "*.java"))
	if err != nil || len(sources) == 0 {
		return "", fmt.Errorf("no Java programs in scripts/bench/java: %w", err)
	}
	classes = filepath.Join(c.Scratch, "classes")
	args := append([]string{c.JDKs[0].Tool("javac"), "-encoding", "UTF-8", "-Xlint:all", "-Werror", "-d", classes}, sources...)
	if _, err := measure.Run(ctx, measure.Command{Args: args}); err != nil {
		return "", err
	}
	return classes, nil
}

// newest is the newest JDK found.
func (c Config) newest() testjvm.JDK { return c.JDKs[len(c.JDKs)-1] }
