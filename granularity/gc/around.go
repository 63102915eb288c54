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

// Without are the parts of spans outside the holes. Both are in order, and neither overlap among themselves.
func Without(spans, holes []activity.Span) []activity.Span {
	var out []activity.Span
	for _, s := range spans {
		for len(holes) > 0 && holes[0].To <= s.From {
			holes = holes[1:]
		}
		for _, h := range holes {
			if h.From >= s.To {
				break
			}
			if h.From > s.From {
				out = append(out, activity.Span{From: s.From, To: h.From})
			}
			s.From = min(h.To, s.To)
		}
		if s.Len() > 0 {
			out = append(out, s)
		}
	}
	return out
}
