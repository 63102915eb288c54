package diff

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// pair is a name on each side; "" on the side that does not have it.
type pair struct{ a, b, guess string }

// Names change between builds without a change of what they mean: lines move, and javac numbers lambdas and anonymous classes.
var (
	lineNumber   = regexp.MustCompile(`(\b[A-Za-z_$<][\w$<>]*):\d+`) // Main.java:18, com.acme.Main.run:18
	lambdaNumber = regexp.MustCompile(`(lambda\$[^ $(]*|\$anonfun\$[^ $(]*)\$\d+`)
	classNumber  = regexp.MustCompile(`\$\d+`)
)

// withoutLines is a name without lines of source files.
func withoutLines(name string) string { return lineNumber.ReplaceAllString(name, "$1") }

// withoutNumbers is a name without the numbers that the compiler gives to lambdas and anonymous classes.
func withoutNumbers(name string) string {
	return classNumber.ReplaceAllString(lambdaNumber.ReplaceAllString(withoutLines(name), "$1$$#"), "$$#")
}

// simple is a class without its package.
func simple(name string) string {
	name = withoutLines(name)
	if strings.ContainsAny(name, " (") {
		return name // a lambda, or a name with a place
	}
	return name[strings.LastIndexByte(name, '.')+1:]
}

// match pairs the names of both sides: equal ones first, then those that differ in lines, then guesses.
func match(a, b []string) []pair {
	m := matcher{left: map[string]bool{}, right: map[string]bool{}}
	for _, n := range a {
		m.left[n] = true
	}
	for _, n := range b {
		m.right[n] = true
	}
	shifted := m.shifted()
	m.equal(shifted)
	m.alike(withoutLines, func(string, int) string { return "" })
	m.alike(withoutNumbers, func(key string, n int) string {
		if n > 1 {
			return fmt.Sprintf("paired in the order of their numbers: the compiler numbers %s anew when code is added", key)
		}
		return "the number differs: the compiler numbers " + key + " anew when code is added"
	})
	m.alike(func(name string) string {
		if s := simple(name); s != name {
			return s
		}
		return ""
	}, func(string, int) string { return "the same simple name in another package" })
	for _, n := range slices.Sorted(maps.Keys(m.left)) {
		m.pairs = append(m.pairs, pair{a: n})
	}
	for _, n := range slices.Sorted(maps.Keys(m.right)) {
		m.pairs = append(m.pairs, pair{b: n})
	}
	return m.pairs
}

type matcher struct {
	left, right map[string]bool // not paired yet
	pairs       []pair
}

func groups(names map[string]bool, key func(string) string) map[string][]string {
	out := map[string][]string{}
	for _, n := range slices.Sorted(maps.Keys(names)) {
		if k := key(n); k != "" {
			out[k] = append(out[k], n)
		}
	}
	for _, list := range out {
		slices.SortStableFunc(list, func(x, y string) int { return slices.Compare(numbersOf(x), numbersOf(y)) })
	}
	return out
}

// numbersOf are the numbers in a name, in which names are ordered: line 9 is before line 10.
func numbersOf(name string) (out []int) {
	for _, s := range digits.FindAllString(name, -1) {
		n, _ := strconv.Atoi(s)
		out = append(out, n)
	}
	return out
}

var digits = regexp.MustCompile(`\d{1,9}`)

// shifted are the numbered names of which the other side has more or fewer: an equal number may be another lambda.
func (m *matcher) shifted() map[string]string {
	a, b, out := groups(m.left, withoutNumbers), groups(m.right, withoutNumbers), map[string]string{}
	for key, list := range a {
		if !strings.Contains(key, "$#") || len(b[key]) == 0 || len(b[key]) == len(list) {
			continue
		}
		for _, n := range list {
			out[n] = fmt.Sprintf("A has %d of %s, B has %d: the compiler may have numbered them anew", len(list), key, len(b[key]))
		}
	}
	return out
}

func (m *matcher) equal(shifted map[string]string) {
	for _, n := range slices.Sorted(maps.Keys(m.left)) {
		if m.right[n] {
			m.take(n, n, shifted[n])
		}
	}
}

func (m *matcher) take(a, b, guess string) {
	delete(m.left, a)
	delete(m.right, b)
	m.pairs = append(m.pairs, pair{a, b, guess})
}

// alike pairs names that have a key in common, in order, if both sides have as many of it.
func (m *matcher) alike(key func(string) string, guess func(key string, n int) string) {
	a, b := groups(m.left, key), groups(m.right, key)
	for _, k := range slices.SortedFunc(maps.Keys(a), cmp.Compare[string]) {
		if len(a[k]) != len(b[k]) {
			continue
		}
		for i := range a[k] {
			m.take(a[k][i], b[k][i], guess(k, len(a[k])))
		}
	}
}
