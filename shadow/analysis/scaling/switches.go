package scaling

import (
	"stackagent/granularity/activity"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// switches counts how often threads leave their CPU in some spans of time. Of a whole run the kernel's own counts are taken; of a part
// of it, only the record says.
type switches struct {
	spans []activity.Span // in order
	ranTo []units.MonoNs  // by thread: the end of its latest stay on a CPU
	count []session.Switches
	ran   []units.Ns // time on a CPU
}

func newSwitches(threads int, spans []activity.Span) *switches {
	return &switches{spans: spans, ranTo: make([]units.MonoNs, threads), count: make([]session.Switches, threads), ran: make([]units.Ns, threads)}
}

// watch counts in a stream that somebody else uses.
func (w *switches) watch(stream activity.Stream) activity.Stream {
	return func(use func(activity.Slice) error) error {
		return stream(func(s activity.Slice) error {
			if int(s.Thread) < len(w.count) {
				w.add(s)
			}
			return use(s)
		})
	}
}

func (w *switches) add(s activity.Slice) {
	for _, span := range w.spans {
		if s.State == activity.Running {
			w.ran[s.Thread] += activity.Span{From: s.From, To: s.To}.Cut(span).Len()
		}
	}
	switch left := w.ranTo[s.Thread] == s.From && s.From != 0 && w.inside(s.From); {
	case s.State == activity.Running:
		w.ranTo[s.Thread] = s.To
	case !left || s.State == activity.Unknown:
	case s.State == activity.Runnable:
		w.count[s.Thread].Involuntary++
	default:
		w.count[s.Thread].Voluntary++
	}
}

func (w *switches) inside(at units.MonoNs) bool {
	for _, span := range w.spans {
		if at >= span.From && at < span.To {
			return true
		}
	}
	return false
}
