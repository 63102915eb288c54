package account

import (
	"slices"

	"stackagent/granularity/graph"
	"stackagent/internal/units"
)

// work is what each unit of a class computes.
type work struct {
	all   []units.Ns            // by unit
	by    map[uint32][]units.Ns // by executor, in order of time
	cpuNs units.Ns              // summed
}

// work is that of a class.
func (s *Session) work(class uint32) *work {
	s.readWork()
	if w := s.works[class]; w != nil {
		return w
	}
	return &work{}
}

// readWork reads what all units compute, and of which class each executor runs most, in one pass, when first needed.
func (s *Session) readWork() {
	if s.works != nil {
		return
	}
	s.works, s.mostRun = map[uint32]*work{}, map[uint32]uint32{}
	for i := range s.graph.Graph.Units {
		u := &s.graph.Graph.Units[i]
		w := s.works[u.Class]
		if w == nil {
			w = &work{by: map[uint32][]units.Ns{}}
			s.works[u.Class] = w
		}
		n := units.Ns(0)
		for _, x := range s.graph.StepsOf(i) {
			if x.Kind == graph.Compute {
				n += x.Len
			}
		}
		w.all, w.by[u.Executor], w.cpuNs = append(w.all, n), append(w.by[u.Executor], n), w.cpuNs+n
		if most, seen := s.mostRun[u.Executor]; !seen || len(w.by[u.Executor]) > len(s.works[most].by[u.Executor]) {
			s.mostRun[u.Executor] = u.Class
		}
	}
}

// largest is the share of the class's work in one unit.
func (w *work) largest() float64 {
	if len(w.all) == 0 {
		return 0
	}
	return share(slices.Max(w.all), w.cpuNs)
}

// Units are dearer in a larger pool if there are at least leastCompared of them in both, and their medians differ by the factor dearer.
const (
	leastCompared = 10
	dearer        = 1.2
)

// dearer reports whether units of the class of which an executor runs most take notably more CPU time in one with more workers: they change
// the same data, and more workers gain little. Only the later half of each pool's units counts: it is warm.
func (s *Session) dearer(executor uint32) bool {
	s.readWork()
	w := s.work(s.mostRun[executor])
	own := w.by[executor]
	if len(own) < leastCompared {
		return false
	}
	for other, list := range w.by {
		if len(list) >= leastCompared && s.count(other) > s.count(executor) && float64(median(list[len(list)/2:])) >= dearer*float64(median(own[len(own)/2:])) {
			return true
		}
	}
	return false
}

func median(list []units.Ns) units.Ns {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}
