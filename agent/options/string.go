package options

import "strings"

// Setting is an option with its value, as it was given.
type Setting struct{ Key, Value string }

// String returns KEY=VALUE, quoted so that Parse returns Value unchanged.
func (s Setting) String() string { return quote(s.Key + "=" + s.Value) }

// String returns the option string of settings, which Parse reads.
func String(settings []Setting) string {
	parts := make([]string, len(settings))
	for i, s := range settings {
		parts[i] = s.String()
	}
	return strings.Join(parts, ",")
}

// ForChildren returns the option string s for the JVMs that this one starts: the same options, but
// without session, as each JVM has a session of its own.
func ForChildren(s string) string {
	return only(s, func(key string) bool { return key != "session" })
}

// ForPlan returns those of the option string s on which it depends how classes are changed.
func ForPlan(s string) string {
	return only(s, func(key string) bool { return byKey[key] != nil && byKey[key].Plan })
}

// only returns the options of s with the keys that fit.
func only(s string, fits func(key string) bool) string {
	var keep []string
	for _, pair := range split(s) {
		key, _, _ := strings.Cut(pair, "=")
		if fits(strings.TrimSpace(key)) {
			keep = append(keep, quote(pair))
		}
	}
	return strings.Join(keep, ",")
}

var quoter = strings.NewReplacer(`\`, `\\`, `,`, `\,`)

// quote does the reverse of split for one pair.
func quote(pair string) string { return quoter.Replace(pair) }

// split cuts s at commas; \, and \\ mean a comma and a backslash.
func split(s string) []string {
	var words []string
	var word strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && (s[i+1] == ',' || s[i+1] == '\\'):
			i++
			word.WriteByte(s[i])
		case s[i] == ',':
			words = append(words, word.String())
			word.Reset()
		default:
			word.WriteByte(s[i])
		}
	}
	return append(words, word.String())
}
