package options

import "strings"

// ForChildren is the option string s for the JVMs that this one starts: the
// same, but each has a session of its own.
func ForChildren(s string) string {
	var keep []string
	for _, pair := range split(s) {
		key, _, _ := strings.Cut(pair, "=")
		if strings.TrimSpace(key) != "session" {
			keep = append(keep, escape(pair))
		}
	}
	return strings.Join(keep, ",")
}

// escape undoes what split does to one pair.
func escape(pair string) string {
	return strings.NewReplacer(`\`, `\\`, `,`, `\,`).Replace(pair)
}
