package unit

import (
	"cmp"
	"maps"
	"slices"

	"stackagent/granularity"
	"stackagent/granularity/unit"
)

// Note records how well the units were known in the latest reading, which had so many
// summarised executions.
func (u *Reader) Note(summarised int64) *unit.Note {
	if u.nested.known {
		summarised = 0
	}
	return &unit.Note{SubmissionsKnown: u.submissions, SubmissionsSummarised: !u.submissions && u.handOvers, Undecided: summarised, Platform: u.platform()}
}

func (u *Reader) platform() unit.PlatformNote {
	n := unit.PlatformNote{Classes: []string{}}
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
		if name := ClassName(u.s, id); !slices.Contains(n.Classes, name) {
			n.Classes = append(n.Classes, name)
		}
	}
	return n
}

// Counts reports whether summarised executions, and created tasks, of a class count
// as units in the latest reading. Those of loops, of wrappers around other tasks and
// of the platform's own tasks do not.
func (u *Reader) Counts(class uint32) bool {
	r := u.roles.Get(class)
	switch {
	case r == nil || r.role == unit.Library:
		return true
	case r.role == unit.Task:
		return !r.nested() || r.named > 0
	case r.role == unit.Platform && r.submitted:
		return true
	case r.role == unit.Wrapper:
		return r.named > 0 && r.named == r.executions
	}
	return r.named > 0
}

// standAlone is the number of units named after a class that wrapped other tasks at
// other times; 0 for any other class.
func (u *Reader) standAlone(class uint32) int64 {
	r := u.roles.Get(class)
	if r == nil || r.role != unit.Wrapper || r.named == r.executions {
		return 0
	}
	return r.named
}
