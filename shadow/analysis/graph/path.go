package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackagent/granularity/critical"
	"stackagent/granularity/graph"
	"stackagent/internal/units"
)

// Part is a part of a critical path, named.
type Part struct {
	critical.Part
	Class, Site, Thread, Kind string
}

// Path is the critical path to the end of a unit, from a time of the graph; unit -1: to the last end.
func (s *Session) Path(unit int, from units.Ns) []Part {
	if unit < 0 {
		_, unit = s.Length(s.Recorded)
	}
	if unit < 0 {
		return nil
	}
	var out []Part
	for _, p := range critical.Path(s.Graph, s.Recorded, unit, from, s.Finish(s.Recorded, unit)) {
		if s.notKnown(&p) {
			p.What = critical.NotKnown
		}
		out = append(out, Part{Part: p, Class: s.Classes[p.Class], Site: s.Sites[p.Site], Thread: s.Threads[s.Graph.Units[p.Unit].Thread], Kind: kindOf(p)})
	}
	return out
}

// kindOf names what a part is: compute, cpu, wake-up after join.
func kindOf(p critical.Part) string {
	if p.What == critical.WakeUp {
		return p.What.String() + " (" + p.Wait.String() + ")"
	}
	return strings.ReplaceAll(p.What.String(), "_", " ")
}

// Slowest is the unit of a class with the longest time from its submission to its end, and when that began.
func (s *Session) Slowest(class string) (unit int, from units.Ns, err error) {
	longest, submitted := units.Ns(-1), s.submitted()
	id, _ := strconv.ParseUint(class, 10, 64)
	for i, u := range s.Graph.Units {
		if s.Classes[u.Class] != class && (id == 0 || u.ID != id) {
			continue
		}
		since := submitted[i]
		if n := s.Finish(s.Recorded, i) - since; n > longest {
			unit, from, longest = i, since, n
		}
	}
	if longest < 0 {
		return 0, 0, fmt.Errorf("no unit of work is of class %q, or of the task of that number", class)
	}
	return unit, from, nil
}

// submitted is when each unit was submitted, as far as known, else when it started.
func (s *Session) submitted() []units.Ns {
	at := make([]units.Ns, len(s.Graph.Units))
	for i := range at {
		at[i] = s.Recorded.Start[i].At
	}
	for i := range s.Steps {
		if x := &s.Steps[i]; x.Kind == graph.Submit {
			at[x.On] = s.Recorded.End[i].At
		}
	}
	return at
}

// Row sums the parts of a path that have a name in common.
type Row struct {
	Name  string
	Ns    units.Ns
	Kinds map[string]units.Ns
	Parts int
}

// Sum sums a path by class, site, thread or kind, the longest first.
func Sum(path []Part, by string) []Row {
	at, rows := map[string]int{}, []Row{}
	for _, p := range path {
		name := map[string]string{"class": p.Class, "site": p.Site, "thread": p.Thread, "kind": p.Kind}[by]
		i, seen := at[name]
		if !seen {
			i = len(rows)
			at[name], rows = i, append(rows, Row{Name: name, Kinds: map[string]units.Ns{}})
		}
		rows[i].Ns += p.Len()
		rows[i].Kinds[p.Kind] += p.Len()
		rows[i].Parts++
	}
	slices.SortFunc(rows, func(a, b Row) int { return cmp.Or(cmp.Compare(b.Ns, a.Ns), cmp.Compare(a.Name, b.Name)) })
	return rows
}

// Unexplained is the share of the critical path, 0 to 1, of which nothing says what it was for.
func (s *Session) Unexplained() float64 {
	unknown, _ := s.shares()
	return unknown
}

// shares are those of the critical path, 0 to 1, of which nothing says what it was for, and in which threads that are not the
// program's had the CPUs.
func (s *Session) shares() (unknown, others float64) {
	_, last := s.Length(s.Recorded)
	if last < 0 {
		return 0, 0
	}
	sums, all := [2]units.Ns{}, units.Ns(0)
	for _, p := range critical.Path(s.Graph, s.Recorded, last, 0, s.Finish(s.Recorded, last)) {
		all += p.Len()
		switch {
		case s.notKnown(&p):
			sums[0] += p.Len()
		case p.What == critical.Ready && p.Wait == graph.Outside:
			sums[1] += p.Len()
		}
	}
	return float64(sums[0]) / float64(max(all, 1)), float64(sums[1]) / float64(max(all, 1))
}

// notKnown reports whether nothing says what a part was for. The delay of a unit of which nobody knows who submitted it is
// what that one did before.
func (s *Session) notKnown(p *critical.Part) bool {
	return p.What == critical.NotKnown || p.What == critical.Delay && s.Recorded.Start[p.Unit].By == 0
}
