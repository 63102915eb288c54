package graph

import (
	"cmp"
	"slices"

	"stackagent/internal/units"
)

// left is a time at which a unit left its carrier, at the end of a step.
type left struct {
	at   units.MonoNs
	step stepRef
}

// leaves notes that a unit leaves its carrier, if it has one: it ends, or begins to wait.
func (a *assembly) leaves(u *unitOf, at units.MonoNs, pinned bool) {
	if !pinned && u.steps > 0 && a.carriers != 0 && a.b.At(u.at-1).Executor == a.carriers {
		a.left = append(a.left, left{at, u.last()})
	}
}

// carrierFor is the step after which the carrier was free on which a unit started: the last one that freed a carrier since the unit was due.
func (a *assembly) carrierFor(due, start units.MonoNs) stepRef {
	i, _ := slices.BinarySearchFunc(a.left, start, func(l left, at units.MonoNs) int { return cmp.Compare(l.at, at+1) })
	if i == 0 || a.left[i-1].at <= due {
		return stepRef{}
	}
	return a.left[i-1].step
}
