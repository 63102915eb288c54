package predict

import (
	"stackagent/granularity/graph"
	"stackagent/internal/units"
)

// gap is what the submitter does between two submissions: it waits for the ends of units, and goes on
// for a time.
type gap struct {
	unit  int   // that is submitted next
	joins []int // units
	rest  units.Ns
}

// gaps are those of the recorded submissions. If no unit was left, the submitter had waited for all of them if
// wait is set.
func (m *model) gaps(wait bool) (out []gap, waited, rest units.Ns) {
	last, before := -1, m.Units[0].Due // last: of the units before, the one that ended last
	var left []int                     // units for which it has not waited
	for i := range m.Units {
		u := &m.Units[i]
		if u.Parent > 0 || m.clients > 0 && i >= m.clients {
			continue
		}
		g := gap{unit: i, rest: units.Ns(u.Due - before)}
		if wait && last >= 0 && m.Units[last].End <= u.Due && m.Units[last].End > before {
			g.joins, g.rest = left, units.Ns(u.Due-m.Units[last].End)
			waited += units.Ns(m.Units[last].End - before)
			left = nil
		}
		left = append(left, i)
		out, rest, before = append(out, g), rest+g.rest, u.Due
		if last < 0 || u.End > m.Units[last].End {
			last = i
		}
	}
	return out, waited, rest
}

// submitter adds the thread that submits the units.
func (m *model) submitter() {
	all := units.Ns(m.Units[len(m.Units)-1].Due - m.Units[0].Due)
	gaps, waited, rest := m.gaps(true)
	if m.By.Measured() && waited > (all-m.By-m.ByReady-m.Apart)+all/20 {
		gaps, _, rest = m.gaps(false) // it did something else meanwhile
	}
	of := m.shares(rest)
	by := m.b.Unit("submitter", 0)
	m.again()
	for _, g := range gaps {
		for _, i := range g.joins {
			for _, x := range m.parts[i] {
				m.b.Do(by, graph.Join, x)
			}
		}
		m.between(by, &g, of)
		for _, x := range m.parts[g.unit] {
			m.b.Do(by, graph.Submit, x)
		}
	}
}

// shares are parts of what is between two submissions.
type shares struct{ computes, ready, apart float64 }

func (m *model) shares(rest units.Ns) (of shares) {
	if !m.By.Measured() || rest <= 0 {
		return of
	}
	of.computes = min(1, float64(m.By)/float64(rest))
	of.ready = min(1-of.computes, float64(m.ByReady)/float64(rest))
	of.apart = min(1-of.computes-of.ready, float64(m.Apart)/float64(rest))
	return of
}

// between adds what the submitter does for itself before it submits a unit. What it waited for
// a processor is left to the replay.
func (m *model) between(by uint32, g *gap, of shares) {
	own, apart := units.Ns(of.computes*float64(g.rest)), units.Ns(of.apart*float64(g.rest))
	rest := max(0, g.rest-own-apart-units.Ns(of.ready*float64(g.rest)))
	less := min(own, m.c.Cheap)
	own -= less
	rest -= min(rest, m.c.Cheap-less)
	if m.c.Shared {
		m.b.Compute(m.parts[g.unit][0], own)
		own = 0
	}
	if own > 0 {
		m.b.Compute(by, own)
	}
	if rest+apart > 0 {
		m.b.Add(by, graph.Step{Kind: graph.Outside, Len: rest + apart})
	}
}
