package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"stackagent/cmd/shadow/internal/console"
)

// pages returns the text of every page of the documentation by its path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..")
	files := []string{filepath.Join(root, "README.md"), filepath.Join(root, "CHANGELOG.md")}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".md" {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[file] = string(b)
	}
	return texts
}

// TestDocumentedCommands: what README and docs show can be typed: every verb is
// one, and every flag one of its own.
func TestDocumentedCommands(t *testing.T) {
	shown := regexp.MustCompile("(?m)(?:^|[`(]|bin/)shadow ([a-z]+)((?:\\\\\n|[^`\n#)])*)")
	flag := regexp.MustCompile(`(?:^|\s)--([a-z][a-z-]*)`)
	commands, flags := 0, 0
	texts := pages(t)
	for file, text := range texts {
		for _, m := range shown.FindAllStringSubmatch(text, -1) {
			if m[1] == "closed" { // how a session ended: store.EndedClosed
				continue
			}
			root := newRoot(console.System())
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
		t.Errorf("only %d commands with %d flags found in %d files: is the pattern right?", commands, flags, len(texts))
	}
	t.Logf("%d commands, %d flags", commands, flags)
}

// TestDocumentedLinks: every link of the documentation leads to a file of the
// tree and, where it names a heading, to one of that page.
func TestDocumentedLinks(t *testing.T) {
	link := regexp.MustCompile(`(?:\]\(|src=")([^)"\s]+)[)"]`)
	links := 0
	for file, text := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			path, heading, _ := strings.Cut(m[1], "#")
			target, page := file, text
			if path != "" {
				target = filepath.Join(filepath.Dir(file), path)
				b, err := os.ReadFile(target)
				if info, errStat := os.Stat(target); err != nil && (errStat != nil || !info.IsDir()) {
					t.Errorf("%s: link to %s: no such file", file, m[1])
					continue
				}
				page = string(b)
			}
			if heading != "" && !hasHeading(page, heading) {
				t.Errorf("%s: link to %s: %s has no such heading", file, m[1], target)
			}
		}
	}
	if links < 50 {
		t.Errorf("only %d links found: is the pattern right?", links)
	}
}

// hasHeading reports whether a heading of the page has the anchor.
func hasHeading(page, anchor string) bool {
	other := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	for line := range strings.Lines(page) {
		title := strings.TrimLeft(line, "#")
		if len(title) == len(line) || !strings.HasPrefix(title, " ") {
			continue
		}
		slug := other.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
		if strings.ReplaceAll(slug, " ", "-") == anchor {
			return true
		}
	}
	return false
}
