// Package harmless makes text of a foreign program safe where it is shown: on
// a terminal, in a page, in a spreadsheet. What is stored stays as it is.
package harmless

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden tells whether r does something to a terminal or to its neighbours in
// place of showing: control characters (escape sequences, line ends, the 8-bit
// CSI), format characters (those that turn the direction of writing, tags) and
// line separators.
func Hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

// Text puts replacement in the place of every hidden character, of private
// ones, which show as whatever the font holds, and of broken UTF-8.
func Text(s string, replacement rune) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || Hidden(r) || unicode.Is(unicode.Co, r) {
			return replacement
		}
		return r
	}, s)
}

// formula is where a spreadsheet would begin to calculate: at the start of a
// cell, also after the semicolon that separates cells in many countries. Blanks
// and quotes before it are skipped by some of them; the wide forms are taken for
// the narrow ones.
var formula = regexp.MustCompile(`(^|;)([\s"\p{Zs}\p{C}]*)([=+\-@＝＋－＠|%])`)

// Cell is Text for a cell of a CSV file, with an apostrophe before what a
// spreadsheet would take for a formula (OWASP, "CSV Injection").
func Cell(s string) string {
	if r, _ := utf8.DecodeRuneInString(s); unicode.IsLetter(r) && !strings.Contains(s, ";") {
		return Text(s, '?') // as nearly all names
	}
	// On the text as it was: a tab before '=' counts, and is a '?' afterwards.
	return Text(formula.ReplaceAllString(s, "${1}'${2}${3}"), '?')
}
