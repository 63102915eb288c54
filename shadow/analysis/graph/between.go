package graph

import (
	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

// between are the waits of a thread, which computes in between, from its first unit to its last one.
func (r *reader) between(t *threadOf, waits []piece) (out []piece) {
	at, end := units.MonoNs(0), units.MonoNs(0)
	for _, i := range t.units {
		u := &r.rec.units[i]
		if at == 0 || u.start < at {
			at = u.start
		}
		end = max(end, u.end)
	}
	run := func(to units.MonoNs) {
		if at == 0 || to <= at {
			return
		}
		r.rec.divide(activity.Span{From: at, To: to}, func(part activity.Span, paused bool) {
			p := piece{Span: part, state: activity.Stalled}
			if !paused {
				p.state, p.run = activity.Running, part.Len()
			}
			out = append(out, p)
		})
	}
	for _, w := range waits {
		if w.From < at || w.To > end {
			continue
		}
		run(w.From)
		out, at = append(out, w), w.To
	}
	run(end)
	return out
}
