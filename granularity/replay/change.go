package replay

import (
	"fmt"
	"math"
	"slices"

	"stackagent/granularity/graph"
	"stackagent/internal/units"
)

// Change is a change of a program, by indices in its graph.
type Change struct {
	// Faster: a class is so many times as fast: what it computes, and what it waits for outside.
	Faster map[uint32]float64
	// Split: a submitted unit of a class becomes so many units, submitted and joined together,
	// each with its part of the time. Waits for other units remain in the first.
	Split  map[uint32]int
	Free   map[uint32]bool // locks and events of a class: nobody waits for them
	Pool   map[uint32]int  // workers of an executor
	FIFO   map[uint32]bool // an executor gives its workers the oldest unit first
	Pauses map[uint32]bool // collections for a reason: nobody waits for them
	Unpin  bool            // units never keep their workers while they wait
	Prompt bool            // who polls for the end of a unit continues when it ends
	// Together: units that submit others one by one submit all of them, and then wait for what they waited for in between.
	Together map[uint32]bool
	// Room: waits at a place for room in a queue that is full, by their class and site, which would have any.
	Room map[[2]uint32]bool
	// Chains: a unit of a class submits the next one of it first.
	Chains map[uint32]bool
	// Meanwhile: units that wait for others which they submitted compute first, and then wait.
	Meanwhile map[uint32]bool
	CPUs      int // 0: as they were
}

// MaxParts bounds into how many parts a unit can be split.
const MaxParts = 10_000

// Apply is the graph with the changes made. g is not changed.
func Apply(g *graph.Graph, c Change) (*graph.Graph, error) {
	out := *g
	out.Steps, out.Units = slices.Clone(g.Steps), slices.Clone(g.Units)
	out.Resources, out.Executors = slices.Clone(g.Resources), slices.Clone(g.Executors)
	for class, f := range c.Faster {
		if !(f > 0) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("%s: %v times as fast: use a number above 0", g.Classes[class], f)
		}
	}
	for i := range out.Steps {
		s := &out.Steps[i]
		s.Pinned = s.Pinned && !c.Unpin
		if c.Prompt && s.Kind == graph.Join && s.Wait != 0 && g.Waits[s.Wait].Kind == "sleep" {
			s.Len = 0
		}
		if s.Kind == graph.Outside && s.Cause == graph.Collector && c.Pauses[s.On] {
			s.Len = 0
		}
		if s.Kind == graph.Join && g.Units[s.On].Background { // it ends when it is told to
			*s = graph.Step{Class: s.Class}
		}
		if s.Wait != 0 && g.Waits[s.Wait].Room && c.Room[[2]uint32{g.Waits[s.Wait].Class, g.Waits[s.Wait].Site}] {
			*s = graph.Step{Class: s.Class}
		}
		if f, ok := c.Faster[s.Class]; ok && (s.Kind == graph.Compute || s.Kind == graph.Outside && s.Cause != graph.Collector) {
			s.Len = units.Ns(math.Round(math.Min(float64(s.Len)/f, 1e18)))
		}
	}
	if len(c.Together)+len(c.Meanwhile) > 0 {
		by := signallers(g)
		for u := range c.Together {
			steps := out.Steps[out.Units[u].First:][:out.Units[u].N]
			joinsLast(g, by, &out.Units[u], steps, lastSubmit(steps)+1)
		}
		for u := range c.Meanwhile {
			joinsLast(g, by, &out.Units[u], out.Steps[out.Units[u].First:][:out.Units[u].N], int(out.Units[u].N))
		}
	}
	if len(c.Chains) > 0 {
		for i := range out.Units {
			if class := out.Units[i].Class; c.Chains[class] {
				slices.SortStableFunc(out.Steps[out.Units[i].First:][:out.Units[i].N], func(x, y graph.Step) int { return first(g, y, class) - first(g, x, class) })
			}
		}
	}
	for i := range out.Resources {
		c.resource(&out.Resources[i])
	}
	for executor := range c.FIFO {
		out.Executors[executor].Order = graph.FIFO
	}
	for executor, n := range c.Pool {
		if n < 1 {
			return nil, fmt.Errorf("%s: %d workers: use 1 or more", g.Executors[executor].Name, n)
		}
		out.Executors[executor].Workers = n
	}
	if c.CPUs > 0 {
		out.CPUs = c.CPUs
	}
	if len(c.Split) == 0 {
		return &out, out.Check()
	}
	return split(&out, c.Split)
}

// first is 1 for the submission of a unit of a class, else 0.
func first(g *graph.Graph, s graph.Step, class uint32) int {
	if s.Kind == graph.Submit && g.Units[s.On].Class == class {
		return 1
	}
	return 0
}

// signallers are the units that raise events.
func signallers(g *graph.Graph) map[uint32]uint32 {
	by := map[uint32]uint32{}
	for i := range g.Units {
		for _, s := range g.StepsOf(i) {
			if s.Kind == graph.Signal {
				by[s.On] = uint32(i)
			}
		}
	}
	return by
}

// lastSubmit is the last step that submits; -1: none does.
func lastSubmit(steps []graph.Step) (last int) {
	last = -1
	for k, s := range steps {
		if s.Kind == graph.Submit {
			last = k
		}
	}
	return last
}

