package monitor

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Words of --monitors.
const (
	All  = "all"
	None = "none"
)

// Selection is which monitors are sampled: those of some groups, and those whose names match a pattern.
type Selection struct {
	all      bool
	groups   []string
	patterns []string // of path.Match, with a bracket as any other sign
}

// ParseSelection reads "all", "none", or a list of groups and of names that may hold *: "jvm,os.minor_faults,vm.gc.*".
func ParseSelection(list string, groups []Group) (Selection, error) {
	var s Selection
	if list == "" || list == None {
		return s, nil
	}
	for _, word := range splitOutsideBraces(list) {
		word = strings.TrimSpace(word)
		switch {
		case word == All:
			s.all = true
		case slices.ContainsFunc(groups, func(g Group) bool { return g.Name == word }):
			s.groups = append(s.groups, word)
		case word == "" || len(word) > maxName:
			return s, fmt.Errorf("%q is no monitor", word)
		case !slices.ContainsFunc(groups, func(g Group) bool { return g.mayHave(word) }):
			return s, fmt.Errorf("no group of monitors and no monitor is called %q: use %s, %s, or names such as vm.gc.*", word, names(groups), All)
		default:
			s.patterns = append(s.patterns, word)
		}
	}
	return s, nil
}

func names(groups []Group) string {
	all := make([]string, len(groups))
	for i, g := range groups {
		all[i] = g.Name
	}
	return strings.Join(all, ", ")
}

// splitOutsideBraces splits a list at commas, not at those between labels.
func splitOutsideBraces(list string) (words []string) {
	depth, from := 0, 0
	for i, c := range list {
		switch {
		case c == '{':
			depth++
		case c == '}':
			depth--
		case c == ',' && depth <= 0:
			words = append(words, list[from:i])
			from = i + 1
		}
	}
	return append(words, list[from:])
}

// Empty reports whether nothing is wanted.
func (s Selection) Empty() bool { return !s.all && len(s.groups) == 0 && len(s.patterns) == 0 }

// Group reports whether a group has to be read.
func (s Selection) Group(g Group) bool {
	return s.all || slices.Contains(s.groups, g.Name) || slices.ContainsFunc(s.patterns, g.mayHave)
}

// Monitor reports whether a monitor of a group is wanted.
func (s Selection) Monitor(group, name string) bool {
	return s.all || slices.Contains(s.groups, group) || slices.ContainsFunc(s.patterns, func(p string) bool { return Match(p, name) })
}

// Match reports whether a monitor's name matches a pattern. A pattern without labels matches all labels.
func Match(pattern, name string) bool {
	if !strings.Contains(pattern, "{") {
		name, _, _ = strings.Cut(name, "{")
	}
	ok, err := path.Match(escape(pattern), escape(name))
	return err == nil && ok || pattern == name
}

// escape keeps path.Match from reading brackets and slashes as its own signs.
func escape(s string) string {
	return strings.NewReplacer("[", "(", "]", ")", "/", "|", "\\", "|").Replace(s)
}

// mayHave reports whether the group may have monitors that match pattern.
func (g Group) mayHave(pattern string) bool {
	fixed, _, _ := strings.Cut(pattern, "*")
	fixed, _, _ = strings.Cut(fixed, "?")
	return slices.ContainsFunc(g.Prefixes, func(p string) bool {
		return strings.HasPrefix(fixed, p) || len(fixed) < len(pattern) && strings.HasPrefix(p, fixed)
	})
}
