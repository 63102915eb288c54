package graph

import (
	"cmp"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

// entry is a wait for a monitor, which its thread entered then.
type entry struct {
	activity.Span
	thread uint32
}

// leavers finds who left a monitor when another thread entered it after a wait: nothing records that of virtual threads. It is the thread that had entered the monitor
// before, if it had to wait for it, too. One that finds a monitor free is not recorded.
func leavers(entered map[uint32][]entry) map[entry]uint32 {
	out := map[entry]uint32{}
	for _, list := range entered {
		slices.SortFunc(list, func(x, y entry) int { return cmp.Compare(x.To, y.To) })
		for i := 1; i < len(list); i++ {
			if before := &list[i-1]; before.thread != list[i].thread && before.To > list[i].From {
				out[list[i]] = before.thread
			}
		}
	}
	return out
}

// nameLeavers sets who ended the waits of virtual threads for monitors: who left one computed just before.
func (r *reader) nameLeavers(left map[entry]uint32) {
	for id, t := range r.rec.threads {
		for i := range t.pieces {
			p := &t.pieces[i]
			if !t.virtual || !p.lock || p.by != 0 {
				continue
			}
			if by := r.rec.threads[left[entry{p.Span, id}]]; by != nil && by.computed(p.To-afterEnd, p.To) {
				p.by = by.id
			}
		}
	}
}

// computed reports whether a thread was on a CPU, or ready for one, in a time.
func (t *threadOf) computed(from, to units.MonoNs) bool {
	i, _ := slices.BinarySearchFunc(t.pieces, from, func(p piece, from units.MonoNs) int { return cmp.Compare(p.To, from+1) })
	for ; i < len(t.pieces) && t.pieces[i].From < to; i++ {
		if !t.pieces[i].waits() {
			return true
		}
	}
	return false
}
