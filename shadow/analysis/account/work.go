package account

import (
	"maps"
	"slices"

	"stackagent/granularity/graph"
	"stackagent/internal/units"
)

// work is what each unit of a class computes.
type work struct {
	units         int
	most          units.Ns              // of one unit
	took, longest units.Ns              // from start to end, summed, and of one unit
	by            map[uint32][]units.Ns // by executor, in order of time
	cpuNs         units.Ns              // summed
	forks         int                   // units that another one of the class submitted
	left          map[uint32]int        // by executor: units that submitted to it what never began
	at            uint32                // the executor that runs most of the units
	loops         bool                  // they may be loops on the workers of pools
	timed         int                   // units that were to run later than they were submitted
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
			w = &work{by: map[uint32][]units.Ns{}, left: map[uint32]int{}}
			s.works[u.Class] = w
		}
		n := units.Ns(0)
		for _, x := range s.graph.StepsOf(i) {
			switch {
			case x.Kind == graph.Compute:
				n += x.Len
			case x.Kind == graph.Submit && s.graph.Graph.Units[x.On].Class == u.Class:
				w.forks++
			}
		}
		if start := s.graph.Recorded.Start[i].At; start != graph.Never {
			took := max(0, s.graph.Graph.Finish(s.graph.Recorded, i)-start)
			w.took, w.longest = w.took+took, max(w.longest, took)
		}
		if u.Left != 0 {
			w.left[u.Left-1]++
		}
		if u.Timed {
			w.timed++
		}
		w.by[u.Executor] = append(w.by[u.Executor], n)
		w.units, w.most, w.cpuNs = w.units+1, max(w.most, n), w.cpuNs+n
		if most, seen := s.mostRun[u.Executor]; !seen || len(w.by[u.Executor]) > len(s.works[most].by[u.Executor]) {
			s.mostRun[u.Executor] = u.Class
		}
	}
	s.runs = map[uint32]int{}
	for _, w := range s.works {
		w.loops = len(w.by[0]) == 0
		for _, e := range slices.Sorted(maps.Keys(w.by)) {
			s.runs[e]++
			if len(w.by[e]) > len(w.by[w.at]) {
				w.at = e
			}
			w.loops = w.loops && len(w.by[e]) <= s.count(e)
		}
	}
}

// mostly is the executor that runs most of the units.
func (w *work) mostly() (executor uint32) { return w.at }

// largest is the share of the class's work in one unit.
func (w *work) largest() float64 {
	return share(w.most, w.cpuNs)
}

// isTimed reports whether most units of a class were to run later than they were submitted, as periods.
func (s *Session) isTimed(class uint32) bool {
	w := s.work(class)
	return 2*w.timed > w.units
}

// How many units of a class others of it must have forked, and how many CPUs on average are wanted meanwhile, for it to be said that they run one after another.
const (
	leastForked = 8
	onlyOne     = 1.2
)

// forksOwn reports whether most units of a class were forked by others of it, in a fork/join pool of several workers.
func (s *Session) forksOwn(class uint32) bool {
	w := s.work(class)
	at := w.mostly()
	if e := s.graph.Given[at]; at == 0 || !s.graph.Graph.Executors[at].Helps || e != nil && e.Maximum < 2 || e == nil && s.count(at) < 2 {
		return false
	}
	return w.forks >= leastForked && 2*w.forks > w.units
}
