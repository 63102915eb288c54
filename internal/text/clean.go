package text

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden reports whether r acts on a terminal or on its neighbours instead of
// showing: control characters (escape sequences, line ends, the 8-bit CSI),
// format characters (tags, changes of the writing direction) and line separators.
func Hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

// Clean replaces every hidden character, every private one (it shows as whatever
// the font holds) and broken UTF-8.
func Clean(s string, replacement rune) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || Hidden(r) || unicode.Is(unicode.Co, r) {
			return replacement
		}
		return r
	}, s)
}

// formula matches where a spreadsheet would begin to calculate: at the start of
// a cell, and after the semicolon that separates cells in many countries. Some
// spreadsheets skip blanks and quotes before it, and read the wide forms as the
// narrow ones.
var formula = regexp.MustCompile(`(^|;)([\s"\p{Zs}\p{C}]*)([=+\-@＝＋－＠|%])`)

// Cell cleans s for a cell of a CSV file and puts an apostrophe before what a
// spreadsheet would take for a formula (OWASP, "CSV Injection").
func Cell(s string) string {
	if r, _ := utf8.DecodeRuneInString(s); unicode.IsLetter(r) && !strings.Contains(s, ";") {
		return Clean(s, '?') // nearly every name
	}
	// Formulas first: Clean turns the tab before '=' into a '?' that hides it.
	return Clean(formula.ReplaceAllString(s, "${1}'${2}${3}"), '?')
}

// OneLine joins the lines of a message with semicolons and cleans it.
func OneLine(s string) string {
	return Clean(strings.ReplaceAll(strings.TrimSpace(s), "\n", "; "), '?')
}

// FirstLine returns s up to its first line end, cleaned.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return Clean(line, '?')
}

// Cut shortens s to limit characters and marks the cut with "...".
func Cut(s string, limit int) string {
	if r := []rune(s); len(r) > limit {
		return string(r[:limit]) + "..."
	}
	return s
}
