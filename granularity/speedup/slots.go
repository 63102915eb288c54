package speedup

import (
	"maps"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

// slotTime is the share of the time from which a number of threads counts: threads that end while others begin overlap.
const slotTime = 0.05

// planSlots notes when the workers of each pool exist, up to the end of the pool's last task.
func (s *sweep) planSlots(lives map[string][]activity.Span, seg Segment) {
	for _, pool := range lives {
		until := seg.From
		for i := 0; i < len(pool); i += 2 {
			until = max(until, pool[i].To)
		}
		for i := 1; i < len(pool); i += 2 {
			if there := pool[i].Cut(activity.Span{From: seg.From, To: until}); there.Len() > 0 {
				s.note(change{at: there.From, what: slotBegins})
				s.note(change{at: there.To, what: slotEnds})
			}
		}
	}
}

// mostSlots is Account.Slots.
func (s *sweep) mostSlots() (most int) {
	all := units.Ns(0)
	for _, d := range s.slotTime {
		all += d
	}
	numbers := slices.Sorted(maps.Keys(s.slotTime))
	slices.Reverse(numbers)
	above := units.Ns(0)
	for _, n := range numbers {
		if above += s.slotTime[n]; float64(above) >= slotTime*float64(all) {
			return n
		}
	}
	return 0
}
