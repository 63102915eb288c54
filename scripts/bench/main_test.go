package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackagent/scripts/bench/result"
)

// The page has a place for every part.
func TestPageHasAllParts(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "internals", "benchmarks.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		changed, err := result.Replace(string(page), p.name, "figures of "+p.name)
		if err != nil {
			t.Errorf("%s: %v", p.name, err)
		} else if !strings.Contains(changed, "\nfigures of "+p.name+"\n") {
			t.Errorf("%s: the figures are not in the page", p.name)
		}
	}
}

func TestPublish(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("a\n<!-- begin task -->\n<!-- end task -->\nb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := publish(page, "task", "figures"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(page)
	if err != nil || string(got) != "a\n<!-- begin task -->\n\nfigures\n\n<!-- end task -->\nb\n" {
		t.Errorf("%q, %v", got, err)
	}
	if err := publish(page, "real", "figures"); err == nil {
		t.Error("a part that has no place in the page: no error")
	}
	if err := publish("", "real", "figures"); err != nil {
		t.Errorf("without a page: %v", err)
	}
}

func TestUnknownPart(t *testing.T) {
	if err := bench(t.Context(), flags{parts: "task,tusk"}); err == nil || !strings.Contains(err.Error(), "tusk") {
		t.Errorf("%v", err)
	}
}
