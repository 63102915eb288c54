package options

import (
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of options into the guide")

const (
	guideBegin = "<!-- generated: agent options -->\n"
	guideEnd   = "<!-- end of agent options -->\n"
)

// TestGuide fails if the table of options in docs differs from the declarations.
func TestGuide(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, page := range pages {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		before, rest, ok := strings.Cut(string(b), guideBegin)
		if !ok {
			continue
		}
		found++
		table, after, ok := strings.Cut(rest, guideEnd)
		if !ok {
			t.Fatalf("%s: %q has no %q", page, guideBegin, guideEnd)
		}
		if table == guideTable() {
			continue
		}
		if !*update {
			t.Errorf("%s: the table of options is stale; run: go test ./agent/options -run Guide -update", page)
		} else if err := os.WriteFile(page, []byte(before+guideBegin+guideTable()+guideEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if found != 1 {
		t.Errorf("%d pages in docs have %q, want 1", found, guideBegin)
	}
}

// guideTable returns the table of options for the user guide, in Markdown.
func guideTable() string {
	var b strings.Builder
	b.WriteString("| key | default | flag of | meaning |\n|---|---|---|---|\n")
	for _, o := range all {
		meaning := strings.ReplaceAll(o.Help, "|", `\|`)
		if o.See != "" {
			meaning += fmt.Sprintf(" ([%s](%s))", strings.TrimSuffix(path.Base(o.See), ".md"), o.See)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", o.Key, code(o.Default), o.Verbs.guide(o.Flag), meaning)
	}
	return b.String()
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

// guide names the verbs that have the flag, and the flag.
func (v Verbs) guide(flag string) string {
	var verbs []string
	if v&Run != 0 {
		verbs = append(verbs, "run")
	}
	if v&Attach != 0 {
		verbs = append(verbs, "attach")
	}
	if len(verbs) == 0 {
		return ""
	}
	return strings.Join(verbs, ", ") + ": " + code("--"+flag)
}
