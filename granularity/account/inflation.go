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
	cpu, meanwhile := b.beside()
	alone, beside := map[uint32][]uint32{}, map[uint32][]uint32{} // units, by class
	for i := range b.g.Units {
		class := b.g.Units[i].Class
		switch others := float64(meanwhile[i]) / float64(max(1, cpu[i])); {
		case cpu[i] == 0:
		case others < mostAlone:
			alone[class] = append(alone[class], uint32(i))
		case others >= leastBeside:
			beside[class] = append(beside[class], uint32(i))
		}
	}
	for class, of := range beside {
		if x, ok := b.compare(alone[class], of, cpu); ok {
			x.Class = class
			list = append(list, x)
		}
	}
	slices.SortFunc(list, func(x, y Inflation) int { return cmp.Compare(x.Class, y.Class) })
	return list
}

// compare compares units alone with those beside others. Code gets faster as it warms up: of those alone only the later half counts, and of
// those beside others, too, unless they mostly ran after those.
func (b *book) compare(alone, beside []uint32, cpu []units.Ns) (x Inflation, ok bool) {
	if len(alone) < leastCompared || len(beside) < leastCompared {
		return x, false
	}
	x.Of = [2]int{len(alone), len(beside)}
	b.sortByStart(alone)
	b.sortByStart(beside)
	later := beside
	if b.s.Start[beside[len(beside)/2]].At < b.s.Start[alone[len(alone)/2]].At {
		later = beside[len(beside)/2:]
	}
	alone = alone[len(alone)/2:]
	x.Alone, x.Beside = mean(alone, cpu), mean(later, cpu)
	if x.Alone < leastLength || float64(x.Beside) < inflated*float64(x.Alone) {
		return x, false
	}
	lengths := make([]units.Ns, len(alone))
	for i, u := range alone {
		lengths[i] = cpu[u]
	}
	slices.Sort(lengths)
	above := 0 // pairs in which the one alone is shorter
	for _, u := range later {
		above += sort.Search(len(lengths), func(i int) bool { return lengths[i] >= cpu[u] })
	}
	for _, u := range beside {
		x.Extra += cpu[u] - x.Alone
	}
	return x, x.Extra > 0 && float64(above) >= surely*float64(len(lengths)*len(later))
}

func (b *book) sortByStart(list []uint32) {
	slices.SortFunc(list, func(x, y uint32) int { return cmp.Compare(b.s.Start[x].At, b.s.Start[y].At) })
}

func mean(list []uint32, cpu []units.Ns) (sum units.Ns) {
	for _, u := range list {
		sum += cpu[u]
	}
	return sum / units.Ns(max(1, len(list)))
}

// beside is the CPU time of each of the program's own units, and how much other units computed meanwhile. A step may be ready for a CPU for a part of its
// time: others had it.
func (b *book) beside() (cpu, meanwhile []units.Ns) {
	cpu, meanwhile = make([]units.Ns, len(b.g.Units)), make([]units.Ns, len(b.g.Units))
	begin, end := make([]uint32, 0, len(b.computes)), make([]uint32, 0, len(b.computes)) // indices in computes, by start and end
	for i := range b.computes {
		if !b.g.Units[b.computes[i].unit].Beside {
			begin, end = append(begin, uint32(i)), append(end, uint32(i))
		}
	}
	slices.SortFunc(end, func(i, j uint32) int { return cmp.Compare(b.until(&b.computes[i]), b.until(&b.computes[j])) })
	before := make([]float64, len(b.computes)) // what all had computed as a step began
	all, now, at := 0.0, 0.0, units.Ns(0)      // what all computed so far, on how many CPUs, and when that was
	to := func(t units.Ns) {
		all += now * float64(t-at)
		at = t
	}
	for _, i := range end {
		x := &b.computes[i]
		for len(begin) > 0 && b.computes[begin[0]].from < b.until(x) {
			begins := begin[0]
			to(b.computes[begins].from)
			before[begins], now, begin = all, now+b.share(&b.computes[begins]), begin[1:]
		}
		to(b.until(x))
		part := b.share(x)
		now -= part
		n := units.Ns(part * float64(b.until(x)-x.from))
		cpu[x.unit] += n
		meanwhile[x.unit] += units.Ns(part * (all - before[i] - float64(n)))
	}
	return cpu, meanwhile
}

// share is the part of its time for which a step that computes had a CPU.
func (b *book) share(x *computing) float64 {
	return min(1, float64(b.g.Steps[x.step].Len)/float64(b.until(x)-x.from))
}
