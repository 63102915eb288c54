// Package taskdef has the syntax of the option task=, in the agent and in the command.
package taskdef

import (
	"strings"
	"unicode"
)

// Example shows the syntax in messages.
const Example = "com.acme.Job#process or com.acme.Job#process(Lcom/acme/Ctx;)V"

// Unmatched is the reason under which the agent reports definitions that fit nothing in the run.
const Unmatched = "task= matches no method of the loaded classes"

// maxLength bounds a definition, far above any sensible name.
const maxLength = 4096

// Definition is CLASS#METHOD or CLASS#METHODDESCRIPTOR in its parts. In the names '*' stands for any
// characters and '?' for one.
type Definition struct{ Class, Method, Descriptor string }

// Parse splits a definition. The problem says what is wrong with it, "" if nothing is.
func Parse(s string) (d Definition, problem string) {
	class, rest, ok := strings.Cut(s, "#")
	method, descriptor := rest, ""
	if i := strings.IndexByte(rest, '('); i >= 0 {
		method, descriptor = rest[:i], rest[i:]
	}
	switch {
	case len(s) > maxLength:
		problem = "too long"
	case !ok:
		problem = "no '#' between class and method"
	case class == "":
		problem = "no class"
	case method == "":
		problem = "no method"
	case !isClass(class):
		problem = "the class is not a Java class name"
	case !isName(method):
		problem = "the method is not a method name (constructors cannot be execution methods)"
	case descriptor != "" && !isDescriptor(descriptor):
		problem = "the descriptor " + descriptor + " is not in the form of the JVM"
	default:
		return Definition{class, method, descriptor}, ""
	}
	return Definition{}, problem
}

func isClass(s string) bool {
	for part := range strings.SplitSeq(s, ".") {
		if !isName(part) {
			return false
		}
	}
	return true
}

// isName reports whether s is an identifier with wildcards. Other languages than Java allow further characters
// in names; those that the JVM or an option cannot have are refused.
func isName(s string) bool {
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return strings.ContainsRune("./;[#()<>,\\\"'", r) || unicode.IsSpace(r) || unicode.IsControl(r)
	})
}

// isDescriptor checks d against JVMS 4.3.3.
func isDescriptor(d string) bool {
	if !strings.HasPrefix(d, "(") {
		return false
	}
	d = d[1:]
	for !strings.HasPrefix(d, ")") {
		n := FieldLen(d)
		if n == 0 {
			return false
		}
		d = d[n:]
	}
	d = d[1:]
	return d == "V" || d != "" && FieldLen(d) == len(d)
}

// FieldLen is the length of the field descriptor at the start of d, 0 if there is none.
func FieldLen(d string) int {
	i := 0
	for i < len(d) && d[i] == '[' {
		i++
	}
	if i == len(d) || i > 255 {
		return 0
	}
	switch d[i] {
	case 'B', 'C', 'D', 'F', 'I', 'J', 'S', 'Z':
		return i + 1
	case 'L':
		end := strings.IndexByte(d[i:], ';')
		if end < 2 || strings.ContainsAny(d[i+1:i+end], ".[(") {
			return 0
		}
		return i + end + 1
	}
	return 0
}
