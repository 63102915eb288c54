package graph

import (
	"cmp"
	"slices"
)

// byTask has the units of tasks by start. Most tasks have one.
type byTask struct {
	of    map[uint64]uint32 // the unit, or several + an index in lists
	lists [][]uint32
	one   [1]uint32
}

// several marks tasks with several units: their numbers are below it.
const several = 1 << 31

func newByTask(tasks int) *byTask { return &byTask{of: make(map[uint64]uint32, tasks)} }

// add adds a unit of a task; those of each are in order after sort.
func (b *byTask) add(task uint64, unit uint32) {
	switch n, known := b.of[task]; {
	case !known:
		b.of[task] = unit
	case n&several == 0:
		b.of[task] = several | uint32(len(b.lists))
		b.lists = append(b.lists, []uint32{n, unit})
	default:
		b.lists[n&^several] = append(b.lists[n&^several], unit)
	}
}

func (b *byTask) sort(all []unitOf) {
	for _, list := range b.lists {
		slices.SortFunc(list, func(i, j uint32) int { return cmp.Compare(all[i].start, all[j].start) })
	}
}

// units are those of a task, until the next call.
func (b *byTask) units(task uint64) []uint32 {
	switch n, known := b.of[task]; {
	case !known:
		return nil
	case n&several == 0:
		b.one[0] = n
		return b.one[:]
	default:
		return b.lists[n&^several]
	}
}
