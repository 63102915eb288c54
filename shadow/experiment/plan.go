package experiment

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// PlanName is the file of the folder that holds the plan.
const PlanName = "plan.json"

// planVersion is the version of the file that this package writes and reads.
const planVersion = 1

// Plan says what is run. Runs are comparable only if all of it but the points and the number of
// invocations is the same.
type Plan struct {
	Version int `json:"version"`
	// Kind is the verb that made the experiment.
	Kind string `json:"kind"`
	// Command is run, with the words in braces filled in from the point.
	Command []string `json:"command"`
	// Named is the commands of programs and the options of JVM sets, by name: "program pmd". More may be added.
	Named map[string]string `json:"named,omitempty"`
	// Settings is what else makes runs comparable: how they are recorded.
	Settings []string `json:"settings"`
	// Java is the JDK that the command finds, and options that it takes from the environment; "": not known.
	Java string `json:"java,omitempty"`
	// Points is what was asked for the last time, and Invocations how often each of them.
	Points      []Point `json:"points"`
	Invocations int     `json:"invocations"`
	// Seed is the source of the order of the runs.
	Seed uint64 `json:"seed"`
	// Host is the machine on which the experiment began.
	Host Host `json:"machine"`
}

// unlike says why runs of p and q are not comparable, or "".
func (p *Plan) unlike(q *Plan) string {
	words := func(list []string) string { return strings.Join(list, " ") }
	switch {
	case p.Kind != q.Kind:
		return fmt.Sprintf("it is of shadow %s, not of shadow %s", p.Kind, q.Kind)
	case !slices.Equal(p.Command, q.Command):
		return fmt.Sprintf("its command is %q, not %q", words(p.Command), words(q.Command))
	case !slices.Equal(p.Settings, q.Settings):
		return fmt.Sprintf("its runs were made with %q, not with %q", words(without(p.Settings, q.Settings)), words(without(q.Settings, p.Settings)))
	case p.renamed(q) != "":
		name := p.renamed(q)
		return fmt.Sprintf("its %s is %q, not %q", name, p.Named[name], q.Named[name])
	case p.Java != q.Java && p.Java != "" && q.Java != "":
		return fmt.Sprintf("its runs were made with Java %s, not with %s", p.Java, q.Java)
	}
	return ""
}

// renamed is a name that stands for different things in p and q, "" if there is none.
func (p *Plan) renamed(q *Plan) string {
	for _, name := range slices.Sorted(maps.Keys(q.Named)) {
		if old, ok := p.Named[name]; ok && old != q.Named[name] {
			return name
		}
	}
	return ""
}

// withNamed is q's names with those that only p has.
func (p *Plan) withNamed(q *Plan) map[string]string {
	all := maps.Clone(p.Named)
	if all == nil {
		return q.Named
	}
	maps.Copy(all, q.Named)
	return all
}

// without is what is in list only, all of it if nothing is.
func without(list, other []string) []string {
	only := slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(other, s) })
	if len(only) == 0 && len(other) <= len(list) {
		return list // they differ in their order
	}
	return only
}

// shuffled are the points in the order of an invocation, the same each time.
func (p *Plan) shuffled(points []Point, invocation int) []Point {
	out := slices.Clone(points)
	r := rand.New(rand.NewPCG(p.Seed, uint64(invocation)))
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}
