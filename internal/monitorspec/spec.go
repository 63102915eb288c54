// Package monitorspec has the syntax of the option monitor=, in the agent and in the command.
package monitorspec

import (
	"strings"
	"unicode"
)

// Kind says what a monitor reads.
type Kind uint8

// The kinds. The agent's Java code has the same numbers.
const (
	Field      Kind = iota // a static field, or a field of the instances of a class, summed
	Calls                  // how often methods were called
	Returns                // the value that a method returned last
	JMX                    // attributes of MBeans
	Registries             // meters of Micrometer and Dropwizard
	Inside                 // pools and class libraries
)

// Prefixes of the written forms.
const (
	callsPrefix   = "calls:"
	returnsPrefix = "returns:"
	jmxPrefix     = "jmx:"
)

// Words of groups.
const (
	RegistriesWord = "registries"
	InsideWord     = "inside"
)

// Constructor is the method name that stands for the constructors of a class.
const Constructor = "<init>"

// Examples shows the syntax in messages.
const Examples = "com.acme.Cache#hits, calls:com.acme.Job#step, returns:com.acme.Queue#size, jmx:java.lang:type=Memory/HeapMemoryUsage.used, " +
	RegistriesWord + " or " + InsideWord

// maxLength bounds a spec, far above any sensible one.
const maxLength = 1024

// Spec is a monitor that the user asks for.
type Spec struct {
	Kind   Kind
	Class  string // Java name: of Field, Calls, Returns
	Member string // name of the field or of the methods
	Object string // of JMX: the name of an MBean, or a pattern of names
	Path   string // of JMX: attribute, or attribute.key
}

// Parse reads a spec. The problem says what is wrong with it, "" if nothing is.
func Parse(s string) (x Spec, problem string) {
	if len(s) > maxLength {
		return x, "too long"
	}
	switch {
	case s == RegistriesWord:
		return Spec{Kind: Registries}, ""
	case s == InsideWord:
		return Spec{Kind: Inside}, ""
	case strings.HasPrefix(s, jmxPrefix):
		return parseJMX(s[len(jmxPrefix):])
	case strings.HasPrefix(s, callsPrefix):
		x, s = Spec{Kind: Calls}, s[len(callsPrefix):]
	case strings.HasPrefix(s, returnsPrefix):
		x, s = Spec{Kind: Returns}, s[len(returnsPrefix):]
	}
	class, member, ok := strings.Cut(s, "#")
	switch {
	case !ok:
		return Spec{}, "no '#' between class and member; want " + Examples
	case !isClass(class):
		return Spec{}, "the class is not the full name of a Java class; want " + Examples
	case !isName(member) && !(x.Kind == Calls && member == Constructor):
		return Spec{}, "no name of a field or method follows '#'; want " + Examples
	}
	x.Class, x.Member = class, member
	return x, ""
}

// parseJMX reads DOMAIN:KEYS/ATTRIBUTE. A key's value may have a slash, an attribute has none.
func parseJMX(s string) (Spec, string) {
	i := strings.LastIndexByte(s, '/')
	if i < 0 {
		return Spec{}, "no '/' between the MBean's name and the attribute; want jmx:java.lang:type=Memory/HeapMemoryUsage.used"
	}
	object, path := s[:i], s[i+1:]
	domain, keys, ok := strings.Cut(object, ":")
	if !ok || keys == "" || strings.ContainsFunc(object, unicode.IsControl) || strings.ContainsAny(domain, "\"/") {
		return Spec{}, "the name of the MBean is not DOMAIN:KEY=VALUE,..."
	}
	if path == "" || strings.ContainsFunc(path, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }) {
		return Spec{}, "no attribute follows the MBean's name"
	}
	return Spec{Kind: JMX, Object: object, Path: path}, ""
}

// String is the inverse of Parse.
func (x Spec) String() string {
	switch x.Kind {
	case Calls:
		return callsPrefix + x.Class + "#" + x.Member
	case Returns:
		return returnsPrefix + x.Class + "#" + x.Member
	case JMX:
		return jmxPrefix + x.Object + "/" + x.Path
	case Registries:
		return RegistriesWord
	case Inside:
		return InsideWord
	}
	return x.Class + "#" + x.Member
}

func isClass(s string) bool {
	for part := range strings.SplitSeq(s, ".") {
		if !isName(part) {
			return false
		}
	}
	return true
}

// isName refuses what no class, field or method can be called, and wildcards.
func isName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return strings.ContainsRune(".;[]/#()<>,:*?\\\"'{}", r) || unicode.IsSpace(r) || unicode.IsControl(r)
	})
}
