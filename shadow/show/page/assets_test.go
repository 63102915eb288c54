package page

import (
	"regexp"
	"strings"
	"testing"
)

// TestBudget keeps the bundle small: every report has it inside.
func TestBudget(t *testing.T) {
	const most = 320 << 10
	if size := len(Script) + len(Style); size > most {
		t.Errorf("page.js and page.css have %d bytes, more than %d", size, most)
	}
}

// TestSafe: the bundle can stand in a <script> element, and runs under the page's policy.
func TestSafe(t *testing.T) {
	for what, pattern := range map[string]string{
		"ends the element":            `(?i)</(script|style)`,
		"changes the parser's state":  `<!--`,
		"evaluates text":              `\beval\(|new Function\b`,
		"loads from another place":    `(?i)@import|url\([^#]`, // url(#...) is a pattern of the page
		"has a source map's location": `sourceMappingURL`,
	} {
		for name, text := range map[string]string{"page.js": Script, "page.css": Style} {
			if at := regexp.MustCompile(pattern).FindStringIndex(text); at != nil {
				t.Errorf("%s %s: ...%s...", name, what, text[max(0, at[0]-40):min(len(text), at[1]+40)])
			}
		}
	}
	if !strings.Contains(Script, "Permission is hereby granted") {
		t.Error("page.js has no licences of libraries")
	}
}
