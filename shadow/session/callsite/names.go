package callsite

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/session/unit"
)

// Names are the program's names of tasks whose classes do not say what they run: tasks of the
// JDK that run its functions (stages of a CompletableFuture, parts of a parallel stream), and
// its lambdas. Each name is a class of its own, with an id that no class of the session has.
type Names struct {
	x       *Index
	lambdas map[uint32]uint32 // by class of a lambda: its name
	whole   map[uint32]bool   // by class: it is named without --units, too
	titles  map[uint32]string // by site
	ids     map[named]uint32
	titled  map[uint32][]uint32 // by class: its names
	summary map[uint32]uint32   // by class: the name of its summaries
	classes []session.Class
	from    map[string]string // by name: the JDK's class
}

type named struct {
	class uint32
	title string
}

// MayName reports whether a session can have tasks that Names names.
func MayName(s *session.Session) bool {
	return len(s.Sites()) > 0 && slices.ContainsFunc(s.Classes, func(c session.Class) bool { return inUnits(&c) || isLambda(&c) })
}

// inUnits reports whether units can bear the name of a class for want of a better one.
func inUnits(c *session.Class) bool {
	return unit.IsJDK(c.Name, c.Kinds) && c.Kinds&units.KindThread == 0 && !unit.IsLoop(c.Name, c.Kinds)
}

// NewNames finds the names of a session's tasks.
func NewNames(x *Index) *Names {
	n := &Names{x: x, lambdas: map[uint32]uint32{}, whole: map[uint32]bool{}, titles: map[uint32]string{}, ids: map[named]uint32{}, titled: map[uint32][]uint32{}, summary: map[uint32]uint32{}, from: map[string]string{}}
	for _, site := range x.s.Sites() {
		if !unit.IsJDK(site.Class, 0) {
			n.titles[site.ID] = Title(&site)
		}
	}
	parts := newParts(x.s)
	byOperation := map[uint32][]string{} // the titles of an operation: its parts inherit them
	titles := map[uint32]map[string]uint64{}
	for e, count := range x.classes.counts {
		title := n.titles[x.line(e.Site)]
		if title == "" || e.Kind != wire.SiteCreation && e.Kind != wire.SiteSubmission && e.Kind != wire.SiteInner {
			continue
		}
		if titles[e.Class] == nil {
			titles[e.Class] = map[string]uint64{}
		}
		titles[e.Class][title] += count
		if op := parts.operation.Get(e.Class); op != nil {
			byOperation[*op] = append(byOperation[*op], title)
		}
	}
	for i := range x.s.Classes {
		c := &x.s.Classes[i]
		if !inUnits(c) {
			continue
		}
		all := titles[c.ID]
		if op := parts.operation.Get(c.ID); op != nil {
			n.whole[c.ID] = !unit.IsWrapper(c.Name)
			for _, title := range byOperation[*op] {
				if all == nil {
					all = map[string]uint64{}
				}
				all[title] += 0
			}
		}
		n.class(c, all)
	}
	n.addLambdas()
	return n
}

// class adds the names of the tasks of a class.
func (n *Names) class(c *session.Class, titles map[string]uint64) {
	order := slices.SortedFunc(maps.Keys(titles), func(a, b string) int {
		return cmp.Or(cmp.Compare(titles[b], titles[a]), cmp.Compare(a, b))
	})
	for _, title := range order {
		n.name(c.ID, title, n.add(c, title))
	}
	switch len(order) {
	case 0:
	case 1:
		n.summary[c.ID] = n.ids[named{c.ID, order[0]}]
	default:
		n.summary[c.ID] = n.add(c, fmt.Sprintf("%s and %d more", order[0], len(order)-1))
	}
}

// name gives tasks of a class with that title a name.
func (n *Names) name(class uint32, title string, id uint32) {
	n.ids[named{class, title}] = id
	n.titled[class] = append(n.titled[class], id)
}

// maxNames bounds the names of a session.
const maxNames = 1 << 16

func (n *Names) add(c *session.Class, title string) uint32 {
	if len(n.classes) == maxNames {
		return c.ID
	}
	id := ^uint32(0) - uint32(len(n.classes)) // classes are numbered from below
	n.classes = append(n.classes, session.Class{ID: id, Name: title, Kinds: c.Kinds &^ units.KindJDK})
	n.from[title] = c.Name
	return id
}

// Title names what happens at a call site: the program's function, or its method, the call
// and the line, as com.acme.Main.lambda$run$0 (thenApplyAsync, Main.java:18).
func Title(s *session.Site) string {
	what := s.Function
	if what == "" {
		what = s.Class + "." + s.Method
	}
	var at []string
	if s.Calls != "" {
		at = append(at, s.Calls)
	}
	if place := Place(s.File, s.Line); place != "" {
		at = append(at, place)
	}
	if len(at) == 0 {
		return what
	}
	return what + " (" + strings.Join(at, ", ") + ")"
}

