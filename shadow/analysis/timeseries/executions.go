package timeseries

import (
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"sort"

	"stackagent/hpc/monitor"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/session/unit"
)

// Execution is a sample that is a unit of work: from its start to its end.
type Execution struct {
	Class      uint32
	Thread     uint32 // of the session
	Start, End units.MonoNs
}

// OwnPrefix begins the names of monitors of a unit's own thread: task.os.minor_faults.
const OwnPrefix = "task."

// errNone is a pattern that no execution matches.
var errNone = errors.New("no unit of work of such a class has a record of its own")

// OfExecutions makes each unit of work of the classes whose names match a glob a sample: all monitors while it ran, and
// those of its own thread. At most most of them, evenly chosen. They may overlap: the edges of the table only tell how
// long each was, one after the other.
//
// A monitor's growth within a sample is taken as even. So the figures of units that are shorter than a few samples are
// those of their surroundings.
func OfExecutions(s *session.Session, glob string, most int) (*Table, []Execution, error) {
	if _, err := path.Match(glob, ""); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", glob, err)
	}
	fine, err := Load(s, Options{})
	if err != nil {
		return nil, nil, err
	}
	all, err := executionsOf(s, glob, fine, most)
	if err != nil {
		return nil, nil, fmt.Errorf("session %s: %w", s.Manifest.Session, err)
	}
	own, err := ownOf(s, all)
	if err != nil {
		return nil, nil, fmt.Errorf("session %s: %w", s.Manifest.Session, err)
	}
	t := &Table{Edges: []units.MonoNs{0}, NotAvailable: fine.NotAvailable, Interval: fine.Interval, Missed: fine.Missed}
	for _, x := range all {
		t.Edges = append(t.Edges, t.Edges[len(t.Edges)-1]+max(x.End-x.Start, 1))
	}
	for i := range fine.Series {
		t.Series = append(t.Series, cut(fine, &fine.Series[i], all))
	}
	t.Series = append(t.Series, own...)
	return t, all, nil
}

// executionsOf are the units of work that match, in the order of their starts, within the table.
func executionsOf(s *session.Session, glob string, within *Table, most int) ([]Execution, error) {
	r, err := unit.Of(s)
	if err != nil {
		return nil, err
	}
	first, last := within.Edges[0], within.Edges[len(within.Edges)-1]
	matches := map[uint32]bool{}
	var all []Execution
	err = r.Each(func(u *unit.Unit) error {
		is, known := matches[u.Class]
		if !known {
			is, _ = path.Match(glob, unit.ClassName(s, u.Class))
			matches[u.Class] = is
		}
		if is && !u.Running && u.Start >= first && u.End <= last {
			all = append(all, Execution{u.Class, u.Thread, u.Start, u.End})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, errNone
	}
	slices.SortFunc(all, func(a, b Execution) int { return int(min(max(a.Start-b.Start, -1), 1)) })
	if most > 0 && len(all) > most {
		chosen := make([]Execution, most)
		for i := range chosen {
			chosen[i] = all[i*len(all)/most]
		}
		all = chosen
	}
	return all, nil
}

// cut is a series over executions.
func cut(t *Table, s *Series, all []Execution) Series {
	sums, seen := make([]float64, t.Len()+1), make([]float64, t.Len()+1) // value and measured time up to each edge
	for i, v := range s.Values {
		sums[i+1], seen[i+1] = sums[i], seen[i]
		if math.IsNaN(v) {
			continue
		}
		w := float64(t.Width(i))
		if s.Kind == monitor.Gauge {
			v *= w
		}
		sums[i+1], seen[i+1] = sums[i]+v, seen[i]+w
	}
	out := Series{Declaration: s.Declaration, Values: make([]float64, len(all))}
	for k, x := range all {
		time := between(t.Edges, seen, x)
		switch amount := between(t.Edges, sums, x); {
		case time <= 0:
			out.Values[k] = math.NaN()
		case s.Kind == monitor.Gauge:
			out.Values[k] = amount / time
		default:
			out.Values[k] = amount
		}
	}
	return out
}

// between is what a running sum grew during an execution, as if it grew evenly between two edges.
func between(edges []units.MonoNs, sums []float64, x Execution) float64 {
	at := func(t units.MonoNs) float64 {
		i := sort.Search(len(edges), func(i int) bool { return edges[i] >= t })
		if i == 0 {
			return sums[0]
		}
		if i == len(edges) {
			return sums[len(sums)-1]
		}
		share := float64(t-edges[i-1]) / float64(edges[i]-edges[i-1])
		return sums[i-1] + share*(sums[i]-sums[i-1])
	}
	return at(x.End) - at(x.Start)
}

// growth is a counter of one thread: its total at the ends of the samples in which it grew, and before them.
type growth struct {
	at    []units.MonoNs
	total []float64
}

func (g *growth) add(before, at units.MonoNs, by float64) {
	last := 0.0
	if n := len(g.at); n > 0 {
		last = g.total[n-1]
		if g.at[n-1] < before {
			g.at, g.total = append(g.at, before), append(g.total, last)
		}
	} else {
		g.at, g.total = append(g.at, before), append(g.total, 0)
	}
	if at > g.at[len(g.at)-1] {
		g.at, g.total = append(g.at, at), append(g.total, last+by)
	} else {
		g.total[len(g.total)-1] += by
	}
}

// ownOf are the counters of each execution's own thread.
func ownOf(s *session.Session, all []Execution) ([]Series, error) {
	r, err := monitor.Open(s.Dir)
	if err != nil || r == nil {
		return nil, err
	}
	declared := map[string]monitor.Declaration{}
	for _, d := range r.Head().Monitors {
		if d.PerThread && d.Kind == monitor.Counter {
			declared[d.Name] = d
		}
	}
	if len(declared) == 0 {
		return nil, nil
	}
	type key struct {
		name   string
		thread int32
	}
	grown := map[key]*growth{}
	var rows []monitor.Row
	var before units.MonoNs
	err = r.Each(func(row *monitor.Row) error {
		if row.Monitor != monitor.TickMonitor {
			if _, ok := declared[row.Monitor]; ok && row.Thread != 0 {
				rows = append(rows, *row)
			}
			return nil
		}
		at := units.MonoNs(row.AtNs)
		for _, x := range rows {
			k := key{x.Monitor, x.Thread}
			if grown[k] == nil {
				grown[k] = &growth{}
			}
			grown[k].add(before, at, x.Value)
		}
		rows, before = rows[:0], at
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out []Series
	for _, name := range sortedNames(declared) {
		d := declared[name]
		d.Name, d.PerThread, d.Doc = OwnPrefix+name, false, d.Doc+"; of the unit's own thread alone"
		own := Series{Declaration: d, Values: make([]float64, len(all))}
		for k, x := range all {
			t := s.ThreadByID(x.Thread)
			if t == nil || t.OSID == 0 || t.Virtual {
				own.Values[k] = math.NaN()
				continue
			}
			if g := grown[key{name, t.OSID}]; g != nil {
				own.Values[k] = between(g.at, g.total, x)
			}
		}
		out = append(out, own)
	}
	return out, nil
}

func sortedNames(m map[string]monitor.Declaration) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
