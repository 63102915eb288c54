package options

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"stackagent/internal/perfevent"
	"stackagent/internal/wire"
)

// metrics are the words of metric= beside the names of performance events.
var metrics = []string{"alloc", "bytecodes", "cpu", "wall"}

// setMetric takes words joined with '+'.
func setMetric(o *Options, value string) string {
	var list []string
	for _, word := range strings.Split(value, "+") {
		known := slices.Contains(metrics, word)
		event, err := perfevent.Parse(word)
		switch {
		case !known && err != nil:
			names := append(slices.Clone(metrics), perfevent.Names()...)
			return "want one or more of " + strings.Join(names, ", ") +
				" or another performance event (LLC-load-misses, r01c2), joined with '+'" + didYouMean(word, names)
		case !known && !slices.ContainsFunc(o.Events, func(e perfevent.Event) bool { return e.Name == word }):
			o.Events = append(o.Events, event)
			list = append(list, word)
		case !slices.Contains(list, word):
			list = append(list, word)
		}
	}
	o.Metrics = list
	if n := len(o.Extras()); n > wire.MaxExtra {
		return fmt.Sprintf("names %d metrics beside wall and cpu, at most %d are possible", n, wire.MaxExtra)
	}
	return ""
}

// setTask takes CLASS#METHOD, with or without a descriptor; the weaver reads
// it in full.
func setTask(o *Options, value string) string {
	class, method, ok := strings.Cut(value, "#")
	name, _, _ := strings.Cut(method, "(")
	if !ok || class == "" || name == "" || strings.ContainsAny(value, " \t\n") {
		return "want CLASS#METHOD or CLASS#METHOD(DESCRIPTOR), for example com.acme.Job#process(Lcom/acme/Ctx;)V"
	}
	o.Tasks = append(o.Tasks, value)
	return ""
}

// globs takes globs of class names joined with ';'.
func globs(field func(*Options) *[]string) setter {
	return func(o *Options, value string) string {
		for _, g := range strings.Split(value, ";") {
			if g == "" || strings.ContainsAny(g, " \t\n/") {
				return "want globs of Java class names joined with ';', for example com.acme.*;org.acme.Job"
			}
			*field(o) = append(*field(o), g)
		}
		return ""
	}
}

func unknown(key string) string {
	names := sortedKeys(keys)
	return "not an option" + didYouMean(key, names) + "; options are " + strings.Join(names, ", ")
}

func sortedKeys[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// didYouMean proposes the nearest word if it is near.
func didYouMean(got string, words []string) string {
	const longest = 32 // a longer one is no slip of the fingers
	if len(got) > longest {
		return ""
	}
	best, least := "", 3
	for _, w := range words {
		if d := distance(strings.ToLower(got), w); d < least && d < len(w) {
			best, least = w, d
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + best + "?)"
}

// distance is the number of letters to insert, delete, change or swap with
// their neighbour (the optimal string alignment distance).
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
