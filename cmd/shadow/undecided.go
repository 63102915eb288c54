package main

import (
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/internal/text"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
)

// noteUndecided says which created tasks have no row since nobody knows whether
// they were executed.
func noteUndecided(l *listflags.Flags, s *session.Session, filter summary.Filter, undecided map[uint32]uint64) {
	sum := uint64(0)
	for id, n := range undecided {
		if c := s.ClassByID(id); c == nil || filter.Match(c.Name, c.Kinds) {
			sum += n
		}
	}
	if sum > 0 {
		l.Note("%s left out: some executions of their classes are in summaries, so it is unknown which tasks were never executed; shadow hotspots counts them",
			text.PluralExact(sum, "created task is", "created tasks are"))
	}
}
