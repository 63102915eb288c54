package summary

import (
	"math"
	"testing"

	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// Which figures are exact, within a margin, bounds or not known, by what the manifest says.
func TestDoubts(t *testing.T) {
	inf := math.Inf(1)
	type figures map[string][2]float64 // below, above; a figure that is not there is exact
	part := figures{
		"tasks.executions": {0, inf}, "tasks.classes": {0, inf}, "tasks.running": {0, inf}, "tasks.never_executed": {inf, 0}, "metrics.*.sum": {0, inf},
		"metrics.*.max": {0, inf}, "metrics.*.mean": {inf, inf}, "metrics.*.p99": {inf, inf}, "metrics.*.min": {inf, inf}, "gc.max_ns": {0, inf},
		"gc.share": {inf, inf}, "waits": {0, inf}, "work_share": {inf, inf}, "work_ns": {0, inf},
	}
	flat := figures{"work_ns": {inf, inf}, "metrics.self_cpu_ns.sum": {inf, inf}, "metrics.self_cpu_ns.max": {inf, inf}}
	for name, want := range part {
		if _, there := flat[name]; !there {
			flat[name] = want
		}
	}
	for name, c := range map[string]struct {
		m    store.Manifest
		want figures
	}{
		"complete":     {store.Manifest{Ended: store.EndedExit}, figures{}},
		"ring full":    {store.Manifest{Ended: store.EndedExit, Lost: store.Lost{Events: 7}}, figures{"tasks.executions": {0, 7}, "tasks.never_executed": {7, 7}}},
		"without end":  {store.Manifest{Ended: store.EndedLostContact, DurationNs: 5}, figures{"tasks.running": {inf, inf}, "tasks.never_executed": {inf, 0}}},
		"batches lost": {store.Manifest{Ended: store.EndedExit, Lost: store.Lost{Batches: 1}}, part},
		"part":         {store.Manifest{Ended: store.EndedExit, PartOf: []string{"only 2 executions"}}, flat},
	} {
		s := &Summary{Incomplete: session.IncompleteOf(&c.m), Lost: LostOf(&c.m.Lost)}
		rows, whole := s.RowDoubts(), s.Doubts()
		for f := range flat {
			d, there := whole[f]
			if !there {
				d = rows[f]
			}
			if want := c.want[f]; d.Below != want[0] || d.Above != want[1] {
				t.Errorf("%s: %s: less %v, plus %v; want %v", name, f, d.Below, d.Above, want)
			}
		}
	}
}
