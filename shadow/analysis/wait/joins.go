package wait

import (
	"cmp"
	"slices"

	"stackagent/internal/units"
	"stackagent/shadow/store"
)

// virtualEnd is when a virtual thread left its carrier for good.
type virtualEnd struct {
	carrier, thread uint32
	at              units.MonoNs
}

func compareEnds(x, y virtualEnd) int {
	return cmp.Or(cmp.Compare(x.carrier, y.carrier), cmp.Compare(x.at, y.at))
}

// readEnds reads them once.
func (a *Analysis) readEnds() error {
	if a.endsRead {
		return nil
	}
	a.endsRead = true
	err := a.s.VirtualThreads(func(r *store.VirtualThread) {
		if r.Thread != 0 && !r.Alive && len(a.ends) < maxUnits {
			a.ends = append(a.ends, virtualEnd{r.Last, r.Thread, units.MonoNs(r.AtNs)})
		}
	})
	slices.SortFunc(a.ends, compareEnds)
	return err
}

// endedOn is the virtual thread that ended on a carrier at last before to, and after from: the carrier then wakes those that join
// it. 0: none.
func (a *Analysis) endedOn(carrier uint32, from, to units.MonoNs) uint32 {
	i, _ := slices.BinarySearchFunc(a.ends, virtualEnd{carrier: carrier, at: to + 1}, compareEnds)
	if i == 0 || a.ends[i-1].carrier != carrier || a.ends[i-1].at < from {
		return 0
	}
	return a.ends[i-1].thread
}
