package account

import (
	"fmt"
	"slices"
	"strings"

	"stackagent/granularity/graph"
	"stackagent/internal/text"
	"stackagent/internal/units"
)

// Units of an executor are fine-grained if there are at least leastFine of them, which compute for less than fineWork on average, and if it costs at least fineCost of that to take
// the next one. Whoever hands them over is taken to do little else if it computes for at most mostHanding for each: a submission that wakes a thread costs that much.
const (
	leastFine   = 1000
	fineWork    = units.Ns(10_000)
	fineCost    = 0.2
	mostHanding = units.Ns(5_000)
)

// leastFork is what it costs at the minimum to make, fork and join a part: the documentation of ForkJoinTask asks for 100 to 10,000 basic steps in each.
const leastFork = units.Ns(100)

// What the profiler adds to a unit in a pool: its creation, submission and execution, recorded one by one or summarised (docs/benchmarks.md). The session has no measurement of it.
const (
	recordedProbes   = units.Ns(780)
	summarisedProbes = units.Ns(120)
)

// Probes is the time that the profiler itself takes for that many units in a pool, by the usual cost of its probes.
func Probes(recorded, summarised int64) units.Ns {
	return units.Ns(recorded)*recordedProbes + units.Ns(summarised)*summarisedProbes
}

// fineness is what the units of an executor compute, and what it costs to run them.
type fineness struct {
	recorded, summarised int64
	work, took           units.Ns // took: computed by workers from one unit to the next
	classes              map[uint32]int64
	forks                int64      // units that another one of their class submitted, or of which nothing else is known
	computes             []units.Ns // by recorded unit, of a fork/join pool
	splits               []units.Ns // what units compute between two parts that they run inside themselves, without the profiler's probes
}

func (f *fineness) units() int64 { return f.recorded + f.summarised }

// each is the part of a time for one unit, without the profiler's probes.
func (f *fineness) each(n units.Ns) units.Ns {
	return max(0, n-Probes(f.recorded, f.summarised)) / units.Ns(max(1, f.units()))
}

// readFineness reads the fineness of all executors in one pass, when first needed. Executors that one line makes count as one.
func (s *Session) readFineness() {
	if s.fine != nil {
		return
	}
	s.fine = map[uint32]*fineness{}
	of := func(executor uint32) *fineness {
		executor = s.family(executor)
		if s.fine[executor] == nil {
			s.fine[executor] = &fineness{classes: map[uint32]int64{}}
		}
		return s.fine[executor]
	}
	for i := range s.graph.Graph.Units {
		u := &s.graph.Graph.Units[i]
		if u.Executor == 0 {
			continue
		}
		f := of(u.Executor)
		f.recorded++
		f.classes[u.Class]++
		f.took += u.Latency * units.Ns(u.Took) / 1000
		own := units.Ns(0)
		for _, x := range s.graph.StepsOf(i) {
			if x.Kind == graph.Compute {
				own += x.Len
			}
		}
		if f.work += own; s.graph.Graph.Executors[u.Executor].Helps {
			f.computes = append(f.computes, own)
			f.addSplits(s.graph.Graph, u, s.graph.StepsOf(i))
		}
	}
	for i := range s.graph.Graph.Sums {
		x := &s.graph.Graph.Sums[i]
		f := of(x.Executor)
		f.summarised, f.work, f.took = f.summarised+int64(x.Units), f.work+x.CPU, f.took+x.Took
		f.classes[x.Class] += int64(x.Units)
		if s.graph.Forks[s.graph.Classes[x.Class]] {
			f.forks += int64(x.Units)
		}
	}
	for _, f := range s.fine {
		slices.Sort(f.splits)
		slices.Sort(f.computes)
	}
}

// addSplits adds what a unit computes between two parts of its class that it runs inside itself, if it submits nothing meanwhile.
func (f *fineness) addSplits(g *graph.Graph, u *graph.Unit, steps []graph.Step) {
	since := units.Ns(-1)
	for _, x := range steps {
		switch x.Kind {
		case graph.Compute:
			if since >= 0 {
				since += x.Len
			}
		case graph.Submit:
			if since = -1; g.Units[x.On].Class == u.Class {
				f.forks++
			}
		case graph.Join:
			if child := &g.Units[x.On]; child.Class == u.Class && child.Thread == u.Thread {
				if since >= 0 {
					f.splits = append(f.splits, max(0, since-recordedProbes))
				}
				since = 0
			}
		}
	}
}

