package figure

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"stackagent/internal/text"
)

// lambdaMark separates the host of a lambda from the method it calls in a
// class's Java name: "com.acme.Main$$Lambda -> com.acme.Main.lambda$main$0".
const lambdaMark = "$$Lambda -> "

// Shorten makes a class name fit into limit characters (at least 8). It cuts packages to
// their initials ("com.acme.x.Very$Inner" is "c.a.x.Very$Inner") and a lambda to the
// method it calls ("c.a.Main::lambda$main$0"). If that is too long, it cuts the middle.
// Control characters are made visible.
func Shorten(name string, limit int) string {
	if name == "" {
		return "(no name)"
	}
	name = Printable(name)
	if utf8.RuneCountInString(name) <= limit && !strings.Contains(name, lambdaMark) {
		return name
	}
	short := initials(name)
	if utf8.RuneCountInString(short) > limit {
		short = withoutFile(short)
	}
	return cutMiddle(short, limit)
}

// withoutFile leaves out the file of a method's place if the class says it: c.a.Orders.run
// (Orders.java:18) is Orders.run:18.
func withoutFile(name string) string {
	method, place, ok := strings.Cut(strings.TrimSuffix(name, ")"), " (")
	class := methodClass(method)
	if !ok || class == "" {
		return name
	}
	top, _, _ := strings.Cut(class, "$")
	method = method[strings.Index("."+method, "."+class):]
	if file, line, ok := strings.Cut(place, ".java:"); ok && file == top {
		return method + ":" + line
	}
	return method + " (" + place + ")"
}

// methodClass is the class of a method without its packages: the first part that begins with a
// capital letter; "": there is none.
func methodClass(method string) string {
	for p := range strings.SplitSeq(method, ".") {
		if p != "" && p[0] >= 'A' && p[0] <= 'Z' {
			return p
		}
	}
	return ""
}

// initials abbreviates the packages of a class or of a lambda's target.
func initials(name string) string {
	if _, target, ok := strings.Cut(name, lambdaMark); ok && target != "" {
		i := strings.LastIndexByte(target, '.')
		if i < 0 {
			return target
		}
		return packages(target[:i]) + "::" + target[i+1:]
	}
	return packages(name)
}

func packages(class string) string {
	if method, place, ok := strings.Cut(class, " ("); ok && method != "" && !strings.Contains(method, " ") {
		return packagesOfMethod(method) + " (" + place
	}
	if strings.ContainsAny(class, " (") {
		return class // a description, not a class name
	}
	parts := strings.Split(class, ".")
	for i, p := range parts[:len(parts)-1] {
		if r, n := utf8.DecodeRuneInString(p); n > 0 {
			parts[i] = string(r)
		}
	}
	return strings.Join(parts, ".")
}

// packagesOfMethod abbreviates the packages of a method: the parts before the first that begins
// with a capital letter.
func packagesOfMethod(method string) string {
	parts := strings.Split(method, ".")
	class := slices.Index(parts, methodClass(method))
	for i := range max(class, 0) {
		if r, n := utf8.DecodeRuneInString(parts[i]); n > 0 {
			parts[i] = string(r)
		}
	}
	return strings.Join(parts, ".")
}

func cutMiddle(s string, limit int) string {
	limit = max(limit, 8)
	r := []rune(s)
	if len(r) <= limit {
		return s
	}
	// The end of a name says more than its beginning.
	head := (limit - 1) / 3
	return string(r[:head]) + "…" + string(r[len(r)-(limit-1-head):])
}

// ShortenAll shortens names and keeps them distinct: names whose initials collide keep
// their packages, and names that still collide are numbered.
func ShortenAll(names []string, limit int) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = Shorten(n, limit)
	}
	for i, n := range collisions(out) {
		if n > 0 {
			out[i] = cutMiddle(Printable(names[i]), limit)
		}
	}
	for i, n := range collisions(out) {
		if n > 0 {
			out[i] += fmt.Sprintf(" (%d)", n)
		}
	}
	return out
}

// collisions numbers names that occur more than once from 1; unique ones have 0.
func collisions(names []string) []int {
	count := map[string]int{}
	for _, n := range names {
		count[n]++
	}
	out, seen := make([]int, len(names)), map[string]int{}
	for i, n := range names {
		if count[n] > 1 {
			seen[n]++
			out[i] = seen[n]
		}
	}
	return out
}

// fit cuts a text to a width as drawn.
func fit(s string, size, width vg.Length) string {
	return fitIn(s, textStyle(size, regular, left, top), width)
}

// fitIn is fit for a style.
func fitIn(s string, style draw.TextStyle, width vg.Length) string {
	for n := utf8.RuneCountInString(s); n > 8 && style.Width(s) > width; {
		n--
		s = cutMiddle(s, n)
	}
	return s
}

// Printable replaces characters that are invisible or change how others look: control
// characters, marks of writing direction, invalid UTF-8. The measuring fonts have no
// glyphs for them.
func Printable(s string) string {
	return text.Clean(s, '?')
}
