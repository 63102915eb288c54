package graph

import (
	"cmp"
	"fmt"
	"slices"
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
		if p.What == critical.Delay && s.Recorded.Start[p.Unit].By == 0 {
			p.What = critical.NotKnown // who submitted the unit, and what that one did before
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
	longest := units.Ns(-1)
	for i, u := range s.Graph.Units {
		if s.Classes[u.Class] != class && fmt.Sprint(u.ID) != class {
			continue
		}
		since := s.submitted(i)
		if n := s.Finish(s.Recorded, i) - since; n > longest {
			unit, from, longest = i, since, n
		}
	}
	if longest < 0 {
		return 0, 0, fmt.Errorf("no unit of work is of class %q, or of the task of that number", class)
	}
	return unit, from, nil
}

// submitted is when a unit was submitted, as far as known, else when it started.
func (s *Session) submitted(unit int) units.Ns {
	for i := range s.Steps {
		if x := &s.Steps[i]; x.Kind == graph.Submit && int(x.On) == unit {
			return s.Recorded.End[i].At
		}
	}
	return s.Recorded.Start[unit].At
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
	return s.share(func(p *Part) bool { return p.What == critical.NotKnown })
}

// others is the share of the critical path in which threads that are not the program's had the CPUs.
func (s *Session) others() float64 {
	return s.share(func(p *Part) bool { return p.What == critical.Ready && p.Wait == graph.Outside })
}

func (s *Session) share(counts func(*Part) bool) float64 {
	var sum, all units.Ns
	for _, p := range s.Path(-1, 0) {
		all += p.Len()
		if counts(&p) {
			sum += p.Len()
		}
	}
	return float64(sum) / float64(max(all, 1))
}
