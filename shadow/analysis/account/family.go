package account

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"stackagent/granularity/account"
	"stackagent/granularity/graph"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/wait"
	"stackagent/shadow/session"
)

// maker is where executors are made, of which class, and for what: a line may make several for different work. That is what the program calls them by the names of their threads or,
// if it does not name these, the class of most of their units.
type maker struct {
	class, file string
	line        int32
	name        string
	units       uint32
}

// life is from the first unit of an executor to its last one.
type life struct {
	executor uint32
	from, to units.Ns
	busy     units.Ns // summed over its units
}

// readFamilies finds the executors that one line of the program makes and that are in use at the same time: one after the other, they do not share
// what there is to do.
func (s *Session) readFamilies() {
	s.readWork()
	lives := make([]life, len(s.graph.Executors))
	for i := range s.graph.Graph.Units {
		start := s.graph.Recorded.Start[i].At
		if x := &lives[s.graph.Graph.Units[i].Executor]; start != graph.Never {
			end := s.graph.Graph.Finish(s.graph.Recorded, i)
			if x.busy += end - start; x.to == 0 {
				x.from, x.to = start, end
			} else {
				x.from, x.to = min(x.from, start), max(x.to, end)
			}
		}
	}
	for i := range s.graph.Graph.Sums {
		of := &s.graph.Graph.Sums[i]
		x := &lives[of.Executor]
		if x.busy += of.Ran; x.to == 0 {
			x.from = of.From
		}
		x.from, x.to = min(x.from, of.From), max(x.to, of.To)
	}
	for n := range lives {
		lives[n].executor = uint32(n)
	}
	s.lives = slices.Clone(lives)
	slices.SortStableFunc(lives, func(x, y life) int { return cmp.Compare(x.from, y.from) })
	latest := map[maker]*life{} // the first executor of the latest family, and until when one of it is in use
	s.families, s.members = map[uint32]uint32{}, map[uint32][]uint32{}
	for _, x := range lives {
		e := s.graph.Given[x.executor]
		if e == nil || e.Line == 0 {
			continue
		}
		m := maker{class: e.Class, file: e.File, line: e.Line, name: s.named(x.executor, e)}
		if m.name == "" {
			m.units = s.mostRun[x.executor]
		}
		of := latest[m]
		if of == nil || x.from >= of.to {
			of = &life{x.executor, x.from, x.to, 0}
			latest[m] = of
		}
		of.to = max(of.to, x.to)
		s.families[x.executor] = of.executor
		s.members[of.executor] = append(s.members[of.executor], x.executor)
	}
}

// named is what the program calls an executor, without the number that tells several apart; "": it has no name of its own.
func (s *Session) named(executor uint32, e *session.Executor) string {
	name, _, _ := strings.Cut(s.graph.Executors[executor].Name, " (")
	name = strings.TrimRight(name, "-#0123456789 ")
	if name == "pool" || strings.HasPrefix(name, e.File+":") {
		return ""
	}
	return name
}

// family is the first of the executors that the same line makes, which stands for all of them; itself, if it is the only one.
func (s *Session) family(executor uint32) uint32 {
	if s.families == nil {
		s.readFamilies()
	}
	if first, known := s.families[executor]; known {
		return first
	}
	return executor
}

// ofFamily are the executors that one stands for.
func (s *Session) ofFamily(executor uint32) []uint32 {
	if list := s.members[s.family(executor)]; len(list) > 0 {
		return list
	}
	return []uint32{executor}
}

// workersOf is how many workers a family has.
func (s *Session) workersOf(executor uint32) (n int) {
	for _, e := range s.ofFamily(executor) {
		n += s.count(e)
	}
	return n
}

// pool names an executor, or all that the same line makes.
func (s *Session) pool(executor uint32) string {
	n := len(s.ofFamily(executor))
	if n == 1 {
		return s.executor(executor)
	}
	e := s.graph.Given[executor]
	return fmt.Sprintf("one of %d executors made at %s:%d (%s)", n, e.File, e.Line, wait.Readable(e.Class))
}