// splitting is which part of what units of a class compute is what it costs at the minimum to make, fork and join parts of the same class; 0 if they are not fine, or if it is little.
// Of what a unit computes between two parts it is the first quartile: the others may work with the results.
func (s *Session) splitting(class uint32) float64 {
	e := s.work(class).mostly()
	if e == 0 || !s.isFine(e) {
		return 0
	}
	f := s.fine[s.family(e)]
	if 2*f.forks < f.units() || most(f.classes) != class {
		return 0
	}
	least := leastFork * units.Ns(f.forks)
	if n := len(f.splits); n >= leastFine/10 {
		least = max(least, f.splits[n/4]*units.Ns(n))
	}
	each := f.each(f.work)
	if n, known := s.median(class); known {
		each = n
	}
	if part := share(least, max(1, each*units.Ns(f.units()))); part >= fineCost {
		return min(1, part)
	}
	return 0
}

// isFine reports whether the units of an executor are short and many. What it costs to take or hand over one is left to takes and handing.
func (s *Session) isFine(executor uint32) bool {
	s.readFineness()
	f := s.fine[s.family(executor)]
	return f != nil && f.units() >= leastFine && f.work < fineWork*units.Ns(f.units()) && !s.graph.Executors[executor].Leaves
}

// fineCause is the cause of time that is lost because the units of an executor are too small.
func (s *Session) fineCause(executor uint32) cause {
	e := s.family(executor)
	return cause{kind: FineGrained, executor: e, holder: most(s.fine[e].classes)}
}

// takes is which part of the time that workers of an executor need to take the next unit remains without the profiler's probes; 0 if the units are not fine, or if it is little beside their work.
func (s *Session) takes(executor uint32) float64 {
	if !s.isFine(executor) {
		return 0
	}
	f := s.fine[s.family(executor)]
	cost := f.each(f.took)
	if float64(cost)*float64(f.units()) < fineCost*float64(f.work) {
		return 0
	}
	return float64(cost) * float64(f.units()) / float64(max(1, f.took))
}

// handing is how long a class that feeds an executor computes for each unit of it, if that is hardly more than it costs to hand one over, else 0.
func (s *Session) handing(class uint32) units.Ns {
	e := s.feeds(class).executor
	if e == 0 || !s.isFine(e) {
		return 0
	}
	if n := s.fine[s.family(e)].each(s.work(class).between); n <= mostHanding {
		return max(1, n)
	}
	return 0
}

// median is that of what units of a class compute, if it is known: of what a recorded unit computes, what is only summed up inside it is a part.
func (s *Session) median(class uint32) (n units.Ns, known bool) {
	e := s.work(class).mostly()
	if s.mostlySummed(e) {
		n, known = s.graph.Medians[s.graph.Classes[class]]
		return n, known
	}
	if f := s.fine[s.family(e)]; f != nil && len(f.computes) > 0 {
		return f.computes[len(f.computes)/2], true
	}
	return 0, false
}

// describeFine says what is wrong with units that are too small.
func (s *Session) describeFine(o *Obstacle, why cause, of string) {
	f, class := s.fine[why.executor], s.graph.Classes[why.holder]
	n := units.Ns(f.units())
	o.Title = fmt.Sprintf("The tasks of %s are too small", class)
	o.Remedy = "Give each task more work (batches, a higher threshold for splitting)."
	if s.graph.Bulk[class] {
		o.Title = "The parts of a bulk operation (a parallel stream) are too small: " + class
		o.Remedy = "Give one call more elements, or more work for each, and leave short ones sequential."
	}
	all := text.PluralExact(f.units(), "unit", "units")
	said := []string{fmt.Sprintf("Its %s compute for %s each on average", all, units.FormatNs(f.work/n))}
	if median, known := s.median(why.holder); known {
		said[0] = fmt.Sprintf("Half of its %s compute for %s or less", all, units.FormatNs(median))
	}
	if part := s.splitting(why.holder); part > 0 {
		said = append(said, fmt.Sprintf("Of what they compute, at least %s goes to making, forking and joining their parts", units.FormatPercent(part)))
	}
	if f.took >= n {
		took := fmt.Sprintf("To take the next one, a worker of %s computes or waits for a lock for %s, the profiler's probes included", s.executor(why.executor), units.FormatNs(f.took/n))
		for i := range s.account.Classes {
			if by := s.account.Classes[i].Class; s.feeds(by).executor == why.executor && s.handing(by) != 0 {
				took += fmt.Sprintf("; %s computes for %s for each that it hands over", s.graph.Classes[by], units.FormatNs(s.work(by).between/n))
				break
			}
		}
		said = append(said, took)
	}
	o.Happened = strings.Join(append(said, of), ". ")
}

// mostlySummed reports whether most units of an executor are only summed up: a replay does not have them.
func (s *Session) mostlySummed(executor uint32) bool {
	s.readFineness()
	f := s.fine[s.family(executor)]
	return executor != 0 && f != nil && f.summarised > f.recorded
}

// isSummed reports whether most units of a class are only summed up.
func (s *Session) isSummed(class uint32) bool {
	n := 0
	for i := range s.graph.Graph.Sums {
		if x := &s.graph.Graph.Sums[i]; x.Class == class {
			n += x.Units
		}
	}
	c := s.classOf(class)
	return c != nil && 2*n > c.Units
}
