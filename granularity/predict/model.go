package predict

import (
	"maps"
	"slices"

	"stackagent/granularity/graph"
	"stackagent/internal/units"
)

// besides is the number of times at which other threads compute, spread over a pool's time.
const besides = 100

// model makes the graph of a pool with a change.
type model struct {
	*Pool
	c       Change
	b       graph.Builder
	on      uint32     // executor of the units
	apart   uint32     // of those that other units submit
	lock    uint32     // that units hold
	locked  bool       // units waited for one another
	latency []units.Ns // of each unit, on its way to a worker
	parts   [][]uint32 // the units of the graph that each unit became
	made    []uint32   // all of them
	// children are the units that a unit submitted.
	children map[int][]int
}

func newModel(p *Pool, c Change) *model {
	m := &model{Pool: p, c: c, children: map[int][]int{}}
	for i := range p.Units {
		if whole := p.Units[i].Parent; whole > 0 {
			m.children[int(whole-1)] = append(m.children[int(whole-1)], i)
		}
		m.locked = m.locked || p.Units[i].Locked > 0
	}
	return m
}

func (m *model) build() (*graph.Graph, error) {
	m.executors()
	m.latencies()
	m.parts = make([][]uint32, len(m.Units))
	m.lock = m.b.Resource(graph.Lock, "lock", 1)
	for i := range m.Units {
		m.unit(i)
	}
	for _, whole := range slices.Sorted(maps.Keys(m.children)) {
		m.join(whole)
	}
	m.submitter()
	m.others()
	return m.b.Graph(m.CPUs)
}

func (m *model) executors() {
	workers := m.Workers
	if m.c.Workers > 0 {
		workers = m.c.Workers
	}
	if !m.Threads || m.c.Largest > 0 || m.c.Workers > 0 {
		m.on = m.b.Executor(graph.Executor{Name: "pool", Workers: workers})
	}
	m.apart = m.on
	if m.c.Apart {
		m.apart = m.b.Executor(graph.Executor{Name: "parts", Workers: m.CPUs})
	}
}

// latencies are how long after its submission, and after the end of the unit before it on its
// worker, a unit started.
func (m *model) latencies() {
	m.latency = make([]units.Ns, len(m.Units))
	if m.c.Reuse {
		return
	}
	free := map[uint32]units.MonoNs{}
	for _, i := range byStart(m.Units) {
		u := &m.Units[i]
		from := u.Due
		if at, ok := free[u.Thread]; ok {
			from = max(from, at)
		}
		m.latency[i] = max(0, units.Ns(u.Start-from))
		free[u.Thread] = u.End
	}
}

// unit adds what a unit does, in parts if it is to be cut.
func (m *model) unit(i int) {
	u := &m.Units[i]
	n := 1
	if m.c.Largest > 0 && u.CPU > m.c.Largest {
		n = int(min((u.CPU+m.c.Largest-1)/m.c.Largest, maxParts))
	}
	on := m.on
	if u.Parent > 0 {
		on = m.apart
	}
	for range n {
		x := m.b.Unit("unit", on)
		m.b.At(x).Latency = m.latency[i]
		m.parts[i] = append(m.parts[i], x)
		m.made = append(m.made, x)
		held := m.locked && !m.c.Free
		if held {
			m.b.Do(x, graph.Acquire, m.lock)
		}
		m.b.Compute(x, u.CPU/units.Ns(n))
		if rest := u.rest() / units.Ns(n); rest > 0 && len(m.children[i]) == 0 {
			m.b.Add(x, graph.Step{Kind: graph.Outside, Len: rest})
		}
		if held {
			m.b.Do(x, graph.Release, m.lock)
		}
	}
}

// join lets a unit submit its parts and wait for their ends.
func (m *model) join(whole int) {
	around := m.parts[whole][0]
	for _, kind := range []graph.Kind{graph.Submit, graph.Join} {
		for _, i := range m.children[whole] {
			for _, x := range m.parts[i] {
				m.b.Do(around, kind, x)
			}
		}
	}
}

// gap is what the submitter does between two submissions: it waits for a unit's end, and goes on
// for a time.
type gap struct {
	unit int // that is submitted next
	join int // unit; -1: it waits for none
	rest units.Ns
}

// gaps are those of the recorded submissions. If no unit was left, the submitter had waited for the last one if
// wait is set.
func (m *model) gaps(wait bool) (out []gap, waited, rest units.Ns) {
	last, before := -1, m.Units[0].Due // last: of the units before, the one that ended last
	for i := range m.Units {
		u := &m.Units[i]
		if u.Parent > 0 {
			continue
		}
		g := gap{i, -1, units.Ns(u.Due - before)}
		if wait && last >= 0 && m.Units[last].End <= u.Due && m.Units[last].End > before {
			g.join, g.rest = last, units.Ns(u.Due-m.Units[last].End)
			waited += units.Ns(m.Units[last].End - before)
		}
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
	if m.By.Measured() && waited > (all-m.By-m.Apart)+all/20 {
		gaps, _, rest = m.gaps(false) // it did something else meanwhile
	}
	of := m.shares(rest)
	by := m.b.Unit("submitter", 0)
	for _, g := range gaps {
		if g.join >= 0 {
			for _, x := range m.parts[g.join] {
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

// others adds the threads that compute beside the pool.
func (m *model) others() {
	all := m.recorded()
	if m.Beside <= 0 || all <= 0 {
		return
	}
	n := (m.Beside + all - 1) / all
	each := m.Beside / n / besides
	for range n {
		x := m.b.Unit("others", 0)
		for range besides {
			m.b.Compute(x, each)
			m.b.Add(x, graph.Step{Kind: graph.Outside, Len: max(0, all/besides-each)})
		}
	}
}