// mostlyIdle is the share of the time in which an executor has units for which the others of its family are idle if units are bound to it.
const mostlyIdle = 0.5

// muchMore is how many times as long as the others on average the executor of a family must run units to which most are bound.
const muchMore = 2

// uneven says that most units are bound to one executor of a family while the others are mostly idle; "": they are not.
func (s *Session) uneven(executor uint32) (happened, remedy string) {
	list := s.ofFamily(executor)
	if len(list) < 2 {
		return "", ""
	}
	busy, ran := map[uint32]units.Ns{}, map[uint32]int{}
	s.each(executor, func(e uint32, start, end units.Ns) { busy[e], ran[e] = busy[e]+end-start, ran[e]+1 })
	most := slices.MaxFunc(list, func(x, y uint32) int { return cmp.Compare(busy[x], busy[y]) })
	from, to := s.LengthNs, units.Ns(0) // from when to when it has units
	s.each(executor, func(e uint32, start, end units.Ns) {
		if e == most {
			from, to = min(from, start), max(to, end)
		}
	})
	others, few, workers := units.Ns(0), 0, s.workersOf(executor)-s.count(most)
	s.each(executor, func(e uint32, start, end units.Ns) {
		if e != most {
			few++
			others += max(0, min(to, end)-max(from, start))
		}
	})
	idle := 1 - share(others, units.Ns(workers)*(to-from))
	if n := units.Ns(len(list) - 1); workers <= 0 || idle < mostlyIdle || n*busy[most] < muchMore*others || int(n)*ran[most] < muchMore*few {
		return "", ""
	}
	return fmt.Sprintf("A unit is bound to one of these executors: while %s has units, the others are idle for %s of the time.", s.executor(most), units.FormatPercent(idle)),
		fmt.Sprintf("Hand the units over more evenly, as by another key, or to one executor with %d workers, if they need not stay in order or apart.", s.workersOf(executor))
}

// each calls f for each unit that an executor of a family ran.
func (s *Session) each(executor uint32, f func(executor uint32, start, end units.Ns)) {
	g, first := s.graph.Graph, s.family(executor)
	for i := range g.Units {
		if start, e := s.graph.Recorded.Start[i].At, g.Units[i].Executor; e != 0 && start != graph.Never && s.family(e) == first {
			f(e, start, g.Finish(s.graph.Recorded, i))
		}
	}
}

