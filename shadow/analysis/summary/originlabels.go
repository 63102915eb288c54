package summary

import (
	"stackagent/shadow/session"
	"stackagent/shadow/session/callsite"
	"stackagent/shadow/session/unit"
)

// numberClasses numbers the labels of the program's classes whose tasks have no site.
func (g *groups) numberClasses(s *session.Session) {
	g.unplaced = map[uint32]uint32{}
	if g.by != BySite {
		return
	}
	for i := range s.Classes {
		if c := &s.Classes[i]; !unit.IsJDK(c.Name, c.Kinds) {
			g.unplaced[c.ID] = g.number(g.unknownSite(c.ID))
		}
	}
}

// unknownSite is the label of the tasks of a class without a site.
func (g *groups) unknownSite(class uint32) string {
	c := g.session.ClassByID(class)
	if c == nil || unit.IsJDK(c.Name, c.Kinds) {
		return callsite.NoSite
	}
	name := c.Name
	if g.names != nil {
		name = g.names.TitleOf(class)
	}
	return name + " " + callsite.NoSite
}

// numberWorkers numbers the pools of the threads that are workers.
func (g *groups) numberWorkers(s *session.Session) {
	g.workers = map[uint32]uint32{}
	for i := range s.Threads {
		if executor := g.ExecutorOf(s.Threads[i].ID); g.by == ByExecutor && executor != 0 {
			g.workers[s.Threads[i].ID] = g.number(g.ExecutorLabel(executor))
		}
	}
}

// numberOf is the group of an origin, for a class on a thread.
func (g *groups) numberOf(id callsite.ID, class, thread uint32) uint32 {
	n := g.numbers[id.As(g.by)]
	switch g.labels[n] {
	case callsite.Summarised:
		if pool, ok := g.workers[thread]; ok {
			return pool
		}
	case callsite.NoSite:
		if by, ok := g.unplaced[class]; ok {
			return by
		}
	}
	return g.onThread(n, thread)
}
