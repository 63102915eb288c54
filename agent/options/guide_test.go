package options

import (
	"flag"
	"os"
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
		if table == GuideTable() {
			continue
		}
		if !*update {
			t.Errorf("%s: the table of options is stale; run: go test ./agent/options -run Guide -update", page)
		} else if err := os.WriteFile(page, []byte(before+guideBegin+GuideTable()+guideEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if found != 1 {
		t.Errorf("%d pages in docs have %q, want 1", found, guideBegin)
	}
}
