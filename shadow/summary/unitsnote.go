package summary

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackagent/granularity"
	"stackagent/granularity/unit"
	"stackagent/internal/units"
)

// UnitsNote says how far units could be told.
type UnitsNote struct {
	// HandOversKnown: the session recorded which executions were handed over, and
	// when (an imported trace names executors at most). Otherwise each
	// execution that is not nested in another one counts as a unit with all that
	// is nested in it, but nested fork/join tasks as units of their own.
	HandOversKnown bool `json:"hand_overs_known"`
	// Undecided are summarised executions: whether they were nested in a unit or
	// handed over by themselves is not known; each counts as a unit.
	Undecided int64 `json:"undecided"`
	// Platform is what the JDK did in tasks that the program did not hand over: no units.
	Platform PlatformNote `json:"platform"`
}

// PlatformNote is about executions that are no units.
type PlatformNote struct {
	Executions int64    `json:"executions"`
	SelfWall   units.Ns `json:"self_wall_ns"` // as far as measured
	SelfCPU    units.Ns `json:"self_cpu_ns"`  // likewise
	Classes    []string `json:"classes"`      // most executions first
}

// Text says it in a sentence, "" where there is nothing to say.
func (n *UnitsNote) Text() string {
	var out []string
	if !n.HandOversKnown {
		out = append(out, "This session has no record of when tasks were handed over: each execution that is not nested in another one counts as a unit, the JDK's own included; "+
			"one nested in another counts as part of its unit, but fork/join tasks as units of their own.")
	}
	if n.Undecided > 0 {
		out = append(out, fmt.Sprintf("Of %s summarised executions it is not known what they were nested in: each counts as a unit.", units.FormatCount(n.Undecided)))
	}
	if p := &n.Platform; p.Executions > 0 {
		names := p.Classes
		more := ""
		if len(names) > maxNamed {
			names, more = names[:maxNamed], ", ..."
		}
		work := "work not measured"
		switch {
		case p.SelfCPU > 0:
			work = units.FormatNs(p.SelfCPU) + " of self CPU time"
		case p.SelfWall > 0:
			work = units.FormatNs(p.SelfWall) + " of self wall time"
		}
		out = append(out, fmt.Sprintf("Left out: %s of the JDK's own tasks, which the program did not hand over (%s%s; %s).",
			granularity.Executions.Plural(p.Executions), strings.Join(names, ", "), more, work))
	}
	return strings.Join(out, " ")
}

// kind is that of the finding that Text is.
func (n *UnitsNote) kind() granularity.FindingKind {
	if n.HandOversKnown && n.Undecided == 0 {
		return granularity.Fact
	}
	return granularity.Caution
}

// maxNamed is how many classes a note names.
const maxNamed = 3

// Note says how far the units of the session could be told in the latest reading.
func (u *Units) Note(summarised int64) *UnitsNote {
	return &UnitsNote{HandOversKnown: u.handed, Undecided: summarised, Platform: u.platform()}
}

func (u *Units) platform() PlatformNote {
	n := PlatformNote{Classes: []string{}}
	sums := maps.Clone(u.ownSummarised)
	if sums == nil {
		sums = map[uint32]int64{}
	}
	for id, o := range u.own {
		sums[id] += o.Executions
		n.SelfWall += o.Work[granularity.SelfWall]
		n.SelfCPU += o.Work[granularity.SelfCPU]
	}
	ids := slices.SortedFunc(maps.Keys(sums), func(a, b uint32) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b)) })
	for _, id := range ids {
		n.Executions += sums[id]
		if name := className(u.s, id); !slices.Contains(n.Classes, name) {
			n.Classes = append(n.Classes, name)
		}
	}
	return n
}

// counts tells whether summarised executions, and tasks created, of a class
// count: not those of loops, of wrappers around other tasks and of the
// platform's own. It goes by the latest reading.
func (u *Units) counts(class uint32) bool {
	r := u.roles.get(class)
	switch {
	case r == nil || r.role == unit.Task || r.role == unit.Library:
		return true
	case r.role == unit.Wrapper:
		return r.named > 0 && r.named == r.executions
	}
	return r.named > 0
}

// standAlone is how many units bear the name of a class that wrapped other tasks
// at other times; 0 of any other class.
func (u *Units) standAlone(class uint32) int64 {
	r := u.roles.get(class)
	if r == nil || r.role != unit.Wrapper || r.named == r.executions {
		return 0
	}
	return r.named
}
