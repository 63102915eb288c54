package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocumentedCommands: what README and docs show can be typed: every verb is
// one, and every flag one of its own.
func TestDocumentedCommands(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, filepath.Join("..", "..", "README.md"))
	shown := regexp.MustCompile("(?m)(?:^|[`(]|bin/)shadow ([a-z]+)((?:\\\\\n|[^`\n#)])*)")
	flag := regexp.MustCompile(`(?:^|\s)--([a-z][a-z-]*)`)
	commands, flags := 0, 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range shown.FindAllStringSubmatch(string(b), -1) {
			if m[1] == "closed" { // how a session ended: store.EndedClosed
				continue
			}
			root := newRoot(System())
			line, _, _ := strings.Cut(m[2], " -- ") // what follows is the program's
			cmd, _, err := root.Find(append([]string{m[1]}, strings.Fields(line)...))
			if err != nil || cmd == root {
				t.Errorf("%s: no verb %q (%s)", file, m[1], m[0])
				continue
			}
			commands++
			for _, f := range flag.FindAllStringSubmatch(line, -1) {
				flags++
				if cmd.Flags().Lookup(f[1]) == nil && f[1] != "help" {
					t.Errorf("%s: shadow %s has no flag --%s (%s)", file, m[1], f[1], m[0])
				}
			}
		}
	}
	if commands < 50 || flags < 30 {
		t.Errorf("only %d commands with %d flags found in %d files: is the pattern right?", commands, flags, len(files))
	}
	t.Logf("%d commands, %d flags", commands, flags)
}
