package unit

import (
	"cmp"
	"maps"
	"slices"

	"stackagent/granularity"
	"stackagent/granularity/unit"
	"stackagent/shadow/session"
)

// Note records how well the units of a session are known; summarised is the number of its summarised executions.
func (u *Reader) Note(summarised int64) *unit.Note {
	if u.nested.known {
		summarised = 0
	}
	return &unit.Note{SubmissionsKnown: u.submissions, SubmissionsSummarised: !u.submissions && u.handOvers, Undecided: summarised, Platform: u.platformNote()}
}

func (u *Reader) platformNote() unit.PlatformNote {
	n := unit.PlatformNote{Classes: []string{}}
	sums := u.platformSummarised()
	for id, o := range u.whole().own {
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

// platformSummarised counts the summarised executions of the platform's own, by class.
func (u *Reader) platformSummarised() map[uint32]int64 {
	if u.platform.Load() == nil && u.Summaries(func(*session.Summary) error { return nil }) != nil {
		u.platform.Store(&map[uint32]int64{})
	}
	return maps.Clone(*u.platform.Load())
}

// Counts reports whether summarised executions, and created tasks, of a class count
// as units. Those of loops, of wrappers around other tasks and of the platform's own tasks do not.
func (u *Reader) Counts(class uint32) bool { return u.counts(class, u.whole()) }

func (u *Reader) counts(class uint32, seen *tally) bool {
	r, of := u.roles.Get(class), seen.of(class)
	switch {
	case r == nil || r.role == unit.Library:
		return true
	case r.role == unit.Task:
		return !r.nested() || of.named > 0
	case r.role == unit.Platform && r.submitted:
		return true
	case r.role == unit.Wrapper:
		return of.named > 0 && of.named == of.executions
	}
	return of.named > 0
}

// standAlone is the number of units named after a class that wrapped other tasks at
// other times; 0 for any other class.
func (u *Reader) standAlone(class uint32, seen *tally) int64 {
	r, of := u.roles.Get(class), seen.of(class)
	if r == nil || r.role != unit.Wrapper || of.named == of.executions {
		return 0
	}
	return of.named
}

// of is what was found of a class.
func (t *tally) of(class uint32) classTally {
	if c := t.classes.Get(class); c != nil {
		return *c
	}
	return classTally{}
}
