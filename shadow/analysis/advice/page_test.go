package advice

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAdvicePage: the page has a heading for each rule that gives advice and names each threshold.
func TestAdvicePage(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "advice.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	for _, name := range Rules() {
		if !strings.Contains(page, "\n### "+name+"\n") {
			t.Errorf("docs/advice.md has no heading %q", name)
		}
	}
	for _, x := range thresholds {
		if !strings.Contains(page, "`"+x.name+"`") {
			t.Errorf("docs/advice.md does not name the threshold %q", x.name)
		}
	}
}
