package options

import (
	"fmt"
	"strings"

	"stackagent/internal/text"
)

// Error is a wrong option; its text is one line.
type Error struct {
	Key, Value string
	Problem    string // what is wrong, what is allowed
}

func (e *Error) Error() string {
	if option := byKey[e.Key]; e.Value == "" || option != nil && option.Secret {
		return fmt.Sprintf("option %q: %s", shown(e.Key), e.Problem)
	}
	return fmt.Sprintf("option %s=%s: %s", shown(e.Key), shown(e.Value), e.Problem)
}

// longestShown is how much of a key or value a message repeats.
const longestShown = 120

func shown(s string) string { return text.Cut(text.Clean(s, '?'), longestShown) }

// longestOptions is far more than a command line needs.
const longestOptions = 1 << 16

// Parse reads s. The error, whose parts are of type *Error, lists everything that is wrong. The
// Options then hold what was right, so Strict is known whatever else is wrong.
func Parse(s string) (Options, error) {
	o := Default()
	if len(s) > longestOptions {
		return o, &Error{Key: "...", Problem: fmt.Sprintf("%d bytes of options, at most %d are allowed", len(s), longestOptions)}
	}
	var problems []error
	seen := map[string]bool{}
	for _, word := range split(s) {
		if word == "" {
			continue
		}
		key, value, _ := strings.Cut(word, "=")
		if problem := set(&o, seen, key, value); problem != "" {
			problems = append(problems, &Error{Key: key, Value: value, Problem: problem})
		}
	}
	if (o.TLSCert == "") != (o.TLSKey == "") {
		problems = append(problems, &Error{Key: "tlscert", Value: o.TLSCert, Problem: "tlscert and tlskey go together"})
	}
	return o, joined(append(problems, o.checkAuth()...))
}

// checkAuth returns the contradictions in how the agent shows who it is.
func (o *Options) checkAuth() []error {
	var given []string
	for _, k := range []struct{ key, value string }{
		{"token", o.Token}, {"tokenfile", o.TokenFile}, {"user", o.User}, {"creds", o.Creds}, {"nkey", o.NKey},
	} {
		if k.value != "" {
			given = append(given, k.key)
		}
	}
	var problems []error
	if len(given) > 1 {
		problems = append(problems, &Error{Key: given[len(given)-1], Problem: strings.Join(given, " and ") + " exclude each other"})
	}
	if o.PasswordFile != "" && o.User == "" {
		problems = append(problems, &Error{Key: "passwordfile", Value: o.PasswordFile, Problem: "goes together with user"})
	}
	return problems
}

// Problems lists everything that is wrong with an option string.
type Problems []error

// Error is one line.
func (p Problems) Error() string {
	parts := make([]string, len(p))
	for i, err := range p {
		parts[i] = err.Error()
	}
	return strings.Join(parts, "; ")
}

// Unwrap returns the single errors.
func (p Problems) Unwrap() []error { return p }

func joined(problems []error) error {
	if len(problems) == 0 {
		return nil
	}
	return Problems(problems)
}

// set applies one option and returns what is wrong with it, "" if nothing is.
func set(o *Options, seen map[string]bool, key, value string) string {
	option := byKey[key]
	switch {
	case option == nil:
		return unknown(key)
	case value == "":
		return "has no value; write " + key + "=VALUE"
	case seen[key] && !option.Repeat:
		return "is given twice"
	}
	seen[key] = true
	return option.problem(o, value)
}
