package account

import (
	"fmt"

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
		for _, x := range s.graph.StepsOf(i) {
			if x.Kind == graph.Compute {
				f.work += x.Len
			}
		}
	}
	for i := range s.graph.Graph.Sums {
		x := &s.graph.Graph.Sums[i]
		f := of(x.Executor)
		f.summarised, f.work, f.took = f.summarised+int64(x.Units), f.work+x.CPU, f.took+x.Took
		f.classes[x.Class] += int64(x.Units)
	}
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
	o.Happened = fmt.Sprintf("Its %s compute for %s each on average. To take the next one, a worker of %s computes or waits for a lock for %s, the profiler's probes included", text.PluralExact(f.units(), "unit", "units"),
		units.FormatNs(f.work/n), s.executor(why.executor), units.FormatNs(f.took/n))
	for i := range s.account.Classes {
		if by := s.account.Classes[i].Class; s.feeds(by).executor == why.executor && s.handing(by) != 0 {
			o.Happened += fmt.Sprintf("; %s computes for %s for each that it hands over", s.graph.Classes[by], units.FormatNs(s.work(by).between/n))
			break
		}
	}
	o.Happened += ". " + of
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
