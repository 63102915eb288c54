package evidence

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// poolKind is what identifies a pool.
type poolKind uint8

const (
	byExecutor poolKind = iota
	byThreads           // the common name of its threads: its tasks went through several executors
	byClass             // the class of its tasks: their executor is unknown
)

// merge joins pools that are one under several names: an executor, those that forward
// to it, and tasks on its workers whose executor is unknown. The result maps each
// label to the one it became part of.
func (a *advisor) merge() map[string]string {
	m := newMerger(a.pools)
	m.executors()
	m.others()
	m.classes()
	into := map[string]string{}
	groups := map[string][]string{}
	for _, l := range m.labels {
		root := m.root(l)
		groups[root] = append(groups[root], l)
	}
	for _, group := range groups {
		main := slices.MinFunc(group, func(x, y string) int {
			return cmp.Or(cmp.Compare(a.pools[x].kind, a.pools[y].kind), cmp.Compare(a.pools[y].Units, a.pools[x].Units), cmp.Compare(x, y))
		})
		var also []string
		for _, l := range group {
			into[l] = main
			if l == main {
				continue
			}
			if a.pools[l].kind == byExecutor {
				also = append(also, l)
			}
			a.pools[main].merge(a.pools[l])
			delete(a.pools, l)
		}
		a.pools[main].Label += alias(also)
	}
	return into
}

// alias names the other executors with the same threads.
func alias(also []string) string {
	switch len(also) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(" (the same threads as %s)", also[0])
	}
	return fmt.Sprintf(" (the same threads as %s and %d more)", also[0], len(also)-1)
}

func (p *poolSum) merge(o *poolSum) {
	if o.Units == 0 {
		return
	}
	if p.Units == 0 || o.From < p.From {
		p.From = o.From
	}
	p.To = max(p.To, o.To)
	p.Units += o.Units
	p.AtOnce += o.AtOnce
	p.Wall += o.Wall
	p.Response += o.Response
	p.Stopped += o.Stopped
	p.CPU += o.CPU
	p.Self += o.Self
	p.noCPU = p.noCPU || o.noCPU
	for i, n := range o.by {
		p.by[i] += n
	}
	p.Queue.Merge(&o.Queue)
	p.Wait.Merge(&o.Wait)
	p.Gaps.Merge(&o.Gaps)
	p.Inner.Merge(&o.Inner)
	p.active.merge(&o.active)
	p.recorded.merge(&o.recorded)
	p.Virtual = p.Virtual || o.Virtual
	if o.Longest > p.Longest {
		p.Longest, p.LongestClass = o.Longest, o.LongestClass
	}
	if o.Heaviest > p.Heaviest {
		p.Heaviest, p.HeaviestClass = o.Heaviest, o.HeaviestClass
	}
	for thread, w := range o.workers {
		at := p.workers[thread]
		if at == nil {
			p.workers[thread] = w
			continue
		}
		at.From, at.To = min(at.From, w.From), max(at.To, w.To)
		at.Units += w.Units
		at.Wall += w.Wall
		at.CPU += w.CPU
	}
}

// manyOnOne is the most classes on one thread that are compared in pairs.
const manyOnOne = 256

// merger finds the pools that share their workers.
type merger struct {
	pools  map[string]*poolSum
	labels []string                  // in order
	shared map[string]map[string]int // the number of workers that two have in common
	parent map[string]string
	router map[string]bool
}

func newMerger(pools map[string]*poolSum) *merger {
	m := &merger{pools: pools, labels: slices.Sorted(maps.Keys(pools)), shared: map[string]map[string]int{}, parent: map[string]string{}, router: map[string]bool{}}
	by := map[uint32][]string{}
	for _, l := range m.labels {
		m.parent[l], m.shared[l] = l, map[string]int{}
		for thread := range pools[l].workers {
			by[thread] = append(by[thread], l)
		}
	}
	for _, on := range by {
		for i, x := range on {
			for _, y := range on[:i] {
				if len(on) > manyOnOne && pools[x].kind == byClass && pools[y].kind == byClass {
					continue
				}
				m.shared[x][y]++
				m.shared[y][x]++
			}
		}
	}
	return m
}

func (m *merger) root(l string) string {
	for m.parent[l] != l {
		l = m.parent[l]
	}
	return l
}

func (m *merger) size(l string) int { return len(m.pools[l].workers) }

// within reports whether most of x's workers are y's. One shared worker of several is
// not enough: it may have helped out once.
func (m *merger) within(x, y string) bool {
	n := m.shared[x][y]
	return 2*n > m.size(x) && (n > 1 || m.size(y) == 1)
}

// executors joins executors that share their workers, the smaller to the larger. One
// that forwards to several unrelated ones is a router, and stays apart.
func (m *merger) executors() {
	inside := map[string][]string{}
	for _, x := range m.labels {
		if m.pools[x].kind == byClass {
			continue
		}
		for _, y := range slices.Sorted(maps.Keys(m.shared[x])) {
			if m.pools[y].kind != byClass && m.size(y) <= m.size(x) && m.within(y, x) {
				inside[x] = append(inside[x], y)
			}
		}
		m.router[x] = m.apart(inside[x])
	}
	for x, ys := range inside {
		for _, y := range ys {
			if !m.router[x] && !m.router[y] {
				m.parent[m.root(y)] = m.root(x)
			}
		}
	}
}

// apart reports whether any two pools share no worker.
func (m *merger) apart(labels []string) bool {
	for i, x := range labels {
		for _, y := range labels[:i] {
			if m.shared[x][y] == 0 {
				return true
			}
		}
	}
	return false
}

// others joins tasks without an executor to the one on whose workers most of them ran.
func (m *merger) others() {
	for _, x := range m.labels {
		if m.pools[x].kind != byClass && !m.router[x] {
			continue
		}
		best := ""
		for _, y := range slices.Sorted(maps.Keys(m.shared[x])) {
			if m.pools[y].kind != byClass && !m.router[y] && m.within(x, y) && (best == "" || m.shared[x][y] > m.shared[x][best]) {
				best = y
			}
		}
		if best != "" {
			m.parent[x] = m.root(best)
		}
	}
}

// classes joins classes that mostly ran on the same threads, if these belong to no
// executor.
func (m *merger) classes() {
	alone := func(l string) bool { return m.pools[l].kind == byClass && m.parent[l] == l }
	var pairs [][2]string
	for _, x := range m.labels {
		for _, y := range slices.Sorted(maps.Keys(m.shared[x])) {
			if x < y && alone(x) && alone(y) && m.within(x, y) && m.within(y, x) {
				pairs = append(pairs, [2]string{x, y})
			}
		}
	}
	for _, p := range pairs {
		m.parent[m.root(p[0])] = m.root(p[1])
	}
}
