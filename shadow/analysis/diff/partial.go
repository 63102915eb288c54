package diff

import (
	"slices"

	"stackagent/granularity/estimate"
)

// partial reports whether executions are missing in a run of a side.
func partial(runs []*Run) bool {
	return slices.ContainsFunc(runs, func(r *Run) bool { return r.Partial })
}

// bound takes back what is no figure of a side of which a part is missing: means, and all that compares.
func (x *Figure) bound(f figure, a, b bool) {
	if !a && !b {
		return
	}
	none := estimate.Mean(nil)
	if a && !f.sum {
		x.A = none
	}
	if b && !f.sum {
		x.B = none
	}
	x.Change, x.Effect, x.P, x.Verdict = none, nil, nil, NotKnown
	x.aAtLeast, x.bAtLeast = a && f.sum, b && f.sum
}
