package gc

import "stackagent/granularity/activity"

// Around are those of the stops in which a pause lies: the collections, with what it took to reach their safepoints and
// to leave them. Stops and pauses are in order, and neither overlap among themselves.
func Around(stops, pauses []activity.Span) []activity.Span {
	var out []activity.Span
	for _, s := range stops {
		for len(pauses) > 0 && pauses[0].To <= s.From {
			pauses = pauses[1:]
		}
		if len(pauses) > 0 && pauses[0].From < s.To {
			out = append(out, s)
		}
	}
	return out
}
