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

// work is that of a class; it is looked for once.
func (s *Session) work(class uint32) *work {
	if w := s.works[class]; w != nil {
		return w
	}
	w := &work{by: map[uint32][]units.Ns{}}
	s.works[class] = w
	for i := range s.graph.Graph.Units {
		u := &s.graph.Graph.Units[i]
		if u.Class != class {
			continue
		}
		n := units.Ns(0)
		for _, x := range s.graph.StepsOf(i) {
			if x.Kind == graph.Compute {
				n += x.Len
			}
		}
		w.all, w.by[u.Executor], w.cpuNs = append(w.all, n), append(w.by[u.Executor], n), w.cpuNs+n
	}
	return w
}

// largest is the share of the class's work in one unit.
func (w *work) largest() float64 {
	if len(w.all) == 0 {
		return 0
	}
	return share(slices.Max(w.all), w.cpuNs)
}

// What makes units dearer where more of them run at a time: so many of each pool, and such a factor between their medians.
const (
	leastCompared = 10
	dearer        = 1.2
)

// dearer reports whether units of the class of which an executor runs most take notably more CPU time in one with more workers: they change
// the same data, and more workers gain little. Of each pool the later half counts, which is warm.
func (s *Session) dearer(executor uint32) bool {
	w := s.work(s.mostRun(executor))
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

// mostRun is the class of which an executor runs most units.
func (s *Session) mostRun(executor uint32) (most uint32) {
	n := map[uint32]int{}
	for i := range s.graph.Graph.Units {
		if u := &s.graph.Graph.Units[i]; u.Executor == executor {
			if n[u.Class]++; n[u.Class] > n[most] {
				most = u.Class
			}
		}
	}
	return most
}

func median(list []units.Ns) units.Ns {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}
