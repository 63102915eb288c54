package evidence

import (
	"cmp"
	"encoding/binary"
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
	for _, group := range m.groups() {
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

// manyOnOne is the most sets of workers with one thread that all others of that thread are compared with: those of the
// most workers, as the smaller become part of the larger. So the time grows with the pools, not with their pairs.
const manyOnOne = 256

// fewApart is the most sets of workers that are compared in pairs; of more, only so many are compared with all.
const fewApart = 16

// merger finds the pools that share their workers. Pools with the same workers are one place.
type merger struct {
	places []place
	on     map[uint32][]int // by thread: the places that others are compared with, those of executors first
	parent []int            // by place
	router []bool           // by place
	common []int            // by place, while one is compared: how many workers the two share
}

// place is a set of workers, with the pools that have just these.
type place struct {
	labels  []string // in order
	workers []uint32 // in order
	class   bool     // of tasks whose executor is unknown
}

func newMerger(pools map[string]*poolSum) *merger {
	m := &merger{on: map[uint32][]int{}}
	at := map[string]int{}
	for _, l := range slices.Sorted(maps.Keys(pools)) {
		p := place{labels: []string{l}, workers: slices.Sorted(maps.Keys(pools[l].workers)), class: pools[l].kind == byClass}
		key := p.key()
		if i, ok := at[key]; ok && len(p.workers) > 0 {
			m.places[i].labels = append(m.places[i].labels, l)
			continue
		}
		at[key] = len(m.places)
		m.places = append(m.places, p)
	}
	m.parent, m.router, m.common = make([]int, len(m.places)), make([]bool, len(m.places)), make([]int, len(m.places))
	for i := range m.places {
		m.parent[i] = i
		for _, thread := range m.places[i].workers {
			m.on[thread] = append(m.on[thread], i)
		}
	}
	for thread, on := range m.on {
		m.on[thread] = m.largest(on)
	}
	return m
}

// key tells sets of workers apart.
func (p *place) key() string {
	key := []byte{0}
	if p.class {
		key[0] = 1
	}
	for _, thread := range p.workers {
		key = binary.LittleEndian.AppendUint32(key, thread)
	}
	return string(key)
}

// largest are the places of executors and those of classes with the most workers.
func (m *merger) largest(on []int) []int {
	slices.SortFunc(on, func(x, y int) int {
		a, b := &m.places[x], &m.places[y]
		switch {
		case a.class && !b.class:
			return 1
		case b.class && !a.class:
			return -1
		}
		return cmp.Or(cmp.Compare(len(b.workers), len(a.workers)), cmp.Compare(x, y))
	})
	classes := slices.IndexFunc(on, func(i int) bool { return m.places[i].class })
	if classes < 0 {
		classes = len(on)
	}
	return slices.Concat(on[:min(classes, manyOnOne)], on[classes:min(len(on), classes+manyOnOne)])
}

// shared calls f for each place that x shares workers with, in order, with their number.
func (m *merger) shared(x int, f func(y, n int)) {
	var found []int
	for _, thread := range m.places[x].workers {
		for _, y := range m.on[thread] {
			if y == x {
				continue
			}
			if m.common[y]++; m.common[y] == 1 {
				found = append(found, y)
			}
		}
	}
	slices.Sort(found)
	for _, y := range found {
		n := m.common[y]
		m.common[y] = 0
		f(y, n)
	}
}

func (m *merger) root(i int) int {
	for m.parent[i] != i {
		m.parent[i] = m.parent[m.parent[i]]
		i = m.parent[i]
	}
	return i
}

func (m *merger) size(i int) int { return len(m.places[i].workers) }

// within reports whether most of x's workers are y's, by the number that they share. One shared worker of several is
// not enough: it may have helped out once.
func (m *merger) within(x, y, n int) bool {
	return 2*n > m.size(x) && (n > 1 || m.size(y) == 1)
}

// executors joins executors that share their workers, the smaller to the larger. One
// that forwards to several unrelated ones is a router, and stays apart.
func (m *merger) executors() {
	inside := map[int][]int{}
	for y := range m.places {
		if m.places[y].class {
			continue
		}
		m.shared(y, func(x, n int) {
			if !m.places[x].class && m.size(y) <= m.size(x) && m.within(y, x, n) {
				inside[x] = append(inside[x], y)
			}
		})
	}
	for x, ys := range inside {
		m.router[x] = m.apart(ys)
	}
	for x, ys := range inside {
		for _, y := range ys {
			if !m.router[x] && !m.router[y] {
				m.parent[m.root(y)] = m.root(x)
			}
		}
	}
}

// apart reports whether any two places share no worker. Of many it compares all with those of the fewest workers only.
func (m *merger) apart(places []int) bool {
	few := slices.Clone(places)
	slices.SortFunc(few, func(x, y int) int { return cmp.Or(cmp.Compare(m.size(x), m.size(y)), cmp.Compare(x, y)) })
	for _, x := range few[:min(len(few), fewApart)] {
		its := map[uint32]bool{}
		for _, thread := range m.places[x].workers {
			its[thread] = true
		}
		for _, y := range places {
			if !slices.ContainsFunc(m.places[y].workers, func(thread uint32) bool { return its[thread] }) {
				return true
			}
		}
	}
	return false
}

// others joins tasks without an executor to the one on whose workers most of them ran.
func (m *merger) others() {
	for x := range m.places {
		if !m.places[x].class && !m.router[x] {
			continue
		}
		best, most := -1, 0
		m.shared(x, func(y, n int) {
			if !m.places[y].class && !m.router[y] && m.within(x, y, n) && n > most {
				best, most = y, n
			}
		})
		if best >= 0 {
			m.parent[x] = m.root(best)
		}
	}
}

// classes joins classes that mostly ran on the same threads, if these belong to no
// executor.
func (m *merger) classes() {
	alone := func(i int) bool { return m.places[i].class && m.parent[i] == i }
	var pairs [][2]int
	for x := range m.places {
		if !alone(x) {
			continue
		}
		m.shared(x, func(y, n int) {
			if alone(y) && m.within(x, y, n) && m.within(y, x, n) {
				pairs = append(pairs, [2]int{x, y})
			}
		})
	}
	for _, p := range pairs {
		m.parent[m.root(p[0])] = m.root(p[1])
	}
}

// groups are the labels of the pools that are one. Routers with the same workers are several.
func (m *merger) groups() [][]string {
	labels := map[int][]string{}
	var out [][]string
	for i := range m.places {
		root := m.root(i)
		if root == i && m.router[i] {
			for _, l := range m.places[i].labels[1:] {
				out = append(out, []string{l})
			}
			labels[root] = append(labels[root], m.places[i].labels[0])
			continue
		}
		labels[root] = append(labels[root], m.places[i].labels...)
	}
	for _, root := range slices.Sorted(maps.Keys(labels)) {
		slices.Sort(labels[root])
		out = append(out, labels[root])
	}
	return out
}
