package account

import (
	"maps"
	"math"
	"slices"

	"stackagent/granularity/account"
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
	again         int                   // units that an earlier one of the same task submitted
	hands         map[uint32]int        // by executor: how many units they submit to it
	beside        bool                  // they are the JVM's own threads
	feeds         *feed                 // nil: not read yet
	started       int                   // units that are the first of their thread, which no executor has
	between       units.Ns              // of cpuNs: between the first and the last unit that each submits
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
	s.works, s.mostRun, s.handed = map[uint32]*work{}, map[uint32]uint32{}, map[uint32]handed{}
	first := make([]bool, len(s.graph.Threads))
	for i := range s.graph.Graph.Units {
		u := &s.graph.Graph.Units[i]
		w := s.works[u.Class]
		if w == nil {
			w = &work{by: map[uint32][]units.Ns{}, left: map[uint32]int{}, hands: map[uint32]int{}}
			s.works[u.Class] = w
		}
		n, since, submits := units.Ns(0), units.Ns(0), false
		for _, x := range s.graph.StepsOf(i) {
			switch x.Kind {
			case graph.Compute:
				n += x.Len
				since += x.Len
			case graph.Submit:
				if submits {
					w.between += since
				}
				since, submits = 0, true
				child := &s.graph.Graph.Units[x.On]
				by := s.handed[child.Executor]
				s.handed[child.Executor] = handed{by.all + 1, by.inCaller}
				if w.hands[child.Executor]++; child.Class == u.Class {
					w.forks++
				}
			case graph.Join:
				if child := &s.graph.Graph.Units[x.On]; child.Thread == u.Thread {
					by := s.handed[child.Executor]
					s.handed[child.Executor] = handed{by.all, by.inCaller + 1}
				}
			}
		}
		if start := s.graph.Recorded.Start[i].At; start != graph.Never {
			took := max(0, s.graph.Graph.Finish(s.graph.Recorded, i)-start)
			w.took, w.longest = w.took+took, max(w.longest, took)
		}
		if u.Left != 0 {
			w.left[u.Left-1]++
		}
		if u.Again {
			w.again++
		}
		if u.Timed {
			w.timed++
		}
		w.beside = w.beside || u.Beside
		if u.Executor == 0 && int(u.Thread) < len(first) && !first[u.Thread] {
			first[u.Thread] = true
			w.started++
		}
		w.by[u.Executor] = append(w.by[u.Executor], n)
		w.units, w.most, w.cpuNs = w.units+1, max(w.most, n), w.cpuNs+n
		if most, seen := s.mostRun[u.Executor]; !seen || len(w.by[u.Executor]) > len(s.works[most].by[u.Executor]) {
			s.mostRun[u.Executor] = u.Class
		}
	}
	for _, class := range slices.Sorted(maps.Keys(s.works)) {
		w, most := s.works[class], 0
		if s.started != 0 {
			most = s.works[s.started].started
		}
		if !s.bodies[class] && w.started >= leastHanded && float64(w.started) >= mostStarted*float64(w.units) && w.started > most {
			s.started = class
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

// leastProducer is from which share of a class's response times it is said that they depend on who hands units to a pool: any program starts and ends on one thread.
const leastProducer = 0.25

// leastHanded is how many units a thread must submit, or how many threads must be started, for it to be said that this takes the time.
const leastHanded = 100

// handed counts the units that are submitted to an executor: all, and those that run inside whoever submits them.
type handed struct{ all, inCaller int }

// runsInCaller reports whether an executor runs most units inside whoever submits them, so that they wait for no worker. A worker of a fork/join pool also runs the units that
// it joins, but the pool has others, or could have.
func (s *Session) runsInCaller(executor uint32) bool {
	s.readWork()
	by := s.handed[executor]
	return !s.graph.Graph.Executors[executor].Helps && s.count(executor) <= 1 && 2*by.inCaller > by.all
}

// feed is an executor to which units of a class hand many units; 0: there is none.
type feed struct {
	executor uint32
	units    int // that they hand to it, and to those that the same line makes
}

// feeds is the executor to which units of a class hand many units, between which they compute most of what they do, while its workers are mostly idle.
func (s *Session) feeds(class uint32) feed {
	w := s.work(class)
	if w.feeds != nil {
		return *w.feeds
	}
	w.feeds = &feed{}
	e := most(w.hands)
	if e == 0 || 2*w.between < w.cpuNs || s.executor(e) == "" || len(w.by[e]) > 0 || s.runsInCaller(e) {
		return feed{}
	}
	x, handed := s.family(e), 0
	for _, like := range s.ofFamily(e) {
		handed += w.hands[like]
	}
	if s.mostlySummed(e) { // so are the submissions
		s.readFineness()
		handed = max(handed, int(s.fine[x].units()))
	}
	if handed >= leastHanded && s.inProgress(e) <= mostlyIdle*float64(s.workersOf(e)) {
		*w.feeds = feed{x, handed}
	}
	return *w.feeds
}

// inProgress is how many units of an executor, and of those that the same line makes, are in progress on average from the first to the last of them.
func (s *Session) inProgress(executor uint32) float64 {
	all := life{from: math.MaxInt64}
	for _, like := range s.ofFamily(executor) {
		x := s.lives[like]
		all.busy, all.from, all.to = all.busy+x.busy, min(all.from, x.from), max(all.to, x.to)
	}
	return float64(all.busy) / float64(max(1, all.to-all.from))
}

// mostStarted is the share of the units of a class for which a thread must be started for it to be said that one is started for each.
const mostStarted = 0.9

// churn is the cause of waits for threads that are being started if there is one for each of many units of a class, or for most units of an executor.
func (s *Session) churn(why cause) cause {
	if e := why.executor; e != 0 {
		if x := s.likes(e); x.threads >= leastHanded && x.units <= 2*x.threads {
			why.kind = ThreadChurn
		}
		return why
	}
	if s.readWork(); s.started != 0 {
		why.kind, why.holder = ThreadChurn, s.started
	}
	return why
}

// likes are executors that bear the same name, as those that one line makes one after the other.
type likes struct {
	first                uint32 // of them
	list, units, threads int    // how many they are, units that they ran, and their workers
}

// likes are those that bear the name of an executor.
func (s *Session) likes(executor uint32) *likes {
	if s.byName == nil {
		s.readWork()
		s.byName = map[string]*likes{}
		units := make([]int, len(s.graph.Executors))
		for _, w := range s.works {
			for e, list := range w.by {
				units[e] += len(list)
			}
		}
		for e := range s.graph.Executors {
			x := s.byName[s.executor(uint32(e))]
			if x == nil {
				x = &likes{first: uint32(e)}
				s.byName[s.executor(uint32(e))] = x
			}
			x.list, x.units, x.threads = x.list+1, x.units+units[e], x.threads+s.count(uint32(e))
		}
	}
	return s.byName[s.executor(executor)]
}

// crowd is how many times as many workers as keep the CPUs busy are too many.
const crowd = 4

// isTooLarge reports whether a unit waits for a CPU, or in the queue for one that does, while another one of its pool computes, and the pool has many more workers than keep the CPUs
// busy, most of which have something to do: a pool may have had many threads, and few at once.
func (s *Session) isTooLarge(frames []account.Frame) bool {
	last := len(frames) - 1
	if last < 1 || last > 2 || frames[last].State != account.Compute || frames[last-1].State != account.Ready || last == 2 && frames[0].State != account.Queued {
		return false
	}
	class, other := frames[0].Class, frames[last].Class
	e := s.work(class).mostly()
	return e != 0 && (last == 1 || e == frames[0].On) && e == s.work(other).mostly() && !s.graph.Executors[e].Leaves && s.inProgress(e) >= sizedFrom*float64(s.CPUs) && s.count(e) >= crowd*s.workersFor(e)
}

// activeUnits is how many units of a class do something at once on average, or wait for something other than units and workers, while its executor is in use.
func (s *Session) activeUnits(class uint32) float64 {
	s.family(0)
	x, active := s.lives[s.work(class).mostly()], units.Ns(0)
	if c := s.classOf(class); c != nil {
		for _, p := range c.Parts {
			switch p.State {
			case account.Compute, account.Ready, account.Sleep, account.IO, account.Lock, account.Handed, account.Inside:
				active += p.Ns
			}
		}
	}
	return share(active, max(1, x.to-x.from))
}

// use is for how long the units of an executor compute and wait.
type use struct{ computes, waits units.Ns }

// workersFor is how many workers of an executor keep all CPUs busy: the CPUs times 1 + W / C, where its units wait for W and compute for C (Goetz et al., Java Concurrency in Practice,
// section 8.2).
func (s *Session) workersFor(executor uint32) int {
	if s.uses == nil {
		s.uses = map[uint32]use{}
		for i := range s.account.Classes {
			c := &s.account.Classes[i]
			at := s.work(c.Class).mostly()
			x := s.uses[at]
			for _, p := range c.Parts {
				switch p.State {
				case account.Compute:
					x.computes += p.Ns
				case account.Join, account.Last, account.Alone, account.Ordered, account.Lock, account.Handed, account.Inside, account.Sleep, account.IO, account.Late, account.Unanswered, account.NotKnown:
					x.waits += p.Ns
				}
			}
			s.uses[at] = x
		}
	}
	x := s.uses[executor]
	return int(math.Round(float64(s.CPUs) * (1 + share(x.waits, max(1, x.computes)))))
}
