package predict

import (
	"cmp"
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
	wake    []units.Ns // of each unit, until its idle worker woke up
	parts   [][]uint32 // the units of the graph that each unit became
	made    []uint32   // all of them
	// children are the units that a unit submitted.
	children map[int][]int
	clients  int // that many submit the next unit after the end of one; 0: not known
}

func newModel(p *Pool, c Change) *model {
	m := &model{Pool: p, c: c, children: map[int][]int{}}
	for i := range p.Units {
		if whole := p.Units[i].Parent; whole > 0 {
			m.children[int(whole-1)] = append(m.children[int(whole-1)], i)
		}
		m.locked = m.locked || p.Permits > 0 && p.Units[i].Locked > 0
	}
	if len(m.children) == 0 {
		m.clients = p.clients()
	}
	return m
}

func (m *model) build() (*graph.Graph, error) {
	m.executors()
	m.latencies()
	m.parts = make([][]uint32, len(m.Units))
	m.lock = m.b.Resource(graph.Lock, "lock", max(1, m.Permits))
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
// worker, a unit started. If its worker was idle when it was submitted, that is what it took to wake it.
func (m *model) latencies() {
	m.latency, m.wake = make([]units.Ns, len(m.Units)), make([]units.Ns, len(m.Units))
	if m.c.Reuse {
		return
	}
	free := map[uint32]units.MonoNs{}
	for _, i := range byStart(m.Units) {
		u := &m.Units[i]
		at, ok := free[u.Thread]
		if ok && at < u.Due {
			m.wake[i] = max(0, units.Ns(u.Start-u.Due))
		} else {
			m.latency[i] = max(0, units.Ns(u.Start-max(at, u.Due)))
		}
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
		m.b.At(x).Latency, m.b.At(x).Wake = m.latency[i], m.wake[i]
		m.parts[i] = append(m.parts[i], x)
		m.made = append(m.made, x)
		m.work(x, u.CPU/units.Ns(n), m.rest(i)/units.Ns(n))
	}
}

// rest is what a unit waits for something that is not in the model.
func (m *model) rest(i int) units.Ns {
	switch u := &m.Units[i]; {
	case slices.ContainsFunc(m.children[i], func(part int) bool { return m.joins(i, part) }):
		return 0 // it waits for them
	case m.Permits == 0:
		return u.rest() + u.Locked
	default:
		return u.rest()
	}
}

// work adds what a part of a unit computes and waits, first with the lock that it needs and then without.
func (m *model) work(x uint32, cpu, rest units.Ns) {
	if m.locked && !m.c.Free {
		held := cmp.Or(m.Holds, 1)
		first, then := units.Ns(held*float64(cpu)), units.Ns(held*float64(rest))
		m.b.Do(x, graph.Acquire, m.lock)
		m.add(x, first, then)
		m.b.Do(x, graph.Release, m.lock)
		cpu, rest = cpu-first, rest-then
	}
	m.add(x, cpu, rest)
}

func (m *model) add(x uint32, cpu, rest units.Ns) {
	if cpu > 0 {
		m.b.Compute(x, cpu)
	}
	if rest > 0 {
		m.b.Add(x, graph.Step{Kind: graph.Outside, Len: rest})
	}
}

// joins reports whether a unit may have waited for one that it submitted: a listener's task, for example, begins after it.
func (m *model) joins(whole, part int) bool { return m.Units[part].End <= m.Units[whole].End }

// join lets a unit submit its parts and wait for the ends of those that ended before it did.
func (m *model) join(whole int) {
	around := m.parts[whole][0]
	for _, kind := range []graph.Kind{graph.Submit, graph.Join} {
		for _, i := range m.children[whole] {
			if kind == graph.Join && !m.joins(whole, i) {
				continue
			}
			for _, x := range m.parts[i] {
				m.b.Do(around, kind, x)
			}
		}
	}
}

// others adds the threads that compute beside the pool.
func (m *model) others() {
	all := m.recorded()
	if m.Beside <= 0 || all <= 0 || m.clients > 0 {
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
