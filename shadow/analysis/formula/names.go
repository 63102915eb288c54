package formula

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackagent/internal/text"
)

// A monitor's name is base{label="value",...}.
type monitor struct {
	*Series
	base   string
	labels map[string]string
}

// splitName takes the labels from a name. Names come from programs, too: what is no list of labels is part of the base.
func splitName(name string) (base string, labels map[string]string) {
	at := strings.IndexByte(name, '{')
	if at < 0 || !strings.HasSuffix(name, "}") {
		return name, nil
	}
	labels = map[string]string{}
	for rest := name[at+1 : len(name)-1]; rest != ""; {
		key, after, ok := strings.Cut(rest, `="`)
		value, next, closed := strings.Cut(after, `"`)
		if !ok || !closed || key == "" {
			return name, nil
		}
		labels[key] = value
		if rest = strings.TrimPrefix(next, ","); rest == next && next != "" {
			return name, nil
		}
	}
	return name[:at], labels
}

// flat is a name with _ for dots.
func flat(name string) string { return strings.ReplaceAll(name, ".", "_") }

// index finds monitors by every way to write their name.
type index struct {
	monitors []monitor
	exact    map[string]int      // declared name, with labels
	bases    map[string][]string // every way to write a base, to the bases it may mean
}

func newIndex(series []Series) *index {
	x := &index{exact: map[string]int{}, bases: map[string][]string{}}
	for i := range series {
		s := &series[i]
		m := monitor{Series: s}
		m.base, m.labels = splitName(s.Name)
		x.exact[s.Name] = len(x.monitors)
		x.monitors = append(x.monitors, m)
		for _, way := range ways(m.base) {
			if !slices.Contains(x.bases[way], m.base) {
				x.bases[way] = append(x.bases[way], m.base)
			}
		}
	}
	return x
}

// ways are the ways to write a base: in full, without its layer, and both with _ for dots.
func ways(base string) []string {
	out := []string{base, flat(base)}
	if _, short, ok := strings.Cut(base, "."); ok {
		out = append(out, short, flat(short))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// base is the one base that a name means; "" if there is none.
func (x *index) base(name string) (string, error) {
	found := x.bases[name]
	switch {
	case slices.Contains(found, name):
		return name, nil
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", fmt.Errorf("%s may be %s: write the name in full", name, text.OneOf(slices.Sorted(slices.Values(found))))
	}
	return "", nil
}

// choose are the series of a base whose labels match all conditions. Without a condition, a series without labels stands
// for all.
func (x *index) choose(base string, labels []label) (out []*monitor) {
	for i := range x.monitors {
		m := &x.monitors[i]
		if m.base != base {
			continue
		}
		if len(labels) == 0 && len(m.labels) == 0 {
			return []*monitor{m}
		}
		if !slices.ContainsFunc(labels, func(l label) bool { return !l.matches(m.labels[l.key]) }) {
			out = append(out, m)
		}
	}
	return out
}

// noneChosen says which values the labels of a base have.
func (x *index) noneChosen(base string, labels []label) string {
	known := map[string][]string{}
	for i := range x.monitors {
		if m := &x.monitors[i]; m.base == base {
			for key, value := range m.labels {
				known[key] = append(known[key], value)
			}
		}
	}
	for _, l := range labels {
		values, ok := known[l.key]
		if !ok {
			return fmt.Sprintf("%s has no label %s", base, text.OneLine(l.key))
		}
		if !slices.ContainsFunc(values, l.matches) {
			slices.Sort(values)
			values = slices.Compact(values)
			more := ""
			if len(values) > 4 {
				values, more = values[:4], ", ..."
			}
			return fmt.Sprintf("no series of %s has such a %s: it is %s%s", base, l.key, text.OneLine(strings.Join(values, ", ")), more)
		}
	}
	return fmt.Sprintf("no series of %s has all of these labels", base)
}

// maxSuggested is how many near names an error lists.
const maxSuggested = 3

// typo is the score of a name that differs by a letter or two.
const typo = 1000

// near lists names like an unknown one.
func near(unknown string, names []string) []string {
	want := flat(strings.ToLower(unknown))
	parts := strings.FieldsFunc(want, func(r rune) bool { return r == '_' })
	type scored struct {
		name  string
		score int
	}
	var found []scored
	for _, name := range names {
		score := 0
		for _, way := range ways(name) {
			if text.DidYouMean(want, []string{flat(strings.ToLower(way))}) != "" {
				score = typo
			}
		}
		have := strings.FieldsFunc(flat(strings.ToLower(name)), func(r rune) bool { return r == '_' })
		for _, p := range parts {
			if slices.Contains(have, p) && p != "ns" && p != "bytes" {
				score += 2 * len(p)
			}
		}
		if score > 0 {
			found = append(found, scored{name, score - len(have)})
		}
	}
	slices.SortFunc(found, func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.name, b.name)) })
	var out []string
	for _, f := range found[:min(len(found), maxSuggested)] {
		if found[0].score >= typo/2 && f.score < typo/2 {
			break // a typing error needs no guesses
		}
		out = append(out, f.name)
	}
	return out
}

// unknown is the error of a name that nothing has.
func (s *Set) unknown(name string) string {
	if why := s.absent(name); why != "" {
		return why
	}
	var names []string
	for base := range s.index.bases {
		if slices.Contains(s.index.bases[base], base) {
			names = append(names, base)
		}
	}
	for _, m := range library {
		names = append(names, m.Name)
	}
	for defined := range s.defined {
		names = append(names, defined)
	}
	message := "unknown monitor or metric " + text.OneLine(text.Cut(name, 80))
	if found := near(name, names); len(found) > 0 {
		return message + ": did you mean " + text.OneOf(found) + "?"
	}
	return message + ": shadow monitors lists those of a session"
}

// absent says why a monitor is not in this session, if that was recorded.
func (s *Set) absent(name string) string {
	for _, key := range s.absentKeys {
		prefix, all := strings.CutSuffix(key, "*")
		for _, way := range ways(strings.TrimSuffix(prefix, ".")) {
			if name == way || all && (strings.HasPrefix(name, way+".") || strings.HasPrefix(name, way+"_")) {
				return text.OneLine(name + " is not available: " + s.samples.Absent[key])
			}
		}
	}
	return ""
}
