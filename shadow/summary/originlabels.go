package summary

import (
	"stackagent/shadow/origin"
	"stackagent/shadow/session"
	"stackagent/shadow/unit"
)

// What has no executor or no site of its own is told apart by what else is known: the names of
// the threads that ran it, the program's classes.

// maxThreadNames is how many names of threads, without their numbers, tell work apart. With more,
// the names are those of single tasks.
const maxThreadNames = 100

// numberThreads numbers the labels that depend on threads.
func (g *groups) numberThreads(s *session.Session) {
	g.byThread = map[string]map[uint32]uint32{origin.NoExecutor: {}, origin.OwnThread: {}, origin.Summarised: {}}
	if g.by != ByExecutor {
		return
	}
	stems := map[string]bool{}
	for i := range s.Threads {
		stems[origin.Stem(&s.Threads[i])] = true
	}
	for i := range s.Threads {
		t := &s.Threads[i]
		stem := origin.Stem(t)
		for what, of := range g.byThread {
			label, name := what, stem
			if what == origin.Summarised && !t.Virtual {
				name = t.Pool()
			}
			if name != "" && len(stems) <= maxThreadNames {
				label = name + " " + what
			}
			if executor := g.ExecutorOf(t.ID); what == origin.Summarised && executor != 0 {
				label = g.ExecutorLabel(executor)
			}
			of[t.ID] = g.number(label)
		}
	}
}

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
		return origin.NoSite
	}
	name := c.Name
	if g.names != nil {
		name = g.names.TitleOf(class)
	}
	return name + " " + origin.NoSite
}

// numberOf is the group of an origin, for a class on a thread.
func (g *groups) numberOf(id origin.ID, class, thread uint32) uint32 {
	n := g.numbers[id]
	if of := g.byThread[g.labels[n]]; of != nil {
		if by, ok := of[thread]; ok {
			return by
		}
	}
	if g.labels[n] == origin.NoSite {
		if by, ok := g.unplaced[class]; ok {
			return by
		}
	}
	return n
}
