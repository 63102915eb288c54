package advice

import (
	"slices"

	"stackagent/granularity"
	"stackagent/internal/text"
	"stackagent/internal/units"
)

// ExecutionsOf is the evidence about the executions of one class, if units are unknown.
type ExecutionsOf struct {
	Of             text.Population    `json:"-"`
	Metric         granularity.Metric `json:"-"`
	Site           string             `json:"site,omitempty"` // the site of all its tasks
	Count          int64              `json:"executions"`
	Median         units.Ns           `json:"median_ns"`
	Max            units.Ns           `json:"max_ns"`
	ExecutionShare float64            `json:"execution_share"`
	WorkShare      float64            `json:"work_share"`
	SessionShare   float64            `json:"max_of_session_share"`
}

func (s *search) executionsOf(r *granularity.Hotspot) ExecutionsOf {
	m := r.WorkMetric()
	d := r.Metrics[m]
	return ExecutionsOf{Of: s.Of, Metric: m, Site: s.Sites[r.Class], Count: d.Count, Median: d.P50, Max: d.Max,
		ExecutionShare: r.ExecutionShare, WorkShare: r.WorkShare, SessionShare: float64(d.Max) / float64(max(1, s.Duration))}
}

// FineExecutions are many tiny executions.
type FineExecutions struct {
	ExecutionsOf
	First bool `json:"-"` // only the first finding gives the reason and the remedy
}

// fineExecutions finds classes with many tiny executions, whose submissions can cost as
// much as their work and add up to a share of the session. Wrappers do little themselves, so what runs inside them counts.
func fineExecutions(s *search) []Finding {
	var out []Finding
	for _, r := range ownTasks(s.Rows, granularity.ByCount) {
		m := r.WorkMetric()
		d := r.Metrics[m]
		if len(out) == maxNamed || d.Count < s.t.FineUnits || max(d.P50, r.Metrics[inclusive(m)].P50, r.Metrics[granularity.Wall].P50) >= s.t.FineWork || r.ExecutionShare < s.t.FineShare ||
			float64(units.Ns(s.submitted(&r, d.Count))*leastCost) < s.t.FineGain*float64(s.time(s.Duration)) {
			continue
		}
		out = append(out, Finding{Class: r.Class, Evidence: &FineExecutions{s.executionsOf(&r), len(out) == 0}, Predicted: &Predicted{Why: errNoUnits.Error()}})
	}
	return out
}

// submitted is how many of n executions of a class somebody submitted; n if the session does not say.
func (s *search) submitted(r *granularity.Hotspot, n int64) int64 {
	if slices.ContainsFunc(s.Rows, func(r granularity.Hotspot) bool { return r.Queue().Count > 0 }) {
		return min(n, r.Queue().Count)
	}
	return n
}

// inclusive is the metric that includes nested executions.
func inclusive(m granularity.Metric) granularity.Metric {
	switch m {
	case granularity.SelfWall:
		return granularity.Wall
	case granularity.SelfCPU:
		return granularity.CPU
	}
	return m
}

// CoarseExecution is an execution that takes a large part of the session.
type CoarseExecution struct{ ExecutionsOf }

// coarseExecutions finds classes with such an execution, one of many, if the rest of
// the work leaves processors idle meanwhile.
func coarseExecutions(s *search) []Finding {
	if s.unitsRead() {
		return nil // coarseUnit judges these
	}
	var out []Finding
	for _, r := range ownTasks(s.Rows, granularity.ByMax) {
		d := r.Metrics[r.WorkMetric()]
		if len(out) == maxNamed || d.Count < 2 || float64(d.Max) < s.t.CoarseSession*float64(s.time(s.Duration)) || !s.leavesIdle(r.WorkMetric(), d.Max) {
			continue
		}
		out = append(out, Finding{Class: r.Class, Evidence: &CoarseExecution{s.executionsOf(&r)}, Predicted: &Predicted{Why: errNoUnits.Error()}})
	}
	return out
}

// leavesIdle reports whether the work without the longest execution is too little, or in
// too few parts, to keep the other processors busy meanwhile.
func (s *search) leavesIdle(m granularity.Metric, longest units.Ns) bool {
	n, all := units.Ns(max(2, s.CPUs)), s.Total[m]
	return all.Count > 2*int64(n) && float64(longest-max(all.Sum, longest)/n) >= s.t.Idle*float64(longest)
}

// ownTasks are the rows of the program's classes, loops left out.
func ownTasks(rows []granularity.Hotspot, order granularity.Order) []granularity.Hotspot {
	var own []granularity.Hotspot
	for _, r := range rows {
		if !r.JDK && !r.Loop {
			own = append(own, r)
		}
	}
	if err := granularity.SortHotspots(own, order); err != nil {
		return nil
	}
	return own
}
