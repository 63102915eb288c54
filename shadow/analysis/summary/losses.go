package summary

import (
	"maps"

	"stackagent/shadow/store"
)

// LostInGaps is the reason for events of batches that never arrived: the bus
// has dropped them as too old, a disk has given them back damaged, or they were in
// the memory of a JVM that was killed.
const LostInGaps = "batches that never arrived"

// Lost counts what was produced and is not in the session. The reasons add up to
// Events, without pauses.
type Lost struct {
	Events   uint64            `json:"events" null:"unknown"`
	Switches uint64            `json:"switches" null:"unknown"`
	Batches  uint64            `json:"batches" null:"unknown"`
	ByReason map[string]uint64 `json:"by_reason,omitempty"`
}

// LostOf is what a manifest says was lost.
func LostOf(l *store.Lost) Lost {
	reasons := l.ByReason
	if l.InGaps > 0 {
		reasons = maps.Clone(reasons)
		if reasons == nil {
			reasons = map[string]uint64{}
		}
		reasons[LostInGaps] += l.InGaps
	}
	return Lost{Events: l.Events, Switches: l.Switches, Batches: l.Batches, ByReason: reasons}
}
