package wait

import (
	"cmp"
	"maps"
	"slices"

	"stackagent/granularity/waiting"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// Stack is where threads waited for something. Those of long waits are whole; of others the nearest frame of the program is
// known, or none.
type Stack struct {
	What
	Frames   []*session.Site // innermost first; nil: not known
	WaitedNs units.Ns

	order stackKey
}

type stackKey struct{ what, context, site uint32 }

// Stacks are the waits that were recorded one by one, by stack; those of workers without work are left out.
func (a *Analysis) Stacks() ([]*Stack, error) {
	contexts, err := a.s.WaitContexts()
	if err != nil {
		return nil, err
	}
	stacks := map[stackKey]*Stack{}
	for i := range a.waits {
		w := &a.waits[i]
		if w.Part == waiting.Idle {
			continue
		}
		k := stackKey{w.What, w.Context, w.Site}
		if contexts[k.context] != nil {
			k.site = 0
		}
		s := stacks[k]
		if s == nil {
			s = &Stack{What: a.whats[w.What], Frames: contexts[k.context], order: k}
			if site := a.s.SiteByID(k.site); s.Frames == nil && site != nil {
				s.Frames = []*session.Site{site}
			}
			stacks[k] = s
		}
		s.WaitedNs += units.Ns(w.To - w.From)
	}
	return slices.SortedFunc(maps.Values(stacks), func(x, y *Stack) int {
		return cmp.Or(cmp.Compare(y.WaitedNs, x.WaitedNs), cmp.Compare(x.order.what, y.order.what), cmp.Compare(x.order.context, y.order.context), cmp.Compare(x.order.site, y.order.site))
	}), nil
}
