package options

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackagent/internal/busauth"
	words "stackagent/internal/text"
	"stackagent/internal/wire"
)

// Error is a wrong option; its text is one line.
type Error struct {
	Key, Value string
	Problem    string // what is wrong, what is allowed
}

func (e *Error) Error() string {
	if e.Value == "" || e.Key == "token" || e.Key == "bus" { // may hold a secret
		return fmt.Sprintf("option %q: %s", shown(e.Key), e.Problem)
	}
	return fmt.Sprintf("option %s=%s: %s", shown(e.Key), shown(e.Value), e.Problem)
}

// longestShown is how much of a key or value a message repeats.
const longestShown = 120

func shown(s string) string { return words.Cut(words.Clean(s, '?'), longestShown) }

// longestOptions is far more than a command line needs.
const longestOptions = 1 << 16

type setter func(o *Options, value string) (problem string)

// keys are the options by name.
var keys = map[string]setter{
	"bus":          setBus,
	"session":      setSession,
	"metric":       setMetric,
	"task":         setTask,
	"include":      globs(func(o *Options) *[]string { return &o.Include }),
	"exclude":      globs(func(o *Options) *[]string { return &o.Exclude }),
	"token":        text(func(o *Options) *string { return &o.Token }),
	"tokenfile":    text(func(o *Options) *string { return &o.TokenFile }),
	"user":         text(func(o *Options) *string { return &o.User }),
	"passwordfile": text(func(o *Options) *string { return &o.PasswordFile }),
	"nkey":         text(func(o *Options) *string { return &o.NKey }),
	"creds":        text(func(o *Options) *string { return &o.Creds }),
	"tlsca":        text(func(o *Options) *string { return &o.TLSCA }),
	"tlscert":      text(func(o *Options) *string { return &o.TLSCert }),
	"tlskey":       text(func(o *Options) *string { return &o.TLSKey }),
	"busowner":     setBusOwner,
	"spool":        setSpool,
	"spoolsize":    size(func(o *Options) *int64 { return &o.SpoolBytes }, 1<<20, 64<<30, "want a size from 1M to 64G"),
	"buffer":       size(func(o *Options) *int64 { return &o.Buffer }, 1<<20, 4<<30, "want a size from 1M to 4G"),
	"construction": boolean(func(o *Options) *bool { return &o.Construction }),
	"contexts":     setContexts,
	"sites":        boolean(func(o *Options) *bool { return &o.Sites }),
	"submissions":  boolean(func(o *Options) *bool { return &o.Submissions }),
	"detail":       choice(func(o *Options) *Detail { return &o.Detail }, DetailAuto, DetailAll, DetailSummary),
	"overflow":     choice(func(o *Options) *Overflow { return &o.Overflow }, OverflowBlock, OverflowDrop),
	"strict":       boolean(func(o *Options) *bool { return &o.Strict }),
	"children":     boolean(func(o *Options) *bool { return &o.Children }),
}

// repeatable keys may be given more than once.
var repeatable = []string{"task", "include", "exclude"}

// Parse reads s. When something is wrong, the error (each part of it an
// *Error) tells everything that is, and the Options hold what was right:
// Strict is found whatever else is wrong.
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
		key, value, found := strings.Cut(word, "=")
		if problem := set(&o, seen, key, value, found); problem != "" {
			problems = append(problems, &Error{Key: key, Value: value, Problem: problem})
		}
	}
	if (o.TLSCert == "") != (o.TLSKey == "") {
		problems = append(problems, &Error{Key: "tlscert", Value: o.TLSCert, Problem: "tlscert and tlskey go together"})
	}
	return o, joined(append(problems, o.checkAuth()...))
}

// checkAuth finds what contradicts itself in the authentication.
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

// Problems is everything that is wrong with an option string.
type Problems []error

// Error is one line.
func (p Problems) Error() string {
	parts := make([]string, len(p))
	for i, err := range p {
		parts[i] = err.Error()
	}
	return strings.Join(parts, "; ")
}

// Unwrap gives the single errors.
func (p Problems) Unwrap() []error { return p }

func joined(problems []error) error {
	if len(problems) == 0 {
		return nil
	}
	return Problems(problems)
}

// set applies one option and says what is wrong with it, "" if nothing.
func set(o *Options, seen map[string]bool, key, value string, found bool) string {
	apply, known := keys[key]
	switch {
	case !known:
		return unknown(key)
	case !found || value == "":
		return "has no value; write " + key + "=VALUE"
	case seen[key] && !slices.Contains(repeatable, key):
		return "is given twice"
	}
	seen[key] = true
	return apply(o, value)
}

// split cuts s at commas; \, and \\ stand for a comma and a backslash.
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

func text(field func(*Options) *string) setter {
	return func(o *Options, value string) string {
		if strings.ContainsRune(value, 0) {
			return "holds a zero byte"
		}
		*field(o) = value
		return ""
	}
}

func boolean(field func(*Options) *bool) setter {
	return func(o *Options, value string) string {
		if value != "true" && value != "false" {
			return "want true or false" + didYouMean(value, []string{"true", "false"})
		}
		*field(o) = value == "true"
		return ""
	}
}

func choice[T ~string](field func(*Options) *T, allowed ...T) setter {
	return func(o *Options, value string) string {
		if !slices.Contains(allowed, T(value)) {
			words := make([]string, len(allowed))
			for i, a := range allowed {
				words[i] = string(a)
			}
			return "want " + strings.Join(words, ", ") + didYouMean(value, words)
		}
		*field(o) = T(value)
		return ""
	}
}

// setBus takes one URL, or several joined with ';' as a comma ends the value.
func setBus(o *Options, value string) string {
	const want = "want nats://HOST:PORT or tls://HOST:PORT (several joined with ';')"
	if strings.Contains(value, ",") || !strings.Contains(value, "://") {
		return want
	}
	for _, one := range strings.Split(value, ";") {
		if _, err := busauth.ParseServers(one); err != nil || !strings.Contains(one, "://") {
			return want // not the error's text: the URL may hold a secret
		}
	}
	o.Bus = strings.ReplaceAll(value, ";", ",")
	return ""
}

// setBusOwner takes a user's id, or "any".
func setBusOwner(o *Options, value string) string {
	if _, err := strconv.ParseUint(value, 10, 32); err != nil && value != busauth.AnyOwner {
		return "want the id of a user, or " + busauth.AnyOwner
	}
	o.BusOwner = value
	return ""
}

func setSession(o *Options, value string) string {
	if err := wire.ValidSession(value); err != nil {
		return err.Error()
	}
	o.Session = value
	return ""
}

// maxContexts is the largest N of contexts=N.
const maxContexts = 1_000_000_000

// setContexts takes all, or one event in so many.
func setContexts(o *Options, value string) string {
	if value == "all" {
		o.Contexts = 1
		return ""
	}
	n, err := strconv.ParseUint(value, 10, 32)
	if err != nil || n > maxContexts {
		return "want all, 0 (none), or N to take one in N, at most 1000000000" + didYouMean(value, []string{"all"})
	}
	o.Contexts = int(n)
	return ""
}
