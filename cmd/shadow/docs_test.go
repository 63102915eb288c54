package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/internal/units"
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

// TestShownCommands: what the page and messages of the program tell the user to type can be typed. Only the words before
// the first flag are compared: what is between a verb and its flags there is prose.
func TestShownCommands(t *testing.T) {
	shown := regexp.MustCompile(`\bshadow ((?:[a-z]+ ){1,2})--([a-z][a-z-]*)`)
	commands := 0
	for file, text := range sourceTexts(t, filepath.Join("..", "..", "shadow"), ".ts", ".go") {
		for _, m := range shown.FindAllStringSubmatch(text, -1) {
			root := newRoot(console.System())
			cmd, rest, err := root.Find(strings.Fields(m[1]))
			if err != nil || cmd == root || len(rest) > 0 {
				continue // "shadow heap and --metric alloc"
			}
			commands++
			if cmd.Flags().Lookup(m[2]) == nil {
				t.Errorf("%s: %s has no flag --%s (%s)", file, cmd.CommandPath(), m[2], m[0])
			}
		}
	}
	if commands < 30 {
		t.Errorf("only %d commands found: is the pattern right?", commands)
	}
}

// sourceTexts returns the texts of the files below root with one of these extensions, tests left out.
func sourceTexts(t *testing.T, root string, extensions ...string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata"):
			return fs.SkipDir
		case !slices.Contains(extensions, filepath.Ext(path)) || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		b, err := os.ReadFile(path)
		texts[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// TestDocumentedLimits: numbers that pages give are those of the code. A row has a file of the code, a pattern of a
// number in it, a page, and the words around the number there.
func TestDocumentedLimits(t *testing.T) {
	const bits = "2^" // the number is an exponent
	for _, x := range []struct{ file, number, page, words string }{
		{"jvmti/state_cells.h", `SA_FAST_PER_SECOND = (\d+)`, "docs/guide.md", "until a class exceeds % executions or creations a second"},
		{"jvmti/state_cells.h", `SA_OUTLIER_MEANS = (\d+)`, "docs/guide.md", "Outliers, % times the mean"},
		{"jvmti/state_cells.h", `SA_OUTLIERS = (\d+)`, "docs/guide.md", "at most % a second per class"},
		{"jvmti/state_sample.h", bits + `SA_SAMPLE_BITS = (\d+)`, "docs/guide.md", "times a random one in %."},
		{"jvmti/state_sample.h", bits + `SA_SAMPLE_BITS = (\d+)`, "docs/faq.md", "a random one in % executions"},
		{"agent/publish/publisher.go", `DefaultMaxBytes = (\d+) << 20`, "docs/guide.md", "Batches wait in % MiB of memory"},
		{"agent/options/declare.go", `Key: "spoolsize", Value: "SIZE", Default: "(\d+)M"`, "docs/guide.md", "at most\n% MiB"},
		{"jvmti/life.h", `SA_GO_THREADS = (\d+)`, "docs/attach.md", "its % idle threads"},
		{"jvmti/state_contexts.h", bits + `SA_MAX_CONTEXTS = 1 << (\d+)`, "docs/contexts.md", "A session holds % contexts"},
		{"jvmti/probe_waits.c", `MOST_SHORT = (\d+)`, "docs/waits.md", "more than % waits below 1 ms"},
		{"jvmti/probe_waits.c", `MOST_LONG = (\d+)`, "docs/waits.md", "or more than % longer"},
		{"shadow/analysis/summary/sums.go", `sumsAbove = ([\d_]+)_000_000`, "docs/faq.md", "more than % million recorded executions"},
		{"shadow/analysis/summary/session.go", `adviceLimit = ([\d_]+)_000_000`, "docs/advice.md", "advice above % million recorded executions"},
		{"shadow/analysis/summary/session.go", `unitsLimit  = ([\d_]+)_000_000`, "docs/advice.md", "`report` above % million"},
		{"shadow/show/page/build.go", `slots   = (\d+)`, "docs/report.md", "a %th of the session"},
		{"shadow/show/page/slices.go", `allSlices   = ([\d_]+)`, "docs/report.md", "all of up to %,"},
		{"shadow/show/live/live.go", `maxJVMs = (\d+)`, "docs/live.md", "| JVMs | | % |"},
		{"shadow/show/live/prometheus.go", `metricJVMs      = (\d+)`, "docs/operations.md", "At most % JVMs have metrics"},
		{"shadow/collect/ingest/ingest.go", `DefaultMaxSessions  = ([\d_]+)`, "docs/operations.md", "`--max-sessions`, default % open"},
		{"shadow/collect/ingest/dense.go", `denseSessions = (\d+)`, "docs/fleet-plan.md", "Up to % sessions, each has a consumer"},
		{"shadow/show/web/web.go", `maxConnections = (\d+)`, "docs/operations.md", "The page has % connections"},
		{"cmd/shadow/internal/mcpserver/answer.go", `mostBytes   = (\d+) << 10`, "docs/scripts.md", "at most % KiB"},
	} {
		root := filepath.Join("..", "..")
		b, err := os.ReadFile(filepath.Join(root, x.file))
		if err != nil {
			t.Fatal(err)
		}
		pattern, exponent := strings.CutPrefix(x.number, bits)
		m := regexp.MustCompile(pattern).FindSubmatch(b)
		if m == nil {
			t.Errorf("%s: %s is not found", x.file, x.number)
			continue
		}
		n, err := strconv.ParseInt(strings.ReplaceAll(string(m[1]), "_", ""), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if exponent {
			n = 1 << n
		}
		b, err = os.ReadFile(filepath.Join(root, x.page))
		if err != nil {
			t.Fatal(err)
		}
		if words := strings.Replace(x.words, "%", units.FormatExact(n), 1); !strings.Contains(string(b), words) {
			t.Errorf("%s does not say %q, as %s has it", x.page, words, x.file)
		}
	}
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
