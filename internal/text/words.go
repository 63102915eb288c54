package text

import (
	"strings"

	"stackagent/internal/units"
)

// integer is any type of count.
type integer interface {
	~int | ~int32 | ~int64 | ~uint | ~uint32 | ~uint64
}

// Plural counts a noun: "1 unit", "12,345 units", "1.25 M units".
func Plural[N integer](n N, one, many string) string {
	return counted(n, one, many, units.FormatCount)
}

// PluralExact is Plural with every digit of the count: "1,250,000 units".
func PluralExact[N integer](n N, one, many string) string {
	return counted(n, one, many, units.FormatExact)
}

func counted[N integer](n N, one, many string, format func(int64) string) string {
	if n == 1 {
		return "1 " + one
	}
	return format(int64(n)) + " " + many
}

// ShellWord quotes a path for a command that the user may copy.
func ShellWord(s string) string {
	safe := func(r rune) bool {
		return r == '/' || r == '.' || r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// OneOf lists alternatives: "a, b or c".
func OneOf[S ~string](words []S) string { return listed(words, " or ") }

// AllOf lists names: "a, b and c".
func AllOf[S ~string](words []S) string { return listed(words, " and ") }

func listed[S ~string](words []S, last string) string {
	var b strings.Builder
	for i, w := range words {
		switch {
		case i > 0 && i == len(words)-1:
			b.WriteString(last)
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(string(w))
	}
	return b.String()
}
