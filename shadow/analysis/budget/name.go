package budget

import (
	"strconv"
	"strings"
)

// Selector chooses what figures are of.
type Selector struct {
	Kind string // one of those below
	Glob string // of names; "" of All and Units
}

// Kinds of selectors.
const (
	All      = ""         // all executions
	Units    = "units"    // all units of work
	Class    = "class"    // executions of classes
	Unit     = "unit"     // units of work of classes
	Executor = "executor" // executions of tasks that were submitted to an executor
	Site     = "site"     // executions of tasks that come from a call site
)

// selectors are those that take a glob.
var selectors = map[string]bool{Class: true, Unit: true, Executor: true, Site: true}

// String is the selector as it is written.
func (s Selector) String() string {
	switch s.Kind {
	case All, Units:
		return s.Kind
	}
	return s.Kind + "(" + strconv.Quote(s.Glob) + ")"
}

// Name is the name of a figure.
type Name struct {
	Selector
	Path string // in the JSON of `shadow stats`, with dots; a metric without "metrics."
}

// String is the name as it is written.
func (n Name) String() string {
	if s := n.Selector.String(); s != "" {
		return s + "." + n.Path
	}
	return n.Path
}

// Judged reports whether it is a figure of findings or of the account of time, which Tree.Add adds to those of shadow stats.
func (n Name) Judged() bool {
	first, _, _ := strings.Cut(n.Path, ".")
	return first == "findings" || first == "why"
}

// counts are figures of a distribution that are numbers of executions, whatever the unit of its values.
var counts = map[string]bool{"count": true, "not_measured": true, "summarised": true, "timed": true, "relative_error": true}

// Unit of a figure follows from its name: "ns", "bytes" or "" for a plain number.
func (n Name) Unit() string {
	path, last := n.Path, n.Path
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		path, last = path[:i], path[i+1:]
	}
	if unit := unitOf(last); unit != "" {
		return unit
	}
	if counts[last] {
		return ""
	}
	return unitOf(path[strings.LastIndexByte(path, '.')+1:])
}

func unitOf(word string) string {
	switch {
	case strings.HasSuffix(word, "_ns"):
		return "ns"
	case strings.HasSuffix(word, "_bytes"):
		return "bytes"
	}
	return ""
}