// Place is a line of a source file; "" if neither is known.
func Place(file string, line int32) string {
	switch {
	case line <= 0:
		return file
	case file == "":
		return fmt.Sprintf("line %d", line)
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// Classes are the names, as classes.
func (n *Names) Classes() []session.Class { return n.classes }

// From maps each name to the class that it replaces.
func (n *Names) From() map[string]string { return n.from }

// OfExecution is the name of execution i of c, else its class.
func (n *Names) OfExecution(c *session.Chunk, i int) uint32 {
	if to, ok := n.lambdas[c.Class[i]]; ok {
		return to
	}
	if !n.whole[c.Class[i]] {
		return c.Class[i]
	}
	return n.of(c.Class[i], n.x.OfExecution(c, i))
}

// OfUnit is the name of a unit of a class of the JDK, else its class.
func (n *Names) OfUnit(u *unit.Unit) uint32 {
	if to, ok := n.lambdas[u.Class]; ok {
		return to
	}
	if n.summary[u.Class] == 0 {
		return u.Class
	}
	return n.of(u.Class, n.x.OfUnit(u, BySite))
}

func (n *Names) of(class uint32, id ID) uint32 {
	if to, ok := n.ids[named{class, n.titles[n.x.At(id).Site]}]; ok {
		return to
	}
	return class
}

// OfSummaries is the name of the summarised executions of a class, else the class.
func (n *Names) OfSummaries(class uint32, inUnits bool) uint32 {
	if to := n.summary[class]; to != 0 && (inUnits || n.whole[class]) {
		return to
	}
	return class
}

// AtSite is the name of the tasks of a class from a call site, else the class: what only holds a task of the program
// bears its name in units alone.
func (n *Names) AtSite(class, site uint32, inUnits bool) uint32 {
	if to, ok := n.lambdas[class]; ok {
		return to
	}
	if !inUnits && !n.whole[class] {
		return class
	}
	if to, ok := n.ids[named{class, n.titles[n.x.line(site)]}]; ok {
		return to
	}
	return class
}

// OfTask is the name of a task; "" if it has none but that of its class.
func (n *Names) OfTask(t *session.Task) string {
	if t.Class == nil || !n.whole[t.Class.ID] {
		return ""
	}
	if id, ok := n.lambdas[t.Class.ID]; ok {
		return n.classes[^uint32(0)-id].Name
	}
	title := n.titles[n.x.At(n.x.OfTask(t.TaskID, t.Class.ID, t.CreatedNs != 0)).Site]
	if _, ok := n.ids[named{t.Class.ID, title}]; ok {
		return title
	}
	return ""
}

// Divide divides the counts of the classes by name, as far as their sites say. What cannot
// be divided stays with the class of the JDK.
func (n *Names) Divide(per []session.ClassCounts, inUnits bool) []session.ClassCounts {
	byID := map[uint32]*session.Class{}
	for i := range n.classes {
		byID[n.classes[i].ID] = &n.classes[i]
	}
	created := map[uint32]uint64{}
	for e, count := range n.x.classes.counts {
		if id := n.ids[named{e.Class, n.titles[n.x.line(e.Site)]}]; id != 0 && e.Kind == wire.SiteCreation {
			created[id] += count
		}
	}
	var out []session.ClassCounts
	for _, c := range per {
		// A class of which no task ran holds what others ran: it is no name's.
		if c.Class == nil || c.Executions == 0 || n.OfSummaries(c.Class.ID, inUnits) == c.Class.ID {
			out = append(out, c)
			continue
		}
		if one := byID[n.summary[c.Class.ID]]; n.single(c.Class.ID) && one != nil {
			c.Class = one
			out = append(out, c)
			continue
		}
		for _, id := range n.titled[c.Class.ID] {
			if created[id] == 0 || byID[id] == nil {
				continue
			}
			part := session.ClassCounts{Class: byID[id], Created: min(created[id], c.Created)}
			c.Created -= part.Created
			out = append(out, part)
		}
		out = append(out, c)
	}
	return out
}

// single reports whether all tasks of a class have one name.
func (n *Names) single(class uint32) bool { return len(n.titled[class]) == 1 }

// Single is the only name of the tasks of a class; false: there are none or several.
func (n *Names) Single(class uint32, inUnits bool) (uint32, bool) {
	id := n.OfSummaries(class, inUnits)
	return id, id != class && n.single(class)
}

// TitleOf is the only name of the units of a class; else the name of the class.
func (n *Names) TitleOf(class uint32) string {
	if id, ok := n.Single(class, true); ok {
		return n.classes[^uint32(0)-id].Name
	}
	return unit.ClassName(n.x.s, class)
}
