package account

import (
	"cmp"
	"slices"
	"sort"

	"stackagent/internal/units"
)

// Inflation is that units of a class take more CPU time when others compute at the same time.
type Inflation struct {
	Class         uint32
	Alone, Beside units.Ns // the mean CPU time of a unit: alone, and when another unit computes meanwhile
	Of            [2]int   // of how many units each
	Extra         units.Ns // summed, what those beside others took more than the mean alone
}

// Units are compared if there are at least leastCompared of each kind, of leastLength on average: of shorter ones much is the cost of handing
// them over, which depends on who else does. A unit is alone if on average fewer than mostAlone others compute
// while it does, and beside others if at least leastBeside do. The means differ by the factor inflated, and a unit beside others takes longer
// than one alone in surely of all pairs: where two change the same memory, one of them may be as fast as alone.
const (
	leastCompared = 10
	leastLength   = units.Ns(200_000)
	mostAlone     = 0.25
	leastBeside   = 0.75
	inflated      = 1.4
	surely        = 0.7
)

// inflations are the classes whose units take notably more CPU time when others compute at the same time, by class. Units of different sizes have the same chance of either kind unless the program orders them.
func (b *book) inflations() (list []Inflation) {
	cpu, meanwhile := make([]units.Ns, len(b.g.Units)), make([]units.Ns, len(b.g.Units))
	steps := b.cpuSteps()
	computing := computingOf(steps)
	for _, x := range steps {
		n := x.cpu()
		cpu[x.unit] += n
		meanwhile[x.unit] += units.Ns(x.part * (computing.until(x.to) - computing.until(x.from) - float64(n)))
	}
	alone, beside := map[uint32][]span{}, map[uint32][]span{} // by class: spans as long as the CPU time of a unit
	for i := range b.g.Units {
		x, class := span{uint32(i), b.s.Start[i].At, b.s.Start[i].At + cpu[i]}, b.g.Units[i].Class
		switch others := float64(meanwhile[i]) / float64(max(1, cpu[i])); {
		case cpu[i] == 0:
		case others < mostAlone:
			alone[class] = append(alone[class], x)
		case others >= leastBeside:
			beside[class] = append(beside[class], x)
		}
	}
	for class, of := range beside {
		if x, ok := compare(alone[class], of); ok {
			x.Class = class
			list = append(list, x)
		}
	}
	slices.SortFunc(list, func(x, y Inflation) int { return cmp.Compare(x.Class, y.Class) })
	return list
}

// compare compares units alone with those beside others. Code gets faster as it warms up: of those alone only the later half counts, and of
// those beside others, too, unless they mostly ran after those.
func compare(alone, beside []span) (x Inflation, ok bool) {
	if len(alone) < leastCompared || len(beside) < leastCompared {
		return x, false
	}
	x.Of = [2]int{len(alone), len(beside)}
	sortByStart(alone)
	sortByStart(beside)
	later := beside
	if beside[len(beside)/2].from < alone[len(alone)/2].from {
		later = beside[len(beside)/2:]
	}
	alone = alone[len(alone)/2:]
	x.Alone, x.Beside = mean(alone), mean(later)
	if x.Alone < leastLength || float64(x.Beside) < inflated*float64(x.Alone) {
		return x, false
	}
	lengths := make([]units.Ns, len(alone))
	for i, u := range alone {
		lengths[i] = u.to - u.from
	}
	slices.Sort(lengths)
	above := 0 // pairs in which the one alone is shorter
	for _, u := range later {
		above += sort.Search(len(lengths), func(i int) bool { return lengths[i] >= u.to-u.from })
	}
	for _, u := range beside {
		x.Extra += u.to - u.from - x.Alone
	}
	return x, x.Extra > 0 && float64(above) >= surely*float64(len(lengths)*len(later))
}

func sortByStart(list []span) {
	slices.SortFunc(list, func(x, y span) int { return cmp.Compare(x.from, y.from) })
}

func mean(list []span) (sum units.Ns) {
	for _, x := range list {
		sum += x.to - x.from
	}
	return sum / units.Ns(max(1, len(list)))
}

// cpuStep is a step that computes, and the part of its time for which it had a CPU.
type cpuStep struct {
	span
	part float64
}

func (x cpuStep) cpu() units.Ns { return units.Ns(x.part * float64(x.to-x.from)) }

// cpuSteps are the steps of the program's own units that compute. A step may be ready for a CPU for a part of its time: others had it.
func (b *book) cpuSteps() (list []cpuStep) {
	for _, x := range b.computes {
		if u := &b.g.Units[x.unit]; !u.Beside {
			k := u.First + uint32(b.stepAt(x.unit, x.from))
			list = append(list, cpuStep{x, min(1, float64(b.g.Steps[k].Len)/float64(x.to-x.from))})
		}
	}
	return list
}

// computing is how many steps compute, by time.
type computing struct {
	at       []units.Ns
	sum, now []float64 // the integral until then, and how many compute from then on
}

func computingOf(steps []cpuStep) (c computing) {
	type edge struct {
		at units.Ns
		by float64
	}
	list := make([]edge, 0, 2*len(steps))
	for _, x := range steps {
		list = append(list, edge{x.from, x.part}, edge{x.to, -x.part})
	}
	slices.SortFunc(list, func(x, y edge) int { return cmp.Compare(x.at, y.at) })
	sum, now := 0.0, 0.0
	for i, x := range list {
		if i > 0 {
			sum += now * float64(x.at-list[i-1].at)
		}
		now += x.by
		c.at, c.sum, c.now = append(c.at, x.at), append(c.sum, sum), append(c.now, now)
	}
	return c
}

// until is the integral until a moment.
func (c *computing) until(t units.Ns) float64 {
	i := sort.Search(len(c.at), func(i int) bool { return c.at[i] > t }) - 1
	if i < 0 {
		return 0
	}
	return c.sum[i] + c.now[i]*float64(t-c.at[i])
}
