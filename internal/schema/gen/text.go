package main

import (
	"strings"
	"unicode"

	"stackagent/internal/schema"
)

// wrap breaks text into lines.
func wrap(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// lower makes the first word of a name begin in lower case: osThread of OSThread.
func lower(name string) string {
	n := 0
	for n < len(name) && unicode.IsUpper(rune(name[n])) {
		n++
	}
	if n > 1 && n < len(name) {
		n--
	}
	return strings.ToLower(name[:n]) + name[n:]
}

// words are those of a name: "creation unseen".
func words(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 && !unicode.IsUpper(rune(name[i-1])) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// plain is text for a comment: what is in the Markdown of a page only for its looks goes.
func plain(text string) string { return strings.ReplaceAll(text, "`", "") }

// flagNames are the bits of a set as a page shows them: "1 threw, 2 running".
func flagNames(set string) string {
	for _, s := range schema.FlagSets {
		if s.Name == set {
			var list []string
			for _, f := range s.Flags {
				list = append(list, itoa(1<<f.Bit)+": "+f.Doc)
			}
			return strings.Join(list, "; ")
		}
	}
	return ""
}
