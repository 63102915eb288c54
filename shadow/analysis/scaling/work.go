package scaling

import (
	"slices"

	"stackagent/granularity/activity"
	"stackagent/granularity/bottle"
	"stackagent/granularity/gc"
	"stackagent/shadow/session"
)

// workOf is what the threads did in the windows of the graphs, but for the waits in futexes.
func workOf(s *session.Session, a *session.Activity, graphs []*bottle.Graph) gc.Work {
	w := gc.Work{NoWaits: a.NoFutexes()}
	pauses := s.Spans()
	for _, g := range graphs {
		w.Add(g)
		d := gc.Describe(pauses, activity.Span{From: g.From, To: g.To})
		w.Collections += d.Count
		w.PauseNs += d.Total
	}
	if !slices.ContainsFunc(a.Threads, func(t activity.Thread) bool { return t.Kind == activity.KindGC }) && len(pauses) > 0 {
		w.NoGC = "this collector has no threads of its own: it works in the VM thread"
	}
	return w
}
