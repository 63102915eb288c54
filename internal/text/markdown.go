package text

import (
	"fmt"
	"strings"
	"unicode"
)

// Markdown is s in a cell of a table, or in a paragraph, with nothing that Markdown, HTML or GitHub would act on.
func Markdown(s string) string {
	var b strings.Builder
	in := []rune(Clean(s, '\ufffd'))
	word := func(i int) bool { return i >= 0 && i < len(in) && (unicode.IsLetter(in[i]) || unicode.IsDigit(in[i])) }
	for i, r := range in {
		acts := strings.ContainsRune("&<>|\\`*[]#!~@$", r)
		switch r {
		case '_': // within a word it is plain
			acts = !word(i-1) || !word(i+1)
		case ':': // of an address, which would become a link
			acts = i+1 < len(in) && in[i+1] == '/'
		}
		if acts {
			fmt.Fprintf(&b, "&#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