// addBusyThreads adds the threads that others depend on while those like them, by their names, have little to do: what they do is handed to each by itself.
func (s *Session) addBusyThreads(on map[uint32]dependent) {
	groups := map[string][]*account.Class{}
	for i := range s.account.Classes {
		c := &s.account.Classes[i]
		if name := likeThreads(s.graph.Classes[c.Class]); s.bodies[c.Class] && c.Units == 1 && name != "" {
			groups[name] = append(groups[name], c)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		list, busy, others := groups[name], map[uint32]units.Ns{}, units.Ns(0)
		for _, c := range list {
			for _, p := range c.Parts {
				if p.State != account.NotKnown && !(p.State == account.Handed && s.forWork(p.On)) {
					busy[c.Class] += p.Ns
				}
			}
		}
		most := slices.MaxFunc(list, func(x, y *account.Class) int { return cmp.Compare(busy[x.Class], busy[y.Class]) })
		for _, c := range list {
			if c != most {
				others += busy[c.Class]
			}
		}
		n := len(list) - 1
		if idle := 1 - share(others, units.Ns(n)*busy[most.Class]); n > 0 && idle >= mostlyIdle {
			s.addBusyThread(most.Class, on[most.Class], n, idle, "thread")
		}
	}
	s.addBusyLoops(on)
}

// leastTurns is how often a loop must have waited for something else than elements to have handled several of them.
const leastTurns = 10

// owner is the unit that a step is in.
func (s *Session) owner(step uint32) int {
	all := s.graph.Graph.Units
	return sort.Search(len(all), func(i int) bool { return all[i].First+all[i].N > step })
}

// addBusyLoops does the same for units that are loops on the workers of pools: one is busy, and the others of its class wait for something to do.
func (s *Session) addBusyLoops(on map[uint32]dependent) {
	type loop struct {
		n, most, idle, own units.Ns // own: idle of the one that is busy most
		turns              int      // of that one: waits other than for elements, none of which is half of its time
		stages             bool     // they give each other elements
	}
	loops := map[uint32]*loop{}
	for i := range s.graph.Graph.Units {
		u := &s.graph.Graph.Units[i]
		if u.Executor == 0 || on[u.Class].class == nil || s.graph.Recorded.Start[i].At == graph.Never {
			continue
		}
		x := loops[u.Class]
		if x == nil {
			x = &loop{}
			loops[u.Class] = x
		}
		idle, turns, longest, run, at := units.Ns(0), 0, units.Ns(0), units.Ns(0), s.graph.Recorded.Start[i].At
		for k, step := range s.graph.Graph.StepsOf(i) {
			end := s.graph.Recorded.End[int(u.First)+k].At
			w := &graph.Wait{}
			if step.Wait != 0 {
				w = &s.graph.Waits[step.Wait]
			}
			switch by := s.graph.Recorded.End[int(u.First)+k].By; {
			case !w.Room && wait.HoldsElements(s.graph.Classes[w.Class]):
				idle += end - at
				x.stages = x.stages || by != 0 && s.graph.Graph.Units[s.owner(by-1)].Class == u.Class
			case step.Kind.Waits() || step.Kind == graph.Outside && (step.Cause == graph.Time || step.Cause == graph.IO):
				turns, longest, run = turns+1, max(longest, end-at), 0
			default: // it computes, perhaps while others want the CPU
				run += end - at
				longest = max(longest, run)
			}
			at = end
		}
		x.n, x.idle = x.n+1, x.idle+idle
		if busy := s.graph.Graph.Finish(s.graph.Recorded, i) - s.graph.Recorded.Start[i].At - idle; busy > x.most {
			if x.most, x.own, x.turns = busy, idle, turns; 2*longest > busy { // it may be one element
				x.turns = 0
			}
		}
	}
	for _, class := range slices.Sorted(maps.Keys(loops)) {
		x := loops[class]
		idle := share(x.idle-x.own, (x.n-1)*x.most)
		if x.n > 1 && idle >= mostlyIdle && !x.stages && x.turns >= leastTurns && share(x.own, x.most) < leastShare { // with one queue for all they would take turns
			s.addBusyThread(class, on[class], int(x.n-1), min(1, idle), "unit")
		}
	}
}

// likeThreads is what the names of like threads begin with; "": they have no names of their own.
func likeThreads(thread string) string {
	name, _, _ := strings.Cut(thread, "#")
	like := strings.TrimRight(name, "0123456789")
	if like == name || like == "" || like == "Thread-" {
		return ""
	}
	return like
}

// addBusyThread adds a thread or a unit if another class depends on it; n like it are idle for a share of its time.
func (s *Session) addBusyThread(thread uint32, by dependent, n int, idle float64, what string) {
	if by.class == nil {
		return
	}
	c := by.class
	o := Obstacle{Kind: OneOfMany, Victim: s.graph.Classes[c.Class], Share: by.share, Ns: units.Ns(by.ns()), why: reason{cause{kind: OneOfMany, holder: thread, root: by.root}, c.Class}}
	if o.Score = o.Share * min(1, share(c.Response, s.LengthNs)); o.Score < leastShare {
		return
	}
	o.Title = fmt.Sprintf("%s depends on %s, which %s, while %s like it %s nothing to do for %s of that time",
		o.Victim, s.graph.Classes[thread], s.state(by.root), text.PluralExact(int64(n), what, what+"s"), verb(n, "has", "have"), units.FormatPercent(idle))
	o.Happened = "What there is to do seems to be handed to each of them by itself. " + s.depend(&o)
	o.Remedy = "Hand it out more evenly, as by another key, or through one queue from which all of them take, if it need not stay in order or apart."
	s.Obstacles = append(s.Obstacles, o)
}