// joinsLast moves the waits for units that a unit submitted behind its first steps.
func joinsLast(g *graph.Graph, by map[uint32]uint32, u *graph.Unit, steps []graph.Step, first int) {
	submitted := map[uint32]bool{}
	for _, s := range steps {
		if s.Kind == graph.Submit {
			submitted[s.On] = true
		}
	}
	waits := func(s *graph.Step) bool {
		on := s.On
		switch s.Kind {
		case graph.Await:
			unit, known := by[s.On]
			if on = unit; !known {
				return false
			}
		case graph.Join:
		default:
			return false
		}
		return submitted[on] && g.Units[on].Thread != u.Thread
	}
	var joins []graph.Step
	n := 0
	for _, s := range steps[:first] {
		if waits(&s) {
			joins = append(joins, s)
			continue
		}
		steps[n] = s
		n++
	}
	copy(steps[n:], joins)
}

func (c *Change) resource(r *graph.Resource) {
	r.Free = r.Free || (r.Kind == graph.Lock || r.Kind == graph.Event) && c.Free[r.Class]
}

// untimed is the graph in which polls take no time, and nobody waits for units that are due at a time that was asked for, nor for what they
// submit or signal; and whether it has any.
func untimed(g *graph.Graph) (out *graph.Graph, any bool) {
	out = &graph.Graph{}
	*out = *g
	out.Steps, out.Units, out.Resources = slices.Clone(g.Steps), slices.Clone(g.Units), slices.Clone(g.Resources)
	timed := timedUnits(g)
	for i := range out.Units {
		u := &out.Units[i]
		any, u.Beside = any || timed[i], u.Beside || timed[i]
		for k := range out.StepsOf(i) {
			switch s := &out.Steps[u.First+uint32(k)]; {
			case s.Kind == graph.Outside && s.Cause == graph.Poll:
				any, s.Len = any || s.Len > 0, 0
			case s.Kind == graph.Signal && timed[i]:
				out.Resources[s.On].Free = true
			case s.Kind == graph.Join && timed[s.On]:
				s.Kind, s.Len = graph.Compute, 0
			}
		}
	}
	return out, any
}

// timedUnits are those that are due at a time that was asked for, and those that they submit.
func timedUnits(g *graph.Graph) []bool {
	timed, left := make([]bool, len(g.Units)), []int(nil)
	for i := range g.Units {
		if g.Units[i].Timed {
			timed[i], left = true, append(left, i)
		}
	}
	for len(left) > 0 {
		steps := g.StepsOf(left[0])
		for left = left[1:]; len(steps) > 0; steps = steps[1:] {
			if s := &steps[0]; s.Kind == graph.Submit && !timed[s.On] {
				timed[s.On], left = true, append(left, int(s.On))
			}
		}
	}
	return timed
}

// splitter rewrites a graph.
type splitter struct {
	g     *graph.Graph
	into  []int    // by unit: the number of parts
	first []uint32 // by unit: index of the second part; they follow each other
	out   graph.Graph
}

func split(g *graph.Graph, by map[uint32]int) (*graph.Graph, error) {
	x := splitter{g: g, into: make([]int, len(g.Units)), first: make([]uint32, len(g.Units)), out: *g}
	for class, k := range by {
		if k < 1 || k > MaxParts {
			return nil, fmt.Errorf("%s in %d parts: use 1 to %d", g.Classes[class], k, MaxParts)
		}
	}
	next := len(g.Units)
	for i := range g.Steps {
		s := &g.Steps[i]
		if s.Kind != graph.Submit {
			continue
		}
		if k := by[g.Units[s.On].Class]; k > 1 {
			x.into[s.On], x.first[s.On] = k, uint32(next)
			if next += k - 1; next > graph.MaxSteps {
				return nil, graph.ErrTooLarge
			}
		}
	}
	x.out.Units, x.out.Steps = make([]graph.Unit, 0, next), make([]graph.Step, 0, len(g.Steps))
	x.rewrite()
	x.addParts(next)
	return &x.out, x.out.Check()
}

// rewrite copies the units, submits and joins all parts where the graph does one, and leaves the units
// that are split their part of the time.
func (x *splitter) rewrite() {
	for i := range x.g.Units {
		u := x.g.Units[i]
		u.First = uint32(len(x.out.Steps))
		for _, s := range x.g.StepsOf(i) {
			if k := x.into[i]; k > 1 && s.Len > 0 && !s.Kind.Waits() {
				s.Len /= units.Ns(k)
			}
			x.out.Steps = append(x.out.Steps, s)
			if s.Kind != graph.Submit && s.Kind != graph.Join {
				continue
			}
			for part := range max(0, x.into[s.On]-1) {
				more := s
				more.On, more.Len = x.first[s.On]+uint32(part), 0
				x.out.Steps = append(x.out.Steps, more)
				if len(x.out.Steps) > graph.MaxSteps {
					return // Check refuses it
				}
			}
		}
		u.N = uint32(len(x.out.Steps)) - u.First
		x.out.Units = append(x.out.Units, u)
	}
}

// addParts appends the other parts of the units that are split, in the order of the first.
func (x *splitter) addParts(n int) {
	x.out.Units = append(x.out.Units, make([]graph.Unit, n-len(x.out.Units))...)
	of := make([]int, n)
	for i, k := range x.into {
		for part := range max(0, k-1) {
			of[int(x.first[i])+part] = i
		}
	}
	for i := len(x.g.Units); i < n; i++ {
		u := x.g.Units[of[i]]
		steps := x.g.StepsOf(of[i])
		u.First = uint32(len(x.out.Steps))
		for _, s := range steps {
			if s.Len > 0 && (s.Kind == graph.Compute || s.Kind == graph.Outside) {
				s.Len /= units.Ns(x.into[of[i]])
				x.out.Steps = append(x.out.Steps, s)
			}
		}
		u.N = uint32(len(x.out.Steps)) - u.First
		x.out.Units[i] = u
	}
}
