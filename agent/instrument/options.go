package instrument

import (
	"fmt"
	"strings"

	"stackagent/internal/settings"
	"stackagent/internal/taskdef"
)

// A TaskDefinition names execution methods beyond those of the task types of
// the platform.
type TaskDefinition struct {
	Class      string // glob over Java names: com.acme.*Job
	Method     string // glob over method names
	Descriptor string // (Lcom/acme/Ctx;)V; "" matches every descriptor
}

// ParseTaskDefinition reads CLASS#METHOD or CLASS#METHODDESCRIPTOR, for example
// com.acme.Job#process(Lcom/acme/Ctx;)V. In the names '*' stands for any
// characters and '?' for one. A nested class is written com.acme.Job$Inner.
func ParseTaskDefinition(s string) (TaskDefinition, error) {
	d, problem := taskdef.Parse(s)
	if problem != "" {
		return TaskDefinition{}, fmt.Errorf("task definition %.40q: %s; write it as %s", s, problem, taskdef.Example)
	}
	return TaskDefinition(d), nil
}

// String is the inverse of ParseTaskDefinition.
func (d TaskDefinition) String() string { return d.Class + "#" + d.Method + d.Descriptor }

func (d TaskDefinition) matchesMethod(name, descriptor string) bool {
	return (d.Descriptor == "" || d.Descriptor == descriptor) && matchGlob(d.Method, name)
}

// matchGlob matches s against a pattern in which '*' stands for any run of
// characters and '?' for one. It backtracks only to the last '*', so its cost
// is at most len(pattern)*len(s).
func matchGlob(pattern, s string) bool {
	p, i, star, mark := 0, 0, -1, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, i
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == s[i]):
			p++
			i++
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// Options are the user's choices, the same for all classes of a JVM.
type Options struct {
	Tasks            []TaskDefinition
	Include, Exclude []string          // globs over Java class names; see the package comment
	Count            bool              // count the instructions of every method, whatever the filters say
	Sites            Sites             // numbers the call sites that make and submit tasks; nil: they are not observed
	Asked            settings.Settings // what to observe: submissions, waits, traces, constructions

	Monitored []Monitored

	everywhere bool // tests: the platform's classes have call sites, too
}

// Filter is one of the user's globs that choose classes.
type Filter struct {
	Glob    string // over Java class names
	Include bool   // not Exclude
}

// Filters are the globs of the options, in their order.
func (o *Options) Filters() []Filter {
	var filters []Filter
	for _, g := range o.Include {
		filters = append(filters, Filter{Glob: g, Include: true})
	}
	for _, g := range o.Exclude {
		filters = append(filters, Filter{Glob: g})
	}
	return filters
}

// Fits reports whether f applies to a class (Java name). An including filter does not
// apply to the platform's classes.
func (f Filter) Fits(javaName string, platform bool) bool {
	return !(f.Include && platform) && matchGlob(f.Glob, javaName)
}

// excluded reports whether the filters exclude a class (Java name).
func (o *Options) excluded(javaName string, platform bool) bool {
	for _, g := range o.Exclude {
		if matchGlob(g, javaName) {
			return true
		}
	}
	if platform || len(o.Include) == 0 {
		return false
	}
	for _, g := range o.Include {
		if matchGlob(g, javaName) {
			return false
		}
	}
	return true
}

// lambdaOfTask reports whether a lambda of a type (as in a descriptor) may be a task: it is one of the platform's, or the
// user named the interface itself.
func (o *Options) lambdaOfTask(descriptor string) bool {
	name, ok := strings.CutPrefix(descriptor, "L")
	return taskTypes[descriptor] || ok && o.NamesClass(javaName(strings.TrimSuffix(name, ";")))
}

// NamesClass reports whether a definition names the class itself (Java name).
func (o *Options) NamesClass(javaName string) bool {
	for i := range o.Tasks {
		if matchGlob(o.Tasks[i].Class, javaName) {
			return true
		}
	}
	return false
}
