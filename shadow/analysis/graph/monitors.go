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

// afterLeaving is the most that may lie between when a virtual thread leaves a monitor and when the next one is ready: a thread of the JDK makes it so.
const afterLeaving = 5_000_000

// nameLeavers sets who ended the waits of virtual threads for monitors: who left one computed shortly before.
func (r *reader) nameLeavers(left map[entry]uint32) {
	for id, t := range r.rec.threads {
		for i := range t.pieces {
			p := &t.pieces[i]
			if !t.virtual || !p.lock || p.by != 0 {
				continue
			}
			if by := r.rec.threads[left[entry{p.Span, id}]]; by != nil && p.To-by.computed(p.To) <= afterLeaving {
				p.by = by.id
			}
		}
	}
}

// computed is when a thread was last on a CPU, or ready for one, up to a time.
func (t *threadOf) computed(at units.MonoNs) units.MonoNs {
	n, _ := slices.BinarySearchFunc(t.pieces, at, func(p piece, at units.MonoNs) int { return cmp.Compare(p.From, at) })
	for n--; n >= 0; n-- {
		if !t.pieces[n].waits() {
			return min(at, t.pieces[n].To)
		}
	}
	return 0
}
