package advice

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackagent/shadow/analysis/account"
)

// TestAdvicePage: the page has a heading for each rule that gives advice and names each threshold.
func TestAdvicePage(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "advice.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	for _, r := range rules {
		if r.kind == Advice && r.name != "obstacle" && !strings.Contains(page, "\n### "+r.name+"\n") {
			t.Errorf("docs/advice.md has no heading %q", r.name)
		}
	}
	for _, kind := range account.Kinds {
		if !strings.Contains(page, "\n### "+string(kind)+"\n") {
			t.Errorf("docs/advice.md has no heading %q", kind)
		}
	}
	for _, x := range thresholds {
		if !strings.Contains(page, "`"+x.name+"`") {
			t.Errorf("docs/advice.md does not name the threshold %q", x.name)
		}
	}
}
