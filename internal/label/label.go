// Package label declares what tells the JVMs of a fleet apart: the service, its version, the environment and the
// instance, and a few free labels. Agent, wire format and shadow share the declaration and its bounds.
package label

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"stackagent/internal/text"
)

// Bounds of labels.
const (
	MaxValue = 128 // bytes
	MaxKey   = 63  // bytes
	MaxFree  = 16
)

// Labels of a JVM. An empty one is not set.
type Labels struct {
	Service  string            `json:"service,omitempty"`  // what the JVM is an instance of
	Version  string            `json:"version,omitempty"`  // of the service
	Env      string            `json:"env,omitempty"`      // production, staging, ...
	Instance string            `json:"instance,omitempty"` // of the service: a pod, a process
	Free     map[string]string `json:"labels,omitempty"`   // at most MaxFree; nil: none
}

// Property begins the names of the system properties that hold the labels of a session in a JFR recording.
const Property = "stackagent.label."

// Field is one of the named labels.
type Field struct {
	Name string // "service"
	OTel string // its attribute in OpenTelemetry, "service.name"
	Of   func(*Labels) *string
}

// Fields are the named labels, in the order in which they are shown.
var Fields = []Field{
	{"service", "service.name", func(l *Labels) *string { return &l.Service }},
	{"version", "service.version", func(l *Labels) *string { return &l.Version }},
	{"env", "deployment.environment.name", func(l *Labels) *string { return &l.Env }},
	{"instance", "service.instance.id", func(l *Labels) *string { return &l.Instance }},
}

// IsZero reports whether no label is set.
func (l Labels) IsZero() bool {
	return l.Service == "" && l.Version == "" && l.Env == "" && l.Instance == "" && len(l.Free) == 0
}

// CheckValue returns what is wrong with a value, "" if nothing is.
func CheckValue(v string) string {
	switch {
	case v == "":
		return "is empty"
	case len(v) > MaxValue:
		return fmt.Sprintf("is %d bytes long, at most %d are allowed", len(v), MaxValue)
	case !utf8.ValidString(v):
		return "is not valid UTF-8"
	case strings.ContainsFunc(v, text.Hidden):
		return "holds characters that cannot be printed"
	}
	return ""
}

// CheckKey returns what is wrong with the key of a free label, "" if nothing is.
func CheckKey(k string) string {
	inside := func(c byte) bool {
		return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '.' || c == '-'
	}
	ok := k != "" && len(k) <= MaxKey && 'a' <= k[0] && k[0] <= 'z'
	for i := 0; ok && i < len(k); i++ {
		ok = inside(k[i])
	}
	if !ok {
		return fmt.Sprintf("want a key that begins with a-z and has at most %d of a-z 0-9 _ . -", MaxKey)
	}
	return ""
}

// Add sets a free label and returns what is wrong with it, "" if nothing is.
func (l *Labels) Add(key, value string) string {
	if problem := CheckKey(key); problem != "" {
		return problem
	}
	if problem := CheckValue(value); problem != "" {
		return "the value " + problem
	}
	if _, known := l.Free[key]; !known && len(l.Free) == MaxFree {
		return fmt.Sprintf("at most %d labels are possible", MaxFree)
	}
	if l.Free == nil {
		l.Free = map[string]string{}
	}
	l.Free[key] = value
	return ""
}

// ParsePair cuts KEY:VALUE, as the agent's option has it, or KEY=VALUE.
func ParsePair(s string) (key, value, problem string) {
	i := strings.IndexAny(s, ":=")
	if i < 0 {
		return "", "", "want KEY:VALUE"
	}
	return s[:i], s[i+1:], ""
}

// Keys of the free labels, sorted.
func (l *Labels) Keys() []string { return slices.Sorted(maps.Keys(l.Free)) }

// FreeJSON is the free labels as JSON, sorted by key; "" if there are none.
func (l *Labels) FreeJSON() string {
	if len(l.Free) == 0 {
		return ""
	}
	data, err := json.Marshal(l.Free)
	if err != nil { // a map of strings always has a form
		return ""
	}
	return string(data)
}

// Valid gives the labels without those that are out of bounds: they may come from another program.
func (l Labels) Valid() Labels {
	var v Labels
	for _, f := range Fields {
		if s := *f.Of(&l); CheckValue(s) == "" {
			*f.Of(&v) = s
		}
	}
	for _, k := range l.Keys() {
		v.Add(k, l.Free[k]) // what does not fit is left out
	}
	return v
}

// Or gives the labels, and where one is not set that of other.
func (l Labels) Or(other Labels) Labels {
	for _, f := range Fields {
		if mine := f.Of(&l); *mine == "" {
			*mine = *f.Of(&other)
		}
	}
	l.Free = maps.Clone(l.Free)
	for _, k := range other.Keys() {
		if _, set := l.Free[k]; !set {
			l.Add(k, other.Free[k])
		}
	}
	return l
}

// Pair is a label.
type Pair struct{ Name, Value string }

// Attributes are the labels under their names in OpenTelemetry.
func (l *Labels) Attributes() []Pair { return l.pairs(func(f Field) string { return f.OTel }) }

// Pairs are the labels under their names here.
func (l *Labels) Pairs() []Pair { return l.pairs(func(f Field) string { return f.Name }) }

func (l *Labels) pairs(name func(Field) string) []Pair {
	var list []Pair
	for _, f := range Fields {
		if v := *f.Of(l); v != "" {
			list = append(list, Pair{name(f), v})
		}
	}
	for _, k := range l.Keys() {
		list = append(list, Pair{k, l.Free[k]})
	}
	return list
}

// String is the labels in one line; "" if none is set.
func (l *Labels) String() string {
	parts := make([]string, 0, len(Fields)+len(l.Free))
	for _, p := range l.Pairs() {
		parts = append(parts, p.Name+"="+p.Value)
	}
	return strings.Join(parts, " ")
}
